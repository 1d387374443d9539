//! Control of the PsPIN clusters.

use crate::register::{Access, Register, Reset};

/// Fetch enable and auxiliary reset.
pub const CTRL: Register = Register {
    group: "cl",
    name: "ctrl",
    offset: 0x0000,
    count: 2,
    access: Access::ReadWrite,
    reset: Reset::Each(&[0, 1]),
    unit: "bit mask",
    description: "[0] fetch enable, one bit per cluster; [1] bit 0 holds the clusters in auxiliary reset.",
};
/// Standard output of the handler processing units.
pub const FIFO: Register = Register {
    group: "cl",
    name: "fifo",
    offset: 0x0008,
    count: 1,
    access: Access::ReadPops,
    reset: Reset::All(u32::MAX),
    unit: "word",
    description: "Standard output of the handler processing units; all ones when it is empty.",
};
/// The group, ordered by offset.
pub const ALL: &[Register] = &[CTRL, FIFO];

/// Offset of the fetch enable bits, one per cluster.
pub const FETCH_ENABLE: u32 = CTRL.offset;
/// Offset of the auxiliary reset, whose bit 0 holds the clusters in reset while it is 1.
pub const AUX_RESET: u32 = CTRL.offset + 4;
