//! Groups that the public design does not have.

pub mod guard {
    //! Windows of host memory that confine the host DMA, one for each execution context.

    use crate::register::{Bits, Field, Register};
    use crate::{CONTEXTS, REGISTER_BYTES};

    const fn register(name: &'static str, offset: u32, count: u32) -> Register {
        Register {
            extension: true,
            ..Register::held("guard", name, offset, count)
        }
    }

    const fn window(
        position: u32,
        name: &'static str,
        unit: &'static str,
        description: &'static str,
    ) -> Register {
        Register {
            unit,
            description,
            ..register(
                name,
                ENABLED.offset + CONTEXTS * REGISTER_BYTES * position,
                CONTEXTS,
            )
        }
    }

    /// Whether the windows confine the host DMA.
    pub const ENFORCE: Register = Register {
        bits: Bits::All(1),
        unit: "flag",
        description: "1: the windows confine the host DMA as `guard.by_context` says; 0: it is not limited.",
        fields: &[Field::flag("enforce", 0, "the windows confine the host DMA")],
        ..register("enforce", 0x5000, 1)
    };
    /// Whether a window contains anything.
    pub const ENABLED: Register = Register {
        bits: Bits::All(1),
        unit: "flag",
        description: "Whether the window of the context is open.",
        ..register("enabled", 0x5004, CONTEXTS)
    };
    /// Low words of the windows' first addresses.
    pub const BASE_0: Register = window(
        1,
        "base_0",
        "address",
        "First byte of the window, low word of its address.",
    );
    /// High words of the windows' first addresses.
    pub const BASE_1: Register = window(
        2,
        "base_1",
        "address",
        "First byte of the window, high word of its address.",
    );
    /// Sizes of the windows.
    pub const SIZE: Register = window(3, "size", "bytes", "Size of the window; 0: it contains nothing.");
    /// Which window confines a transfer.
    pub const BY_CONTEXT: Register = Register {
        bits: Bits::All(1),
        unit: "flag",
        description: "1: a transfer must be in the window of its context, which the lowest bits of AWUSER or ARUSER name; \
                  0: in any window, for clusters that do not say who asks.",
        fields: &[Field::flag(
            "by_context",
            0,
            "the window of its context confines a transfer",
        )],
        ..register("by_context", 0x5044, 1)
    };
    /// The group, ordered by offset.
    pub const ALL: &[Register] = &[ENFORCE, ENABLED, BASE_0, BASE_1, SIZE, BY_CONTEXT];

    /// Offset of a window's flag; `None` if there is no such context.
    pub const fn enabled(context: u32) -> Option<u32> {
        ENABLED.address(context)
    }

    /// Offsets of the low and the high word of a window's first address; `None` if there is no such context.
    pub const fn base(context: u32) -> Option<(u32, u32)> {
        match (BASE_0.address(context), BASE_1.address(context)) {
            (Some(low), Some(high)) => Some((low, high)),
            _ => None,
        }
    }

    /// Offset of a window's size; `None` if there is no such context.
    pub const fn size(context: u32) -> Option<u32> {
        SIZE.address(context)
    }
}

pub mod slots {
    //! Slots of the packet buffer that each execution context may have.

    use crate::CONTEXTS;
    use crate::register::{Bits, Register};

    /// Most slots of a context.
    pub const BOUND: Register = Register {
        bits: Bits::All(0xffff),
        unit: "slots",
        description: "Most slots that the clusters have of the context at a time; its packets beyond them are dropped; 0: no bound.",
        extension: true,
        ..Register::held("slots", "bound", 0x5100, CONTEXTS)
    };
    /// Slots of a context that are in use.
    pub const USED: Register = Register {
        bits: BOUND.bits,
        unit: "slots",
        description: "Slots that the clusters have of the context.",
        extension: true,
        ..Register::shown("slots", "used", 0x5110, CONTEXTS)
    };
    /// The group, ordered by offset.
    pub const ALL: &[Register] = &[BOUND, USED];
}

pub mod events {
    //! Events that the host can be interrupted by: a line, a bit and a vector each.

    use crate::CONTEXTS;
    use crate::register::{Access, Bits, Field, Register};

    /// The line of standard output; those before it are the contexts'.
    pub const STDOUT_LINE: u32 = CONTEXTS;
    /// The line of errors.
    pub const ERRORS_LINE: u32 = CONTEXTS + 1;
    /// How many lines there are.
    pub const LINES: u32 = CONTEXTS + 2;

    const fn register(name: &'static str, offset: u32) -> Register {
        Register {
            bits: Bits::All(u32::MAX >> (u32::BITS - LINES)),
            unit: "bit mask",
            fields: FIELDS,
            extension: true,
            ..Register::held("events", name, offset, 1)
        }
    }

    const FIELDS: &[Field] = &[
        Field {
            name: "contexts",
            bit: 0,
            width: CONTEXTS,
            description: "something of the context has arrived in host memory, a bit for each",
        },
        Field::flag("stdout", STDOUT_LINE, "standard output is not empty"),
        Field::flag(
            "errors",
            ERRORS_LINE,
            "a counter of errors or dropped packets moved",
        ),
    ];

    /// Lines whose event has happened.
    pub const PENDING: Register = Register {
        access: Access::WriteClears,
        description: "Lines whose event has happened since their bit was cleared.",
        side_effect: "Bits that are written as 1 are cleared, unless their event happens in that clock.",
        ..register("pending", 0x6000)
    };
    /// Lines that send messages.
    pub const ENABLE: Register = Register {
        description: "Lines that send a message while they are pending, one for each time that they begin to be both.",
        ..register("enable", 0x6004)
    };
    /// The least distance of two messages of a line.
    pub const MODERATION: Register = Register {
        bits: Bits::All(0xffff),
        unit: "clocks",
        description: "Clocks of the core that pass at least between two messages of one line.",
        extension: true,
        ..Register::held("events", "moderation", 0x6008, 1)
    };
    /// How many messages were sent.
    pub const SENT: Register = Register {
        unit: "messages",
        description: "Messages that were sent, of all lines.",
        extension: true,
        ..Register::shown("events", "sent", 0x600c, 1)
    };
    /// The group, ordered by offset.
    pub const ALL: &[Register] = &[PENDING, ENABLE, MODERATION, SENT];
}

pub mod caps {
    //! Properties of the generated hardware: constants that software reads before it relies on anything else.

    use crate::REGISTER_BYTES;
    use crate::register::{Field, Register, Reset};

    /// Value of `caps.magic`: "SPIN", first letter in the lowest byte.
    pub const MAGIC_VALUE: u32 = u32::from_le_bytes(*b"SPIN");
    /// Version of the register map that this table describes, as `caps.version` holds it.
    pub const VERSION_VALUE: u32 = 0x0001_0300;

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
            Field::flag("guard", 1, "windows can confine the host DMA (`guard.*`)"),
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
    pub const ALL: &[Register] = rows! {
        MAGIC;
        VERSION;
        FEATURES;
        constant 3, "rulesets", "rulesets", "Rulesets of the matching engine.";
        constant 4, "rules", "rules", "Rules of a ruleset, the end-of-message rule among them.";
        constant 5, "contexts", "contexts", "Execution contexts.";
        constant 6, "clusters", "clusters", "PsPIN clusters.";
        constant 7, "mpqs", "queues", "Message processing queues.";
        constant 8, "data_width", "bits", "Width of a beat of the packet streams.";
        constant 9, "mtu", "bytes", "Longest frame that the matching engine takes.";
        constant 10, "inspected_bytes", "bytes", "Bytes of a frame, from its start, that rules can look at.";
        constant 11, "buffer_base", "address", "Address of the packet buffer in PsPIN.";
        constant 12, "buffer_size", "bytes", "Size of the packet buffer.";
        constant 13, "large_slots", "slots", "Large slots of the packet buffer.";
        constant 14, "large_slot_size", "bytes", "Size of a large slot.";
        constant 15, "small_slots", "slots", "Small slots of the packet buffer.";
        constant 16, "small_slot_size", "bytes", "Size of a small slot.";
        constant 17, "message_id_width", "bits", "Width of the message id in a request.";
        constant 18, "host_tags", "transfers", "Transfers to host memory, and from it, that can be in flight.";
        constant 19, "core_clock_khz", "kHz", "Frequency of the NIC's clock.";
        constant 20, "cluster_clock_khz", "kHz", "Frequency of the clusters' clock.";
    };

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
}
