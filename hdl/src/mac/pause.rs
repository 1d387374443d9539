//! Holds a transmitter for the time of a pause frame.
//!
//! # Contract
//! - **Time:** `holds` is high from the clock after `starts` on, for `quanta` times 64 clocks; a further pause frame sets the time
//!   again, 0 ends it (802.3, 31B.3.3).
//! - **Reset** ends a pause.

use super::{QUANTA, QUANTUM};
use crate::entry::Entry;
use spinneret_verilog::prelude::*;

/// Bits of the clocks of a quantum.
const PART: usize = QUANTUM.trailing_zeros() as usize;

/// Holds a transmitter for the time of a pause frame.
#[module]
pub struct PauseTimer {
    /// A pause frame came.
    pub starts: Wire<In, bool>,
    /// Its time.
    pub quanta: Wire<In, { QUANTA }>,
    /// No frame may begin.
    pub holds: Wire<Out, bool>,
    /// Clocks that are left.
    left: Reg<{ QUANTA + PART }, Reset>,
    is_held: Reg<bool, Reset>,
}

#[kernel(PauseTimer)]
fn update() {
    if starts {
        left = cat!(quanta, lit(0, PART));
        is_held = quanta.any();
    } else if is_held {
        left = left - 1;
        is_held = left != 1;
    }
    holds = is_held;
}

/// [`PauseTimer`].
pub(crate) const ENTRY: Entry = entry!(part "pause_timer", PauseTimer():
    "holds a transmitter for the time of a pause frame");
