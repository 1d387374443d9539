//! The segmented RAM in the catalog.

use super::{PsdpramShape, SpinneretPsdpram};
use crate::entry::{Config, Entry, Parameter, Values, Variant};

/// Name of the block.
pub(super) const NAME: &str = "spinneret_psdpram";

/// The segmented RAM.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "segmented RAM between the host DMA and Corundum's DMA engine",
    shipped: true,
    parameters,
    derived,
    build: |values| Ok(Box::new(SpinneretPsdpram::new(PsdpramShape::new(values)?))),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(NAME, &[]),
    // As on a board: a line of 64 bytes lies in one segment.
    ENTRY.model("spinneret_psdpram_board", &[("ram_seg_data_width", 512)]),
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

/// Parameters with their values in a configuration.
pub(super) fn parameters(config: Config) -> Vec<Parameter> {
    let segment_width = match config {
        Config::Reference => 256,
        Config::Board => 512,
    };
    vec![
        Parameter::new("size", 16384, [2, 1 << 24], "bytes, a power of two").carried_by("SIZE"),
        Parameter::new("ram_seg_count", 2, [1, 16], "segments, a power of two").carried_by("RAM_SEG_COUNT"),
        Parameter::new(
            "ram_seg_data_width",
            segment_width,
            [8, 1024],
            "width of a segment in bits, a power of two",
        )
        .carried_by("RAM_SEG_DATA_WIDTH"),
        Parameter::new("ram_addr_width", 20, [1, 32], "width of a byte address in bits")
            .carried_by("RAM_ADDR_WIDTH"),
    ]
}

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let get = |name| values.get(name).copied().unwrap_or(0);
    let bytes = get("ram_seg_data_width") / 8;
    let line_bits = (get("ram_seg_count") * bytes).max(1).ilog2();
    let address = get("ram_addr_width").saturating_sub(line_bits.into());
    vec![("RAM_SEG_BE_WIDTH", bytes), ("RAM_SEG_ADDR_WIDTH", address)]
}
