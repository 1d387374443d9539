//! A slave with a memory behind the read channels of the design.

use super::answer::{Latency, Response};
use super::burst::{Burst, Request};
use super::memory::{Memory, SharedMemory};
use super::ports::ReadPorts;
use super::read_faults::ReadFaults;
use super::read_monitor::ReadMonitor;
use super::read_queue::{NextBeat, PendingRead, ReadOrder, ReadQueue};
use crate::agent::{Agent, Violation};
use crate::handshake::Side;
use crate::model::{Instance, Model, ModelError};
use crate::pause::{Pause, Pauses};
use crate::simulation::Simulation;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::cell::{Ref, RefCell, RefMut};
use std::collections::VecDeque;
use std::rc::Rc;

/// How a [`ReadSlave`] behaves.
#[derive(Clone, Debug, Default)]
pub struct ReadSlaveConfig {
    /// When the address channel is not ready.
    pub address: Pause,
    /// When no beat follows the one before. A beat that is offered stays.
    pub data: Pause,
    /// Cycles from an address to its first beat: with the address transferred in cycle t and a latency of
    /// n, the beat is valid in cycle t + n, unless it waits for earlier beats or a pause.
    pub latency: Latency,
    /// In which order reads are answered.
    pub order: ReadOrder,
    /// Which beats fail.
    pub faults: ReadFaults,
}

/// A read whose address the slave has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBurst {
    /// Its address.
    pub burst: Burst,
    /// The worst response of its beats.
    pub response: Response,
    /// The cycle of the transfer of its address.
    pub cycle: u64,
}

/// A slave with a memory behind the read channels of the design; clones share one state.
///
/// One beat is offered every clock while reads are due, also from the last beat of one to the first of the
/// next. The bytes of a beat are those that the memory holds when the beat is offered. Lanes that the beat
/// does not address, bytes that were never written and beats that fail carry random bytes, so that a
/// design that uses them is found out. Exclusive accesses are plain ones to it; atomic operations that load
/// are answered with SLVERR, as [`WriteSlave`](super::WriteSlave) does.
#[derive(Clone, Debug)]
pub struct ReadSlave {
    state: Rc<RefCell<State>>,
    memory: SharedMemory,
    monitor: ReadMonitor,
}

#[derive(Debug)]
struct State {
    ports: ReadPorts,
    monitor: ReadMonitor,
    address: Pauses,
    data: Pauses,
    latency: Latency,
    faults: ReadFaults,
    rng: ChaCha8Rng,
    memory: SharedMemory,
    taken: VecDeque<ReadBurst>,
    queue: ReadQueue,
    on_bus: bool,
    /// The lanes of the beat that is made.
    lanes: Vec<u8>,
    /// The cycle that is driven next.
    cycle: u64,
}

impl ReadSlave {
    /// Puts a slave with a memory of its own, and a monitor, on the read channels with that prefix.
    ///
    /// # Errors
    /// If the design is no master there.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        config: ReadSlaveConfig,
    ) -> Result<Self, ModelError> {
        Self::attach_to(sim, prefix, config, SharedMemory::default())
    }

    /// As [`attach`](Self::attach), with a memory that others use too, such as that of a
    /// [`WriteSlave`](super::WriteSlave).
    ///
    /// # Errors
    /// If the design is no master there.
    pub fn attach_to<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        config: ReadSlaveConfig,
        memory: SharedMemory,
    ) -> Result<Self, ModelError> {
        let ports = ReadPorts::find(sim.dut.instance(), prefix, Some(Side::OutOfDesign))?;
        // The monitor samples first, so that it sees an impossible burst before the slave does.
        let monitor = ReadMonitor::attach(sim, prefix)?;
        let state = State {
            monitor: monitor.clone(),
            address: Pauses::new(config.address, sim.rng(&format!("pauses of {prefix}_ar"))),
            data: Pauses::new(config.data, sim.rng(&format!("pauses of {prefix}_r"))),
            latency: config.latency,
            faults: config.faults,
            rng: sim.rng(&format!("data of {prefix}_r")),
            memory: SharedMemory::clone(&memory),
            taken: VecDeque::new(),
            queue: ReadQueue::new(config.order, sim.rng(&format!("order of {prefix}_r"))),
            on_bus: false,
            lanes: vec![0; ports.bytes],
            cycle: 0,
            ports,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self {
            state,
            memory,
            monitor,
        })
    }

    /// The memory.
    pub fn memory(&self) -> Ref<'_, Memory> {
        self.memory.borrow()
    }

    /// The memory, to be changed.
    pub fn memory_mut(&self) -> RefMut<'_, Memory> {
        self.memory.borrow_mut()
    }

    /// All reads that were not taken yet, in the order of their addresses.
    pub fn take_reads(&self) -> Vec<ReadBurst> {
        self.state.borrow_mut().taken.drain(..).collect()
    }

    /// Changes which beats fail, from the next address on.
    pub fn set_faults(&self, faults: ReadFaults) {
        self.state.borrow_mut().faults = faults;
    }

    /// Changes the latency, from the next address on.
    pub fn set_latency(&self, latency: Latency) {
        self.state.borrow_mut().latency = latency;
    }

    /// Changes the order, from the next beat on.
    pub fn set_order(&self, order: ReadOrder) {
        self.state.borrow_mut().queue.set_order(order);
    }

    /// Changes the pauses of the address and the data channel from the next cycle on.
    pub fn set_pauses(&self, address: Pause, data: Pause) {
        let mut state = self.state.borrow_mut();
        state.address.set(address);
        state.data.set(data);
    }

    /// The monitor on the same channels.
    pub fn monitor(&self) -> &ReadMonitor {
        &self.monitor
    }
}

impl State {
    /// Plans the answer of a read whose address was transferred.
    fn start(&mut self, burst: Burst, cycle: u64) {
        let responses = self.faults.responses(&burst, &mut self.rng);
        let response = responses.iter().max().copied().unwrap_or(Response::Okay);
        self.taken.push_back(ReadBurst {
            burst,
            response,
            cycle,
        });
        let due = cycle + self.latency.draw(&mut self.rng);
        self.queue.push(PendingRead::new(burst, due, responses));
    }

    /// Plans the answer of a write, if it is an atomic operation that loads.
    fn refuse(&mut self, request: Request, cycle: u64) {
        let Some(beats) = request.loaded_beats() else {
            return;
        };
        let burst = Burst {
            beats,
            ..request.burst
        };
        let due = cycle + self.latency.draw(&mut self.rng);
        let responses = vec![Response::SlaveError; beats as usize];
        self.queue.push(PendingRead::new(burst, due, responses));
    }

    /// Puts the next beat on the bus.
    fn offer(&mut self, dut: &mut Instance, beat: &NextBeat) {
        self.rng.fill_bytes(&mut self.lanes);
        if !beat.response.is_error() {
            let lanes = beat.burst.lane_range(beat.number, self.lanes.len() as u64);
            let address = beat.burst.beat_address(beat.number);
            self.memory.borrow().overlay(address, &mut self.lanes[lanes]);
        }
        dut.set_value(self.ports.rid, beat.burst.id.into());
        dut.set_bytes(self.ports.rdata, &self.lanes);
        dut.set_value(self.ports.rresp, beat.response.code().into());
        dut.set_high(self.ports.rlast, beat.is_last);
        self.on_bus = true;
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let counts = self.monitor.counts();
        let stalled = self.address.next(counts.address.beats);
        dut.set_high(self.ports.address.channel.ready, !stalled);
        let paused = self.data.next(counts.data.beats);
        if !self.on_bus
            && !paused
            && let Some(beat) = self.queue.next(self.cycle)
        {
            self.offer(dut, &beat);
        }
        dut.set_high(self.ports.data.valid, self.on_bus);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.cycle = cycle + 1;
        if dut.is_high(self.ports.data.ready) {
            self.on_bus = false;
        }
        let address = &self.ports.address;
        if dut.is_high(address.channel.valid) && dut.is_high(address.channel.ready) {
            self.start(address.request(dut).burst, cycle);
        }
        let atomics = self.ports.atomics.as_ref();
        if let Some(address) =
            atomics.filter(|aw| dut.is_high(aw.channel.valid) && dut.is_high(aw.channel.ready))
        {
            self.refuse(address.request(dut), cycle);
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.queue.clear();
        self.on_bus = false;
        dut.set_high(self.ports.address.channel.ready, false);
        dut.set_high(self.ports.data.valid, false);
    }

    fn describe(&self) -> String {
        format!(
            "{}: slave has {} reads to answer",
            self.ports.data.bus,
            self.queue.len()
        )
    }
}
