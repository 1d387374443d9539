//! Windows of host memory that the host DMA is held to, one for each execution context.

use crate::register::{Bits, Field, Register};
use crate::sizes::{CONTEXTS, REGISTER_BYTES};

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

/// Whether the host DMA is held to the windows at all.
pub const ENFORCE: Register = Register {
    bits: Bits::All(1),
    unit: "flag",
    description: "1: the host DMA is held to the windows as `guard.by_context` says; 0: it is not limited.",
    fields: &[Field::flag("enforce", 0, "the host DMA is held to the windows")],
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
/// Which window a transfer is held to.
pub const BY_CONTEXT: Register = Register {
    bits: Bits::All(1),
    unit: "flag",
    description: "1: a transfer lies in the window of its context, which the lowest bits of AWUSER or ARUSER name; \
                  0: in any window, for clusters that do not say who asks.",
    fields: &[Field::flag(
        "by_context",
        0,
        "a transfer is held to the window of its context",
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
