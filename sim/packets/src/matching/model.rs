//! The reference model as a matcher, and beside another one.

use super::{MAX_FRAME_BYTES, Matcher, MatcherError, Outcome};
use crate::reference::matcher::{ReferenceMatcher, RuleTable};
use spinneret_rules::{MatcherParams, ParamsError};
use std::collections::VecDeque;

/// Decides by the reference model; its cycles are those of a stream that moves one beat in each.
#[derive(Debug)]
pub struct ModelMatcher {
    params: MatcherParams,
    reference: ReferenceMatcher,
    outcomes: VecDeque<Outcome>,
    beats: u64,
}

impl ModelMatcher {
    /// A model with these rules latched.
    ///
    /// # Errors
    /// If no such hardware can be generated.
    pub fn new(params: &MatcherParams, rules: RuleTable) -> Result<Self, ParamsError> {
        let mut reference = ReferenceMatcher::new(params)?;
        reference.latch(Some(rules));
        Ok(Self {
            params: *params,
            reference,
            outcomes: VecDeque::new(),
            beats: 0,
        })
    }
}

impl Matcher for ModelMatcher {
    fn engine(&self) -> &'static str {
        "reference model"
    }

    fn push(&mut self, frame: &[u8]) -> Result<(), MatcherError> {
        self.beats += self.params.beats(frame.len()) as u64;
        self.outcomes.push_back(Outcome {
            result: self.reference.classify(frame),
            frame: frame.to_vec(),
        });
        Ok(())
    }

    fn flush(&mut self) -> Result<(), MatcherError> {
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<Outcome>, MatcherError> {
        Ok(self.outcomes.pop_front())
    }

    fn cycles(&self) -> u64 {
        self.beats
    }
}

/// Runs the reference model beside another matcher, and refuses frames that cannot exist.
#[derive(Debug)]
pub struct Checked<M> {
    matcher: M,
    reference: ReferenceMatcher,
    /// What must come out next, in order.
    expected: VecDeque<Outcome>,
    pushed: u64,
    popped: u64,
}

impl<M: Matcher> Checked<M> {
    /// Checks a matcher of these sizes that has these rules latched.
    ///
    /// # Errors
    /// If no such hardware can be generated.
    pub fn new(matcher: M, params: &MatcherParams, rules: RuleTable) -> Result<Self, ParamsError> {
        let mut reference = ReferenceMatcher::new(params)?;
        reference.latch(Some(rules));
        Ok(Self {
            matcher,
            reference,
            expected: VecDeque::new(),
            pushed: 0,
            popped: 0,
        })
    }
}

impl<M: Matcher> Matcher for Checked<M> {
    fn engine(&self) -> &'static str {
        self.matcher.engine()
    }

    fn push(&mut self, frame: &[u8]) -> Result<(), MatcherError> {
        self.pushed += 1;
        let (packet, bytes) = (self.pushed, frame.len());
        match bytes {
            0 => return Err(MatcherError::EmptyFrame { packet }),
            1..=MAX_FRAME_BYTES => {}
            _ => return Err(MatcherError::FrameTooLarge { packet, bytes }),
        }
        self.expected.push_back(Outcome {
            result: self.reference.classify(frame),
            frame: frame.to_vec(),
        });
        self.matcher.push(frame)
    }

    fn flush(&mut self) -> Result<(), MatcherError> {
        self.matcher.flush()
    }

    fn pop(&mut self) -> Result<Option<Outcome>, MatcherError> {
        let Some(found) = self.matcher.pop()? else {
            return Ok(None);
        };
        self.popped += 1;
        let packet = self.popped;
        let disagreement = |difference| MatcherError::Disagreement { packet, difference };
        let Some(expected) = self.expected.pop_front() else {
            return Err(disagreement("it came out, but was never sent in".to_owned()));
        };
        match difference(&expected, &found) {
            None => Ok(Some(found)),
            Some(difference) => Err(disagreement(difference)),
        }
    }

    fn cycles(&self) -> u64 {
        self.matcher.cycles()
    }
}

fn difference(expected: &Outcome, found: &Outcome) -> Option<String> {
    if expected.result != found.result {
        return Some(format!(
            "the hardware says {:?}, the model {:?}",
            found.result, expected.result
        ));
    }
    if expected.frame.len() != found.frame.len() {
        let (sent, came) = (expected.frame.len(), found.frame.len());
        return Some(format!("{sent} bytes went in and {came} came out"));
    }
    let position = expected
        .frame
        .iter()
        .zip(&found.frame)
        .position(|(sent, came)| sent != came)?;
    let (sent, came) = (expected.frame[position], found.frame[position]);
    Some(format!(
        "byte {position} went in as {sent:#04x} and came out as {came:#04x}"
    ))
}
