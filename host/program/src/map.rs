//! Memories of the cluster in its 32-bit address space, as far as programs and the host see them.

/// Bytes of L1 of one cluster.
pub const L1_BYTES: u32 = 256 << 10;
/// L1 of cluster 0; that of cluster c is `c * L1_STRIDE` behind it.
pub const L1_BASE: u32 = 0x1000_0000;
/// From one cluster's L1 to the next one's.
pub const L1_STRIDE: u32 = 0x0040_0000;
/// Where packets lie in L1.
pub const L1_PACKETS: u32 = 0x4400;
/// Bytes of L1 for packets.
pub const L1_PACKET_BYTES: u32 = 0x1_0000;
/// Where scratchpads lie in L1, up to its end.
pub const L1_SCRATCHPADS: u32 = L1_PACKETS + L1_PACKET_BYTES;

/// L2 memory of handlers.
pub const HANDLER_BASE: u32 = 0x1c00_0000;
/// Its size.
pub const HANDLER_BYTES: u32 = 1 << 20;
/// L2 packet buffer.
pub const PACKET_BASE: u32 = 0x1c10_0000;
/// Its size.
pub const PACKET_BYTES: u32 = 512 << 10;
/// L2 program memory.
pub const PROGRAM_BASE: u32 = 0x1d00_0000;
/// Its size.
pub const PROGRAM_BYTES: u32 = 32 << 10;

/// The global address of a place in L1.
pub const fn l1_address(cluster: usize, offset: u32) -> u32 {
    L1_BASE + cluster as u32 * L1_STRIDE + offset
}
