//! A slave with a memory behind the write channels of the design.

use super::answer::{Latency, Response};
use super::burst::Burst;
use super::memory::{Memory, SharedMemory};
use super::ports::WritePorts;
use super::write_monitor::WriteMonitor;
use super::write_rules::Finished;
use crate::agent::{Agent, Violation};
use crate::handshake::Side;
use crate::model::{Instance, Model, ModelError};
use crate::pause::{Pause, Pauses};
use crate::simulation::Simulation;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cell::{Ref, RefCell};
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// How a [`WriteSlave`] behaves.
#[derive(Clone, Debug, Default)]
pub struct SlaveConfig {
    /// When the address channel is not ready.
    pub address: Pause,
    /// When the data channel is not ready.
    pub data: Pause,
    /// Cycles from the end of a burst to its response.
    pub latency: Latency,
    /// Whether responses of different ids overtake each other, at random.
    pub reorder: bool,
    /// Which bursts fail.
    pub faults: Faults,
}

/// Which bursts fail; nothing of them is written.
#[derive(Clone, Debug, Default)]
pub enum Faults {
    /// None.
    #[default]
    Never,
    /// Each with that probability in percent, SLVERR or DECERR.
    Random {
        /// Probability of an error in percent.
        percent: u32,
    },
    /// Those that write a byte in one of these ranges, with the response of the first such range.
    At(Vec<(RangeInclusive<u64>, Response)>),
}

/// A burst that the slave has seen the end of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenBurst {
    /// Its address.
    pub burst: Burst,
    /// How many bytes its strobes name.
    pub bytes: u64,
    /// How it is answered.
    pub response: Response,
    /// The cycle of its last transfer.
    pub cycle: u64,
}

/// A slave with a memory behind the write channels of the design; clones share one state.
///
/// Exclusive accesses are plain ones to it, and atomic operations are refused with SLVERR.
#[derive(Clone, Debug)]
pub struct WriteSlave {
    state: Rc<RefCell<State>>,
    memory: SharedMemory,
    monitor: WriteMonitor,
}

/// A response that waits for its time.
#[derive(Clone, Copy, Debug)]
struct Pending {
    id: u64,
    response: Response,
    due: u64,
}

#[derive(Debug)]
struct State {
    ports: WritePorts,
    monitor: WriteMonitor,
    address: Pauses,
    data: Pauses,
    latency: Latency,
    reorder: bool,
    faults: Faults,
    rng: ChaCha8Rng,
    memory: SharedMemory,
    written: VecDeque<WrittenBurst>,
    pending: VecDeque<Pending>,
    on_bus: bool,
    /// The cycle that is driven next.
    cycle: u64,
}

impl WriteSlave {
    /// Puts a slave and a monitor on the write channels with that prefix.
    ///
    /// # Errors
    /// If the design is no master there.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        config: SlaveConfig,
    ) -> Result<Self, ModelError> {
        let ports = WritePorts::find(sim.dut.instance(), prefix, Some(Side::OutOfDesign))?;
        // The monitor samples first, so that the slave finds what is complete in the same cycle.
        let monitor = WriteMonitor::attach(sim, prefix)?;
        monitor.keep_finished();
        let memory = SharedMemory::default();
        let state = State {
            ports,
            monitor: monitor.clone(),
            address: Pauses::new(config.address, sim.rng(&format!("pauses of {prefix}_aw"))),
            data: Pauses::new(config.data, sim.rng(&format!("pauses of {prefix}_w"))),
            latency: config.latency,
            reorder: config.reorder,
            faults: config.faults,
            rng: sim.rng(&format!("responses of {prefix}")),
            memory: SharedMemory::clone(&memory),
            written: VecDeque::new(),
            pending: VecDeque::new(),
            on_bus: false,
            cycle: 0,
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

    /// The memory, for a [`ReadSlave`](super::ReadSlave) that shares it.
    pub fn shared_memory(&self) -> SharedMemory {
        SharedMemory::clone(&self.memory)
    }

    /// Forgets bytes of the memory, as if they had never been written.
    pub fn forget(&self, address: u64, count: usize) {
        self.memory.borrow_mut().forget(address, count);
    }

    /// All complete bursts that were not taken yet, in the order of their ends.
    pub fn take_written(&self) -> Vec<WrittenBurst> {
        self.state.borrow_mut().written.drain(..).collect()
    }

    /// Changes which bursts fail, from the next one that ends.
    pub fn set_faults(&self, faults: Faults) {
        self.state.borrow_mut().faults = faults;
    }

    /// Changes the latency, from the next burst that ends.
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
    pub fn monitor(&self) -> &WriteMonitor {
        &self.monitor
    }
}

impl State {
    /// Writes a complete burst, or not, and plans its response.
    fn finish(&mut self, finished: &Finished, cycle: u64) {
        let response = self.judge(finished);
        if response == Response::Okay {
            finished.write_to(&mut self.memory.borrow_mut());
        }
        let cycles = self.latency.draw(&mut self.rng);
        let burst = finished.request.burst;
        self.pending.push_back(Pending {
            id: burst.id,
            response,
            due: cycle + cycles,
        });
        self.written.push_back(WrittenBurst {
            burst,
            bytes: finished.bytes(),
            response,
            cycle,
        });
    }

    fn judge(&mut self, finished: &Finished) -> Response {
        if finished.request.atop != 0 {
            return Response::SlaveError;
        }
        match &self.faults {
            Faults::Never => Response::Okay,
            Faults::Random { percent } => {
                if self.rng.random_range(0..100) >= *percent {
                    Response::Okay
                } else {
                    Response::random_error(&mut self.rng)
                }
            }
            Faults::At(ranges) => {
                let hit =
                    |range: &RangeInclusive<u64>| finished.addresses().any(|byte| range.contains(&byte));
                let first = ranges.iter().find(|(range, _)| hit(range));
                first.map_or(Response::Okay, |(_, response)| *response)
            }
        }
    }

    /// Takes the next response from those that are due: the oldest, or any that has no older one of its
    /// id before it.
    fn next_response(&mut self) -> Option<Pending> {
        if !self.reorder {
            return self.pending.pop_front_if(|first| first.due <= self.cycle);
        }
        let may_go = |index: &usize| {
            let candidate = &self.pending[*index];
            let mut older = self.pending.range(..*index);
            candidate.due <= self.cycle && older.all(|other| other.id != candidate.id)
        };
        let ready: Vec<usize> = (0..self.pending.len()).filter(may_go).collect();
        if ready.is_empty() {
            return None;
        }
        let chosen = ready[self.rng.random_range(0..ready.len())];
        self.pending.remove(chosen)
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let counts = self.monitor.counts();
        let (address, data) = (counts.address.beats, counts.data.beats);
        dut.set_high(self.ports.address.channel.ready, !self.address.next(address));
        dut.set_high(self.ports.data.ready, !self.data.next(data));
        if !self.on_bus
            && let Some(next) = self.next_response()
        {
            dut.set_value(self.ports.bid, next.id.into());
            dut.set_value(self.ports.bresp, next.response.code().into());
            self.on_bus = true;
        }
        dut.set_high(self.ports.response.valid, self.on_bus);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.cycle = cycle + 1;
        if dut.is_high(self.ports.response.ready) {
            self.on_bus = false;
        }
        while let Some(finished) = self.monitor.take_finished() {
            self.finish(&finished, cycle);
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.pending.clear();
        self.on_bus = false;
        for port in [
            self.ports.address.channel.ready,
            self.ports.data.ready,
            self.ports.response.valid,
        ] {
            dut.set_high(port, false);
        }
    }

    fn describe(&self) -> String {
        format!(
            "{}: slave has {} responses to give, {} bytes are written",
            self.ports.response.bus,
            self.pending.len() + usize::from(self.on_bus),
            self.memory.borrow().written()
        )
    }
}
