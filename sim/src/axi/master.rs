//! AXI4 master that drives a design which is a slave.

mod half;
mod request;

pub use request::{ReadBeat, ReadDone, ReadRequest, WriteDone, WriteRequest};

use crate::agent::{Agent, Violation};
use crate::axi::burst::Request;
use crate::axi::monitor::AxiMonitor;
use crate::axi::ports::{Half, Ports, Protocol};
use crate::axi::rules::WriteBeat;
use crate::handshake::Side;
use crate::model::{Instance, Model, ModelError};
use crate::pause::Pause;
use crate::simulation::Simulation;
use half::{Ids, MasterHalf};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Writes to and reads from a design that is a slave; clones share one state.
///
/// Writes are sent in order, reads are sent in order, and neither waits for the other; only an atomic operation has
/// its id to itself, as AXI requires. AxPROT, AxQOS and the user signals are random where the design has them, except
/// for the AxUSER that a request sets. Requests are checked against the rules of the bus unless they break them on
/// purpose; the monitors check the design.
///
/// A reset discards what the design has seen a part of; the rest is sent after the reset.
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
    /// Attaches a master to the AXI4 channels with that prefix, and a monitor to each half that exists: writes, reads
    /// or both.
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

    /// Queues a write; returns the number that identifies its response.
    ///
    /// # Panics
    /// If it breaks a rule and is not marked as illegal, if its values do not fit the ports, or if the
    /// design lacks the ports for it.
    pub fn write(&self, request: WriteRequest) -> u64 {
        let address = request.request();
        let checked = move |bus: usize| request.check(bus).map(|()| request.beats);
        self.state.borrow_mut().queue(Half::Write, address, checked)
    }

    /// Queues a read; returns the number that identifies its response.
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

    /// Takes all completed reads, in the order of their last beats, with the data that atomic operations returned.
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

    /// Number of reads without a complete response, sent or not, with the atomic operations that wait for returned
    /// data.
    pub fn reads_left(&self) -> usize {
        self.state.borrow().reader.as_ref().map_or(0, MasterHalf::left)
    }

    /// Whether everything is sent and answered.
    pub fn is_idle(&self) -> bool {
        self.writes_left() == 0 && self.reads_left() == 0
    }

    /// The numbers of the writes without response, by id in the order of the expected responses.
    pub fn expected_writes(&self) -> BTreeMap<u64, Vec<u64>> {
        let state = self.state.borrow();
        state
            .writer
            .as_ref()
            .map_or_else(BTreeMap::new, MasterHalf::expected)
    }

    /// The numbers of the reads without response, by id in the order of the expected responses.
    pub fn expected_reads(&self) -> BTreeMap<u64, Vec<u64>> {
        let state = self.state.borrow();
        state
            .reader
            .as_ref()
            .map_or_else(BTreeMap::new, MasterHalf::expected)
    }

    /// Discards all bursts that have not started; one that is offered cannot be withdrawn.
    pub fn clear(&self) {
        self.state.borrow_mut().halves().for_each(MasterHalf::clear);
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pauses(&self, pauses: &MasterPauses) {
        let mut state = self.state.borrow_mut();
        state.halves().for_each(|half| half.set_pauses(pauses));
    }

    /// Changes the delay between addresses and data, from the next queued write on.
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

#[derive(Debug)]
struct State {
    prefix: String,
    writer: Option<MasterHalf>,
    reader: Option<MasterHalf>,
    ids: Ids,
    /// The number of the next burst.
    number: u64,
    /// The next cycle to drive.
    cycle: u64,
}

impl State {
    fn new(prefix: &str, writer: Option<MasterHalf>, reader: Option<MasterHalf>) -> Self {
        Self {
            prefix: prefix.to_owned(),
            writer,
            reader,
            ids: Ids::default(),
            number: 0,
            cycle: 0,
        }
    }

    /// The halves that the design has.
    fn halves(&mut self) -> impl Iterator<Item = &mut MasterHalf> {
        self.writer.iter_mut().chain(&mut self.reader)
    }

    /// Queues a burst and returns its number. `checked` gets the number of bytes per beat and returns the data, or
    /// the broken rule.
    fn queue(
        &mut self,
        half: Half,
        request: Request,
        checked: impl FnOnce(usize) -> Result<Vec<WriteBeat>, String>,
    ) -> u64 {
        let (prefix, number) = (&self.prefix, self.number);
        let (own, name) = match half {
            Half::Write => (&mut self.writer, "write"),
            Half::Read => (&mut self.reader, "read"),
        };
        let Some(own) = own else {
            panic!("{prefix} has no {name} channels");
        };
        let queued = checked(own.ports.bytes).and_then(|beats| own.push(number, request, beats));
        queued.unwrap_or_else(|rule| panic!("{prefix}: {rule}"));
        self.number += 1;
        number
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let loads = self.reader.is_some();
        for half in self.writer.iter_mut().chain(&mut self.reader) {
            half.drive(dut, self.cycle, &mut self.ids, loads);
        }
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.cycle = cycle + 1;
        let writer = self.writer.as_mut();
        let address = writer.and_then(|writer| writer.sample(dut, cycle, &mut self.ids));
        if let Some(reader) = &mut self.reader {
            reader.sample(dut, cycle, &mut self.ids);
            if let Some((number, request)) = address {
                reader.expect_load(number, request, cycle);
            }
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.ids.clear();
        self.halves().for_each(|half| half.reset(dut));
    }

    fn unfinished(&self) -> Option<String> {
        let mut halves = self.writer.iter().chain(&self.reader);
        halves.any(|half| !half.is_finished()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let halves = self.writer.iter().chain(&self.reader).map(MasterHalf::describe);
        format!(
            "{}: master: {}",
            self.prefix,
            halves.collect::<Vec<_>>().join("; ")
        )
    }
}

/// How an [`AxiMaster`](AxiMaster) or a [`LiteMaster`](crate::axil::LiteMaster) behaves.
#[derive(Clone, Debug, Default)]
pub struct MasterConfig {
    /// Its pauses.
    pub pauses: MasterPauses,
    /// How far addresses and data of writes are apart.
    pub skew: Skew,
}

/// When the channels of a master pause. Offers stay: pauses only delay the next transfer.
#[derive(Clone, Debug, Default)]
pub struct MasterPauses {
    /// When no address of a write follows.
    pub write_address: Pause,
    /// When no beat to write follows.
    pub write_data: Pause,
    /// When it is not ready for a response.
    pub response: Pause,
    /// When no address of a read follows.
    pub read_address: Pause,
    /// When it is not ready for a beat of read data.
    pub read_data: Pause,
}

impl MasterPauses {
    /// The same pauses on all channels.
    pub fn all(pause: &Pause) -> Self {
        Self {
            write_address: pause.clone(),
            write_data: pause.clone(),
            response: pause.clone(),
            read_address: pause.clone(),
            read_data: pause.clone(),
        }
    }

    /// Those of addresses, of data and of answers; data of reads are their answers.
    fn of(&self, half: Half) -> [&Pause; 3] {
        match half {
            Half::Write => [&self.write_address, &self.write_data, &self.response],
            Half::Read => [&self.read_address, &self.read_data, &self.read_data],
        }
    }
}

/// How far the address of a write and its data are apart.
///
/// Whether address or data of a write comes first. AXI forbids a master to wait until the slave has taken the other,
/// so either only waits for a number of cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skew {
    /// The first beat is offered in the same cycle as the address, or as soon as the data of all bursts
    /// before is transferred.
    #[default]
    Together,
    /// Random for each burst: data first, address first, or both at once.
    Random {
        /// Most cycles between the offer of one and the other.
        most: u32,
    },
}

impl Skew {
    /// Cycles from the offer of the address to that of the first beat.
    pub(crate) fn draw(self, rng: &mut ChaCha8Rng) -> i64 {
        match self {
            Self::Together => 0,
            Self::Random { most } => rng.random_range(-i64::from(most)..=i64::from(most)),
        }
    }
}
