//! The block that joins our frames with Corundum's, in the catalog.

use super::{PspinTxInject, TxInjectShape};
use crate::entry::{Entry, Parameters as _, Values, Variant};

/// The block that joins our frames with Corundum's.
pub(crate) const ENTRY: Entry = Entry::shipped(
    TxInjectShape::BLOCK,
    "joins our frames with Corundum's, and keeps the completions of ours from it",
    TxInjectShape::parameters,
    |values| Ok(Box::new(PspinTxInject::new(TxInjectShape::new(values)?)?)),
)
.derives(derived);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
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

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let data = values.get("data_width").copied().unwrap_or(0);
    vec![("AXIS_IF_KEEP_WIDTH", data / 8)]
}
