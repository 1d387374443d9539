//! The ingress path in the catalog.

use super::{DatapathShape, PspinIngressDatapath};
use crate::entry::{Config, Entry, Parameter, Values, Variant};
use crate::ingress::{dma, her_gen, pkt_match, slots::PoolLayout};

/// Name of the block.
pub(super) const NAME: &str = "pspin_ingress_datapath";

/// The ingress path.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "from the wire to the cluster: matches packets, writes them into slots, makes HERs",
    shipped: true,
    parameters,
    derived,
    build: |values| Ok(Box::new(PspinIngressDatapath::new(DatapathShape::new(values)?)?)),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(NAME, &[]),
    // Everything small, so that every queue fills and every slot is used often; jumbo slots.
    ENTRY.model(
        "pspin_ingress_datapath_small",
        &[
            ("data_width", 128),
            ("inspected_bytes", 64),
            ("buffer_frames", 0),
            ("length_width", 16),
            ("buffer_base", 0x1c10_0400),
            ("large_slot_size", 9664),
            ("large_slots", 5),
            ("small_slot_size", 192),
            ("small_slots", 11),
            ("bursts", 4),
            ("her_queue", 2),
            ("free_queue", 2),
            ("queue_beats", 1024),
            ("packets", 8),
            ("her_message_id_width", 10),
            ("context_in_message_id", 1),
        ],
    ),
    // The same path that waits for slots instead of dropping packets.
    ENTRY.model(
        "pspin_ingress_datapath_stall",
        &[("large_slots", 4), ("small_slots", 8), ("stall", 1)],
    ),
    ENTRY.model("pspin_ingress_datapath_board", &[]).of_boards(),
];

/// Parameters with the names that the public design has for them.
const NAMED: &[(&str, &str)] = &[
    ("inspected_bytes", "UMATCH_MATCHER_LEN"),
    ("mtu", "UMATCH_MTU"),
    ("buffer_frames", "UMATCH_BUF_FRAMES"),
    ("data_width", "AXIS_IF_DATA_WIDTH"),
    ("id_width", "AXIS_IF_RX_ID_WIDTH"),
    ("dest_width", "AXIS_IF_RX_DEST_WIDTH"),
    ("user_width", "AXIS_IF_RX_USER_WIDTH"),
    ("host_address_width", "AXI_HOST_ADDR_WIDTH"),
    ("address_width", "AXI_ADDR_WIDTH"),
    ("axi_id_width", "AXI_ID_WIDTH"),
    ("length_width", "LEN_WIDTH"),
    ("tag_width", "TAG_WIDTH"),
    ("message_id_width", "MSG_ID_WIDTH"),
    ("buffer_base", "BUF_START"),
    ("buffer_size", "BUF_SIZE"),
];

/// Parameters of the parts that follow from others here.
const DERIVED: &[&str] = &["burst_beats", "tag_message_id_width"];

/// Parameters with their values in a configuration: those of the parts, and its own.
///
/// What several parts have has one value, which has to suit all of them.
pub(super) fn parameters(config: Config) -> Vec<Parameter> {
    let parts = [pkt_match::ENTRY, dma::ENTRY, her_gen::ENTRY]
        .into_iter()
        .flat_map(|entry| (entry.parameters)(config));
    let mut all: Vec<Parameter> = Vec::new();
    for parameter in parts.chain(PoolLayout::parameters()).chain(own(config)) {
        if DERIVED.contains(&parameter.name) {
            continue;
        }
        if let Some(earlier) = all.iter_mut().find(|earlier| earlier.name == parameter.name) {
            earlier.min = earlier.min.max(parameter.min);
            earlier.max = earlier.max.min(parameter.max);
            continue;
        }
        let named = NAMED.iter().find(|(name, _)| *name == parameter.name);
        all.push(Parameter {
            verilog: named.map(|(_, verilog)| *verilog),
            ..parameter
        });
    }
    all
}

/// Parameters that none of the parts has.
fn own(config: Config) -> [Parameter; 5] {
    let parameter = |name, value, [min, max]: [u64; 2], doc| Parameter {
        name,
        value,
        min,
        max,
        verilog: None,
        doc,
    };
    // On a board the wire brings 100 Gb/s and the cluster takes 20 Gb/s at 40 MHz: a burst of 64 full frames waits here.
    let (her_message_id_width, cluster_reset, queue_beats) = match config {
        Config::Reference => (32, 0, 64),
        Config::Board => (10, 1, 2048),
    };
    [
        parameter(
            "her_message_id_width",
            her_message_id_width,
            [1, 32],
            "width of the message id in a HER, and of that in the feedback, in bits",
        ),
        parameter(
            "queue_beats",
            queue_beats,
            [4, 4096],
            "beats of matched frames that can wait for the bus, a power of two",
        ),
        parameter(
            "packets",
            128,
            [4, 1024],
            "matched packets that can be under way to their last response, a power of two",
        ),
        parameter(
            "stall",
            0,
            [0, 1],
            "1: a matched frame waits for room or a slot, 0: it is dropped when there is none",
        ),
        parameter(
            "cluster_reset",
            cluster_reset,
            [0, 1],
            "1: an input resets all that lies behind the matching engine, with the cluster",
        ),
    ]
}

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let data = values.get("data_width").copied().unwrap_or(0);
    vec![
        ("AXIS_IF_KEEP_WIDTH", data / 8),
        ("AXI_DATA_WIDTH", data),
        ("AXI_STRB_WIDTH", data / 8),
    ]
}
