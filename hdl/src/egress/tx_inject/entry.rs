//! The block that joins our frames with Corundum's, in the catalog.

use super::{PspinTxInject, TxInjectShape};
use crate::entry::{Config, Entry, Parameter, Values, Variant};

/// Name of the block.
pub(super) const NAME: &str = "pspin_tx_inject";

/// The block that joins our frames with Corundum's.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "joins our frames with Corundum's, and keeps the completions of ours from it",
    shipped: true,
    parameters,
    derived,
    build: |values| Ok(Box::new(PspinTxInject::new(TxInjectShape::new(values)?)?)),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(NAME, &[]),
    // Odd widths, and bits of tuser above the tag.
    ENTRY.model(
        "pspin_tx_inject_odd",
        &[
            ("data_width", 64),
            ("id_width", 3),
            ("dest_width", 1),
            ("user_width", 9),
            ("tag_width", 6),
            ("timestamp_width", 48),
        ],
    ),
];

/// Parameters with their values in a configuration, which are the same in both.
pub(super) fn parameters(_: Config) -> Vec<Parameter> {
    vec![
        Parameter::new(
            "data_width",
            512,
            [8, 1024],
            "width of tdata in bits, a multiple of 8",
        )
        .carried_by("AXIS_IF_DATA_WIDTH"),
        Parameter::new("id_width", 12, [1, 64], "width of tid in bits").carried_by("AXIS_IF_TX_ID_WIDTH"),
        Parameter::new("dest_width", 4, [1, 64], "width of tdest in bits")
            .carried_by("AXIS_IF_TX_DEST_WIDTH"),
        Parameter::new(
            "user_width",
            17,
            [3, 128],
            "width of tuser in bits: error bit and tag",
        )
        .carried_by("AXIS_IF_TX_USER_WIDTH"),
        Parameter::new(
            "tag_width",
            16,
            [2, 64],
            "width of the tag in bits; the highest one says whose frame it is",
        )
        .carried_by("TX_TAG_WIDTH"),
        Parameter::new(
            "timestamp_width",
            96,
            [1, 128],
            "width of a completion's timestamp in bits",
        )
        .carried_by("PTP_TS_WIDTH"),
    ]
}

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let data = values.get("data_width").copied().unwrap_or(0);
    vec![("AXIS_IF_KEEP_WIDTH", data / 8)]
}
