//! A slave with a memory behind a design that is a master.

use super::master::word;
use crate::axi::{
    Access, AccessLog, AxiCounts, AxiSlave, Faults, Half, Latency, Memory, Protocol, Response, SharedMemory,
    SlaveConfig,
};
use crate::model::{Model, ModelError};
use crate::pause::Pause;
use crate::simulation::Simulation;
use std::cell::RefMut;

/// How a [`LiteSlave`] behaves.
#[derive(Clone, Debug, Default)]
pub struct LiteSlaveConfig {
    /// Its pauses.
    pub pauses: LiteSlavePauses,
    /// Cycles from the last transfer of a write or the address of a read to its answer.
    pub latency: Latency,
    /// Which writes fail, and change nothing.
    pub write_faults: Faults,
    /// Which reads fail.
    pub read_faults: Faults,
}

/// When the channels of a slave pause.
#[derive(Clone, Debug, Default)]
pub struct LiteSlavePauses {
    /// When it is not ready for an address of a write.
    pub write_address: Pause,
    /// When it is not ready for data of a write.
    pub write_data: Pause,
    /// When it is not ready for an address of a read.
    pub read_address: Pause,
}

/// An access that a slave has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteAccess {
    /// Its address.
    pub address: u64,
    /// AxPROT; 0 where the design lacks it.
    pub protection: u8,
    /// WDATA and WSTRB of a write.
    pub written: Option<(u64, u8)>,
    /// How it is answered.
    pub response: Response,
    /// The cycle of its last transfer.
    pub cycle: u64,
}

impl From<Access> for LiteAccess {
    fn from(access: Access) -> Self {
        let written = access.written.as_ref();
        Self {
            address: access.address,
            protection: access.protection.unwrap_or(0),
            written: written.map(|beat| (word(&beat.bytes), beat.strobes as u8)),
            response: access.response,
            cycle: access.cycle,
        }
    }
}

/// A slave with a memory behind a design that is a master; clones share one state.
///
/// Accesses are answered in their order. A word is the aligned one that contains the address. What is read
/// is what the memory holds when the data is offered; bytes that were never written and reads that fail
/// carry random bytes, so that a design that uses them is found out.
#[derive(Clone, Debug)]
pub struct LiteSlave {
    writes: Option<AxiSlave>,
    reads: Option<AxiSlave>,
    memory: SharedMemory,
    log: AccessLog,
}

impl LiteSlave {
    /// Puts a slave and monitors on the channels with that prefix.
    ///
    /// # Errors
    /// If the design is no master there.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        config: LiteSlaveConfig,
    ) -> Result<Self, ModelError> {
        let (memory, log) = (SharedMemory::default(), AccessLog::default());
        let has = |sim: &Simulation<M>, signal: &str| {
            let name = format!("{prefix}_{signal}");
            sim.dut.instance().find(&name).is_some()
        };
        let (writes, reads) = (has(sim, "awvalid"), has(sim, "arvalid"));
        let mut attach = |half, address, data, faults| {
            let config = SlaveConfig {
                address,
                data,
                latency: config.latency,
                faults,
                ..SlaveConfig::default()
            };
            let shared = (SharedMemory::clone(&memory), Some(AccessLog::clone(&log)));
            AxiSlave::of(sim, prefix, (half, Protocol::Lite), config, shared)
        };
        let pauses = config.pauses;
        let (address, data) = (pauses.write_address, pauses.write_data);
        let writes = (writes || !reads).then(|| attach(Half::Write, address, data, config.write_faults));
        let writes = writes.transpose()?;
        let (address, data) = (pauses.read_address, Pause::Never);
        let reads = reads.then(|| attach(Half::Read, address, data, config.read_faults));
        let reads = reads.transpose()?;
        Ok(Self {
            writes,
            reads,
            memory,
            log,
        })
    }

    /// The memory, to be read and changed.
    pub fn memory(&self) -> RefMut<'_, Memory> {
        self.memory.borrow_mut()
    }

    /// All accesses that were not taken yet, in the order in which they were complete.
    pub fn take_accesses(&self) -> Vec<LiteAccess> {
        for half in self.writes.iter().chain(&self.reads) {
            half.take_bursts();
        }
        self.log.borrow_mut().drain(..).map(LiteAccess::from).collect()
    }

    /// Changes which writes and reads fail, from the next one that is complete.
    pub fn set_faults(&self, writes: Faults, reads: Faults) {
        for (half, faults) in [(&self.writes, writes), (&self.reads, reads)] {
            half.iter().for_each(|half| half.set_faults(faults.clone()));
        }
    }

    /// Changes the latency, from the next access that is complete.
    pub fn set_latency(&self, latency: Latency) {
        let halves = self.writes.iter().chain(&self.reads);
        halves.for_each(|half| half.set_latency(latency));
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pauses(&self, pauses: LiteSlavePauses) {
        if let Some(writes) = &self.writes {
            writes.set_pauses(pauses.write_address, pauses.write_data);
        }
        if let Some(reads) = &self.reads {
            reads.set_pauses(pauses.read_address, Pause::Never);
        }
    }

    /// What was seen of the writes and of the reads since the start; zero for channels that the design lacks.
    pub fn counts(&self) -> [AxiCounts; 2] {
        [&self.writes, &self.reads].map(|half| {
            half.as_ref()
                .map_or_else(AxiCounts::default, |half| half.monitor().counts())
        })
    }
}
