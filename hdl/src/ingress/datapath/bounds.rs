//! Bounds the slots that the cluster has of each context.

use spinneret_regmap::slots;
use spinneret_verilog::prelude::*;

/// Bits of a number of slots.
pub const SLOTS: usize = slots::BOUND.bits.mask(0).count_ones() as usize;

/// Counts the slots that the cluster has of each context, and tells which contexts are at their bound.
///
/// A slot counts from the clock after `enters` until the clock after `leaves`. Both may come in one clock, for the same context too.
/// A bound of 0 is none. A bound that falls below the slots in use takes none of them away.
#[module(contexts: usize)]
pub struct SlotBounds {
    /// Most slots of each context, [`SLOTS`] bits each, that of context 0 lowest.
    pub bound: Wire<In, { contexts * SLOTS }>,
    /// Bit n: context n takes a slot in this clock; not while it is full.
    pub enters: Wire<In, { contexts }>,
    /// Bit n: context n gives one back.
    pub leaves: Wire<In, { contexts }>,
    /// Bit n: context n is at its bound.
    pub full: Wire<Out, { contexts }>,
    /// Slots in use, [`SLOTS`] bits each.
    pub used: Wire<Out, { contexts * SLOTS }>,
    counts: [Reg<{ SLOTS }, Reset>; contexts],
}

#[kernel(SlotBounds { bound, enters, leaves, full, used, counts })]
fn update() {
    for (number, count) in counts.iter().enumerate() {
        let most = bound.slice(number * SLOTS, SLOTS);
        full[number] = most.any() && *count >= most;
        used.slice(number * SLOTS, SLOTS) = *count;
        assert!(!leaves[number] || count.any(), "a context returns what it has");
        if enters[number] && !leaves[number] {
            *count = *count + 1;
        } else if leaves[number] && !enters[number] {
            *count = *count - 1;
        }
    }
}
