//! Statistics and state.

use crate::register::{Access, Bits, Field, Register, Reset};
use crate::sizes::{CLUSTERS, MPQS};

/// State of the clusters.
pub const CLUSTER: Register = Register {
    bits: Bits::All(u32::MAX >> (32 - CLUSTERS)),
    unit: "bit mask",
    description: "[0] end of computation, [1] busy, which the public cluster is as long as it fetches instructions; one bit per cluster.",
    elements: &["end_of_computation", "busy"],
    ..Register::shown("stats", "cluster", 0x1000, 2)
};
/// State of the message processing queues.
pub const MPQ: Register = Register {
    bits: Bits::All(u32::MAX >> (32 - MPQS)),
    unit: "bit mask",
    description: "Message processing queues that are full, one bit each.",
    ..Register::shown("stats", "mpq", 0x1008, 1)
};
/// Counters and errors of the data path.
pub const DATAPATH: Register = Register {
    bits: Bits::Each(&[u32::MAX, 0xf]),
    unit: "packets, code",
    description: "[0] packets dropped by the allocator, [1] last error of the egress DMA.",
    elements: &["dropped_packets", "egress_dma_error"],
    ..Register::shown("stats", "datapath", 0x100c, 2)
};
/// Forgets the last error of the egress DMA.
pub const ERROR_CLEAR: Register = Register {
    access: Access::WritePulse,
    bits: Bits::All(1),
    reset: Reset::All(0),
    unit: "flag",
    description: "Writing 1 clears the last error of the egress DMA.",
    side_effect: "A write of 1 to bit 0 clears `stats.datapath[1]`.",
    fields: &[Field::flag(
        "egress_dma",
        0,
        "clear the last error of the egress DMA",
    )],
    extension: true,
    ..Register::held("stats", "error_clear", 0x1014, 1)
};
/// The group, ordered by offset.
pub const ALL: &[Register] = &[CLUSTER, MPQ, DATAPATH, ERROR_CLEAR];

/// Offset of the count of packets that the allocator dropped.
pub const DROPPED_PACKETS: u32 = DATAPATH.offset;
/// Offset of the last error of the egress DMA.
pub const EGRESS_DMA_ERROR: u32 = DATAPATH.offset + 4;
