//! Frames through a matching engine, whichever it is.
//!
//! [`Matcher`] is the interface of the Verilated block and its model: frames go in, and each comes out once, in
//! order, with its decision. [`Checked`] runs the reference model next to another matcher and stops at the first
//! difference.
//!
//! ```text
//! push(frame) --> matcher --> pop() = { decision, the bytes that came out }
//! ```

mod verilated;

pub use verilated::{VerilatedMatcher, drive_rules};

use crate::reference::matcher::{MatchResult, ReferenceMatcher, RuleTable};
use spinneret_rules::{MatcherParams, ParamsError};
use std::collections::VecDeque;
use thiserror::Error;

/// Largest frame for a matcher, in bytes.
pub const MAX_FRAME_BYTES: usize = 16 * 1024;

/// Sorts frames into those for the handlers and those for the network card.
pub trait Matcher {
    /// Name of the engine, for reports.
    fn engine(&self) -> &'static str;

    /// Sends a frame in; its outcome can be taken later, after those of the frames before it.
    ///
    /// # Errors
    /// If the frame is impossible, or the matcher breaks a rule or stops.
    fn push(&mut self, frame: &[u8]) -> Result<(), MatcherError>;

    /// Runs until all frames have come out.
    ///
    /// # Errors
    /// If the matcher violates the protocol or stops, or a frame does not come out.
    fn flush(&mut self) -> Result<(), MatcherError>;

    /// Returns the outcome of the next frame, if it has come out.
    ///
    /// # Errors
    /// If the output cannot belong to the next frame.
    fn pop(&mut self) -> Result<Option<Outcome>, MatcherError>;

    /// Returns the clock cycles from the first beat in to the last beat out.
    fn cycles(&self) -> u64;
}

/// Outcome of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The decision and its metadata.
    pub result: MatchResult,
    /// The frame as it came out.
    pub frame: Vec<u8>,
}

/// Why a matcher cannot go on.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MatcherError {
    /// A stream cannot carry an empty frame.
    #[error("packet {packet} has no bytes, and a stream has no frame without")]
    EmptyFrame {
        /// Number of the packet, counted from 1.
        packet: u64,
    },
    /// The frame is larger than any network card takes.
    #[error("packet {packet} has {bytes} bytes, more than the {MAX_FRAME_BYTES} that a frame may have")]
    FrameTooLarge {
        /// Number of the packet, counted from 1.
        packet: u64,
        /// Its size.
        bytes: usize,
    },
    /// The hardware decided otherwise than its model, or changed the frame.
    #[error("packet {packet}: the hardware and its model disagree: {difference}")]
    Disagreement {
        /// Number of the packet, counted from 1.
        packet: u64,
        /// How they differ.
        difference: String,
    },
    /// The hardware broke a rule, stopped, or lost a frame.
    #[error("the hardware failed at packet {packet}: {problem}")]
    Hardware {
        /// Number of the next packet to come out, counted from 1.
        packet: u64,
        /// The problem.
        problem: String,
    },
    /// The Verilated model is not a matcher, or not one of these sizes.
    #[error("the matcher does not have the sizes that are asked for: {0}")]
    Unfit(String),
    /// No Verilated model has these sizes.
    #[error(
        "the simulated hardware is built for streams of 512 and 64 bit with 66 inspected bytes, \
         not for {data_width_bits} bit with {inspected_bytes}: use --engine model for other sizes"
    )]
    NotBuilt {
        /// Requested width of the stream.
        data_width_bits: usize,
        /// Inspected bytes that were asked for.
        inspected_bytes: usize,
    },
}

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

/// Runs the reference model next to another matcher, and rejects impossible frames.
#[derive(Debug)]
pub struct Checked<M> {
    matcher: M,
    reference: ReferenceMatcher,
    /// Expected outcomes, in order.
    expected: VecDeque<Outcome>,
    pushed: u64,
    popped: u64,
}

impl<M: Matcher> Checked<M> {
    /// Checks a matcher of these sizes with these rules latched.
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
