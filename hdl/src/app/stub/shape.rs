//! Parameters of the stand-in, the numbers that follow from them, and its entries in the catalog.

use crate::axi::AxiShape;
use crate::hpu::cluster::SLAVE;
pub(super) use crate::hpu::cluster::{COMMAND_ID, HOST_ADDRESS, MESSAGE_ID};
use spinneret_verilog::prelude::*;

/// Width of an address of the cluster, of a length and of a word in bits.
pub(super) const ADDRESS: usize = 32;
/// Width of a beat in bits.
pub(super) const DATA: usize = 512;
/// Bytes of a beat, and of a line of the memory.
pub(super) const STROBES: usize = DATA / 8;
/// Bits of an address within a line.
pub(super) const OFFSET: usize = STROBES.trailing_zeros() as usize;
/// Width of the AXI user signals in bits.
pub(super) const USER: usize = SLAVE.extras.user.aw;
/// Bits of a byte's place in the whole memory, 2 MiB.
pub(super) const PLACE: usize = 21;

/// Operations on a HER, from bit 0 of the payload handler's address: bits that are 1.
pub mod operation {
    /// Send the packet as a NIC command.
    pub const SEND: usize = 0;
    /// Copy the packet to the host.
    pub const COPY: usize = 1;
    /// Read a line from the host.
    pub const FETCH: usize = 2;
    /// Write the message id to stdout.
    pub const PRINT: usize = 3;
    /// How many operations there are.
    pub const COUNT: usize = 4;
}

/// Parameters of the stand-in, checked.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "pspin_wrap")]
pub struct StubShape {
    /// Clusters, each with its bits of status.
    #[parameter(2, range = 1..=64, verilog = "N_CLUSTERS")]
    pub clusters: usize,
    /// Message processing queues that the status has bits for.
    #[parameter(16, range = 1..=64, name = "mpqs", verilog = "N_MPQ")]
    pub queues: usize,
    /// Bytes of the memory, a power of two; addresses repeat in less than 2 MiB.
    #[parameter(1 << PLACE, range = 4096..=1 << PLACE, power_of_two)]
    pub memory_bytes: usize,
    /// HERs that can wait, a power of two.
    #[parameter(8, range = 2..=64, power_of_two, name = "her_queue")]
    pub hers: usize,
    /// Words of stdout that can wait, a power of two.
    #[parameter(1024, range = 4..=8192, power_of_two)]
    pub stdout_words: usize,
}

impl StubShape {
    /// Lines of the memory.
    pub fn lines(self) -> usize {
        self.memory_bytes / STROBES
    }

    /// Bits of the number of a line.
    pub fn line(self) -> usize {
        address_width(self.lines())
    }

    /// Bits of a write to the memory: {line, strobes, data}.
    pub fn write(self) -> usize {
        self.line() + STROBES + DATA
    }

    /// Widths of the slaves.
    pub fn slave() -> AxiShape {
        SLAVE
    }

    /// Widths of the master.
    pub fn master() -> AxiShape {
        AxiShape {
            address: HOST_ADDRESS,
            ..Self::slave()
        }
    }
}
