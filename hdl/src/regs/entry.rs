//! The control registers in the catalog.

use super::{PspinCtrlRegs, RegsShape};
use crate::entry::{Config, Entry, Parameter, Variant};
use spinneret_regmap::pspin;

/// The control registers.
pub(crate) const ENTRY: Entry = Entry::shipped(
    "pspin_ctrl_regs",
    "control and status registers of everything, behind AXI4-Lite",
    parameters,
    |values| Ok(Box::new(PspinCtrlRegs::new(RegsShape::new(values)?))),
)
.derives(|_| vec![("STRB_WIDTH", 4)]);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    ENTRY.model("pspin_ctrl_regs_board", &[]).of_boards(),
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
pub(super) struct Constant {
    /// The register of the group `caps`.
    pub(super) register: &'static str,
    /// The parameter that gives its value.
    pub(super) parameter: &'static str,
    /// The value on a board.
    board: u64,
    doc: &'static str,
}

macro_rules! constants {
    ($($register:ident = $board:expr, $doc:literal;)*) => {
        /// Constants that are parameters; the others follow from the block itself.
        pub(super) const CONSTANTS: &[Constant] = &[$(Constant {
            register: stringify!($register),
            parameter: concat!("caps_", stringify!($register)),
            board: $board,
            doc: concat!("caps.", stringify!($register), ": ", $doc),
        }),*];
    };
}

constants! {
    features = 0x1f, "options, a bit each";
    data_width = 512, "bits of a beat";
    mtu = 1500, "bytes of the longest frame";
    inspected_bytes = 66, "bytes of a frame that rules see";
    buffer_base = pspin::PACKET_BASE as u64, "address of the packet buffer";
    buffer_size = pspin::PACKET_BYTES as u64, "bytes of the packet buffer";
    large_slots = 256, "number of large slots";
    large_slot_size = 1536, "bytes of a large slot";
    small_slots = 1024, "number of small slots";
    small_slot_size = 128, "bytes of a small slot";
    message_id_width = 10, "bits of the message id in a HER";
    host_tags = 64, "host transfers in flight, each way";
    core_clock_khz = 250_000, "frequency of the NIC's clock";
    cluster_clock_khz = 40_000, "frequency of the clusters' clock";
}

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
    let constants = CONSTANTS.iter();
    all.extend(constants.map(|c| Parameter::new(c.parameter, c.board, word, c.doc)));
    all
}
