//! The allocator in the catalog.

use super::{AllocLayout, PspinPktAlloc};
use crate::entry::{Config, Entry, Parameter, Variant};
use crate::ingress::slots::PoolLayout;

/// Name of the block.
pub(super) const NAME: &str = "pspin_pkt_alloc";

/// The allocator.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "gives packets a slot of the packet buffer, and takes it back",
    shipped: true,
    parameters,
    derived: |_| Vec::new(),
    build: |values| Ok(Box::new(PspinPktAlloc::new(AllocLayout::new(values)?)?)),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model("pspin_pkt_alloc", &[]),
    ENTRY.model(
        "pspin_pkt_alloc_halves",
        &[("large_slots", 170), ("small_slots", 2048), ("length_width", 16)],
    ),
    ENTRY.model(
        "pspin_pkt_alloc_tiny",
        &[
            ("buffer_base", 0x40),
            ("buffer_size", 1024),
            ("large_slot_size", 192),
            ("large_slots", 3),
            ("small_slot_size", 64),
            ("small_slots", 5),
            ("address_width", 12),
            ("tag_width", 16),
        ],
    ),
    ENTRY.model(
        "pspin_pkt_alloc_odd",
        &[
            ("buffer_base", 0),
            ("buffer_size", 256),
            ("large_slot_size", 7),
            ("large_slots", 36),
            ("small_slot_size", 1),
            ("small_slots", 1),
            ("alignment", 1),
            ("address_width", 9),
            ("length_width", 9),
        ],
    ),
    ENTRY.model(
        "pspin_pkt_alloc_stall",
        &[
            ("large_slot_size", 9664),
            ("large_slots", 13),
            ("small_slot_size", 256),
            ("small_slots", 24),
            ("stall", 1),
        ],
    ),
];

/// Parameters with their values in a configuration.
pub(super) fn parameters(config: Config) -> Vec<Parameter> {
    let parameter = |name, value, [min, max]: [u64; 2], verilog, doc| Parameter {
        name,
        value,
        min,
        max,
        verilog,
        doc,
    };
    let (length_width, message_id_width) = match config {
        Config::Reference => (32, 32),
        Config::Board => (16, 10),
    };
    let mut all = vec![
        parameter(
            "length_width",
            length_width,
            [8, 32],
            Some("LEN_WIDTH"),
            "width of a packet's length in bits",
        ),
        parameter(
            "tag_width",
            64,
            [1, 128],
            Some("TAG_WIDTH"),
            "width of the packet tag in bits",
        ),
        parameter(
            "message_id_width",
            message_id_width,
            [1, 32],
            Some("MSGID_WIDTH"),
            "width of the message id in the feedback in bits",
        ),
    ];
    all.extend(PoolLayout::parameters());
    all.push(parameter(
        "stall",
        0,
        [0, 1],
        None,
        "1: a packet waits for a slot, 0: it is dropped when there is none",
    ));
    all
}
