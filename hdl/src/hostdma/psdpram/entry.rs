//! The segmented RAM in the catalog.

use super::{PsdpramShape, SpinneretPsdpram};
use crate::entry::{Entry, Parameters as _, Values, Variant};

/// The segmented RAM.
pub(crate) const ENTRY: Entry = Entry::shipped(
    PsdpramShape::BLOCK,
    "segmented RAM between the host DMA and Corundum's DMA engine",
    PsdpramShape::parameters,
    |values| Ok(Box::new(SpinneretPsdpram::new(PsdpramShape::new(values)?))),
)
.derives(derived);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    // A line of 64 bytes is in one segment.
    ENTRY.model("spinneret_psdpram_board", &[]).of_boards(),
    // So few lines that reads and writes meet all the time.
    ENTRY.model(
        "spinneret_psdpram_small",
        &[
            ("size", 64),
            ("ram_seg_count", 4),
            ("ram_seg_data_width", 32),
            ("ram_addr_width", 9),
        ],
    ),
    // One segment, and addresses that end where it does.
    ENTRY.model(
        "spinneret_psdpram_one",
        &[
            ("size", 32),
            ("ram_seg_count", 1),
            ("ram_seg_data_width", 8),
            ("ram_addr_width", 5),
        ],
    ),
];

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let of = |shape: PsdpramShape| {
        vec![
            ("RAM_SEG_BE_WIDTH", shape.segment_bytes() as u64),
            ("RAM_SEG_ADDR_WIDTH", shape.segment_address() as u64),
        ]
    };
    PsdpramShape::new(values).map(of).unwrap_or_default()
}
