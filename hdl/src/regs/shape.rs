//! The control registers in the catalog, and their parameters.

use super::PspinCtrlRegs;
use crate::entry::{Checked, Config, Entry, Parameter, ParameterError, Values, Variant};
use spinneret_regmap::{CONTEXTS, RULES_PER_RULESET, RULESETS, Word, pspin};

/// The control registers.
pub(crate) const ENTRY: Entry = entry!(shipped RegsShape::BLOCK, PspinCtrlRegs(RegsShape):
    "control and status registers of everything, behind AXI4-Lite")
.derives(|_| vec![("STRB_WIDTH", 4)]);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    ENTRY.variant("pspin_ctrl_regs_board", "").of_boards(),
    // More of everything, and addresses beyond the window.
    ENTRY.variant(
        "pspin_ctrl_regs_odd",
        "address_width=20 num_clusters=5 num_mpq=9 extended=1 caps_features=0x2a caps_core_clock_khz=322265",
    ),
];

/// Parameters of the control registers, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegsShape {
    /// Width of an address in bits.
    pub address: usize,
    /// PsPIN clusters.
    pub clusters: usize,
    /// Message processing queues.
    pub queues: usize,
    /// Whether there are the registers that the public design does not have.
    pub extended: bool,
    /// Constants that software can read, by the name of their register.
    constants: Vec<(&'static str, u64)>,
}

/// A constant of the generated hardware that software can read.
struct Constant {
    /// The register of the group `caps`.
    register: &'static str,
    /// The parameter that gives its value.
    parameter: &'static str,
    /// The value on a board.
    board: u64,
    doc: &'static str,
}

macro_rules! constants {
    ($($register:ident = $board:expr, $doc:literal;)*) => {
        /// Constants that are parameters; the others follow from the block itself.
        const CONSTANTS: &[Constant] = &[$(Constant {
            register: stringify!($register),
            parameter: concat!("caps_", stringify!($register)),
            board: $board,
            doc: concat!("caps.", stringify!($register), ": ", $doc),
        }),*];
    };
}

constants! {
    features = 0x5f, "options, a bit each";
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

impl RegsShape {
    /// Name of the block.
    pub(super) const BLOCK: &str = "pspin_ctrl_regs";

    /// Parameters with their values in a configuration.
    pub(super) fn parameters(config: Config) -> Vec<Parameter> {
        let extended = u64::from(config == Config::Board);
        let extended_doc = "1: with the registers that the public design does not have";
        let mut all = vec![
            Parameter::new("address_width", 16, [16, 32], "width of an address in bits")
                .carried_by("ADDR_WIDTH"),
            Parameter::new("data_width", 32, [32, 32], "width of a register in bits")
                .carried_by("DATA_WIDTH"),
            Parameter::new("num_clusters", 2, [1, 32], "PsPIN clusters").carried_by("NUM_CLUSTERS"),
            Parameter::new("num_mpq", 16, [1, 32], "message processing queues").carried_by("NUM_MPQ"),
            Parameter::new("extended", extended, [0, 1], extended_doc),
        ];
        let word = [0, u32::MAX.into()];
        let constants = CONSTANTS.iter();
        all.extend(constants.map(|c| Parameter::new(c.parameter, c.board, word, c.doc)));
        all
    }

    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(Self::BLOCK, &Self::parameters(Config::Reference), values)?;
        let get = |name: &str| checked.get(name);
        let mut constants = vec![
            ("rulesets", RULESETS.into()),
            ("rules", RULES_PER_RULESET.into()),
            ("contexts", CONTEXTS.into()),
            ("clusters", get("num_clusters")),
            ("mpqs", get("num_mpq")),
        ];
        constants.extend(CONSTANTS.iter().map(|c| (c.register, get(c.parameter))));
        Ok(Self {
            address: get("address_width") as usize,
            clusters: get("num_clusters") as usize,
            queues: get("num_mpq") as usize,
            extended: get("extended") == 1,
            constants,
        })
    }

    /// The value of a word of the constants: that of the table, or else that of the generated hardware.
    ///
    /// # Panics
    /// If the table has a constant that this block knows no value of.
    pub(super) fn constant(&self, word: Word) -> u64 {
        let name = word.register.name;
        let generated = self.constants.iter().find(|(own, _)| *own == name);
        match (word.reset(), generated) {
            (Some(value), _) => value.into(),
            (None, Some((_, value))) => *value,
            (None, None) => panic!("caps.{name} has no value"),
        }
    }
}
