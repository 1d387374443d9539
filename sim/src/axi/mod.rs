//! AXI4 (AMBA IHI 0022): a master, slaves with a memory, and monitors that check the rules.
//!
//! ```text
//! WriteRequest, ReadRequest --> AxiMaster --> s_axi* [design]
//! WriteDone, ReadDone       <--
//!                             AxiMonitor
//!
//! [design] m_axi_aw* m_axi_w* --> AxiSlave --> Memory, SlaveBurst
//!          m_axi_b*           <--
//!          m_axi_ar*          --> AxiSlave <-- Memory
//!          m_axi_r*           <--
//! ```
//!
//! The data is 8 to 1024 bits wide, the address and the ids at most 64. Signals that a design may lack, such as
//! `awuser`, are optional. The monitors work in either direction, so they also check a design that is the slave.
//! Writes and reads share their code, parametrised by [`Half`]; AXI4-Lite uses it too, with the signals that it lacks
//! fixed at their only value.

mod answer;
mod burst;
mod master;
mod memory;
mod monitor;
mod ports;
mod rules;
mod slave;

pub use crate::handshake::Counts;
pub use crate::pause::Pause;
pub use answer::{AnswerOrder, BeatResponder, Faults, Latency, Response};
pub use burst::{Burst, BurstKind};
pub use master::{
    AxiMaster, MasterConfig, MasterPauses, ReadBeat, ReadDone, ReadRequest, Skew, WriteDone, WriteRequest,
};
pub use memory::{Memory, SharedMemory};
pub use monitor::{AxiCounts, AxiMonitor};
pub use ports::Half;
pub use rules::WriteBeat;
pub use slave::{AxiSlave, SlaveBurst, SlaveConfig};

pub(crate) use ports::Protocol;
pub(crate) use slave::{Access, AccessLog};

use crate::model::Model;
use crate::simulation::Simulation;

impl<M: Model> Simulation<M> {
    /// Puts a slave with a memory of its own, and a monitor, on the write channels with that prefix, such as `m_axi`.
    ///
    /// # Panics
    /// If the design is no master there; [`AxiSlave::attach`] returns an error instead.
    pub fn axi_write_slave(&mut self, prefix: &str, config: SlaveConfig) -> AxiSlave {
        let slave = AxiSlave::attach(self, prefix, Half::Write, config, SharedMemory::default());
        slave.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same for the read channels.
    ///
    /// # Panics
    /// If the design is no master there; [`AxiSlave::attach`] returns an error instead.
    pub fn axi_read_slave(&mut self, prefix: &str, config: SlaveConfig) -> AxiSlave {
        let slave = AxiSlave::attach(self, prefix, Half::Read, config, SharedMemory::default());
        slave.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Attaches a monitor to half of the bus with that prefix, which another agent drives.
    ///
    /// # Panics
    /// If the design has no such channels; [`AxiMonitor::attach`] returns an error instead.
    pub fn axi_monitor(&mut self, prefix: &str, half: Half) -> AxiMonitor {
        AxiMonitor::attach(self, prefix, half).unwrap_or_else(|error| panic!("{error}"))
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
