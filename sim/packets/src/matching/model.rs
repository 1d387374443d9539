//! The reference model as a matcher.

use super::{Matcher, MatcherError, Outcome};
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
