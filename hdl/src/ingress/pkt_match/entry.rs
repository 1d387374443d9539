//! The matching engine in the catalog.

use super::{MatchShape, PspinPktMatch};
use crate::entry::{Config, Entry, Parameter, Values, Variant};

/// Name of the block.
pub(super) const NAME: &str = "pspin_pkt_match";

/// The matching engine.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "sorts packets by rules, one beat a clock",
    shipped: true,
    parameters,
    derived,
    build: |values| Ok(Box::new(PspinPktMatch::new(MatchShape::new(values)?)?)),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model("pspin_pkt_match", &[]),
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
    // As in the board configuration.
    ENTRY.model("pspin_pkt_match_ip", &[("user_width", 97), ("ip_relative", 1)]),
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

/// Parameters with their values in a configuration.
pub(super) fn parameters(config: Config) -> Vec<Parameter> {
    let parameter = |name, value, min, max, verilog, doc| Parameter {
        name,
        value,
        min,
        max,
        verilog,
        doc,
    };
    let user_width = match config {
        Config::Reference => 16,
        Config::Board => 97,
    };
    vec![
        parameter(
            "data_width",
            512,
            64,
            1024,
            Some("AXIS_IF_DATA_WIDTH"),
            "width of a beat in bits, a power of two",
        ),
        parameter(
            "id_width",
            1,
            1,
            64,
            Some("AXIS_IF_RX_ID_WIDTH"),
            "width of tid in bits",
        ),
        parameter(
            "dest_width",
            8,
            1,
            64,
            Some("AXIS_IF_RX_DEST_WIDTH"),
            "width of tdest in bits",
        ),
        parameter(
            "user_width",
            user_width,
            1,
            256,
            Some("AXIS_IF_RX_USER_WIDTH"),
            "width of tuser in bits",
        ),
        parameter(
            "inspected_bytes",
            66,
            4,
            256,
            Some("UMATCH_MATCHER_LEN"),
            "bytes of a frame that rules can look at, rounded up to whole beats",
        ),
        parameter(
            "mtu",
            1500,
            64,
            16384,
            Some("UMATCH_MTU"),
            "largest ordinary frame in bytes",
        ),
        parameter(
            "buffer_frames",
            3,
            0,
            64,
            Some("UMATCH_BUF_FRAMES"),
            "frames of mtu bytes that the engine can hold while an output stalls",
        ),
        parameter(
            "tag_width",
            64,
            4,
            128,
            Some("TAG_WIDTH"),
            "width of the packet tag in bits",
        ),
        parameter(
            "message_id_width",
            32,
            1,
            32,
            Some("MSG_ID_WIDTH"),
            "bits of the message id in the tag",
        ),
        parameter(
            "rulesets",
            4,
            1,
            4,
            None,
            "rulesets; the lowest that matches wins",
        ),
        parameter(
            "rules",
            4,
            2,
            8,
            None,
            "rules of a ruleset, of which the last marks the end of a message",
        ),
        parameter(
            "message_id_network_order",
            0,
            0,
            1,
            None,
            "1: frame byte 44 is the most significant byte of the message id, not the least",
        ),
        parameter(
            "ip_relative",
            u64::from(config == Config::Board),
            0,
            1,
            None,
            "1: a rule may count from the start of the IPv4 or IPv6 payload, and the message id does",
        ),
    ]
}

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    vec![(
        "AXIS_IF_KEEP_WIDTH",
        values.get("data_width").copied().unwrap_or(0) / 8,
    )]
}
