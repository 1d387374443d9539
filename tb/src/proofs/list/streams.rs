//! Streams and crossings of clocks.

use crate::proofs::Proof;

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

pub(super) const PROOFS: &[Proof] = &[
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
];

const FIFO: &str = "order, no loss, no duplication, latency, level and almost_full exact";
const PASS_FIFO: &str =
    "order, no loss, no duplication, no latency while empty, s_ready and almost_full exact";
const OUTPUT_QUEUE: &str = "order, no loss, no duplication, latency 1, s_ready and almost_full exact";
