//! The generator of handler execution requests.

use crate::CONTEXTS;
use crate::register::{Access, Register, Reset};

/// Whether the execution contexts are in use.
pub const VALID: Register = Register {
    group: "her",
    name: "valid",
    offset: 0x3000,
    count: 1,
    access: Access::ReadWrite,
    reset: Reset::All(0),
    unit: "flag",
    description: "Execution contexts are latched and active while 1: write 0, change them, write 1.",
};
/// Which execution contexts are in use.
pub const CTX_ENABLED: Register = Register {
    group: "her",
    name: "ctx_enabled",
    offset: 0x3004,
    count: CONTEXTS,
    access: Access::ReadWrite,
    reset: Reset::All(0),
    unit: "flag",
    description: "Whether the execution context starts handlers.",
};
/// The group, ordered by offset.
pub const ALL: &[Register] = &[VALID, CTX_ENABLED];

/// Offset of a context's enable flag; `None` if there is no such context.
pub const fn ctx_enabled(context: u32) -> Option<u32> {
    CTX_ENABLED.address(context)
}
