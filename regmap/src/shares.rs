//! Registers of contexts in spinneret's own clusters: their shares of HPU time, host DMA and egress, and how much they used.
//!
//! They are in PsPIN's address space, [`STRIDE`] bytes for each context, and the host reaches them through the window of program
//! memory. The public cluster does not have them. A reset of the clusters keeps settings and clears counters.

use crate::pspin::{HANDLER_CLOCKS, PROGRAM_BASE};
use crate::register::{Bits, Register, Reset};
use crate::{CONTEXTS, REGISTER_BYTES};

/// Address of the registers of context 0.
pub const BASE: u32 = PROGRAM_BASE + 0x20_0000;
/// Bytes from the registers of one context to those of the next one.
pub const STRIDE: u32 = 64;
/// The largest weight.
pub const MAX_WEIGHT: u32 = 15;

const GROUP: &str = "shares";

/// Share of everything.
pub const WEIGHT: Register = Register {
    bits: Bits::All(MAX_WEIGHT),
    reset: Reset::All(1),
    unit: "weight",
    description: "Share of HPU time, host DMA and packets that are sent, relative to the weights of other contexts: 1 to 15. A write of 0 changes nothing.",
    extension: true,
    ..Register::held(GROUP, "weight", 0x00, 1)
};
/// Clocks that a handler may take.
pub const BUDGET: Register = Register {
    reset: Reset::All(HANDLER_CLOCKS),
    unit: "clocks",
    description: "Clocks after which a handler is stopped; 0: never.",
    extension: true,
    ..Register::held(GROUP, "budget", 0x04, 1)
};
/// Bits of [`EGRESS_RATE`] below a byte in a clock.
pub const RATE_FRACTION: u32 = 8;
/// Limit of packets that are sent.
pub const EGRESS_RATE: Register = Register {
    bits: Bits::All(0xffff),
    unit: "bytes / 256",
    description: "Bytes of packets that handlers may send in a clock of the clusters, in units of 1/256; 0: no limit.",
    extension: true,
    ..Register::held(GROUP, "egress_rate", 0x08, 1)
};
/// Bytes of copies to the host.
pub const HOST_WRITTEN: Register = bytes(
    "host_written",
    &["host_written_low", "host_written_high"],
    0x10,
    "[0] low and [1] high word of the bytes that handlers copied to the host.",
);
/// Bytes of copies from the host.
pub const HOST_READ: Register = bytes(
    "host_read",
    &["host_read_low", "host_read_high"],
    0x18,
    "[0] low and [1] high word of the bytes that handlers copied from the host.",
);
/// Handlers that have ended.
pub const TASKS: Register = shown("tasks", 0x20, 1, "tasks", "Handlers that have ended.");
/// Clocks that they took.
pub const CLOCKS: Register = Register {
    elements: &["clocks_low", "clocks_high"],
    ..shown(
        "clocks",
        0x24,
        2,
        "clocks",
        "[0] low and [1] high word of the clocks that they took on HPUs, at most 2^20 - 1 each.",
    )
};
/// Handlers that used up their budget.
pub const BUDGET_ENDS: Register = shown(
    "budget_ends",
    0x2c,
    1,
    "tasks",
    "Handlers that were stopped because they used up their budget.",
);
/// Handlers that failed.
pub const FAILURES: Register = shown(
    "failures",
    0x30,
    1,
    "tasks",
    "Handlers that failed, those that used up their budget among them.",
);
/// Bytes of packets that were sent.
pub const SENT: Register = bytes(
    "sent",
    &["sent_low", "sent_high"],
    0x38,
    "[0] low and [1] high word of the bytes of packets that left for the egress path.",
);
/// All registers of a context, ordered by offset.
pub const ALL: &[Register] = &[
    WEIGHT,
    BUDGET,
    EGRESS_RATE,
    HOST_WRITTEN,
    HOST_READ,
    TASKS,
    CLOCKS,
    BUDGET_ENDS,
    FAILURES,
    SENT,
];

/// Address of an element of a register of a context; `None` if there is no such context or element.
pub const fn address(register: &Register, context: u32, element: u32) -> Option<u32> {
    if context < CONTEXTS && element < register.count {
        Some(BASE + STRIDE * context + register.offset + REGISTER_BYTES * element)
    } else {
        None
    }
}

const fn bytes(
    name: &'static str,
    elements: &'static [&'static str],
    offset: u32,
    description: &'static str,
) -> Register {
    Register {
        elements,
        ..shown(name, offset, 2, "bytes", description)
    }
}

const fn shown(
    name: &'static str,
    offset: u32,
    count: u32,
    unit: &'static str,
    description: &'static str,
) -> Register {
    Register {
        unit,
        description,
        extension: true,
        ..Register::shown(GROUP, name, offset, count)
    }
}
