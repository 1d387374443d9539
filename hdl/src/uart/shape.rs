//! Parameters of the console.

use crate::entry::{Checked, ParameterError};
use crate::ingress::pkt_match::MatchShape;
use spinneret_verilog::prelude::*;

/// Parameters of the console, checked.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "uart_match")]
pub struct ConsoleShape {
    /// Rulesets; the lowest that matches wins.
    #[parameter(2, range = 1..=4)]
    pub rulesets: usize,
    /// Rules of a ruleset, of which the last marks the end of a message.
    #[parameter(4, range = 2..=8)]
    pub rules: usize,
    /// Bytes of a packet that rules can look at, rounded up to multiples of 8.
    #[parameter(64, range = 4..=128)]
    pub inspected_bytes: usize,
    /// The serial line.
    #[parameters]
    pub timing: Timing,
    /// The last LED changes every 2 to this power clocks.
    #[parameter(24, range = 1..=40)]
    pub heartbeat_bits: usize,
}

impl ConsoleShape {
    /// The matching engine; its queues need not hold the longest packet.
    pub fn engine(self) -> MatchShape {
        MatchShape {
            data: 64,
            id: 1,
            dest: 1,
            user: 1,
            inspected_bytes: self.inspected_bytes,
            mtu: 64,
            buffer_frames: 0,
            // Message id, end of message, ruleset.
            tag_width: 32 + 1 + 2,
            message_id_width: 32,
            rulesets: self.rulesets,
            rules: self.rules,
            message_id_network_order: true,
            ip_relative: false,
            side_band: false,
            payload_sum: false,
        }
    }
}

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
    pub(crate) fn quiet_width(self) -> usize {
        address_width(self.quiet_clocks)
    }
}
