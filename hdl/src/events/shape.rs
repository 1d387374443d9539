//! Parameters of the block of events.

use spinneret_regmap::events;
use spinneret_verilog::prelude::*;

/// How many events there are, and how far apart their messages can be kept.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "spinneret_events")]
pub struct EventsShape {
    /// Lines, an event each.
    #[parameter(events::LINES as usize, range = 2..=32)]
    pub lines: usize,
    /// Width of the moderation in bits.
    #[parameter(events::MODERATION.bits.mask(0).count_ones() as usize, range = 1..=32, name = "moderation_width")]
    pub moderation: usize,
}
