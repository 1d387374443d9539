//! What a receiver counts, numbered as in the memory that handlers share with the host.

use crate::memory::{ACKS_SENT, COMPLETED, COUNTERS, Cause};
use std::ops::Index;

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
