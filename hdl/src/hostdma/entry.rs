//! The host DMA and its halves in the catalog.

use super::{HostDmaShape, PspinHostmemDma, PspinHostmemDmaRd, PspinHostmemDmaWr};
use crate::entry::{Config, Entry, Parameter, Values, Variant};

/// Name of the block with both halves.
pub(super) const NAME: &str = "pspin_hostmem_dma";
/// Name of the half that writes to the host.
pub(super) const WRITE_NAME: &str = "pspin_hostmem_dma_wr";
/// Name of the half that reads from the host.
pub(super) const READ_NAME: &str = "pspin_hostmem_dma_rd";

/// The host DMA.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "carries the cluster's AXI bursts to host memory and back, many in flight",
    shipped: true,
    parameters,
    derived,
    build: |values| Ok(Box::new(PspinHostmemDma::new(HostDmaShape::new(NAME, values)?)?)),
};

/// Its half that writes.
pub(crate) const WRITE_ENTRY: Entry = Entry {
    name: WRITE_NAME,
    doc: "carries the cluster's AXI writes to host memory, many in flight",
    shipped: true,
    parameters,
    derived: derived_of_half,
    build: |values| {
        Ok(Box::new(PspinHostmemDmaWr::new(HostDmaShape::new(
            WRITE_NAME, values,
        )?)?))
    },
};

/// Its half that reads.
pub(crate) const READ_ENTRY: Entry = Entry {
    name: READ_NAME,
    doc: "carries the cluster's AXI reads to host memory, many in flight",
    shipped: true,
    parameters,
    derived: derived_of_half,
    build: |values| {
        Ok(Box::new(PspinHostmemDmaRd::new(HostDmaShape::new(
            READ_NAME, values,
        )?)?))
    },
};

/// What the board configuration has beyond the reference.
const BOARD: &[(&str, u64)] = &[
    ("id_width", 6),
    ("ram_seg_data_width", 512),
    ("awuser_width", 4),
    ("wuser_width", 4),
    ("buser_width", 4),
    ("aruser_width", 4),
    ("ruser_width", 4),
    ("guard", 1),
    ("atop", 1),
    ("drain", 1),
];

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(NAME, &[]),
    ENTRY.model("pspin_hostmem_dma_board", BOARD),
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

/// Parameters with their values in a configuration.
pub(super) fn parameters(config: Config) -> Vec<Parameter> {
    let mut all = reference();
    if config == Config::Board {
        for parameter in &mut all {
            if let Some((_, value)) = BOARD.iter().find(|(name, _)| *name == parameter.name) {
                parameter.value = *value;
            }
        }
    }
    all
}

/// Parameters with the values of the public design.
fn reference() -> Vec<Parameter> {
    let new = Parameter::new;
    let mut all = vec![
        new(
            "data_width",
            512,
            [32, 1024],
            "width of a beat in bits, a power of two",
        )
        .carried_by("DATA_WIDTH"),
        new("address_width", 64, [13, 64], "width of a host address in bits").carried_by("ADDR_WIDTH"),
        new("id_width", 8, [1, 32], "width of an AXI id in bits").carried_by("ID_WIDTH"),
        new(
            "dma_len_width",
            16,
            [13, 32],
            "width of a descriptor's length in bits",
        )
        .carried_by("DMA_LEN_WIDTH"),
        new(
            "dma_tag_width",
            16,
            [1, 32],
            "width of a descriptor's tag in bits",
        )
        .carried_by("DMA_TAG_WIDTH"),
        new(
            "imm_width",
            32,
            [1, 64],
            "width of a descriptor's immediate data in bits",
        )
        .carried_by("DMA_IMM_WIDTH"),
        new(
            "ram_sel_width",
            4,
            [1, 16],
            "width of the number of a RAM in bits",
        )
        .carried_by("RAM_SEL_WIDTH"),
        new(
            "ram_addr_width",
            20,
            [12, 32],
            "width of the address of a byte in the RAM in bits",
        )
        .carried_by("RAM_ADDR_WIDTH"),
        new("ram_seg_count", 2, [1, 16], "segments of the RAM, a power of two").carried_by("RAM_SEG_COUNT"),
        new(
            "ram_seg_data_width",
            256,
            [16, 1024],
            "width of a segment in bits, a power of two",
        )
        .carried_by("RAM_SEG_DATA_WIDTH"),
    ];
    for (name, verilog) in [
        ("awuser_width", "AWUSER_WIDTH"),
        ("wuser_width", "WUSER_WIDTH"),
        ("buser_width", "BUSER_WIDTH"),
        ("aruser_width", "ARUSER_WIDTH"),
        ("ruser_width", "RUSER_WIDTH"),
    ] {
        all.push(new(name, 1, [1, 64], "width of a user signal in bits").carried_by(verilog));
    }
    let descriptors = "descriptors that can be in flight, a power of two";
    all.extend([
        new("writes", 64, [2, 256], descriptors),
        new("reads", 64, [2, 256], descriptors),
        new(
            "ring_bytes",
            16384,
            [4096, 1 << 20],
            "bytes of RAM that each half uses as a ring, a power of two",
        ),
        new(
            "guard",
            0,
            [0, 1],
            "1: transfers are held to the host windows of the execution contexts",
        ),
        new(
            "contexts",
            4,
            [1, 16],
            "execution contexts that have a window, with `guard`",
        ),
        new(
            "atop",
            0,
            [0, 1],
            "1: there is AWATOP, and atomic operations are refused",
        ),
        new(
            "drain",
            0,
            [0, 1],
            "1: transfers in flight outlive a reset of this side",
        ),
    ]);
    all
}

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let get = |name: &str| values.get(name).copied().unwrap_or(0);
    let enables = get("ram_seg_data_width") / 8;
    let line_bits = u64::from((get("ram_seg_count") * enables).max(1).ilog2());
    vec![
        ("DMA_IMM_ENABLE", 0),
        ("RAM_SEG_BE_WIDTH", enables),
        (
            "RAM_SEG_ADDR_WIDTH",
            get("ram_addr_width").saturating_sub(line_bits),
        ),
        ("STRB_WIDTH", get("data_width") / 8),
    ]
}

/// The same for one half, where the public design names the pipeline of its RAM; ours takes any.
fn derived_of_half(values: &Values) -> Vec<(&'static str, u64)> {
    let mut all = derived(values);
    all.push(("RAM_PIPELINE", 2));
    all
}
