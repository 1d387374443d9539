//! The allocator in the catalog.

use super::{AllocLayout, PspinPktAlloc};
use crate::entry::{Entry, Parameters as _, Variant};

/// The allocator.
pub(crate) const ENTRY: Entry = Entry::shipped(
    AllocLayout::BLOCK,
    "gives packets a slot of the packet buffer, and takes it back",
    AllocLayout::parameters,
    |values| Ok(Box::new(PspinPktAlloc::new(AllocLayout::new(values)?)?)),
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    ENTRY.model(
        "pspin_pkt_alloc_halves",
        &[("large_slots", 170), ("small_slots", 2048), ("length_width", 16)],
    ),
    ENTRY.model(
        "pspin_pkt_alloc_tiny",
        &[
            ("buffer_base", 0x40),
            ("buffer_size", 1024),
            ("large_slot_size", 192),
            ("large_slots", 3),
            ("small_slot_size", 64),
            ("small_slots", 5),
            ("address_width", 12),
            ("tag_width", 16),
        ],
    ),
    ENTRY.model(
        "pspin_pkt_alloc_odd",
        &[
            ("buffer_base", 0),
            ("buffer_size", 256),
            ("large_slot_size", 7),
            ("large_slots", 36),
            ("small_slot_size", 1),
            ("small_slots", 1),
            ("alignment", 1),
            ("address_width", 9),
            ("length_width", 9),
        ],
    ),
    ENTRY.model(
        "pspin_pkt_alloc_stall",
        &[
            ("large_slot_size", 9664),
            ("large_slots", 13),
            ("small_slot_size", 256),
            ("small_slots", 24),
            ("stall", 1),
        ],
    ),
];
