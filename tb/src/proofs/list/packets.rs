//! The way of packets: matching, slots, packet buffer, HERs, and back to the wire.

use crate::proofs::{Method, Proof};

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
    Proof {
        name: "pspin_pkt_match",
        harness: "pspin_pkt_match",
        block: "pspin_pkt_match",
        settings: matching![],
        method: Method::Induction(2),
        fast: true,
        shows: "stream rules of three outputs; beat buffer, decision and metadata queue never overflow; last beats stay marked",
    },
    Proof {
        name: "pspin_pkt_match_ip",
        harness: "pspin_pkt_match",
        block: "pspin_pkt_match",
        settings: matching![("ip_relative", 1)],
        method: Method::Induction(2),
        fast: true,
        shows: "the same with rules relative to the IP payload",
    },
    Proof {
        name: "pspin_her_gen",
        harness: "pspin_her_gen",
        block: "pspin_her_gen",
        settings: &[
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
        method: Method::Induction(6),
        fast: true,
        shows: HER_GEN,
    },
    Proof {
        name: "pspin_her_gen_board",
        harness: "pspin_her_gen",
        block: "pspin_her_gen",
        settings: &[
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
        method: Method::Induction(6),
        fast: true,
        shows: HER_GEN,
    },
    Proof {
        name: "slot_pool",
        harness: "slot_pool",
        block: "slot_pool",
        settings: slots![],
        method: Method::Induction(14),
        fast: true,
        shows: "every slot has one owner, none is lost or given twice, wrong frees are refused and counted",
    },
    Proof {
        name: "slot_pool_tracked",
        harness: "slot_pool",
        block: "slot_pool",
        settings: slots![("tracked", 1)],
        method: Method::Induction(13),
        fast: false,
        shows: "the same, and a free that is not trusted counts only for a slot that has been handed on",
    },
    Proof {
        name: "pspin_pkt_alloc",
        harness: "pspin_pkt_alloc",
        block: "pspin_pkt_alloc",
        settings: slots![
            ("length_width", 8),
            ("tag_width", 2),
            ("message_id_width", 1),
            ("stall", 0)
        ],
        method: Method::Induction(11),
        fast: true,
        shows: "stream rules of descriptors; one for every packet, in order, dropped if longer than a large slot",
    },
    Proof {
        name: "pspin_pkt_alloc_stall",
        harness: "pspin_pkt_alloc",
        block: "pspin_pkt_alloc",
        settings: slots![
            ("length_width", 8),
            ("tag_width", 2),
            ("message_id_width", 1),
            ("stall", 1)
        ],
        method: Method::Induction(14),
        fast: true,
        shows: "the same, and no packet dropped for lack of a slot",
    },
    Proof {
        name: "write_engine",
        harness: "write_engine",
        block: "write_engine",
        settings: &[
            ("data_width", 16),
            ("address_width", 12),
            ("length_width", 1),
            ("tag_width", 1),
            ("burst_beats", 2),
            ("bursts", 4),
        ],
        method: Method::Induction(7),
        fast: true,
        shows: "AXI write rules, bursts in their block, records never overflow, each packet leaves once, in order",
    },
    Proof {
        name: "pspin_ingress_dma",
        harness: "pspin_ingress_dma",
        block: "pspin_ingress_dma",
        settings: &[
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
        method: Method::Induction(9),
        fast: false,
        shows: "AXI write rules, bursts in their block, records never overflow, no packet lost or doubled",
    },
    Proof {
        name: "frame_reader",
        harness: "frame_reader",
        block: "frame_reader",
        settings: &[
            ("data_width", 32),
            ("address_width", 16),
            ("max_frame", 300),
            ("id_width", 1),
        ],
        method: Method::Induction(8),
        fast: true,
        shows: "bursts stay in their block and read the lines of each plan once, in order; nothing without room",
    },
    Proof {
        name: "pspin_tx_inject",
        harness: "pspin_tx_inject",
        block: "pspin_tx_inject",
        settings: &[
            ("data_width", 8),
            ("id_width", 1),
            ("dest_width", 1),
            ("user_width", 3),
            ("tag_width", 2),
            ("timestamp_width", 1),
        ],
        method: Method::Induction(8),
        fast: true,
        shows: "frames whole, in order, at most one of the other first; the host's completions only; counters exact",
    },
    Proof {
        name: "line_aligner",
        harness: "line_aligner",
        block: "line_aligner",
        settings: &[("data_width", 32), ("beats_width", 3)],
        method: Method::Induction(12),
        fast: true,
        shows: "every byte in its beat and lane, beats in their clocks, last, keep, bad and count exact",
    },
    Proof {
        name: "line_aligner_8",
        harness: "line_aligner",
        block: "line_aligner",
        settings: &[("data_width", 64), ("beats_width", 3)],
        method: Method::Induction(12),
        fast: true,
        shows: "the same with eight lanes",
    },
];

const HER_GEN: &str =
    "every packet leaves once, at one output, in order, with its own context; counters exact";
