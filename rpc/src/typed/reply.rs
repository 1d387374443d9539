//! The answer to a request.

use super::{Status, Word};
use crate::packet::{NEXT_BYTES, Packet};

/// Where the result stands.
const RESULT_AT: u32 = 8;

/// The answer to a request: its status, its result, and what else it gives.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    bytes: [u8; NEXT_BYTES],
}

impl Reply {
    /// Of a function without a result.
    pub fn empty() -> Self {
        Self {
            bytes: [0; NEXT_BYTES],
        }
    }

    /// With a result.
    pub fn new<T: Word>(result: T) -> Self {
        let mut reply = Self::empty();
        reply.value(RESULT_AT, result);
        reply
    }

    /// Puts a value at an offset.
    pub fn value<T: Word>(&mut self, at: u32, value: T) {
        let at = at as usize;
        value.write(&mut self.bytes[at..at + T::BYTES]);
    }

    pub(super) fn data(&mut self, at: u32, data: &[u8]) {
        let at = at as usize;
        self.bytes[at..at + data.len()].copy_from_slice(data);
    }

    pub(super) fn packet(self) -> Packet {
        Packet::from_bytes(&self.bytes)
    }

    /// The answer to what is refused.
    pub(super) fn refusal(status: Status) -> Packet {
        Packet::of(&[status.raw().into()])
    }
}
