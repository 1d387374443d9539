//! What a sender says.

use crate::wire::Header;
use std::fmt;
use std::ops::Range;
use std::time::Duration;
use thiserror::Error;

/// A segment to send: the header, and behind it a part of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The header.
    pub header: Header,
    /// Which bytes of the message follow it.
    pub range: Range<usize>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Step {
    /// Send this, and poll again.
    Send(Segment),
    /// Poll again at this time, or when an acknowledgement has come.
    Wait(Duration),
    /// The message is delivered, or, without acknowledgements, sent.
    Done,
    /// It will not be delivered.
    Failed(SendError),
}

/// The sender gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "gave up after {after:?} without progress, with {acknowledged} of {awaited} acknowledgements: {cause}"
)]
pub struct SendError {
    /// The time that it waited for progress.
    pub after: Duration,
    /// Segments that were acknowledged.
    pub acknowledged: u32,
    /// Segments whose acknowledgement was asked for.
    pub awaited: u32,
    /// What the likely cause is.
    pub cause: Silence,
}

/// Why acknowledgements did not come, most likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// There was never any.
    NoAnswer,
    /// Only that of the whole message is missing.
    NotDelivered,
    /// They ended in the middle.
    Stopped,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAnswer => {
                "nothing ever answered; check that a receiver runs there, has room, and is reached at UDP port 9330"
            }
            Self::NotDelivered => {
                "all but the end was acknowledged, so the receiver has lost a part of the message (was it restarted?) \
                 or could not store it; send the message again"
            }
            Self::Stopped => {
                "the receiver or the network stopped in the middle; check that the receiver still runs and has memory \
                 for the whole message"
            }
        })
    }
}

/// What a sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Segments sent, repetitions included.
    pub segments: u64,
    /// Repetitions.
    pub retransmissions: u64,
    /// Acknowledgements of segments that were not acknowledged before.
    pub acks: u64,
    /// Acknowledgements of segments that were acknowledged before.
    pub duplicate_acks: u64,
    /// Acknowledgements that answer no segment of this message.
    pub strange_acks: u64,
    /// Repetitions because the time for an acknowledgement was over.
    pub timeouts: u64,
    /// Repetitions because segments that were sent later have been acknowledged.
    pub overtaken: u64,
    /// Bytes of the message that are known to have arrived.
    pub acknowledged_bytes: u64,
    /// Smoothed round-trip time, once there is one.
    pub smoothed_round_trip: Option<Duration>,
}
