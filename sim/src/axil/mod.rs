//! AXI4-Lite (AMBA IHI 0022, section B1): the master, slave and monitors of [AXI4](crate::axi), with bursts of one word.
//!
//! ```text
//! LiteWrite, LiteRead         --> LiteMaster --> s_axil* [design] m_axil* --> LiteSlave --> Memory
//! LiteWriteDone, LiteReadDone <--            AxiMonitor              AxiMonitor
//! ```
//!
//! A design has all five channels or, with write or read channels only, three or two of them. The data is
//! 8 to 64 bits wide, the address at most 64. `awprot` and `arprot` are optional.

mod master;
mod slave;

pub use crate::axi::{
    Faults, Latency, MasterConfig, MasterPauses, Memory, Pause, Response, SharedMemory, Skew,
};
pub use crate::handshake::Counts;
pub use master::{LiteMaster, LiteRead, LiteReadDone, LiteWrite, LiteWriteDone};
pub use slave::{LiteAccess, LiteSlave, LiteSlaveConfig, LiteSlavePauses};

use crate::model::Model;
use crate::simulation::Simulation;

impl<M: Model> Simulation<M> {
    /// Puts a master and monitors on the channels with that prefix, such as `s_axil`.
    ///
    /// # Panics
    /// If the design is no slave there; [`LiteMaster::attach`] returns an error instead.
    pub fn axil_master(&mut self, prefix: &str, config: MasterConfig) -> LiteMaster {
        LiteMaster::attach(self, prefix, config).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Puts a slave and monitors on the channels with that prefix, such as `m_axil`.
    ///
    /// # Panics
    /// If the design is no master there; [`LiteSlave::attach`] returns an error instead.
    pub fn axil_slave(&mut self, prefix: &str, config: LiteSlaveConfig) -> LiteSlave {
        LiteSlave::attach(self, prefix, config).unwrap_or_else(|error| panic!("{error}"))
    }
}
