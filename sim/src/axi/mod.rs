//! The write channels of AXI4 (AMBA IHI 0022): a slave with a memory, and a monitor that checks the rules.
//!
//! ```text
//! [design] m_axi_aw* m_axi_w* --> WriteSlave --> Memory, WrittenBurst
//!          m_axi_b*           <--
//!                             WriteMonitor
//! ```
//!
//! The data is 8 to 1024 bits wide, the address and the ids at most 64. The monitor works in either
//! direction, so it also checks a design that is the slave.

mod burst;
mod memory;
mod monitor;
mod ports;
mod rules;
mod slave;

pub use crate::handshake::Counts;
pub use crate::pause::Pause;
pub use burst::{Burst, BurstKind, Response};
pub use memory::Memory;
pub use monitor::{WriteCounts, WriteMonitor};
pub use slave::{Faults, Latency, SlaveConfig, WriteSlave, WrittenBurst};

use crate::model::Model;
use crate::simulation::Simulation;

impl<M: Model> Simulation<M> {
    /// Puts a slave and a monitor on the write channels with that prefix, such as `m_axi`.
    ///
    /// # Panics
    /// If the design is no master there; [`WriteSlave::attach`] returns an error instead.
    pub fn axi_write_slave(&mut self, prefix: &str, config: SlaveConfig) -> WriteSlave {
        WriteSlave::attach(self, prefix, config).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Puts a monitor on the write channels with that prefix, which something else drives.
    ///
    /// # Panics
    /// If there are no such channels; [`WriteMonitor::attach`] returns an error instead.
    pub fn axi_write_monitor(&mut self, prefix: &str) -> WriteMonitor {
        WriteMonitor::attach(self, prefix).unwrap_or_else(|error| panic!("{error}"))
    }
}
