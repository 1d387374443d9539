//! What hardware was generated: constants that software reads before it relies on anything else.

use crate::register::{Field, Register, Reset};
use crate::sizes::REGISTER_BYTES;

/// Value of `caps.magic`: "SPIN", first letter in the lowest byte.
pub const MAGIC_VALUE: u32 = u32::from_le_bytes(*b"SPIN");
/// Version of the register map that this table describes, as `caps.version` holds it.
pub const VERSION_VALUE: u32 = 0x0001_0200;

const fn constant(
    position: u32,
    name: &'static str,
    unit: &'static str,
    description: &'static str,
) -> Register {
    Register {
        reset: Reset::Generated,
        unit,
        description,
        extension: true,
        ..Register::shown("caps", name, 0xf000 + REGISTER_BYTES * position, 1)
    }
}

/// Tells that there is spinneret hardware with this group.
pub const MAGIC: Register = Register {
    reset: Reset::All(MAGIC_VALUE),
    ..constant(0, "magic", "text", "\"SPIN\", first letter in the lowest byte.")
};
/// Version of the register map.
pub const VERSION: Register = Register {
    reset: Reset::All(VERSION_VALUE),
    fields: &[
        field("patch", 0, 8, "changes of the description only"),
        field("minor", 8, 8, "registers that were added"),
        field("major", 16, 16, "changes that software has to know of"),
    ],
    ..constant(1, "version", "version", "Version of the register map.")
};
/// Options that the hardware was generated with.
pub const FEATURES: Register = Register {
    fields: &[
        Field::flag(
            "ip_relative",
            0,
            "rules can count from the IP payload (`me.relative`)",
        ),
        Field::flag("guard", 1, "the host DMA can be held to windows (`guard.*`)"),
        Field::flag(
            "atomics_answered",
            2,
            "atomic operations to host memory are answered, with an error",
        ),
        Field::flag(
            "drain",
            3,
            "host transfers in flight outlive a reset of the clusters",
        ),
        Field::flag(
            "context_in_message_id",
            4,
            "the context is part of a request's message id",
        ),
        Field::flag(
            "stub_cluster",
            5,
            "a stand-in is there instead of the PsPIN clusters",
        ),
        Field::flag("events", 6, "events of the hardware are gathered (`events.*`)"),
    ],
    ..constant(
        2,
        "features",
        "bit mask",
        "Options that the hardware was generated with.",
    )
};
/// The group, ordered by offset.
pub const ALL: &[Register] = &[
    MAGIC,
    VERSION,
    FEATURES,
    constant(3, "rulesets", "rulesets", "Rulesets of the matching engine."),
    constant(
        4,
        "rules",
        "rules",
        "Rules of a ruleset, the end-of-message rule among them.",
    ),
    constant(5, "contexts", "contexts", "Execution contexts."),
    constant(6, "clusters", "clusters", "PsPIN clusters."),
    constant(7, "mpqs", "queues", "Message processing queues."),
    constant(8, "data_width", "bits", "Width of a beat of the packet streams."),
    constant(9, "mtu", "bytes", "Longest frame that the matching engine takes."),
    constant(
        10,
        "inspected_bytes",
        "bytes",
        "Bytes of a frame, from its start, that rules can look at.",
    ),
    constant(
        11,
        "buffer_base",
        "address",
        "Address of the packet buffer in PsPIN.",
    ),
    constant(12, "buffer_size", "bytes", "Size of the packet buffer."),
    constant(13, "large_slots", "slots", "Large slots of the packet buffer."),
    constant(14, "large_slot_size", "bytes", "Size of a large slot."),
    constant(15, "small_slots", "slots", "Small slots of the packet buffer."),
    constant(16, "small_slot_size", "bytes", "Size of a small slot."),
    constant(
        17,
        "message_id_width",
        "bits",
        "Width of the message id in a request.",
    ),
    constant(
        18,
        "host_tags",
        "transfers",
        "Transfers to host memory, and from it, that can be in flight.",
    ),
    constant(19, "core_clock_khz", "kHz", "Frequency of the NIC's clock."),
    constant(
        20,
        "cluster_clock_khz",
        "kHz",
        "Frequency of the clusters' clock.",
    ),
];

/// Offset of a constant, named as in the table; `None` if there is none of that name.
pub fn offset(name: &str) -> Option<u32> {
    ALL.iter()
        .find(|register| register.name == name)
        .map(|register| register.offset)
}

const fn field(name: &'static str, bit: u32, width: u32, description: &'static str) -> Field {
    Field {
        name,
        bit,
        width,
        description,
    }
}
