//! Resets in the middle of something: what is inside is lost, and the hardware's counters begin anew.

use super::{Behind, Nic};
use spinneret_regmap::{Register, datapath_counters};
use std::collections::BTreeMap;

/// What became of resets.
#[derive(Clone, Debug, Default)]
pub(super) struct Resets {
    /// Those of the NIC or its cluster that found something on its way.
    count: u64,
    /// One of them was of the NIC: what was counted while its counters were read is not known.
    has_restarted: bool,
    /// What counters had counted when the NIC was reset, by their offsets.
    counted: BTreeMap<u32, u64>,
}

impl<B: Behind> Nic<B> {
    /// Resets of the NIC, or of its cluster alone, that found something on its way: it is lost.
    pub fn resets(&self) -> u64 {
        self.resets.count
    }

    /// Whether the hardware's counters began anew in the middle of something, so that some of what they counted is not known.
    pub fn has_restarted(&self) -> bool {
        self.resets.has_restarted
    }

    /// What a counter had counted before resets of the NIC made it 0.
    pub fn counted_before_resets(&self, counter: u32) -> u64 {
        self.resets.counted.get(&counter).copied().unwrap_or(0)
    }

    /// The NIC or its cluster is about to be reset: whether something is on its way.
    pub(super) fn note_reset(&mut self) -> bool {
        let is_cut = !self.is_idle() || self.behind.holds_packets();
        self.resets.count += u64::from(is_cut);
        is_cut
    }

    /// The NIC is about to be reset, and its counters with it. What the hardware does not answer any more is not known.
    pub(super) fn note_restart(&mut self) {
        self.resets.has_restarted |= self.note_reset();
        for word in datapath_counters().filter(|word| !is_level(word.register)) {
            let counter = word.offset();
            if let Ok(value) = self.get(counter) {
                *self.resets.counted.entry(counter).or_default() += u64::from(value);
            }
        }
    }
}

/// Whether a register says how full something is, or was at most, and counts nothing.
fn is_level(register: &Register) -> bool {
    register.name.ends_with("_used") || register.name.ends_with("_peak")
}
