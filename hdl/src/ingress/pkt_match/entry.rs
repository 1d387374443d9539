//! The matching engine in the catalog.

use super::{MatchShape, PspinPktMatch};
use crate::entry::{Entry, Parameters as _, Values, Variant};

/// The matching engine.
pub(crate) const ENTRY: Entry = Entry::shipped(
    MatchShape::BLOCK,
    "sorts packets by rules, one beat a clock",
    MatchShape::parameters,
    |values| Ok(Box::new(PspinPktMatch::new(MatchShape::new(values)?)?)),
)
.derives(derived);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    ENTRY.model("pspin_pkt_match_w64", &[("data_width", 64)]),
    ENTRY.model(
        "pspin_pkt_match_w128",
        &[
            ("data_width", 128),
            ("rulesets", 3),
            ("inspected_bytes", 256),
            ("buffer_frames", 0),
        ],
    ),
    ENTRY.model(
        "pspin_pkt_match_w256",
        &[
            ("data_width", 256),
            ("rules", 6),
            ("user_width", 97),
            ("message_id_network_order", 1),
        ],
    ),
    ENTRY.model(
        "pspin_pkt_match_w1024",
        &[
            ("data_width", 1024),
            ("rulesets", 2),
            ("rules", 2),
            ("inspected_bytes", 4),
            ("message_id_width", 10),
        ],
    ),
    ENTRY.model("pspin_pkt_match_ip", &[]).of_boards(),
    ENTRY.model(
        "pspin_pkt_match_ip_w64",
        &[("data_width", 64), ("ip_relative", 1)],
    ),
    ENTRY.model(
        "pspin_pkt_match_ip_w128",
        &[
            ("data_width", 128),
            ("rulesets", 3),
            ("rules", 3),
            ("inspected_bytes", 20),
            ("message_id_network_order", 1),
            ("ip_relative", 1),
        ],
    ),
    ENTRY.model(
        "pspin_pkt_match_ip_w256",
        &[
            ("data_width", 256),
            ("rulesets", 2),
            ("inspected_bytes", 256),
            ("ip_relative", 1),
        ],
    ),
    ENTRY.model(
        "pspin_pkt_match_ip_w1024",
        &[
            ("data_width", 1024),
            ("rulesets", 2),
            ("inspected_bytes", 256),
            ("message_id_width", 16),
            ("ip_relative", 1),
        ],
    ),
];

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    vec![(
        "AXIS_IF_KEEP_WIDTH",
        values.get("data_width").copied().unwrap_or(0) / 8,
    )]
}
