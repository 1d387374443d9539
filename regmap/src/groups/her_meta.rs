//! What a handler execution request carries, for each execution context.

use crate::register::Register;
use crate::sizes::{CONTEXTS, REGISTER_BYTES};

/// The group, ordered by offset; the fields follow one another, each with one element per context.
pub const ALL: &[Register] = &[
    field(0, "handler_mem_addr", ADDRESS, "Handler memory of the context."),
    field(1, "handler_mem_size", BYTES, "Size of the handler memory."),
    field(
        2,
        "host_mem_addr_0",
        ADDRESS,
        "Host memory of the context, low word of its address.",
    ),
    field(
        3,
        "host_mem_addr_1",
        ADDRESS,
        "Host memory of the context, high word of its address.",
    ),
    field(4, "host_mem_size", BYTES, "Size of the host memory."),
    field(5, "hh_addr", ADDRESS, "Entry point of the header handler."),
    field(6, "hh_size", BYTES, "Size of the header handler."),
    field(7, "ph_addr", ADDRESS, "Entry point of the packet handler."),
    field(8, "ph_size", BYTES, "Size of the packet handler."),
    field(9, "th_addr", ADDRESS, "Entry point of the tail handler."),
    field(10, "th_size", BYTES, "Size of the tail handler."),
    field(
        11,
        "scratchpad_0_addr",
        ADDRESS,
        "Scratchpad in the L1 memory of cluster 0: offset in its scratchpads, which begin at 0x14400.",
    ),
    field(
        12,
        "scratchpad_0_size",
        BYTES,
        "Size of the scratchpad of cluster 0.",
    ),
    field(
        13,
        "scratchpad_1_addr",
        ADDRESS,
        "Scratchpad in the L1 memory of cluster 1: offset in its scratchpads, which begin at 0x14400.",
    ),
    field(
        14,
        "scratchpad_1_size",
        BYTES,
        "Size of the scratchpad of cluster 1.",
    ),
    field(
        15,
        "scratchpad_2_addr",
        ADDRESS,
        "Scratchpad in the L1 memory of cluster 2.",
    ),
    field(
        16,
        "scratchpad_2_size",
        BYTES,
        "Size of the scratchpad of cluster 2.",
    ),
    field(
        17,
        "scratchpad_3_addr",
        ADDRESS,
        "Scratchpad in the L1 memory of cluster 3.",
    ),
    field(
        18,
        "scratchpad_3_size",
        BYTES,
        "Size of the scratchpad of cluster 3.",
    ),
];

/// Offset of a field, named as in the table, for a context; `None` if there is no such field or context.
pub fn offset(field: &str, context: u32) -> Option<u32> {
    ALL.iter()
        .find(|register| register.name == field)?
        .address(context)
}

const BASE: u32 = 0x4000;
const STRIDE: u32 = CONTEXTS * REGISTER_BYTES;
const ADDRESS: &str = "address";
const BYTES: &str = "bytes";

const fn field(position: u32, name: &'static str, unit: &'static str, description: &'static str) -> Register {
    Register {
        unit,
        description,
        ..Register::held("her_meta", name, BASE + STRIDE * position, CONTEXTS)
    }
}
