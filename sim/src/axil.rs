//! AXI4-Lite (AMBA IHI 0022, section B1): the master, slave and monitors of [AXI4](crate::axi), with bursts of one word.
//!
//! ```text
//! LiteWrite, LiteRead         --> LiteMaster --> s_axil* [design] m_axil* --> LiteSlave --> Memory
//! LiteWriteDone, LiteReadDone <--            AxiMonitor              AxiMonitor
//! ```
//!
//! A design has all five channels or, with write or read channels only, three or two of them. The data is
//! 8 to 64 bits wide, the address at most 64. `awprot` and `arprot` are optional.

pub use crate::axi::{
    Faults, Latency, MasterConfig, MasterPauses, Memory, Pause, Response, SharedMemory, Skew,
};
pub use crate::handshake::Counts;

use crate::axi::{
    Access, AccessLog, AxiCounts, AxiMaster, AxiSlave, Burst, BurstKind, Half, Protocol, ReadDone,
    ReadRequest, SlaveConfig, WriteDone, WriteRequest,
};
use crate::model::{Model, ModelError};
use crate::simulation::Simulation;
use std::cell::RefMut;

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

/// A write of one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteWrite {
    /// AWADDR, of any alignment.
    pub address: u64,
    /// WDATA.
    pub data: u64,
    /// WSTRB; `None` is all bytes.
    pub strobes: Option<u8>,
    /// AWPROT; `None` is a random value.
    pub protection: Option<u8>,
}

impl LiteWrite {
    /// A write of all bytes of a word.
    pub fn new(address: u64, data: u64) -> Self {
        Self {
            address,
            data,
            strobes: None,
            protection: None,
        }
    }

    /// The same write of these bytes only.
    #[must_use]
    pub fn strobed(self, strobes: u8) -> Self {
        let strobes = Some(strobes);
        Self { strobes, ..self }
    }
}

/// A read of one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteRead {
    /// ARADDR, of any alignment.
    pub address: u64,
    /// ARPROT; `None` is a random value.
    pub protection: Option<u8>,
}

impl LiteRead {
    /// A read of a word.
    pub fn new(address: u64) -> Self {
        let protection = None;
        Self { address, protection }
    }
}

/// A completed write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteWriteDone {
    /// The number that [`LiteMaster::write`] gave it.
    pub number: u64,
    /// Its address.
    pub address: u64,
    /// BRESP.
    pub response: Response,
    /// The cycle of the transfer of its address.
    pub address_cycle: u64,
    /// The cycle of the transfer of its data.
    pub data_cycle: u64,
    /// The first cycle in which its response was valid.
    pub valid_cycle: u64,
    /// The cycle of the transfer of its response.
    pub response_cycle: u64,
}

impl LiteWriteDone {
    /// Cycles from the later transfer of address and data to a valid response.
    pub fn latency_cycles(&self) -> u64 {
        self.valid_cycle - self.address_cycle.max(self.data_cycle)
    }
}

impl From<WriteDone> for LiteWriteDone {
    fn from(done: WriteDone) -> Self {
        Self {
            number: done.number,
            address: done.burst.address,
            response: done.response,
            address_cycle: done.address_cycle,
            data_cycle: done.data_cycle,
            valid_cycle: done.valid_cycle,
            response_cycle: done.response_cycle,
        }
    }
}

/// A completed read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteReadDone {
    /// The number that [`LiteMaster::read`] gave it.
    pub number: u64,
    /// Its address.
    pub address: u64,
    /// RDATA.
    pub data: u64,
    /// RRESP.
    pub response: Response,
    /// The cycle of the transfer of its address.
    pub address_cycle: u64,
    /// The first cycle in which its data was valid.
    pub valid_cycle: u64,
    /// The cycle of the transfer of its data.
    pub response_cycle: u64,
}

impl LiteReadDone {
    /// Cycles from the transfer of the address to valid data.
    pub fn latency_cycles(&self) -> u64 {
        self.valid_cycle - self.address_cycle
    }
}

impl From<ReadDone> for LiteReadDone {
    fn from(done: ReadDone) -> Self {
        Self {
            number: done.number,
            address: done.burst.address,
            data: word(&done.bytes()),
            response: done.response(),
            address_cycle: done.address_cycle,
            valid_cycle: done.valid_cycle,
            response_cycle: done.last_cycle,
        }
    }
}

/// The number that a word of at most 8 bytes holds.
fn word(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

/// Writes to and reads from a design that is a slave; clones share one state.
///
/// Writes are sent in order, reads are sent in order, and neither waits for the other nor for a response: the design
/// limits how many are in flight. Monitors check the design.
///
/// A reset discards what the design has seen a part of; the rest is sent after the reset.
///
/// ```no_run
/// # fn example<M: spinneret_sim::model::Model>(sim: &mut spinneret_sim::simulation::Simulation<M>) {
/// use spinneret_sim::axil::{MasterConfig, LiteRead, LiteWrite, Response};
///
/// let master = sim.axil_master("s_axil", MasterConfig::default());
/// sim.reset();
/// let number = master.write(LiteWrite::new(0x2000, 1));
/// while !master.is_idle() {
///     sim.cycle();
/// }
/// let done = master.take_writes();
/// assert_eq!((done[0].number, done[0].response), (number, Response::Okay));
/// println!("{} cycles", done[0].latency_cycles());
/// master.read(LiteRead::new(0x2000));
/// while !master.is_idle() {
///     sim.cycle();
/// }
/// assert_eq!(master.take_reads()[0].data, 1);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LiteMaster {
    master: AxiMaster,
    prefix: String,
}

impl LiteMaster {
    /// Puts a master on the channels with that prefix, and monitors: writes, reads or both.
    ///
    /// # Errors
    /// If the design is no slave there.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        config: MasterConfig,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            master: AxiMaster::of(sim, prefix, Protocol::Lite, config)?,
            prefix: prefix.to_owned(),
        })
    }

    /// Queues a write; returns the number that identifies its response.
    ///
    /// # Panics
    /// If its values do not fit the ports, or the design has no write channels.
    pub fn write(&self, request: LiteWrite) -> u64 {
        let bytes = self.master.bus_bytes();
        let strobes = request.strobes.unwrap_or(u8::MAX >> (8 - bytes));
        for (name, value, width) in [
            ("data", request.data, 8 * bytes),
            ("strobes", strobes.into(), bytes),
        ] {
            let fits = width == 64 || value >> width == 0;
            assert!(
                fits,
                "{}: {name} {value:#x} does not fit {width} bits",
                self.prefix
            );
        }
        let data = request.data.to_le_bytes()[..bytes].to_vec();
        self.master.write(WriteRequest {
            protection: request.protection,
            ..WriteRequest::new(self.burst(request.address), [(data, strobes.into())])
        })
    }

    /// Queues a read; returns the number that identifies its response.
    ///
    /// # Panics
    /// If its values do not fit the ports, or the design has no read channels.
    pub fn read(&self, request: LiteRead) -> u64 {
        self.master.read(ReadRequest {
            protection: request.protection,
            ..ReadRequest::new(self.burst(request.address))
        })
    }

    fn burst(&self, address: u64) -> Burst {
        Burst {
            id: 0,
            address,
            beats: 1,
            size: self.master.bus_bytes() as u64,
            kind: BurstKind::Word,
        }
    }

    /// All writes that were answered and not taken yet, in their order.
    pub fn take_writes(&self) -> Vec<LiteWriteDone> {
        let done = self.master.take_writes().into_iter();
        done.map(LiteWriteDone::from).collect()
    }

    /// All reads that were answered and not taken yet, in their order.
    pub fn take_reads(&self) -> Vec<LiteReadDone> {
        let done = self.master.take_reads().into_iter();
        done.map(LiteReadDone::from).collect()
    }

    /// Writes that were not answered, sent or not.
    pub fn writes_left(&self) -> usize {
        self.master.writes_left()
    }

    /// Reads that were not answered, sent or not.
    pub fn reads_left(&self) -> usize {
        self.master.reads_left()
    }

    /// Whether everything is sent and answered.
    pub fn is_idle(&self) -> bool {
        self.master.is_idle()
    }

    /// Discards all accesses that have not started; one that is offered cannot be withdrawn.
    pub fn clear(&self) {
        self.master.clear();
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pauses(&self, pauses: &MasterPauses) {
        self.master.set_pauses(pauses);
    }

    /// Changes the delay between addresses and data, from the next queued write on.
    pub fn set_skew(&self, skew: Skew) {
        self.master.set_skew(skew);
    }

    /// The counters of writes and reads since the start; zero for channels that the design lacks.
    pub fn counts(&self) -> [AxiCounts; 2] {
        [self.master.write_monitor(), self.master.read_monitor()]
            .map(|monitor| monitor.map_or_else(AxiCounts::default, |monitor| monitor.counts()))
    }
}

/// How a [`LiteSlave`] behaves.
#[derive(Clone, Debug, Default)]
pub struct LiteSlaveConfig {
    /// Its pauses.
    pub pauses: LiteSlavePauses,
    /// Cycles from the last transfer of a write or the address of a read to its answer.
    pub latency: Latency,
    /// Which writes fail and change nothing.
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

/// A slave with a memory for a design that is a master; clones share one state.
///
/// Accesses are answered in order. A word is the aligned one that contains the address. A read returns what the
/// memory holds when the data is offered; bytes that were never written, and reads that fail, carry random bytes, so
/// that a design that uses them is detected.
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

    /// Takes all accesses, in the order of their completion.
    pub fn take_accesses(&self) -> Vec<LiteAccess> {
        for half in self.writes.iter().chain(&self.reads) {
            half.take_bursts();
        }
        self.log.borrow_mut().drain(..).map(LiteAccess::from).collect()
    }

    /// Changes which writes and reads fail, from the next completed one on.
    pub fn set_faults(&self, writes: Faults, reads: Faults) {
        for (half, faults) in [(&self.writes, writes), (&self.reads, reads)] {
            half.iter().for_each(|half| half.set_faults(faults.clone()));
        }
    }

    /// Changes the latency, from the next access on.
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

    /// The counters of writes and reads since the start; zero for channels that the design lacks.
    pub fn counts(&self) -> [AxiCounts; 2] {
        [&self.writes, &self.reads].map(|half| {
            half.as_ref()
                .map_or_else(AxiCounts::default, |half| half.monitor().counts())
        })
    }
}
