//! AXI4-Lite (AMBA IHI 0022, section B1): a master, a slave with a memory, and a monitor that checks the
//! rules.
//!
//! ```text
//! LiteWrite, LiteRead         --> LiteMaster --> s_axil* [design] m_axil* --> LiteSlave --> Memory
//! LiteWriteDone, LiteReadDone <--            LiteMonitor             LiteMonitor
//! ```
//!
//! A design has all five channels or, with write or read channels only, three or two of them. The data is
//! 8 to 64 bits wide, the address at most 64. `awprot` and `arprot` are optional.

mod done;
mod master;
mod monitor;
mod ports;
mod rules;
mod slave;

pub use crate::axi::{
    Faults, Latency, MasterConfig, MasterPauses, Memory, Pause, Response, SharedMemory, Skew,
};
pub use crate::handshake::Counts;
pub use done::{LiteReadDone, LiteWriteDone};
pub use master::{LiteMaster, LiteRead, LiteWrite};
pub use monitor::{LiteCounts, LiteMonitor};
pub use slave::{LiteAccess, LiteSlave, LiteSlaveConfig, LiteSlavePauses};

use crate::model::Model;
use crate::simulation::Simulation;

impl<M: Model> Simulation<M> {
    /// Puts a master and a monitor on the channels with that prefix, such as `s_axil`.
    ///
    /// # Panics
    /// If the design is no slave there; [`LiteMaster::attach`] returns an error instead.
    pub fn axil_master(&mut self, prefix: &str, config: MasterConfig) -> LiteMaster {
        LiteMaster::attach(self, prefix, config).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Puts a slave and a monitor on the channels with that prefix, such as `m_axil`.
    ///
    /// # Panics
    /// If the design is no master there; [`LiteSlave::attach`] returns an error instead.
    pub fn axil_slave(&mut self, prefix: &str, config: LiteSlaveConfig) -> LiteSlave {
        LiteSlave::attach(self, prefix, config).unwrap_or_else(|error| panic!("{error}"))
    }
}
