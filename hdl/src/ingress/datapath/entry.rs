//! The ingress path in the catalog.

use super::{DatapathShape, PspinIngressDatapath};
use crate::entry::{Entry, Variant};
use crate::ingress::dma;

/// The ingress path.
pub(crate) const ENTRY: Entry = Entry::shipped(
    DatapathShape::BLOCK,
    "from the wire to the cluster: matches packets, writes them into slots, makes HERs",
    DatapathShape::parameters,
    |values| Ok(Box::new(PspinIngressDatapath::new(DatapathShape::new(values)?)?)),
)
.derives(dma::ENTRY.derived);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    // Everything small, so that every queue fills and every slot is used often; jumbo slots.
    ENTRY.model(
        "pspin_ingress_datapath_small",
        &[
            ("data_width", 128),
            ("inspected_bytes", 64),
            ("buffer_frames", 0),
            ("length_width", 16),
            ("buffer_base", 0x1c10_0400),
            ("large_slot_size", 9664),
            ("large_slots", 5),
            ("small_slot_size", 192),
            ("small_slots", 11),
            ("bursts", 4),
            ("her_queue", 2),
            ("free_queue", 2),
            ("queue_beats", 1024),
            ("packets", 8),
            ("her_message_id_width", 10),
            ("context_in_message_id", 1),
        ],
    ),
    // The same path that waits for slots instead of dropping packets.
    ENTRY.model(
        "pspin_ingress_datapath_stall",
        &[("large_slots", 4), ("small_slots", 8), ("stall", 1)],
    ),
    ENTRY.model("pspin_ingress_datapath_board", &[]).of_boards(),
];
