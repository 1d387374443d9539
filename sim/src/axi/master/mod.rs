//! A master in front of a design that is a slave.

mod config;
mod done;
mod half;
mod request;
mod state;

pub use config::{MasterConfig, MasterPauses, Skew};
pub use done::{ReadBeat, ReadDone, WriteDone};
pub use request::{ReadRequest, WriteRequest};

use super::monitor::AxiMonitor;
use super::ports::{Half, Ports, Protocol};
use crate::handshake::Side;
use crate::model::{Model, ModelError};
use crate::simulation::Simulation;
use half::MasterHalf;
use state::State;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Writes to and reads from a design that is a slave; clones share one state.
///
/// Writes are sent in their order, reads in theirs, and neither waits for the other: except that an
/// atomic operation has its id for itself, as AXI demands. Where the design has the ports, AxPROT, AxQOS
/// and the user signals are random, but for AxUSER of a burst that says what it is. Whatever is sent is checked against the rules of the bus, unless it
/// breaks them on purpose; the monitors then watch what the design does.
///
/// A reset forgets what the design has seen a part of; the rest is sent after it.
///
/// ```no_run
/// # fn example<M: spinneret_sim::model::Model>(sim: &mut spinneret_sim::simulation::Simulation<M>) {
/// use spinneret_sim::axi::{MasterConfig, ReadRequest, Response, WriteRequest};
///
/// let master = sim.axi_master("s_axi", MasterConfig::default());
/// sim.reset();
/// let bus = master.bus_bytes();
/// let number = master.write(WriteRequest::bytes(3, 0x1003, b"hello", bus));
/// while !master.is_idle() {
///     sim.cycle();
/// }
/// let done = master.take_writes();
/// assert_eq!((done[0].number, done[0].response), (number, Response::Okay));
/// println!("{} cycles", done[0].response_cycle - done[0].address_cycle);
/// master.read(ReadRequest::bytes(7, 0x1003, 5, bus));
/// while !master.is_idle() {
///     sim.cycle();
/// }
/// // The burst is of whole beats, so what comes behind the five bytes is read too.
/// assert_eq!(master.take_reads()[0].bytes()[..5], *b"hello");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AxiMaster {
    state: Rc<RefCell<State>>,
    bus_bytes: usize,
}

impl AxiMaster {
    /// Puts a master on the channels of AXI4 with that prefix, and monitors on those that there are: writes,
    /// reads or both.
    ///
    /// # Errors
    /// If the design is no slave there.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        config: MasterConfig,
    ) -> Result<Self, ModelError> {
        Self::of(sim, prefix, Protocol::Full, config)
    }

    /// The same for any protocol.
    pub(crate) fn of<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        protocol: Protocol,
        MasterConfig { pauses, skew }: MasterConfig,
    ) -> Result<Self, ModelError> {
        let has = |sim: &Simulation<M>, signal: &str| {
            let name = format!("{prefix}_{signal}");
            sim.dut.instance().find(&name).is_some()
        };
        let (writes, reads) = (has(sim, "awvalid"), has(sim, "arvalid"));
        let seed = sim.seed();
        let mut attach = |half| -> Result<MasterHalf, ModelError> {
            let kind = (half, protocol);
            let ports = Ports::find(sim.dut.instance(), prefix, kind, Some(Side::IntoDesign))?;
            let monitor = AxiMonitor::of(sim, prefix, kind)?;
            monitor.check_slave_only();
            Ok(MasterHalf::new(ports, monitor, &pauses, skew, seed))
        };
        let writer = (writes || !reads).then(|| attach(Half::Write)).transpose()?;
        let reader = reads.then(|| attach(Half::Read)).transpose()?;
        let bus_bytes = writer.as_ref().or(reader.as_ref()).map(|half| half.ports.bytes);
        let state = Rc::new(RefCell::new(State::new(prefix, writer, reader)));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        let bus_bytes = bus_bytes.unwrap_or_default();
        Ok(Self { state, bus_bytes })
    }

    /// Bytes in a beat.
    pub fn bus_bytes(&self) -> usize {
        self.bus_bytes
    }

    /// Queues a write; the number by which its answer is known.
    ///
    /// # Panics
    /// If it breaks a rule and is not marked as illegal, if its values do not fit the ports, or if the
    /// design lacks the ports for it.
    pub fn write(&self, request: WriteRequest) -> u64 {
        let address = request.request();
        let checked = move |bus: usize| request.check(bus).map(|()| request.beats);
        self.state.borrow_mut().queue(Half::Write, address, checked)
    }

    /// Queues a read; the number by which its answer is known.
    ///
    /// # Panics
    /// As [`write`](Self::write).
    pub fn read(&self, request: ReadRequest) -> u64 {
        let checked = |bus| request.check(bus).map(|()| Vec::new());
        let mut state = self.state.borrow_mut();
        state.queue(Half::Read, request.request(), checked)
    }

    /// All writes that were answered and not taken yet, in the order of their responses.
    pub fn take_writes(&self) -> Vec<WriteDone> {
        let mut state = self.state.borrow_mut();
        state
            .writer
            .as_mut()
            .map_or_else(Vec::new, MasterHalf::take_writes)
    }

    /// All reads that were answered and not taken yet, in the order of their last beats; what atomic
    /// operations loaded is among them.
    pub fn take_reads(&self) -> Vec<ReadDone> {
        let mut state = self.state.borrow_mut();
        state
            .reader
            .as_mut()
            .map_or_else(Vec::new, MasterHalf::take_reads)
    }

    /// Writes that were not answered, sent or not.
    pub fn writes_left(&self) -> usize {
        self.state.borrow().writer.as_ref().map_or(0, MasterHalf::left)
    }

    /// Reads that were not answered, sent or not, and atomic operations that wait for what they load.
    pub fn reads_left(&self) -> usize {
        self.state.borrow().reader.as_ref().map_or(0, MasterHalf::left)
    }

    /// Whether everything is sent and answered.
    pub fn is_idle(&self) -> bool {
        self.writes_left() == 0 && self.reads_left() == 0
    }

    /// The numbers of writes that were not answered, by id in the order in which they have to be.
    pub fn expected_writes(&self) -> BTreeMap<u64, Vec<u64>> {
        let state = self.state.borrow();
        state
            .writer
            .as_ref()
            .map_or_else(BTreeMap::new, MasterHalf::expected)
    }

    /// The numbers of reads that were not answered, by id in the order in which they have to be.
    pub fn expected_reads(&self) -> BTreeMap<u64, Vec<u64>> {
        let state = self.state.borrow();
        state
            .reader
            .as_ref()
            .map_or_else(BTreeMap::new, MasterHalf::expected)
    }

    /// Forgets all bursts that were not begun; one that is offered cannot be taken back.
    pub fn clear(&self) {
        self.state.borrow_mut().halves().for_each(MasterHalf::clear);
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pauses(&self, pauses: &MasterPauses) {
        let mut state = self.state.borrow_mut();
        state.halves().for_each(|half| half.set_pauses(pauses));
    }

    /// Changes how far addresses and data are apart, from the next write that is queued.
    pub fn set_skew(&self, skew: Skew) {
        if let Some(writer) = &mut self.state.borrow_mut().writer {
            writer.skew = skew;
        }
    }

    /// The monitor of the write channels, if the design has them.
    pub fn write_monitor(&self) -> Option<AxiMonitor> {
        let state = self.state.borrow();
        state.writer.as_ref().map(|writer| writer.monitor.clone())
    }

    /// The monitor of the read channels, if the design has them.
    pub fn read_monitor(&self) -> Option<AxiMonitor> {
        let state = self.state.borrow();
        state.reader.as_ref().map(|reader| reader.monitor.clone())
    }
}
