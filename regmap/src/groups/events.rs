//! Events that the host can be interrupted by: a line, a bit and a vector each.

use crate::register::{Access, Bits, Field, Register};
use crate::sizes::CONTEXTS;

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
