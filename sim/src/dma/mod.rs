//! Corundum's segmented DMA: descriptors and statuses, the segmented RAM next to the design, and host memory.
//!
//! ```text
//!            ram_wr_cmd_*, ram_wr_done          m_axis_write_desc_*, s_axis_write_desc_status_*
//! [design] ---> RamPort --> SegmentedRam --> CorundumDma(ToHost)   --> HostMemory
//!          <--- RamPort  <-- SegmentedRam <-- CorundumDma(FromHost) <--
//!            ram_rd_cmd_*, ram_rd_resp_*        m_axis_read_desc_*, s_axis_read_desc_status_*
//! ```
//!
//! The DMA moves one line of the RAM (all segments) per clock and direction, after a latency, and answers every
//! descriptor with one status; statuses may overtake each other, fail, and be mixed with unsolicited ones. The agents
//! check what a design has to know: which bytes of the RAM are complete, which are in use, which tags are in flight.
//!
//! Not modelled: PCIe (requests, credits, completion boundaries), the arbitration between several users of one DMA,
//! and immediate data. The DMA reaches a RAM outside the design directly; a RAM inside the design has ports, to which
//! [`CorundumDma::attach_inside`] connects the DMA.
//!
//! Clones of everything here share one state.

mod config;
mod engine;
mod host;
mod page;
mod ports;
mod ram;
mod ram_access;
mod ram_port;
mod schedule;

pub use crate::axi::Latency;
pub use crate::pause::Pause;
pub use config::{Accepted, Descriptor, DmaConfig, DmaFaults, RamConfig, Status, Transfer};
pub use engine::CorundumDma;
pub use host::{Backing, Difference, HostBus, HostMemory, Refused};
pub use ram::{RamShape, SegmentedRam};
pub use ram_access::RamPauses;
pub use ram_port::RamPort;

use crate::model::Model;
use crate::simulation::Simulation;

impl<M: Model> Simulation<M> {
    /// Attaches the DMA of one direction to the descriptor ports of the design; see [`CorundumDma::attach`].
    ///
    /// # Panics
    /// If the design has no such ports; [`CorundumDma::attach`] returns an error instead.
    pub fn corundum_dma(
        &mut self,
        transfer: Transfer,
        host: &HostMemory,
        ram: &SegmentedRam,
        config: DmaConfig,
    ) -> CorundumDma {
        let [descriptors, status] = transfer.prefixes();
        CorundumDma::attach(self, transfer, [descriptors, status], host, ram, config)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Attaches a RAM to the ports with which the design writes, such as `ram_wr`.
    ///
    /// # Panics
    /// If the design has no such ports; [`RamPort::attach_writes`] returns an error instead.
    pub fn ram_write_port(&mut self, prefix: &str, ram: &SegmentedRam, config: RamConfig) -> RamPort {
        RamPort::attach_writes(self, prefix, ram, config).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Attaches a RAM to the ports with which the design reads, such as `ram_rd`.
    ///
    /// # Panics
    /// If the design has no such ports; [`RamPort::attach_reads`] returns an error instead.
    pub fn ram_read_port(&mut self, prefix: &str, ram: &SegmentedRam, config: RamConfig) -> RamPort {
        RamPort::attach_reads(self, prefix, ram, config).unwrap_or_else(|error| panic!("{error}"))
    }
}
