//! What the host has to do with: its memory, the BAR, control registers.

use crate::proofs::{Method, Proof};

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
    Proof {
        name: "spinneret_psdpram",
        harness: "spinneret_psdpram",
        block: "spinneret_psdpram",
        settings: &[
            ("size", 8),
            ("ram_seg_count", 2),
            ("ram_seg_data_width", 16),
            ("ram_addr_width", 4),
        ],
        method: Method::Induction(10),
        fast: true,
        shows: "handshakes, done and responses exact; every read gives what was written last",
    },
    Proof {
        name: "spinneret_events",
        harness: "spinneret_events",
        block: "spinneret_events",
        settings: &[("lines", 3), ("moderation_width", 2)],
        method: Method::Induction(10),
        fast: true,
        shows: "no event lost, no message without a pending enabled line, distance kept, told at once and in turn",
    },
    Proof {
        name: "host_guard",
        harness: "host_guard",
        block: "host_guard",
        settings: &[("address_width", 32), ("contexts", 3)],
        method: Method::Induction(3),
        fast: true,
        shows: HOST_GUARD,
    },
    Proof {
        name: "pspin_hostmem_dma_wr",
        harness: "pspin_hostmem_dma_wr",
        block: "pspin_hostmem_dma_wr",
        settings: half!(0),
        method: Method::Induction(10),
        fast: false,
        shows: HOST_WRITES,
    },
    Proof {
        name: "pspin_hostmem_dma_wr_drain",
        harness: "pspin_hostmem_dma_wr",
        block: "pspin_hostmem_dma_wr",
        settings: half!(1),
        method: Method::Induction(12),
        fast: false,
        shows: "the same, and nothing comes in until descriptors and RAM commands of before a reset are answered",
    },
    Proof {
        name: "pspin_hostmem_dma_rd",
        harness: "pspin_hostmem_dma_rd",
        block: "pspin_hostmem_dma_rd",
        settings: half!(0),
        method: Method::Induction(13),
        fast: false,
        shows: HOST_READS,
    },
    Proof {
        name: "pspin_hostmem_dma_rd_drain",
        harness: "pspin_hostmem_dma_rd",
        block: "pspin_hostmem_dma_rd",
        settings: half!(1),
        method: Method::Induction(13),
        fast: false,
        shows: "the same, and nothing comes in until descriptors and RAM commands of before a reset are answered",
    },
    Proof {
        name: "spinneret_bar",
        harness: "spinneret_bar",
        block: "spinneret_bar",
        settings: &[
            ("address_width", 24),
            ("data_width", 64),
            ("id_width", 1),
            ("timeout_cycles", 4),
        ],
        method: Method::Induction(16),
        fast: true,
        shows: "every access is answered once, in time, with its own answer; what is offered stays",
    },
    Proof {
        name: "pspin_ctrl_regs",
        harness: "pspin_ctrl_regs",
        block: "pspin_ctrl_regs",
        settings: &[],
        method: Method::Induction(6),
        fast: true,
        shows: "each access answered once, in its clock, and stable; any context's word reads as written; stdout taken once",
    },
];

const HOST_GUARD: &str =
    "what is allowed lies in a window that counts, any or that of its context; what does is allowed";
const HOST_WRITES: &str = "stable responses and descriptors, descriptors behind their data, tags, any status, each link from address to response, nothing overflows";
const HOST_READS: &str =
    "stable data and descriptors, tags, any status, each link from address to ARLEN + 1 beats";
