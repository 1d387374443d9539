//! What the halves of the host DMA count.

use super::ERROR_BITS;
use spinneret_verilog::prelude::*;

/// Errors of a status that are counted apart: 1 to this one.
pub const ERROR_CODES: usize = 11;
/// The code under which errors count that Corundum gives no meaning to.
pub const OTHER_ERROR: usize = 3;

/// The event that a burst is answered.
pub const BURST: usize = ERROR_CODES;
/// The event that it could not be done.
pub const REFUSED: usize = ERROR_CODES + 1;
/// The event that it had bytes outside of all windows.
pub const OUTSIDE: usize = ERROR_CODES + 2;
/// The event that a status came for a tag that was not in flight.
pub const STRAY: usize = ERROR_CODES + 3;
/// How many events there are.
pub const EVENTS: usize = ERROR_CODES + 4;

/// Turns the error of a status into events.
///
/// Combinational.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ErrorEvents {
    /// A status is looked at.
    pub valid: Wire<In, bool>,
    /// Its error.
    pub error: Wire<In>,
    /// Bit n: error n + 1 happened.
    pub events: Wire<Out>,
}

impl Default for ErrorEvents {
    fn default() -> Self {
        Self {
            valid: Wire::bit(),
            error: Wire::word(ERROR_BITS),
            events: Wire::word(ERROR_CODES),
        }
    }
}

impl Logic for ErrorEvents {
    #[kernel]
    fn update(&mut self) {
        self.events.next = 0.into();
        for code in 1..=ERROR_CODES {
            self.events
                .next
                .set_bit(code - 1, self.valid.val() && self.error.val() == code as u64);
        }
        if self.valid.val() && self.error.val() > ERROR_CODES as u64 {
            self.events.next.set_bit(OTHER_ERROR - 1, true);
        }
    }
}
