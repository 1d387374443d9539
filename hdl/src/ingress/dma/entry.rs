//! The ingress DMA in the catalog.

use super::{DmaShape, PspinIngressDma};
use crate::entry::{Entry, Parameters as _, Values, Variant};

/// The ingress DMA.
pub(crate) const ENTRY: Entry = Entry::shipped(
    DmaShape::BLOCK,
    "writes packets into their slots, several in flight",
    DmaShape::parameters,
    |values| Ok(Box::new(PspinIngressDma::new(DmaShape::new(values)?)?)),
)
.derives(derived);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    ENTRY.model(
        "pspin_ingress_dma_small",
        &[
            ("data_width", 128),
            ("length_width", 16),
            ("tag_width", 32),
            ("burst_beats", 8),
            ("bursts", 4),
            ("her_queue", 2),
            ("free_queue", 2),
        ],
    ),
];

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let data = values.get("data_width").copied().unwrap_or(0);
    vec![
        ("AXIS_IF_KEEP_WIDTH", data / 8),
        ("AXI_DATA_WIDTH", data),
        ("AXI_STRB_WIDTH", data / 8),
    ]
}
