//! The BAR in the catalog.

use super::{BarShape, SpinneretBar};
use crate::entry::{Config, Entry, Parameter, Variant};
use spinneret_regmap::bar::ADDRESS_BITS;

/// Name of the block.
pub(super) const NAME: &str = "spinneret_bar";

/// The BAR.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "leads the host's accesses to the control registers and to the cluster's memory",
    shipped: true,
    parameters,
    derived: |_| Vec::new(),
    build: |values| Ok(Box::new(SpinneretBar::new(BarShape::new(values)?))),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    // As on a board, with a patience that a test can wait for.
    ENTRY.model(NAME, &[("timeout_cycles", 200)]),
    // A small BAR without registers, one lane, and hardly any patience.
    ENTRY.model(
        "spinneret_bar_small",
        &[
            ("address_width", 20),
            ("data_width", 32),
            ("id_width", 1),
            ("timeout_cycles", 2),
        ],
    ),
    // A large BAR, of which most is outside.
    ENTRY.model(
        "spinneret_bar_large",
        &[
            ("address_width", 26),
            ("data_width", 128),
            ("id_width", 4),
            ("timeout_cycles", 32),
        ],
    ),
];

/// Parameters with their values in a configuration.
pub(super) fn parameters(_config: Config) -> Vec<Parameter> {
    let parameter = Parameter::new;
    vec![
        parameter(
            "address_width",
            ADDRESS_BITS.into(),
            [16, 32],
            "width of an address of the BAR in bits",
        ),
        parameter(
            "data_width",
            512,
            [32, 1024],
            "width of a beat to the cluster in bits, a power of two",
        ),
        parameter(
            "id_width",
            8,
            [1, 32],
            "width of an AXI id to the cluster in bits",
        ),
        parameter(
            "timeout_cycles",
            65536,
            [2, 1 << 24],
            "clocks that the cluster has for its answer",
        ),
    ]
}
