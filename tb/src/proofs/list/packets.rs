//! The way of packets: matching, slots, packet buffer, HERs, and back to the wire.

use crate::proofs::Proof;

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

pub(super) const PROOFS: &[Proof] = &[
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
];

const HER_GEN: &str =
    "every packet leaves once, at one output, in order, with its own context; counters exact";
