//! The generator of handler execution requests.

use crate::register::{Bits, Register};
use crate::sizes::CONTEXTS;

/// Whether the execution contexts are in use.
pub const VALID: Register = Register {
    bits: Bits::All(1),
    unit: "flag",
    description: "Execution contexts are latched and active while 1: write 0, change them, write 1.",
    side_effect: "While 0 the contexts latched last stay in force, until a reset of the clusters: then none is.",
    ..Register::held("her", "valid", 0x3000, 1)
};
/// Which execution contexts are in use.
pub const CTX_ENABLED: Register = Register {
    bits: Bits::All(1),
    unit: "flag",
    description: "Whether the execution context starts handlers.",
    ..Register::held("her", "ctx_enabled", 0x3004, CONTEXTS)
};
/// The group, ordered by offset.
pub const ALL: &[Register] = &[VALID, CTX_ENABLED];

/// Offset of a context's enable flag; `None` if there is no such context.
pub const fn ctx_enabled(context: u32) -> Option<u32> {
    CTX_ENABLED.address(context)
}
