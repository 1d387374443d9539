//! Frames through a matching engine, whichever it is.
//!
//! [`Matcher`] is what the Verilated block and its model have in common: frames go in, and each comes
//! out once, in order, with the decision about it. [`Checked`] runs the reference model beside another
//! matcher and stops at the first difference.
//!
//! ```text
//! push(frame) --> matcher --> pop() = { decision, the bytes that came out }
//! ```

mod model;
mod verilated;

pub use model::{Checked, ModelMatcher};
pub use verilated::{VerilatedMatcher, drive_rules};

use crate::reference::matcher::MatchResult;
use thiserror::Error;

/// Largest frame that is sent through a matcher, in bytes.
pub const MAX_FRAME_BYTES: usize = 16 * 1024;

/// Sorts frames into those for the handlers and those for the network card.
pub trait Matcher {
    /// What does the work, for reports.
    fn engine(&self) -> &'static str;

    /// Sends a frame in; its outcome can be taken later, after those of the frames before it.
    ///
    /// # Errors
    /// If the frame is impossible, or the matcher breaks a rule or stops.
    fn push(&mut self, frame: &[u8]) -> Result<(), MatcherError>;

    /// Runs until every frame that was sent in has come out.
    ///
    /// # Errors
    /// If the matcher breaks a rule or stops, or a frame does not come out.
    fn flush(&mut self) -> Result<(), MatcherError>;

    /// The outcome of the next frame, if it has come out.
    ///
    /// # Errors
    /// If what came out cannot belong to the frame that is next.
    fn pop(&mut self) -> Result<Option<Outcome>, MatcherError>;

    /// Clock cycles from the first beat that went in to the last that came out.
    fn cycles(&self) -> u64;
}

/// What became of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Where the frame went, with what metadata.
    pub result: MatchResult,
    /// The frame as it came out.
    pub frame: Vec<u8>,
}

/// Why a matcher cannot go on.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MatcherError {
    /// There is no frame without bytes on a stream.
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
        /// Number of the packet that was next to come out, counted from 1.
        packet: u64,
        /// What happened.
        problem: String,
    },
    /// The Verilated model is not a matcher, or not one of these sizes.
    #[error("the matcher does not have the sizes that are asked for: {0}")]
    Unfit(String),
    /// There is no Verilated model of these sizes.
    #[error(
        "the simulated hardware is built for streams of 512 and 64 bit with 66 inspected bytes, \
         not for {data_width_bits} bit with {inspected_bytes}: use --engine model for other sizes"
    )]
    NotBuilt {
        /// Width of the stream that was asked for.
        data_width_bits: usize,
        /// Inspected bytes that were asked for.
        inspected_bytes: usize,
    },
}
