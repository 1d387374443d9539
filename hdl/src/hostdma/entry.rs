//! The host DMA and its halves in the catalog.

use super::{HostDmaShape, PspinHostmemDma, PspinHostmemDmaRd, PspinHostmemDmaWr};
use crate::entry::{Entry, Parameters as _, Values, Variant};

/// The host DMA.
pub(crate) const ENTRY: Entry = Entry::shipped(
    "pspin_hostmem_dma",
    "carries the cluster's AXI bursts to host memory and back, many in flight",
    HostDmaShape::parameters,
    |values| {
        let shape = HostDmaShape::of(ENTRY.name, values)?;
        Ok(Box::new(PspinHostmemDma::new(shape)?))
    },
)
.derives(derived);

/// Its half that writes.
pub(crate) const WRITE_ENTRY: Entry = Entry::shipped(
    "pspin_hostmem_dma_wr",
    "carries the cluster's AXI writes to host memory, many in flight",
    HostDmaShape::parameters,
    |values| {
        let shape = HostDmaShape::of(WRITE_ENTRY.name, values)?;
        Ok(Box::new(PspinHostmemDmaWr::new(shape)?))
    },
)
.derives(derived_of_half);

/// Its half that reads.
pub(crate) const READ_ENTRY: Entry = Entry::shipped(
    "pspin_hostmem_dma_rd",
    "carries the cluster's AXI reads to host memory, many in flight",
    HostDmaShape::parameters,
    |values| {
        let shape = HostDmaShape::of(READ_ENTRY.name, values)?;
        Ok(Box::new(PspinHostmemDmaRd::new(shape)?))
    },
)
.derives(derived_of_half);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    ENTRY.model("pspin_hostmem_dma_board", &[]).of_boards(),
    ENTRY.model(
        "pspin_hostmem_dma_small",
        &[
            ("data_width", 128),
            ("ram_seg_data_width", 64),
            ("ring_bytes", 4096),
            ("writes", 4),
            ("reads", 4),
            ("guard", 1),
            ("awuser_width", 3),
            ("aruser_width", 2),
        ],
    ),
];

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let of = |shape: HostDmaShape| {
        vec![
            ("DMA_IMM_ENABLE", 0),
            ("RAM_SEG_BE_WIDTH", shape.segment_bytes() as u64),
            ("RAM_SEG_ADDR_WIDTH", shape.segment_address() as u64),
            ("STRB_WIDTH", shape.axi().strobes() as u64),
        ]
    };
    HostDmaShape::of(ENTRY.name, values).map(of).unwrap_or_default()
}

/// The same for one half, where the public design names the pipeline of its RAM; ours takes any.
fn derived_of_half(values: &Values) -> Vec<(&'static str, u64)> {
    let mut all = derived(values);
    all.push(("RAM_PIPELINE", 2));
    all
}
