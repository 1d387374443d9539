//! The ingress DMA in the catalog.

use super::{DmaShape, PspinIngressDma};
use crate::entry::{Config, Entry, Parameter, Values, Variant};

/// Name of the block.
pub(super) const NAME: &str = "pspin_ingress_dma";

/// The ingress DMA.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "writes packets into their slots, several in flight",
    shipped: true,
    parameters,
    derived,
    build: |values| Ok(Box::new(PspinIngressDma::new(DmaShape::new(values)?)?)),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(NAME, &[]),
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

/// Parameters with their values in a configuration.
pub(super) fn parameters(config: Config) -> Vec<Parameter> {
    let (user_width, length_width) = match config {
        Config::Reference => (16, 32),
        Config::Board => (97, 16),
    };
    let word =
        |name, value, max, verilog, doc| Parameter::new(name, value, [1, max], doc).carried_by(verilog);
    vec![
        Parameter::new(
            "data_width",
            512,
            [128, 1024],
            "width of a beat in bits, on the stream and on the AXI port, a power of two",
        )
        .carried_by("AXIS_IF_DATA_WIDTH"),
        word("id_width", 1, 64, "AXIS_IF_RX_ID_WIDTH", "width of tid in bits"),
        word(
            "dest_width",
            8,
            64,
            "AXIS_IF_RX_DEST_WIDTH",
            "width of tdest in bits",
        ),
        word(
            "user_width",
            user_width,
            256,
            "AXIS_IF_RX_USER_WIDTH",
            "width of tuser in bits",
        ),
        Parameter::new("address_width", 32, [16, 64], "width of an address in bits")
            .carried_by("AXI_ADDR_WIDTH"),
        word(
            "axi_id_width",
            8,
            32,
            "AXI_ID_WIDTH",
            "width of an AXI id in bits",
        ),
        Parameter::new(
            "length_width",
            length_width,
            [13, 32],
            "width of a length in bits",
        )
        .carried_by("LEN_WIDTH"),
        word("tag_width", 64, 128, "TAG_WIDTH", "width of a tag in bits"),
        Parameter::new(
            "mtu",
            1500,
            [64, 16384],
            "largest ordinary frame in bytes; longer ones are written as well",
        )
        .carried_by("INGRESS_DMA_MTU"),
        Parameter::new(
            "burst_beats",
            2,
            [2, 16],
            "beats of a burst at most, a power of two; a burst starts when all its beats are there",
        ),
        Parameter::new(
            "bursts",
            64,
            [4, 1024],
            "bursts that can wait for their response, a power of two",
        ),
        Parameter::new(
            "her_queue",
            32,
            [2, 1024],
            "packets that can wait for the HER generator",
        ),
        Parameter::new(
            "free_queue",
            8,
            [2, 1024],
            "slots of failed packets that can wait for the allocator",
        ),
    ]
}

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let data = values.get("data_width").copied().unwrap_or(0);
    vec![
        ("AXIS_IF_KEEP_WIDTH", data / 8),
        ("AXI_DATA_WIDTH", data),
        ("AXI_STRB_WIDTH", data / 8),
    ]
}
