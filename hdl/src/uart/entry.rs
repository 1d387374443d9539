//! The console in the catalog.

use super::{ConsoleShape, UartMatch};
use crate::entry::{Config, Entry, Parameter, Variant};

/// Name of the block.
pub(super) const NAME: &str = "uart_match";

/// The console.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "a matching engine behind a serial line, for small boards",
    shipped: false,
    parameters,
    derived: |_| Vec::new(),
    build: |values| Ok(Box::new(UartMatch::new(ConsoleShape::new(values)?)?)),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(
        "uart_match",
        &[
            ("clocks_per_bit", 16),
            ("quiet_clocks", 1024),
            ("heartbeat_bits", 10),
        ],
    ),
    ENTRY.model(
        "uart_match_small",
        &[
            ("rulesets", 1),
            ("rules", 2),
            ("inspected_bytes", 8),
            ("clocks_per_bit", 4),
            ("quiet_clocks", 80),
            ("heartbeat_bits", 1),
        ],
    ),
];

/// Parameters with their values in a configuration.
pub(super) fn parameters(_config: Config) -> Vec<Parameter> {
    vec![
        Parameter::new("rulesets", 2, [1, 4], "rulesets; the lowest that matches wins"),
        Parameter::new(
            "rules",
            4,
            [2, 8],
            "rules of a ruleset, of which the last marks the end of a message",
        ),
        Parameter::new(
            "inspected_bytes",
            64,
            [4, 128],
            "bytes of a packet that rules can look at, rounded up to multiples of 8",
        ),
        Parameter::new(
            "clocks_per_bit",
            50,
            [4, 65536],
            "clocks of a bit on the serial line",
        ),
        Parameter::new(
            "quiet_clocks",
            1 << 20,
            [80, 1 << 30],
            "clocks without a byte after which a frame is given up",
        ),
        Parameter::new(
            "heartbeat_bits",
            24,
            [1, 40],
            "the last LED changes every 2 to this power clocks",
        ),
    ]
}
