//! Statistics and state.

use crate::register::{Access, Register, Reset};

/// State of the clusters.
pub const CLUSTER: Register = Register {
    group: "stats",
    name: "cluster",
    offset: 0x1000,
    count: 2,
    access: Access::ReadOnly,
    reset: Reset::Live,
    unit: "bit mask",
    description: "[0] end of computation, [1] busy; one bit per cluster.",
};
/// State of the message processing queues.
pub const MPQ: Register = Register {
    group: "stats",
    name: "mpq",
    offset: 0x1008,
    count: 1,
    access: Access::ReadOnly,
    reset: Reset::Live,
    unit: "bit mask",
    description: "Message processing queues that are full, one bit each.",
};
/// Counters and errors of the data path.
pub const DATAPATH: Register = Register {
    group: "stats",
    name: "datapath",
    offset: 0x100c,
    count: 2,
    access: Access::ReadOnly,
    reset: Reset::Live,
    unit: "packets, code",
    description: "[0] packets dropped by the allocator, [1] last error of the egress DMA.",
};
/// The group, ordered by offset.
pub const ALL: &[Register] = &[CLUSTER, MPQ, DATAPATH];

/// Offset of the count of packets that the allocator dropped.
pub const DROPPED_PACKETS: u32 = DATAPATH.offset;
/// Offset of the last error of the egress DMA.
pub const EGRESS_DMA_ERROR: u32 = DATAPATH.offset + 4;
