//! Parameters of the rate limiter.

use super::GROUP;
use crate::entry::{Checked, ParameterError};
use crate::stream::AxisShape;
use spinneret_verilog::prelude::*;

/// Widths of the rate limiter, and the unit of its rate.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "spinneret_rate_limiter", check)]
pub struct RateLimiterShape {
    /// Width of tdata in bits, a multiple of 8.
    #[parameter(512, range = 8..=1024, name = "data_width")]
    pub data: usize,
    /// Width of tid in bits.
    #[parameter(12, range = 1..=64, name = "id_width")]
    pub tid: usize,
    /// Width of tdest in bits.
    #[parameter(4, range = 1..=64, name = "dest_width")]
    pub tdest: usize,
    /// Width of tuser in bits.
    #[parameter(17, range = 1..=128, name = "user_width")]
    pub tuser: usize,
    /// Clocks in which the bytes of the rate may pass, a power of two.
    #[parameter(1024, range = 2..=65536, power_of_two)]
    pub period: usize,
    /// Width of the burst in bytes; a debt may have one bit more.
    #[parameter(18, range = 2..=24, name = "credit_width")]
    pub credit: usize,
}

impl RateLimiterShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        if !self.data.is_multiple_of(8) {
            return Err(checked.refuse("data_width", "it must be a multiple of 8".into()));
        }
        // Two clocks at the highest rate may come in above the burst.
        let needed = self.bytes_width() + 1;
        if self.credit < needed {
            let reason = format!("it must be at least {needed}, for two beats");
            return Err(checked.refuse("credit_width", reason));
        }
        Ok(())
    }

    /// The frames.
    pub fn axis(self) -> AxisShape {
        AxisShape {
            data: self.data,
            id: self.tid,
            dest: self.tdest,
            user: self.tuser,
        }
    }

    /// Width of the number of bytes in a beat.
    pub fn bytes_width(self) -> usize {
        bit_width(self.axis().keep())
    }

    /// Bits of the credit below a byte.
    pub fn fraction(self) -> usize {
        self.period.ilog2() as usize
    }

    /// Width of the rate: it can say a beat in every clock.
    pub fn rate_width(self) -> usize {
        self.bytes_width() + self.fraction()
    }

    /// Width of the credit in steps: with its sign, and room for what comes in above the burst.
    pub fn credit_steps_width(self) -> usize {
        2 + self.credit + self.fraction()
    }

    /// Groups of lanes whose bytes are counted together.
    pub fn groups(self) -> usize {
        self.axis().keep().div_ceil(GROUP)
    }

    /// The lane after those of a group.
    pub fn group_end(self, group: usize) -> usize {
        (group * GROUP + GROUP).min(self.axis().keep())
    }
}
