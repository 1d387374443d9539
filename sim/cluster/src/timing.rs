//! How long things take, in clocks of the cluster.

use crate::rv::{Costs, Misaligned};

/// Clocks of everything that the model does not do instruction by instruction.
///
/// The public sources give one figure for all of it: a packet of 64 bytes has its handler started 26 ns after it is in L2,
/// at 1 GHz (Di Girolamo et al., "A RISC-V in-network accelerator for flexible high-performance low-power packet
/// processing", ISCA 2021, abstract). The parts are chosen so that they add up to it. What accesses cost was measured on the
/// public cluster: `sim/interop/recorded/costs.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Instructions.
    pub costs: Costs,
    /// From a HER in its queue to its task in a cluster.
    pub schedule: u64,
    /// From a task in a cluster to the first beat of its packet in L1, if no other is copied.
    pub copy: u64,
    /// From a packet in L1 to its task at an HPU.
    pub assign: u64,
    /// Accesses to the cluster's own L1, beyond the instruction.
    pub l1: u32,
    /// Loads from another cluster's L1, beyond the instruction.
    pub l1_remote_load: u32,
    /// Stores to another cluster's L1, beyond the instruction.
    pub l1_remote_store: u32,
    /// Loads from L2, beyond the instruction.
    pub l2_load: u32,
    /// Loads from the packet buffer, which has no atomics unit.
    pub l2_packet_load: u32,
    /// Stores to L2, beyond the instruction: the HPU waits for the answer.
    pub l2_store: u32,
    /// Atomic operations in L2, beyond the instruction.
    pub l2_atomic: u32,
    /// For how long a load keeps its memory in L2 from all other HPUs.
    pub l2_load_busy: u64,
    /// For how long a load from the packet buffer does.
    pub l2_packet_load_busy: u64,
    /// For how long a store does.
    pub l2_store_busy: u64,
    /// For how long an atomic operation does.
    pub l2_atomic_busy: u64,
    /// A line of instructions out of program memory, while the cache is off.
    pub fetch_uncached: u32,
    /// A line of instructions that the cache does not have.
    pub fetch_miss: u32,
    /// The same until it is in the cache: who needs it from then on has it at once.
    pub fetch_filled: u32,
    /// Accesses to registers of the HPU.
    pub register: u32,
    /// From a command's start to its way out of the cluster.
    pub command: u64,
}

/// Bytes that are copied in one clock: 512 bits.
pub const BEAT_BYTES: u32 = 64;

impl Default for Timing {
    fn default() -> Self {
        Self {
            costs: Costs {
                misaligned: Misaligned::Split,
                ..Costs::default()
            },
            schedule: 3,
            copy: 16,
            assign: 5,
            l1: 0,
            l1_remote_load: 21,
            l1_remote_store: 22,
            l2_load: 27,
            l2_packet_load: 24,
            l2_store: 29,
            l2_atomic: 36,
            l2_load_busy: 2,
            l2_packet_load_busy: 1,
            l2_store_busy: 3,
            l2_atomic_busy: 15,
            fetch_uncached: 11,
            fetch_miss: 20,
            fetch_filled: 12,
            register: 0,
            command: 4,
        }
    }
}
