//! AXI4 (AMBA IHI 0022): a master, slaves with a memory, and monitors that check the rules.
//!
//! ```text
//! WriteRequest, ReadRequest --> AxiMaster --> s_axi* [design]
//! WriteDone, ReadDone       <--
//!                   WriteMonitor, ReadMonitor
//!
//! [design] m_axi_aw* m_axi_w* --> WriteSlave --> Memory, WrittenBurst
//!          m_axi_b*           <--
//!                             WriteMonitor
//!          m_axi_ar*          --> ReadSlave <-- Memory
//!          m_axi_r*           <--
//!                             ReadMonitor
//! ```
//!
//! The data is 8 to 1024 bits wide, the address and the ids at most 64. Signals that a design may lack,
//! such as `awuser`, are optional. The monitors work in either direction, so they also check a design
//! that is the slave.

mod answer;
mod burst;
mod master;
mod memory;
mod ports;
mod read_faults;
mod read_monitor;
mod read_queue;
mod read_rules;
mod read_slave;
mod scope;
mod write_monitor;
mod write_rules;
mod write_slave;

pub use crate::handshake::Counts;
pub use crate::pause::Pause;
pub use answer::{Latency, Response};
pub use burst::{Burst, BurstKind};
pub use master::{
    AxiMaster, MasterConfig, MasterPauses, ReadBeat, ReadDone, ReadRequest, Skew, WriteDone, WriteRequest,
};
pub use memory::{Memory, SharedMemory};
pub use read_faults::{BeatJudge, ReadFaults};
pub use read_monitor::{ReadCounts, ReadMonitor};
pub use read_queue::ReadOrder;
pub use read_slave::{ReadBurst, ReadSlave, ReadSlaveConfig};
pub use write_monitor::{WriteCounts, WriteMonitor};
pub use write_rules::WriteBeat;
pub use write_slave::{Faults, SlaveConfig, WriteSlave, WrittenBurst};

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

    /// Puts a slave with a memory of its own, and a monitor, on the read channels with that prefix.
    ///
    /// # Panics
    /// If the design is no master there; [`ReadSlave::attach`] returns an error instead.
    pub fn axi_read_slave(&mut self, prefix: &str, config: ReadSlaveConfig) -> ReadSlave {
        ReadSlave::attach(self, prefix, config).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Puts a monitor on the read channels with that prefix, which something else drives.
    ///
    /// # Panics
    /// If there are no such channels; [`ReadMonitor::attach`] returns an error instead.
    pub fn axi_read_monitor(&mut self, prefix: &str) -> ReadMonitor {
        ReadMonitor::attach(self, prefix).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Puts a master on the channels with that prefix, such as `s_axi`: writes, reads or both, and
    /// monitors with it.
    ///
    /// # Panics
    /// If the design is no slave there; [`AxiMaster::attach`] returns an error instead.
    pub fn axi_master(&mut self, prefix: &str, config: MasterConfig) -> AxiMaster {
        AxiMaster::attach(self, prefix, config).unwrap_or_else(|error| panic!("{error}"))
    }
}
