//! A slave with a memory behind a design that is a master.

use super::monitor::LiteMonitor;
use super::ports::{AddressPorts, LitePorts, ReadPorts, WritePorts};
use crate::agent::{Agent, Violation};
use crate::axi::{Faults, Latency, Memory, Response, SharedMemory};
use crate::handshake::{Handshake, Side};
use crate::model::{Instance, Model, ModelError};
use crate::pause::{Pause, Pauses};
use crate::simulation::Simulation;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::rc::Rc;

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

/// A slave with a memory behind a design that is a master; clones share one state.
///
/// Accesses are answered in their order. A word is the aligned one that contains the address. What is read
/// is what the memory holds when the data is offered; bytes that were never written and reads that fail
/// carry random bytes, so that a design that uses them is found out.
#[derive(Clone, Debug)]
pub struct LiteSlave {
    state: Rc<RefCell<State>>,
    memory: SharedMemory,
    monitor: LiteMonitor,
}

/// An answer that waits for its time.
#[derive(Clone, Copy, Debug)]
struct Pending {
    address: u64,
    response: Response,
    due: u64,
}

/// What the write channels have seen.
#[derive(Debug)]
struct Writes {
    ports: WritePorts,
    address: Pauses,
    data: Pauses,
    addresses: VecDeque<(u64, u8)>,
    datas: VecDeque<(u64, u8)>,
    pending: VecDeque<Pending>,
    on_bus: bool,
}

/// What the read channels have seen.
#[derive(Debug)]
struct Reads {
    ports: ReadPorts,
    address: Pauses,
    pending: VecDeque<Pending>,
    on_bus: bool,
}

/// What both halves use.
#[derive(Debug)]
struct Shared {
    latency: Latency,
    write_faults: Faults,
    read_faults: Faults,
    rng: ChaCha8Rng,
    memory: SharedMemory,
    seen: VecDeque<LiteAccess>,
    /// Bytes of a word.
    bytes: usize,
    /// The cycle that is driven next.
    cycle: u64,
}

#[derive(Debug)]
struct State {
    prefix: String,
    monitor: LiteMonitor,
    writes: Option<Writes>,
    reads: Option<Reads>,
    shared: Shared,
}

impl LiteSlave {
    /// Puts a slave and a monitor on the channels with that prefix.
    ///
    /// # Errors
    /// If the design is no master there.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        config: LiteSlaveConfig,
    ) -> Result<Self, ModelError> {
        let ports = LitePorts::find(sim.dut.instance(), prefix, Some(Side::OutOfDesign))?;
        let monitor = LiteMonitor::attach(sim, prefix)?;
        let memory = SharedMemory::default();
        let shared = Shared {
            latency: config.latency,
            write_faults: config.write_faults,
            read_faults: config.read_faults,
            rng: sim.rng(&format!("answers of {prefix}")),
            memory: SharedMemory::clone(&memory),
            seen: VecDeque::new(),
            bytes: ports.bytes(),
            cycle: 0,
        };
        let pauses =
            |channel: &str, pause| Pauses::new(pause, sim.rng(&format!("pauses of {prefix}_{channel}")));
        let state = State {
            prefix: prefix.to_owned(),
            monitor: monitor.clone(),
            writes: ports.write.map(|ports| Writes {
                ports,
                address: pauses("aw", config.pauses.write_address),
                data: pauses("w", config.pauses.write_data),
                addresses: VecDeque::new(),
                datas: VecDeque::new(),
                pending: VecDeque::new(),
                on_bus: false,
            }),
            reads: ports.read.map(|ports| Reads {
                ports,
                address: pauses("ar", config.pauses.read_address),
                pending: VecDeque::new(),
                on_bus: false,
            }),
            shared,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self {
            state,
            memory,
            monitor,
        })
    }

    /// The memory, to be read and changed.
    pub fn memory(&self) -> RefMut<'_, Memory> {
        self.memory.borrow_mut()
    }

    /// All accesses that were not taken yet, in the order in which they were complete.
    pub fn take_accesses(&self) -> Vec<LiteAccess> {
        self.state.borrow_mut().shared.seen.drain(..).collect()
    }

    /// Changes which writes and reads fail, from the next one that is complete.
    pub fn set_faults(&self, writes: Faults, reads: Faults) {
        let mut state = self.state.borrow_mut();
        (state.shared.write_faults, state.shared.read_faults) = (writes, reads);
    }

    /// Changes the latency, from the next access that is complete.
    pub fn set_latency(&self, latency: Latency) {
        self.state.borrow_mut().shared.latency = latency;
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pauses(&self, pauses: LiteSlavePauses) {
        let mut state = self.state.borrow_mut();
        if let Some(writes) = &mut state.writes {
            writes.address.set(pauses.write_address);
            writes.data.set(pauses.write_data);
        }
        if let Some(reads) = &mut state.reads {
            reads.address.set(pauses.read_address);
        }
    }

    /// The monitor on the same channels.
    pub fn monitor(&self) -> &LiteMonitor {
        &self.monitor
    }
}

impl Shared {
    /// The address of the word that contains an address.
    fn word(&self, address: u64) -> u64 {
        address - address % self.bytes as u64
    }

    /// How an access to some bytes of a word is answered.
    fn judge(&mut self, is_write: bool, address: u64, strobes: u8) -> Response {
        let word = self.word(address);
        let faults = if is_write {
            &self.write_faults
        } else {
            &self.read_faults
        };
        match faults {
            Faults::Never => Response::Okay,
            Faults::Random { percent } => {
                if self.rng.random_range(0..100) >= *percent {
                    Response::Okay
                } else if self.rng.random() {
                    Response::SlaveError
                } else {
                    Response::DecodeError
                }
            }
            Faults::At(ranges) => {
                let touched = |lane: &u64| strobes >> lane & 1 == 1;
                let bytes = || (0..self.bytes as u64).filter(touched).map(|lane| word + lane);
                let first = ranges
                    .iter()
                    .find(|(range, _)| bytes().any(|byte| range.contains(&byte)));
                first.map_or(Response::Okay, |(_, response)| *response)
            }
        }
    }

    /// Plans the answer to an access that is complete.
    fn accept(&mut self, (address, protection): (u64, u8), written: Option<(u64, u8)>) -> Pending {
        let strobes = written.map_or(u8::MAX, |(_, strobes)| strobes);
        let response = self.judge(written.is_some(), address, strobes);
        if let Some((data, strobes)) = written.filter(|_| response == Response::Okay) {
            let bytes = &data.to_le_bytes()[..self.bytes];
            let word = self.word(address);
            self.memory.borrow_mut().write(word, bytes, strobes.into());
        }
        let cycle = self.cycle - 1;
        self.seen.push_back(LiteAccess {
            address,
            protection,
            written,
            response,
            cycle,
        });
        Pending {
            address,
            response,
            due: cycle + self.latency.draw(&mut self.rng),
        }
    }

    /// What is read from an address.
    fn data(&mut self, pending: Pending) -> u64 {
        let mut bytes = [0; 8];
        self.rng.fill_bytes(&mut bytes[..self.bytes]);
        if !pending.response.is_error() {
            let word = self.word(pending.address);
            self.memory.borrow().overlay(word, &mut bytes[..self.bytes]);
        }
        u64::from_le_bytes(bytes)
    }
}

/// Address and protection on a channel, if they are transferred.
fn transferred(dut: &Instance, ports: &AddressPorts) -> Option<(u64, u8)> {
    let protection = ports.protection.map_or(0, |port| dut.value(port) as u8);
    transfers(dut, &ports.channel).then(|| (dut.value(ports.address) as u64, protection))
}

fn transfers(dut: &Instance, bus: &Handshake) -> bool {
    dut.is_high(bus.valid) && dut.is_high(bus.ready)
}

impl Writes {
    fn drive(&mut self, dut: &mut Instance, counts: [u64; 2], cycle: u64) {
        let [addresses, datas] = counts;
        dut.set_high(self.ports.address.channel.ready, !self.address.next(addresses));
        dut.set_high(self.ports.data.ready, !self.data.next(datas));
        if !self.on_bus
            && let Some(next) = self.pending.pop_front_if(|next| next.due <= cycle)
        {
            dut.set_value(self.ports.bresp, next.response.code().into());
            self.on_bus = true;
        }
        dut.set_high(self.ports.response.valid, self.on_bus);
    }

    fn sample(&mut self, dut: &Instance, shared: &mut Shared) {
        if dut.is_high(self.ports.response.ready) {
            self.on_bus = false;
        }
        self.addresses.extend(transferred(dut, &self.ports.address));
        if transfers(dut, &self.ports.data) {
            let strobes = dut.value(self.ports.wstrb) as u8;
            self.datas
                .push_back((dut.value(self.ports.wdata) as u64, strobes));
        }
        while let (Some(address), Some(data)) = (self.addresses.front(), self.datas.front()) {
            self.pending.push_back(shared.accept(*address, Some(*data)));
            self.addresses.pop_front();
            self.datas.pop_front();
        }
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.addresses.clear();
        self.datas.clear();
        self.pending.clear();
        self.on_bus = false;
        dut.set_high(self.ports.address.channel.ready, false);
        dut.set_high(self.ports.data.ready, false);
        dut.set_high(self.ports.response.valid, false);
    }
}

impl Reads {
    fn drive(&mut self, dut: &mut Instance, addresses: u64, shared: &mut Shared) {
        dut.set_high(self.ports.address.channel.ready, !self.address.next(addresses));
        let cycle = shared.cycle;
        if !self.on_bus
            && let Some(next) = self.pending.pop_front_if(|next| next.due <= cycle)
        {
            dut.set_value(self.ports.rdata, shared.data(next).into());
            dut.set_value(self.ports.rresp, next.response.code().into());
            self.on_bus = true;
        }
        dut.set_high(self.ports.data.valid, self.on_bus);
    }

    fn sample(&mut self, dut: &Instance, shared: &mut Shared) {
        if dut.is_high(self.ports.data.ready) {
            self.on_bus = false;
        }
        if let Some(address) = transferred(dut, &self.ports.address) {
            self.pending.push_back(shared.accept(address, None));
        }
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.pending.clear();
        self.on_bus = false;
        dut.set_high(self.ports.address.channel.ready, false);
        dut.set_high(self.ports.data.valid, false);
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let counts = self.monitor.counts();
        if let Some(writes) = &mut self.writes {
            let counts = [counts.write_address.beats, counts.write_data.beats];
            writes.drive(dut, counts, self.shared.cycle);
        }
        if let Some(reads) = &mut self.reads {
            reads.drive(dut, counts.read_address.beats, &mut self.shared);
        }
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.shared.cycle = cycle + 1;
        if let Some(writes) = &mut self.writes {
            writes.sample(dut, &mut self.shared);
        }
        if let Some(reads) = &mut self.reads {
            reads.sample(dut, &mut self.shared);
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        if let Some(writes) = &mut self.writes {
            writes.reset(dut);
        }
        if let Some(reads) = &mut self.reads {
            reads.reset(dut);
        }
    }

    fn describe(&self) -> String {
        let writes = self.writes.as_ref().map_or(0, |half| half.pending.len());
        let reads = self.reads.as_ref().map_or(0, |half| half.pending.len());
        let prefix = &self.prefix;
        format!("{prefix}: slave has {writes} writes and {reads} reads to answer")
    }
}
