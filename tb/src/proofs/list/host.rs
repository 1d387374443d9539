//! What the host has to do with: its memory, the BAR, control registers.

use crate::proofs::Proof;

/// Sizes of either half of the host DMA.
macro_rules! half {
    ($drain:literal) => {
        &[
            ("data_width", 32),
            ("address_width", 13),
            ("id_width", 2),
            ("dma_len_width", 13),
            ("dma_tag_width", 3),
            ("imm_width", 1),
            ("ram_sel_width", 1),
            ("ram_addr_width", 12),
            ("ram_seg_count", 2),
            ("ram_seg_data_width", 16),
            ("writes", 4),
            ("reads", 4),
            ("ring_bytes", 4096),
            ("drain", $drain),
        ]
    };
}

pub(super) const PROOFS: &[Proof] = &[
    Proof::of(
        "spinneret_psdpram",
        &[
            ("size", 8),
            ("ram_seg_count", 2),
            ("ram_seg_data_width", 16),
            ("ram_addr_width", 4),
        ],
        10,
        "handshakes, done and responses exact; every read gives what was written last",
    ),
    Proof::of(
        "spinneret_events",
        &[("lines", 3), ("moderation_width", 2)],
        10,
        "no event lost, no message without a pending enabled line, distance kept, told at once and in turn",
    ),
    Proof::of(
        "host_guard",
        &[("address_width", 32), ("contexts", 3)],
        3,
        HOST_GUARD,
    ),
    Proof::of("pspin_hostmem_dma_wr", half!(0), 10, HOST_WRITES).slow(),
    Proof::of(
        "pspin_hostmem_dma_wr",
        half!(1),
        12,
        "the same, and nothing comes in until descriptors and RAM commands of before a reset are answered",
    )
    .named("pspin_hostmem_dma_wr_drain")
    .slow(),
    Proof::of("pspin_hostmem_dma_rd", half!(0), 13, HOST_READS).slow(),
    Proof::of(
        "pspin_hostmem_dma_rd",
        half!(1),
        13,
        "the same, and nothing comes in until descriptors and RAM commands of before a reset are answered",
    )
    .named("pspin_hostmem_dma_rd_drain")
    .slow(),
    Proof::of(
        "spinneret_bar",
        &[
            ("address_width", 24),
            ("data_width", 64),
            ("id_width", 1),
            ("timeout_cycles", 4),
        ],
        16,
        "every access is answered once, in time, with its own answer; what is offered stays",
    ),
    Proof::of(
        "pspin_ctrl_regs",
        &[],
        6,
        "each access answered once, in its clock, and stable; any context's word reads as written; stdout taken once",
    ),
];

const HOST_GUARD: &str =
    "what is allowed lies in a window that counts, any or that of its context; what does is allowed";
const HOST_WRITES: &str = "stable responses and descriptors, descriptors behind their data, tags, any status, each link from address to response, nothing overflows";
const HOST_READS: &str =
    "stable data and descriptors, tags, any status, each link from address to ARLEN + 1 beats";
