//! How long things take, in clocks of the cluster.

use crate::rv::Costs;

/// Clocks of everything that the model does not do instruction by instruction.
///
/// The public sources give one figure for all of it: a packet of 64 bytes has its handler started 26 ns after it is in L2,
/// at 1 GHz (Di Girolamo et al., "A RISC-V in-network accelerator for flexible high-performance low-power packet
/// processing", ISCA 2021, abstract). The parts are chosen so that they add up to it. What an access to L2 costs is an
/// assumption.
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
    /// Accesses to another cluster's L1.
    pub l1_remote: u32,
    /// Loads and atomic operations in L2.
    pub l2: u32,
    /// Stores to L2, which do not wait for their answer.
    pub l2_store: u32,
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
            costs: Costs::default(),
            schedule: 3,
            copy: 16,
            assign: 5,
            l1: 0,
            l1_remote: 12,
            l2: 12,
            l2_store: 1,
            register: 1,
            command: 4,
        }
    }
}
