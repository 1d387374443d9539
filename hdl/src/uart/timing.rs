//! How long things take on the line.

use spinneret_verilog::prelude::address_width;

/// Lengths of time, in clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Clocks of a bit, at least 4.
    pub clocks_per_bit: usize,
    /// Clocks without a byte after which a frame that is not complete is given up.
    pub quiet_clocks: usize,
}

impl Timing {
    /// Width of a counter of the clocks of a bit.
    pub(super) fn bit_width(self) -> usize {
        address_width(self.clocks_per_bit)
    }

    /// Width of a counter of the clocks without a byte.
    pub(super) fn quiet_width(self) -> usize {
        address_width(self.quiet_clocks)
    }
}
