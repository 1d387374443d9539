//! The control registers in the catalog.

use super::{PspinCtrlRegs, RegsShape};
use crate::entry::{Config, Entry, Parameter, Variant};

/// Name of the block.
pub(super) const NAME: &str = "pspin_ctrl_regs";

/// The control registers.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "control and status registers of everything, behind AXI4-Lite",
    shipped: true,
    parameters,
    derived: |_| vec![("STRB_WIDTH", 4)],
    build: |values| Ok(Box::new(PspinCtrlRegs::new(RegsShape::new(values)?))),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(NAME, &[]),
    ENTRY.model("pspin_ctrl_regs_board", &[("extended", 1)]),
    // More of everything, and addresses beyond the window.
    ENTRY.model(
        "pspin_ctrl_regs_odd",
        &[
            ("address_width", 20),
            ("num_clusters", 5),
            ("num_mpq", 9),
            ("extended", 1),
            ("caps_features", 0x2a),
            ("caps_core_clock_khz", 322_265),
        ],
    ),
];

/// A constant of the generated hardware that software can read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constant {
    /// The register of the group `caps`.
    pub(super) register: &'static str,
    /// The parameter that gives its value.
    pub(super) parameter: &'static str,
    /// The value on a board.
    board: u64,
    doc: &'static str,
}

const fn constant(
    register: &'static str,
    parameter: &'static str,
    board: u64,
    doc: &'static str,
) -> Constant {
    Constant {
        register,
        parameter,
        board,
        doc,
    }
}

/// Constants that are parameters; the others follow from the block itself.
pub(super) const CONSTANTS: [Constant; 14] = [
    constant(
        "features",
        "caps_features",
        0x1f,
        "caps.features: options, a bit each",
    ),
    constant(
        "data_width",
        "caps_data_width",
        512,
        "caps.data_width: bits of a beat",
    ),
    constant("mtu", "caps_mtu", 1500, "caps.mtu: bytes of the longest frame"),
    constant(
        "inspected_bytes",
        "caps_inspected_bytes",
        66,
        "caps.inspected_bytes: bytes of a frame that rules see",
    ),
    constant(
        "buffer_base",
        "caps_buffer_base",
        0x1c10_0000,
        "caps.buffer_base: address of the packet buffer",
    ),
    constant(
        "buffer_size",
        "caps_buffer_size",
        512 * 1024,
        "caps.buffer_size: bytes of the packet buffer",
    ),
    constant(
        "large_slots",
        "caps_large_slots",
        256,
        "caps.large_slots: number of large slots",
    ),
    constant(
        "large_slot_size",
        "caps_large_slot_size",
        1536,
        "caps.large_slot_size: bytes of a large slot",
    ),
    constant(
        "small_slots",
        "caps_small_slots",
        1024,
        "caps.small_slots: number of small slots",
    ),
    constant(
        "small_slot_size",
        "caps_small_slot_size",
        128,
        "caps.small_slot_size: bytes of a small slot",
    ),
    constant(
        "message_id_width",
        "caps_message_id_width",
        10,
        "caps.message_id_width: bits of the message id in a HER",
    ),
    constant(
        "host_tags",
        "caps_host_tags",
        64,
        "caps.host_tags: host transfers in flight, each way",
    ),
    constant(
        "core_clock_khz",
        "caps_core_clock_khz",
        250_000,
        "caps.core_clock_khz: frequency of the NIC's clock",
    ),
    constant(
        "cluster_clock_khz",
        "caps_cluster_clock_khz",
        40_000,
        "caps.cluster_clock_khz: frequency of the clusters' clock",
    ),
];

/// Parameters with their values in a configuration.
pub(super) fn parameters(config: Config) -> Vec<Parameter> {
    let extended = u64::from(config == Config::Board);
    let extended_doc = "1: with the registers that the public design does not have";
    let mut all = vec![
        Parameter::new("address_width", 16, [16, 32], "width of an address in bits").carried_by("ADDR_WIDTH"),
        Parameter::new("data_width", 32, [32, 32], "width of a register in bits").carried_by("DATA_WIDTH"),
        Parameter::new("num_clusters", 2, [1, 32], "PsPIN clusters").carried_by("NUM_CLUSTERS"),
        Parameter::new("num_mpq", 16, [1, 32], "message processing queues").carried_by("NUM_MPQ"),
        Parameter::new("extended", extended, [0, 1], extended_doc),
    ];
    let word = [0, u32::MAX.into()];
    let constants = CONSTANTS.map(|c| Parameter::new(c.parameter, c.board, word, c.doc));
    all.extend(constants);
    all
}
