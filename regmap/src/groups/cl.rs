//! Control of the PsPIN clusters.

use crate::register::{Access, Bits, Field, Register, Reset};
use crate::sizes::CLUSTERS;

/// Fetch enable and auxiliary reset.
pub const CTRL: Register = Register {
    bits: Bits::Each(&[u32::MAX >> (32 - CLUSTERS), 1]),
    reset: Reset::Each(&[0, 1]),
    unit: "bit mask",
    description: "[0] fetch enable, one bit per cluster; [1] bit 0 holds the clusters in auxiliary reset.",
    elements: &["fetch_enable", "aux_reset"],
    ..Register::held("cl", "ctrl", 0x0000, 2)
};
/// Standard output of the handler processing units.
pub const FIFO: Register = Register {
    access: Access::ReadPops,
    reset: Reset::All(u32::MAX),
    unit: "word",
    description: "Standard output of the handler processing units; all ones when it is empty.",
    side_effect: "A read takes the word out of the queue.",
    ..Register::held("cl", "fifo", 0x0008, 1)
};
/// Whether the clusters can be reached.
pub const STATUS: Register = Register {
    bits: Bits::All(0x3),
    unit: "bit mask",
    description: "State of the clusters' clock and reset.",
    fields: &[
        Field::flag("running", 0, "the clusters' clock is running (locked)"),
        Field::flag("held", 1, "the clusters or the link to them are held in reset"),
    ],
    extension: true,
    ..Register::shown("cl", "status", 0x000c, 1)
};
/// The group, ordered by offset.
pub const ALL: &[Register] = &[CTRL, FIFO, STATUS];

/// Offset of the fetch enable bits, one per cluster.
pub const FETCH_ENABLE: u32 = CTRL.offset;
/// Offset of the auxiliary reset, whose bit 0 holds the clusters in reset while it is 1.
pub const AUX_RESET: u32 = CTRL.offset + 4;
