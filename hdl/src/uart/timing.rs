//! How long things take on the line.

use crate::entry::{Checked, ParameterError};
use spinneret_verilog::prelude::*;

/// Bits of the shortest time that a byte takes and of another one, so that a pause is not a slow host.
const SHORTEST_QUIET_BITS: usize = 20;

/// Lengths of time, in clocks.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(check)]
pub struct Timing {
    /// Clocks of a bit on the serial line.
    #[parameter(50, range = 4..=65536)]
    pub clocks_per_bit: usize,
    /// Clocks without a byte after which a frame is given up.
    #[parameter(1 << 20, range = 80..=1 << 30)]
    pub quiet_clocks: usize,
}

impl Timing {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let shortest = SHORTEST_QUIET_BITS * self.clocks_per_bit;
        if self.quiet_clocks < shortest {
            let reason = format!("it must be at least {shortest}, the clocks of two bytes");
            return Err(checked.refuse("quiet_clocks", reason));
        }
        Ok(())
    }

    /// Width of a counter of the clocks of a bit.
    pub(super) fn bit_width(self) -> usize {
        address_width(self.clocks_per_bit)
    }

    /// Width of a counter of the clocks without a byte.
    pub(super) fn quiet_width(self) -> usize {
        address_width(self.quiet_clocks)
    }
}
