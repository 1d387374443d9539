//! A slave with a memory on one half of a bus of the design.

use super::answer::{AnswerOrder, AnswerQueue, Faults, Latency, NextBeat, Pending, Response};
use super::burst::{Burst, Request};
use super::memory::{Memory, SharedMemory};
use super::monitor::AxiMonitor;
use super::ports::{Half, Ports, Protocol};
use super::rules::{Finished, WriteBeat};
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

/// How an [`AxiSlave`] behaves.
#[derive(Clone, Debug, Default)]
pub struct SlaveConfig {
    /// When the address channel is not ready.
    pub address: Pause,
    /// When the slave is not ready for write data, or delays the next beat of a read. A beat that is offered stays.
    pub data: Pause,
    /// Cycles from the end of a write to its response, or from the address of a read to its first beat: after a
    /// transfer in cycle t with latency n, the response is valid in cycle t + n, unless it waits for earlier ones or
    /// a pause.
    pub latency: Latency,
    /// In which order bursts are answered.
    pub order: AnswerOrder,
    /// Which bursts fail.
    pub faults: Faults,
}

/// A write whose end the slave has seen, or a read whose address it has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlaveBurst {
    /// Its address.
    pub burst: Burst,
    /// How many bytes the strobes of a write name; 0 for a read.
    pub bytes: u64,
    /// How it is answered; the worst response of a read's beats.
    pub response: Response,
    /// The cycle of the last transfer of a write, or of the address of a read.
    pub cycle: u64,
}

/// A burst with its request and, for a write, its first beat: a complete access of AXI4-Lite.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) address: u64,
    pub(crate) protection: Option<u8>,
    pub(crate) written: Option<WriteBeat>,
    pub(crate) response: Response,
    pub(crate) cycle: u64,
}

/// Where slaves note all accesses in their order.
pub(crate) type AccessLog = Rc<RefCell<VecDeque<Access>>>;

/// A slave with a memory on the write or the read channels of the design; clones share one state.
///
/// One beat of reads is offered every clock while reads are due, also from the last beat of one to the first of the
/// next. The bytes of a beat are those that the memory holds when the beat is offered. Lanes that the beat
/// does not address, bytes that were never written and beats that fail carry random bytes, so that a
/// design that uses them is found out. Exclusive accesses are plain ones to it; atomic operations are refused with
/// SLVERR, on both halves if they load.
#[derive(Clone, Debug)]
pub struct AxiSlave {
    state: Rc<RefCell<State>>,
    memory: SharedMemory,
    monitor: AxiMonitor,
}

#[derive(Debug)]
struct State {
    ports: Ports,
    monitor: AxiMonitor,
    address: Pauses,
    data: Pauses,
    latency: Latency,
    faults: Faults,
    rng: ChaCha8Rng,
    memory: SharedMemory,
    seen: VecDeque<SlaveBurst>,
    log: Option<AccessLog>,
    queue: AnswerQueue,
    on_bus: bool,
    /// Byte lanes of the beat being assembled.
    lanes: Vec<u8>,
    /// The next cycle to drive.
    cycle: u64,
}

impl AxiSlave {
    /// Attaches a slave and a monitor to that half of the AXI4 bus with that prefix. Slaves with the same memory read
    /// what others write.
    ///
    /// # Errors
    /// If the design is no master there.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        half: Half,
        config: SlaveConfig,
        memory: SharedMemory,
    ) -> Result<Self, ModelError> {
        Self::of(sim, prefix, (half, Protocol::Full), config, (memory, None))
    }

    /// The same for any protocol, and with a log.
    pub(crate) fn of<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        kind: (Half, Protocol),
        config: SlaveConfig,
        (memory, log): (SharedMemory, Option<AccessLog>),
    ) -> Result<Self, ModelError> {
        let ports = Ports::find(sim.dut.instance(), prefix, kind, Some(Side::OutOfDesign))?;
        // The monitor samples first, so that the slave gets a completed burst in the same cycle, and an illegal burst
        // is reported before the slave sees it.
        let monitor = AxiMonitor::of(sim, prefix, kind)?;
        monitor.keep_finished();
        let [address, data, answers] = kind.0.letters();
        let rng = |purpose: &str, letters: &str| sim.rng(&format!("{purpose} of {prefix}_{letters}"));
        let state = State {
            monitor: monitor.clone(),
            address: Pauses::new(config.address, rng("pauses", address)),
            data: Pauses::new(config.data, rng("pauses", data)),
            latency: config.latency,
            faults: config.faults,
            rng: rng("data", answers),
            memory: SharedMemory::clone(&memory),
            seen: VecDeque::new(),
            log,
            queue: AnswerQueue::new(config.order, rng("order", answers)),
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

    /// The memory, for a slave that shares it.
    pub fn shared_memory(&self) -> SharedMemory {
        SharedMemory::clone(&self.memory)
    }

    /// Takes all bursts: writes in the order of their ends, reads in that of their addresses.
    pub fn take_bursts(&self) -> Vec<SlaveBurst> {
        self.state.borrow_mut().seen.drain(..).collect()
    }

    /// Changes which bursts fail, from the next one on.
    pub fn set_faults(&self, faults: Faults) {
        self.state.borrow_mut().faults = faults;
    }

    /// Changes the latency, from the next burst on.
    pub fn set_latency(&self, latency: Latency) {
        self.state.borrow_mut().latency = latency;
    }

    /// Changes the pauses of the address and the data channel from the next cycle on.
    pub fn set_pauses(&self, address: Pause, data: Pause) {
        let mut state = self.state.borrow_mut();
        state.address.set(address);
        state.data.set(data);
    }

    /// The monitor on the same channels.
    pub fn monitor(&self) -> &AxiMonitor {
        &self.monitor
    }
}

impl State {
    /// Plans the answer to a burst, and notes it.
    fn accept(&mut self, request: Request, finished: Option<Finished>, cycle: u64) {
        let responses = match &finished {
            Some(finished) => vec![self.write(finished)],
            None => self.faults.responses(&request.burst, &mut self.rng),
        };
        let burst = request.burst;
        let response = responses.iter().max().copied().unwrap_or(Response::Okay);
        self.seen.push_back(SlaveBurst {
            burst,
            bytes: finished.as_ref().map_or(0, Finished::bytes),
            response,
            cycle,
        });
        let beats = if finished.is_some() { 1 } else { burst.beats };
        if let Some(log) = &self.log {
            log.borrow_mut().push_back(Access {
                address: burst.address,
                protection: request.protection,
                written: finished.and_then(|finished| finished.beats.into_iter().next()),
                response,
                cycle,
            });
        }
        self.answer(Burst { beats, ..burst }, responses, cycle);
    }

    fn answer(&mut self, burst: Burst, responses: Vec<Response>, cycle: u64) {
        let due = cycle + self.latency.draw(&mut self.rng);
        self.queue.push(Pending::new(burst, due, responses));
    }

    /// Writes a complete burst, or not; the response.
    fn write(&mut self, finished: &Finished) -> Response {
        let response = if finished.request.atop != 0 {
            Response::SlaveError
        } else if let Faults::At(ranges) = &self.faults {
            let hit = |range: &std::ops::RangeInclusive<u64>| {
                let mut written = finished.addresses();
                written.any(|byte| range.contains(&byte))
            };
            let first = ranges.iter().find(|(range, _)| hit(range));
            first.map_or(Response::Okay, |(_, response)| *response)
        } else {
            let beats = self.faults.responses(&finished.request.burst, &mut self.rng);
            beats.into_iter().max().unwrap_or(Response::Okay)
        };
        if response == Response::Okay {
            finished.write_to(&mut self.memory.borrow_mut());
        }
        response
    }

    /// Puts the next answer on the bus.
    fn offer(&mut self, dut: &mut Instance, beat: &NextBeat) {
        if self.ports.half == Half::Read {
            self.rng.fill_bytes(&mut self.lanes);
            if !beat.response.is_error() {
                let lanes = beat.burst.lane_range(beat.number, self.lanes.len() as u64);
                let address = beat.burst.beat_address(beat.number);
                self.memory.borrow().overlay(address, &mut self.lanes[lanes]);
            }
            dut.set_bytes(self.ports.lanes, &self.lanes);
            if let Some(port) = self.ports.last {
                dut.set_high(port, beat.is_last);
            }
        }
        let (id, code) = (beat.burst.id, beat.response.code());
        self.ports.drive_answer(dut, id, code);
        self.on_bus = true;
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let counts = self.monitor.counts();
        let stalled = self.address.next(counts.address.beats);
        dut.set_high(self.ports.address.channel.ready, !stalled);
        let paused = self.data.next(counts.data.beats);
        let writes = self.ports.half == Half::Write;
        if writes {
            dut.set_high(self.ports.data.ready, !paused);
        }
        if !self.on_bus
            && (writes || !paused)
            && let Some(beat) = self.queue.next(self.cycle)
        {
            self.offer(dut, &beat);
        }
        dut.set_high(self.ports.answers().valid, self.on_bus);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.cycle = cycle + 1;
        if dut.is_high(self.ports.answers().ready) {
            self.on_bus = false;
        }
        while let Some(finished) = self.monitor.take_finished() {
            self.accept(finished.request, Some(finished), cycle);
        }
        if self.ports.half == Half::Read && self.ports.address.channel.transfers(dut) {
            self.accept(self.ports.address.request(dut), None, cycle);
        }
        if let Some(ports) = &self.ports.atomics
            && ports.channel.transfers(dut)
        {
            let request = ports.request(dut);
            if let Some(beats) = request.loaded_beats() {
                let burst = Burst {
                    beats,
                    ..request.burst
                };
                self.answer(burst, vec![Response::SlaveError; beats as usize], cycle);
            }
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.queue.clear();
        self.on_bus = false;
        dut.set_high(self.ports.address.channel.ready, false);
        dut.set_high(self.ports.answers().valid, false);
        if self.ports.half == Half::Write {
            dut.set_high(self.ports.data.ready, false);
        }
    }

    fn describe(&self) -> String {
        format!(
            "{}: slave has {} {} to answer",
            self.ports.answers().bus,
            self.queue.len() + usize::from(self.on_bus),
            self.ports.half.plural()
        )
    }
}
