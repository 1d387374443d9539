//! Parameters of the console.

use super::Timing;
use super::entry::{NAME, parameters};
use crate::entry::{Checked, Config, ParameterError, Values};
use crate::ingress::pkt_match::{self, MatchShape};

/// Bits of the shortest time that a byte takes and of another one, so that a pause is not a slow host.
const SHORTEST_QUIET_BITS: usize = 20;
/// Bytes of the longest packet, which the engine's queues need not hold.
const SMALL_MTU: u64 = 64;
/// Width of the streams in the engine, in bits.
const DATA_WIDTH: u64 = 64;
/// Width of a tag: message id, end of message, ruleset.
const TAG_WIDTH: u64 = 35;

/// Parameters of the console, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsoleShape {
    /// The matching engine.
    pub engine: MatchShape,
    /// The serial line.
    pub timing: Timing,
    /// Clocks between two changes of the last LED, a power of two.
    pub heartbeat_clocks: usize,
}

impl ConsoleShape {
    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(NAME, &parameters(Config::Reference), values)?;
        let get = |name: &str| checked.get(name) as usize;
        let timing = Timing {
            clocks_per_bit: get("clocks_per_bit"),
            quiet_clocks: get("quiet_clocks"),
        };
        let shortest = SHORTEST_QUIET_BITS * timing.clocks_per_bit;
        if timing.quiet_clocks < shortest {
            let reason = format!("two bytes take {shortest} clocks, and a pause is not less");
            return Err(checked.refuse("quiet_clocks", reason));
        }
        let mut engine = pkt_match::ENTRY.values(Config::Reference);
        for (name, value) in [
            ("data_width", DATA_WIDTH),
            ("dest_width", 1),
            ("user_width", 1),
            ("mtu", SMALL_MTU),
            ("buffer_frames", 0),
            ("tag_width", TAG_WIDTH),
            ("message_id_network_order", 1),
            ("rulesets", checked.get("rulesets")),
            ("rules", checked.get("rules")),
            ("inspected_bytes", checked.get("inspected_bytes")),
        ] {
            engine.insert(name.to_owned(), value);
        }
        Ok(Self {
            engine: MatchShape::new(&engine)?,
            timing,
            heartbeat_clocks: 1 << get("heartbeat_bits"),
        })
    }

    /// Bytes of a packet that rules can look at.
    pub(super) fn inspected_bytes(self) -> usize {
        4 * self.engine.words()
    }

    /// Width of the counter whose highest bit is the last LED.
    pub(super) fn heartbeat_width(self) -> usize {
        self.heartbeat_clocks.trailing_zeros() as usize + 1
    }
}
