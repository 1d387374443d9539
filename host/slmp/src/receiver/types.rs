//! What users of a receiver tell it, and what it tells them.

use crate::memory::{ACKS_SENT, COMPLETED, COUNTERS, Cause, MAX_SEGMENTS, PLACES};
use crate::wire::MAX_PAYLOAD;
use std::net::SocketAddrV4;
use std::ops::Index;
use thiserror::Error;

/// When the EOM segment is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirm {
    /// When all of the message is in memory.
    Memory,
    /// When [`Receiver::confirm`](crate::Receiver::confirm) has said that it is stored, too.
    Stored,
}

/// What a receiver has room for, and when it confirms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// Messages that it knows at once, 1 to [`PLACES`].
    pub places: usize,
    /// Longest message in bytes. Memory is taken when segments come.
    pub capacity_bytes: usize,
    /// When EOM is acknowledged.
    pub confirm: Confirm,
}

impl Default for ReceiverConfig {
    /// Room for as many and as long messages as there can be, confirmed when they are in memory.
    fn default() -> Self {
        Self {
            places: PLACES,
            capacity_bytes: MAX_SEGMENTS * MAX_PAYLOAD,
            confirm: Confirm::Memory,
        }
    }
}

/// A receiver cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReceiverConfigError {
    /// None, or more than the layout has.
    #[error("a receiver cannot know {0} messages at once: set `places` to 1 to {PLACES}")]
    Places(usize),
}

/// Which message of which sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageKey {
    /// Address and port of the sender.
    pub from: SocketAddrV4,
    /// The id that the sender has chosen.
    pub message_id: u32,
}

/// A message that came whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Which message.
    pub key: MessageKey,
    /// Its bytes.
    pub data: Vec<u8>,
}

/// A message that was given up before it was whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenUp {
    /// Which message.
    pub key: MessageKey,
    /// How many bytes of it came.
    pub bytes: u64,
    /// Its length, if the EOM segment came.
    pub length: Option<u64>,
}

/// What the user did with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Stored: EOM is acknowledged from now on.
    Stored,
    /// Not stored: EOM is never acknowledged, and the message is given up.
    Refused,
}

/// The message is not one that was taken and waits to be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "message {:#010x} of {} does not wait to be confirmed: confirm each message once, after taking it, \
     and only if the receiver confirms what is stored", .0.message_id, .0.from
)]
pub struct NotWaiting(
    /// The message.
    pub MessageKey,
);

/// Counters of a receiver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters([u64; COUNTERS]);

impl Counters {
    /// Acknowledgements that were made.
    pub fn acks_sent(&self) -> u64 {
        self.0[ACKS_SENT]
    }

    /// Messages that were completed.
    pub fn completed(&self) -> u64 {
        self.0[COMPLETED]
    }

    /// Segments that were neither taken nor there already.
    pub fn refused(&self) -> u64 {
        let taken = [Cause::Accepted, Cause::Duplicate];
        Cause::ALL
            .iter()
            .filter(|cause| !taken.contains(cause))
            .map(|cause| self[*cause])
            .sum()
    }

    /// All counters as the shared memory numbers them.
    pub fn words(&self) -> &[u64; COUNTERS] {
        &self.0
    }

    pub(super) fn count(&mut self, cause: Cause, acks: u64) {
        self.0[cause as usize] += 1;
        self.0[ACKS_SENT] += acks;
    }

    pub(super) fn complete(&mut self) {
        self.0[COMPLETED] += 1;
    }
}

impl Index<Cause> for Counters {
    type Output = u64;

    /// Segments that were counted under a cause.
    fn index(&self, cause: Cause) -> &u64 {
        &self.0[cause as usize]
    }
}
