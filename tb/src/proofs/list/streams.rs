//! Streams and crossings of clocks.

use crate::proofs::{Method, Proof};

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
    Proof {
        name: "skid_buffer",
        harness: "skid_buffer",
        block: "skid_buffer",
        settings: &[("width", 2)],
        method: Method::Induction(10),
        fast: true,
        shows: "order, no loss, no duplication, latency 1, holds 2",
    },
    Proof {
        name: "ready_slice",
        harness: "ready_slice",
        block: "ready_slice",
        settings: &[("width", 2)],
        method: Method::Induction(10),
        fast: true,
        shows: "order, no loss, no duplication, latency 0, holds 1",
    },
    Proof {
        name: "fifo_fallthrough",
        harness: "fifo",
        block: "fifo",
        settings: fifo!(4, 1, 0, 0),
        method: Method::Induction(12),
        fast: true,
        shows: FIFO,
    },
    Proof {
        name: "fifo_fallthrough_2",
        harness: "fifo",
        block: "fifo",
        settings: fifo!(2, 0, 0, 0),
        method: Method::Induction(12),
        fast: true,
        shows: FIFO,
    },
    Proof {
        name: "fifo_registered",
        harness: "fifo",
        block: "fifo",
        settings: fifo!(4, 3, 1, 0),
        method: Method::Induction(12),
        fast: true,
        shows: FIFO,
    },
    Proof {
        name: "fifo_block",
        harness: "fifo",
        block: "fifo",
        settings: fifo!(4, 0, 1, 1),
        method: Method::Induction(12),
        fast: true,
        shows: FIFO,
    },
    Proof {
        name: "fifo_block_2",
        harness: "fifo",
        block: "fifo",
        settings: fifo!(2, 1, 1, 1),
        method: Method::Induction(12),
        fast: true,
        shows: FIFO,
    },
    Proof {
        name: "frame_fifo",
        harness: "frame_fifo",
        block: "frame_fifo",
        settings: &[("width", 2), ("depth", 4)],
        method: Method::Induction(12),
        fast: true,
        shows: "whole frames in order or not at all, drops exact and reported, no pause in a frame",
    },
    Proof {
        name: "frame_arbiter",
        harness: "frame_arbiter",
        block: "frame_arbiter",
        settings: &[("width", 2), ("ports", 3)],
        method: Method::Induction(10),
        fast: true,
        shows: "no loss, no duplication, not interleaved, waits for 1 frame of every other, no idle cycle",
    },
    Proof {
        name: "frame_demux",
        harness: "frame_demux",
        block: "frame_demux",
        settings: &[("width", 2), ("ports", 3)],
        method: Method::Induction(10),
        fast: true,
        shows: "no loss, no duplication, selected output only, stalls do not spread, misrouted exact",
    },
    Proof {
        name: "spinneret_rate_limiter",
        harness: "spinneret_rate_limiter",
        block: "spinneret_rate_limiter",
        settings: &[
            ("data_width", 16),
            ("id_width", 1),
            ("dest_width", 1),
            ("user_width", 1),
            ("period", 2),
            ("credit_width", 3),
        ],
        method: Method::Induction(12),
        fast: true,
        shows: "order, no loss, latency 3, begins exactly with credit, whole frames, every window within its bound",
    },
    Proof {
        name: "pass_fifo",
        harness: "pass_fifo",
        block: "pass_fifo",
        settings: fifo!(4, 1, 0, 0),
        method: Method::Induction(12),
        fast: true,
        shows: PASS_FIFO,
    },
    Proof {
        name: "pass_fifo_register",
        harness: "pass_fifo",
        block: "pass_fifo",
        settings: fifo!(4, 1, 1, 0),
        method: Method::Induction(12),
        fast: true,
        shows: PASS_FIFO,
    },
    Proof {
        name: "pass_fifo_register_2",
        harness: "pass_fifo",
        block: "pass_fifo",
        settings: fifo!(2, 0, 1, 0),
        method: Method::Induction(12),
        fast: true,
        shows: PASS_FIFO,
    },
    Proof {
        name: "pass_fifo_block",
        harness: "pass_fifo",
        block: "pass_fifo",
        settings: fifo!(4, 1, 1, 1),
        method: Method::Induction(12),
        fast: true,
        shows: PASS_FIFO,
    },
    Proof {
        name: "pass_fifo_block_2",
        harness: "pass_fifo",
        block: "pass_fifo",
        settings: fifo!(2, 0, 1, 1),
        method: Method::Induction(12),
        fast: true,
        shows: PASS_FIFO,
    },
    Proof {
        name: "output_queue",
        harness: "output_queue",
        block: "output_queue",
        settings: &[("width", 2), ("depth", 4), ("margin", 1)],
        method: Method::Induction(12),
        fast: true,
        shows: OUTPUT_QUEUE,
    },
    Proof {
        name: "output_queue_2",
        harness: "output_queue",
        block: "output_queue",
        settings: &[("width", 2), ("depth", 2), ("margin", 0)],
        method: Method::Induction(12),
        fast: true,
        shows: OUTPUT_QUEUE,
    },
    Proof {
        name: "admission_gate",
        harness: "admission_gate",
        block: "admission_gate",
        settings: gate![("stall", 0)],
        method: Method::Induction(7),
        fast: true,
        shows: "no frame stopped, no queue overflows, whole or not at all, order, marks exact, verdicts fit",
    },
    Proof {
        name: "frame_valve",
        harness: "frame_valve",
        block: "frame_valve",
        settings: &[("data_width", 16), ("length_width", 1), ("tag_width", 1)],
        method: Method::Induction(8),
        fast: true,
        shows: "whole frames pass or go nowhere, metadata goes the way of its frame, losses counted exactly",
    },
    Proof {
        name: "admission_gate_stall",
        harness: "admission_gate",
        block: "admission_gate",
        settings: gate![("stall", 1)],
        method: Method::Induction(7),
        fast: true,
        shows: "the same, and no frame dropped",
    },
    Proof {
        name: "frame_room",
        harness: "frame_room",
        block: "frame_room",
        settings: &[("places", 8), ("most", 3)],
        method: Method::Induction(12),
        fast: true,
        shows: "no place claimed twice, none lost, room for the longest frame exactly when it says so",
    },
    Proof {
        name: "async_fifo",
        harness: "async_fifo",
        block: "async_fifo",
        settings: &[("width", 2), ("depth", 4)],
        method: Method::Induction(11),
        fast: true,
        shows: "order, no loss, no duplication, no overflow, pointers change in one bit; any two clocks",
    },
    Proof {
        name: "link_reset",
        harness: "link_reset",
        block: "link_reset",
        settings: &[],
        method: Method::Induction(31),
        fast: true,
        shows: "order and overlap of both resets, no request lost; any two clocks",
    },
];

const FIFO: &str = "order, no loss, no duplication, latency, level and almost_full exact";
const PASS_FIFO: &str =
    "order, no loss, no duplication, no latency while empty, s_ready and almost_full exact";
const OUTPUT_QUEUE: &str = "order, no loss, no duplication, latency 1, s_ready and almost_full exact";
