//! The HER generator in the catalog.

use super::{HerShape, PspinHerGen};
use crate::entry::{Config, Entry, Parameter, Simulated};

/// Name of the block.
pub(super) const NAME: &str = "pspin_her_gen";

/// The HER generator.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "tells the cluster of every packet, with its execution context",
    shipped: true,
    parameters,
    derived: |_| Vec::new(),
    build: |values| Ok(Box::new(PspinHerGen::new(HerShape::new(values)?))),
};

/// Models for the testbenches: name, and the values that differ from the reference configuration.
const SIMULATED: &[(&str, &[(&str, u64)])] = &[
    (NAME, &[]),
    (
        "pspin_her_gen_board",
        &[
            ("message_id_width", 10),
            ("length_width", 16),
            ("context_in_message_id", 1),
            ("transfer_limit", 128),
        ],
    ),
    (
        "pspin_her_gen_odd",
        &[
            ("message_id_width", 12),
            ("address_width", 17),
            ("host_address_width", 40),
            ("length_width", 11),
            ("tag_width", 9),
            ("contexts", 3),
            ("tag_message_id_width", 5),
            ("transfer_limit", 1000),
        ],
    ),
];

/// The models with complete parameter values.
pub(crate) fn simulated() -> impl Iterator<Item = Simulated> {
    SIMULATED
        .iter()
        .map(|(name, settings)| ENTRY.model(name, settings))
}

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
    let (message_id_width, length_width, context_in_message_id) = match config {
        Config::Reference => (32, 32, 0),
        Config::Board => (10, 16, 1),
    };
    vec![
        parameter(
            "message_id_width",
            message_id_width,
            [1, 32],
            Some("C_MSGID_WIDTH"),
            "width of the message id in a HER in bits",
        ),
        parameter(
            "address_width",
            32,
            [2, 64],
            Some("AXI_ADDR_WIDTH"),
            "width of an address in L2, and of a size in a HER, in bits",
        ),
        parameter(
            "host_address_width",
            64,
            [1, 64],
            Some("AXI_HOST_ADDR_WIDTH"),
            "width of a host address in bits",
        ),
        parameter(
            "length_width",
            length_width,
            [2, 32],
            Some("LEN_WIDTH"),
            "width of a packet's length in bits",
        ),
        parameter(
            "tag_width",
            64,
            [4, 128],
            Some("TAG_WIDTH"),
            "width of the packet tag in bits",
        ),
        parameter("contexts", 4, [1, 4], None, "execution contexts"),
        parameter(
            "tag_message_id_width",
            32,
            [1, 32],
            None,
            "bits of the message id in the tag",
        ),
        parameter(
            "context_in_message_id",
            context_in_message_id,
            [0, 1],
            None,
            "1: the lowest 2 bits of a HER's message id are its context, so that contexts share no queue",
        ),
        parameter(
            "transfer_limit",
            0,
            [0, u32::MAX as u64],
            None,
            "most bytes of a packet that the cluster copies to L1; 0: all of it",
        ),
    ]
}
