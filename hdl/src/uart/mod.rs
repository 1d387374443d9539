//! Serial lines, and a matching engine behind one.

mod console;
mod frames;
mod line;
pub mod protocol;
mod shape;
mod store;

pub use console::UartMatch;
pub(crate) use frames::CommandReader;
pub(crate) use line::{UartReceiver, UartTransmitter};
pub use shape::{ConsoleShape, Timing};

use crate::entry::{Entry, Variant};

/// Bits of a byte.
pub(crate) const BYTE: usize = 8;

/// The console.
pub(crate) const ENTRY: Entry = entry!(part ConsoleShape::BLOCK, UartMatch(ConsoleShape)?:
    "a matching engine behind a serial line, for small boards");

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(
        ENTRY.name,
        "clocks_per_bit=16 quiet_clocks=1024 heartbeat_bits=10",
    ),
    ENTRY.variant(
        "uart_match_small",
        "rulesets=1 rules=2 inspected_bytes=8 clocks_per_bit=4 quiet_clocks=80 heartbeat_bits=1",
    ),
];
