use super::THREADS;
use spinneret_verilog::prelude::*;

/// Bits of the number of a slot that a turn depends on.
const SLOTS: usize = 6;

/// Says which of two pipelines goes first where both want the same.
///
/// It changes from slot to slot by the parity of the slot's number, so that two threads that repeat their accesses every one, two,
/// four, ... slots do not meet in the turns of one of them for ever.
#[module]
pub struct Turn {
    /// It is the second one.
    pub second: Wire<Out, bool>,
    clocks: Reg<{ SLOTS + address_width(THREADS) }, Reset>,
}

#[kernel(Turn)]
fn update() {
    clocks = clocks + 1;
    second = reg_reset(clocks.slice(address_width(THREADS), SLOTS).parity(), false);
}
