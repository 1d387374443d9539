//! Formal proofs of the blocks' generated text, by yosys, yosys-smtbmc and z3.
//!
//! A harness in `tb/proofs/` instantiates a block and states its contract as assertions; [`proofs`] says
//! with which parameters. [`prepare`] generates the block's text and turns both into a problem for the
//! solver; [`Problem::solve`] solves it.

mod question;
mod translate;

pub use question::{Ledger, Mutation, Outcome, Question, Verdict, mutations, questions};
pub use translate::{Problem, prepare, prepare_broken, text};

/// A proof method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// For all times: checked for this many cycles from the start, and by temporal induction over at most as
    /// many.
    Induction(u32),
    /// For all traffic in this many cycles from the start only.
    Bounded(u32),
}

impl Method {
    /// Cycles from the start that are looked at one by one.
    pub fn cycles(self) -> u32 {
        match self {
            Self::Induction(cycles) | Self::Bounded(cycles) => cycles,
        }
    }
}

/// A block with parameters, and what is proven about it.
#[derive(Clone, Copy, Debug)]
pub struct Proof {
    /// Name, also of the folder that the proof leaves.
    pub name: &'static str,
    /// Name of the block in the catalog; its harness is `tb/proofs/BLOCK.sv` with the module `BLOCK_proof`.
    pub block: &'static str,
    /// Parameter values; the harness sees each as a macro in capitals.
    pub settings: &'static [(&'static str, u64)],
    /// Proof method.
    pub method: Method,
    /// Whether it takes about a minute at most, so that `./dev test` runs it.
    pub fast: bool,
    /// The proven property, in a few words.
    pub shows: &'static str,
}

impl Proof {
    /// A proof by induction over that many cycles, with the name of the block.
    const fn of(
        block: &'static str,
        settings: &'static [(&'static str, u64)],
        cycles: u32,
        shows: &'static str,
    ) -> Self {
        Self {
            name: block,
            block,
            settings,
            method: Method::Induction(cycles),
            fast: true,
            shows,
        }
    }

    /// The same with another name.
    const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// The same, which takes minutes.
    const fn slow(self) -> Self {
        Self { fast: false, ..self }
    }
}

/// The proof of that name.
pub fn find(name: &str) -> Option<&'static Proof> {
    proofs().find(|proof| proof.name == name)
}

/// A FIFO of words of 2 bits.
macro_rules! fifo {
    ($depth:literal, $margin:literal, $registered:literal, $block:literal) => {
        &[
            ("width", 2),
            ("depth", $depth),
            ("margin", $margin),
            ("registered", $registered),
            ("block", $block),
        ]
    };
}

/// Sizes of the gate, and what it does without room.
macro_rules! gate {
    ($($more:expr),*) => {
        &[
            ("data_width", 16),
            ("length_width", 1),
            ("tag_width", 1),
            ("large_beats", 2),
            ("queue_beats", 4),
            ("packets", 2),
            $($more),*
        ]
    };
}

/// Slots of both classes, and what else the block has.
macro_rules! slots {
    ($($more:expr),*) => {
        &[
            ("address_width", 8),
            ("buffer_base", 16),
            ("buffer_size", 64),
            ("large_slot_size", 12),
            ("large_slots", 2),
            ("small_slot_size", 4),
            ("small_slots", 4),
            ("alignment", 4),
            $($more),*
        ]
    };
}

/// Sizes of the matching engine, and what else it has.
macro_rules! matching {
    ($($more:expr),*) => {
        &[
            ("data_width", 64),
            ("rulesets", 1),
            ("rules", 2),
            ("inspected_bytes", 8),
            ("mtu", 64),
            ("buffer_frames", 0),
            ("user_width", 1),
            ("dest_width", 1),
            ("id_width", 1),
            $($more),*
        ]
    };
}

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

const PROOFS: &[Proof] = &[
    // Streams and crossings of clocks.
    Proof::of(
        "skid_buffer",
        &[("width", 2)],
        10,
        "order, no loss, no duplication, latency 1, holds 2",
    ),
    Proof::of(
        "ready_slice",
        &[("width", 2)],
        10,
        "order, no loss, no duplication, latency 0, holds 1",
    ),
    Proof::of("fifo", fifo!(4, 1, 0, 0), 12, FIFO).named("fifo_fallthrough"),
    Proof::of("fifo", fifo!(2, 0, 0, 0), 12, FIFO).named("fifo_fallthrough_2"),
    Proof::of("fifo", fifo!(4, 3, 1, 0), 12, FIFO).named("fifo_registered"),
    Proof::of("fifo", fifo!(4, 0, 1, 1), 12, FIFO).named("fifo_block"),
    Proof::of("fifo", fifo!(2, 1, 1, 1), 12, FIFO).named("fifo_block_2"),
    Proof::of(
        "frame_fifo",
        &[("width", 2), ("depth", 4)],
        12,
        "whole frames in order or not at all, drops exact and reported, no pause in a frame",
    ),
    Proof::of(
        "frame_arbiter",
        &[("width", 2), ("ports", 3)],
        10,
        "no loss, no duplication, not interleaved, waits for 1 frame of every other, no idle cycle",
    ),
    Proof::of(
        "frame_demux",
        &[("width", 2), ("ports", 3)],
        10,
        "no loss, no duplication, selected output only, stalls do not spread, misrouted exact",
    ),
    Proof::of(
        "spinneret_rate_limiter",
        &[
            ("data_width", 16),
            ("id_width", 1),
            ("dest_width", 1),
            ("user_width", 1),
            ("period", 2),
            ("credit_width", 3),
        ],
        12,
        "order, no loss, latency 3, begins exactly with credit, whole frames, every window within its bound",
    ),
    Proof::of("pass_fifo", fifo!(4, 1, 0, 0), 12, PASS_FIFO),
    Proof::of("pass_fifo", fifo!(4, 1, 1, 0), 12, PASS_FIFO).named("pass_fifo_register"),
    Proof::of("pass_fifo", fifo!(2, 0, 1, 0), 12, PASS_FIFO).named("pass_fifo_register_2"),
    Proof::of("pass_fifo", fifo!(4, 1, 1, 1), 12, PASS_FIFO).named("pass_fifo_block"),
    Proof::of("pass_fifo", fifo!(2, 0, 1, 1), 12, PASS_FIFO).named("pass_fifo_block_2"),
    Proof::of(
        "output_queue",
        &[("width", 2), ("depth", 4), ("margin", 1)],
        12,
        OUTPUT_QUEUE,
    ),
    Proof::of(
        "output_queue",
        &[("width", 2), ("depth", 2), ("margin", 0)],
        12,
        OUTPUT_QUEUE,
    )
    .named("output_queue_2"),
    Proof::of(
        "admission_gate",
        gate![("stall", 0)],
        7,
        "no frame stopped, no queue overflows, whole or not at all, order, marks exact, verdicts fit",
    ),
    Proof::of(
        "frame_valve",
        &[("data_width", 16), ("length_width", 1), ("tag_width", 1)],
        8,
        "whole frames pass or go nowhere, metadata goes the way of its frame, losses counted exactly",
    ),
    Proof::of(
        "admission_gate",
        gate![("stall", 1)],
        7,
        "the same, and no frame dropped",
    )
    .named("admission_gate_stall"),
    Proof::of(
        "frame_room",
        &[("places", 8), ("most", 3)],
        12,
        "no place claimed twice, none lost, room for the longest frame exactly when it says so",
    ),
    Proof::of(
        "async_fifo",
        &[("width", 2), ("depth", 4)],
        11,
        "order, no loss, no duplication, no overflow, pointers change in one bit; any two clocks",
    ),
    Proof::of(
        "link_reset",
        &[],
        31,
        "order and overlap of both resets, no request lost; any two clocks",
    ),
    // The path of packets: matching, slots, packet buffer, HERs, and back to the wire.
    Proof::of(
        "pspin_pkt_match",
        matching![],
        2,
        "stream rules of three outputs; beat buffer, decision and metadata queue never overflow; last beats stay marked",
    ),
    Proof::of(
        "pspin_pkt_match",
        matching![("ip_relative", 1)],
        2,
        "the same with rules relative to the IP payload",
    )
    .named("pspin_pkt_match_ip"),
    Proof::of(
        "pspin_her_gen",
        &[
            ("message_id_width", 3),
            ("address_width", 2),
            ("host_address_width", 1),
            ("length_width", 2),
            ("tag_width", 6),
            ("contexts", 2),
            ("tag_message_id_width", 3),
            ("context_in_message_id", 0),
            ("transfer_limit", 0),
        ],
        6,
        HER_GEN,
    ),
    Proof::of(
        "pspin_her_gen",
        &[
            ("message_id_width", 5),
            ("address_width", 3),
            ("host_address_width", 1),
            ("length_width", 2),
            ("tag_width", 7),
            ("contexts", 2),
            ("tag_message_id_width", 3),
            ("context_in_message_id", 1),
            ("transfer_limit", 2),
        ],
        6,
        HER_GEN,
    )
    .named("pspin_her_gen_board"),
    Proof::of(
        "slot_pool",
        slots![],
        14,
        "every slot has one owner, none is lost or given twice, wrong frees are refused and counted",
    ),
    Proof::of(
        "slot_pool",
        slots![("tracked", 1)],
        13,
        "the same, and a free that is not trusted counts only for a slot that has been handed on",
    )
    .named("slot_pool_tracked")
    .slow(),
    Proof::of(
        "pspin_pkt_alloc",
        slots![
            ("length_width", 8),
            ("tag_width", 2),
            ("message_id_width", 1),
            ("stall", 0)
        ],
        11,
        "stream rules of descriptors; one for every packet, in order, dropped if longer than a large slot",
    ),
    Proof::of(
        "pspin_pkt_alloc",
        slots![
            ("length_width", 8),
            ("tag_width", 2),
            ("message_id_width", 1),
            ("stall", 1)
        ],
        14,
        "the same, and no packet dropped for lack of a slot",
    )
    .named("pspin_pkt_alloc_stall"),
    Proof::of(
        "write_engine",
        &[
            ("data_width", 16),
            ("address_width", 12),
            ("length_width", 1),
            ("tag_width", 1),
            ("burst_beats", 2),
            ("bursts", 4),
        ],
        7,
        "AXI write rules, bursts in their block, records never overflow, each packet leaves once, in order",
    ),
    Proof::of(
        "pspin_ingress_dma",
        &[
            ("data_width", 128),
            ("address_width", 16),
            ("length_width", 13),
            ("tag_width", 1),
            ("axi_id_width", 1),
            ("id_width", 1),
            ("dest_width", 1),
            ("user_width", 1),
            ("burst_beats", 2),
            ("bursts", 4),
            ("her_queue", 2),
            ("free_queue", 2),
        ],
        9,
        "AXI write rules, bursts in their block, records never overflow, no packet lost or doubled",
    )
    .slow(),
    Proof::of(
        "frame_reader",
        &[
            ("data_width", 32),
            ("address_width", 16),
            ("max_frame", 300),
            ("id_width", 1),
        ],
        8,
        "bursts stay in their block and read the lines of each plan once, in order; nothing without room",
    ),
    Proof::of(
        "pspin_tx_inject",
        &[
            ("data_width", 8),
            ("id_width", 1),
            ("dest_width", 1),
            ("user_width", 3),
            ("tag_width", 2),
            ("timestamp_width", 1),
        ],
        8,
        "frames whole, in order, at most one of the other first; the host's completions only; counters exact",
    ),
    Proof::of(
        "line_aligner",
        &[("data_width", 32), ("beats_width", 3)],
        12,
        "every byte in its beat and lane, beats in their clocks, last, keep, bad and count exact",
    ),
    Proof::of(
        "line_aligner",
        &[("data_width", 64), ("beats_width", 3)],
        12,
        "the same with eight lanes",
    )
    .named("line_aligner_8"),
    // Host memory, the BAR, control registers.
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

const FIFO: &str = "order, no loss, no duplication, latency, level and almost_full exact";
const PASS_FIFO: &str =
    "order, no loss, no duplication, no latency while empty, s_ready and almost_full exact";
const OUTPUT_QUEUE: &str = "order, no loss, no duplication, latency 1, s_ready and almost_full exact";
const HER_GEN: &str =
    "every packet leaves once, at one output, in order, with its own context; counters exact";
const HOST_GUARD: &str =
    "what is allowed lies in a window that counts, any or that of its context; what does is allowed";
const HOST_WRITES: &str = "stable responses and descriptors, descriptors behind their data, tags, any status, each link from address to response, nothing overflows";
const HOST_READS: &str =
    "stable data and descriptors, tags, any status, each link from address to ARLEN + 1 beats";

/// All proofs, simple blocks first.
pub fn proofs() -> impl Iterator<Item = &'static Proof> {
    PROOFS.iter()
}
