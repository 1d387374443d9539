//! A master in front of a design that is a slave.

mod reader;
mod request;
mod writer;

pub use request::{LiteRead, LiteWrite};

use super::done::{LiteReadDone, LiteWriteDone};
use super::monitor::LiteMonitor;
use super::ports::LitePorts;
use crate::agent::{Agent, Violation};
use crate::axi::{MasterConfig, MasterPauses, Skew};
use crate::handshake::Side;
use crate::model::{Instance, Model, ModelError};
use crate::simulation::Simulation;
use reader::Reader;
use std::cell::RefCell;
use std::rc::Rc;
use writer::Writer;

/// Writes to and reads from a design that is a slave; clones share one state.
///
/// Writes are sent in their order, reads in theirs, and neither waits for the other nor for an answer: as
/// many are under way as the design takes. The monitor watches what the design does.
///
/// A reset forgets what the design has seen a part of; the rest is sent after it.
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
    state: Rc<RefCell<State>>,
    monitor: LiteMonitor,
}

#[derive(Debug)]
struct State {
    prefix: String,
    writer: Option<Writer>,
    reader: Option<Reader>,
    /// The number of the next access.
    number: u64,
    /// The cycle that is driven next.
    cycle: u64,
}

impl LiteMaster {
    /// Puts a master on the channels with that prefix, and a monitor: writes, reads or both.
    ///
    /// # Errors
    /// If the design is no slave there.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        config: MasterConfig,
    ) -> Result<Self, ModelError> {
        let ports = LitePorts::find(sim.dut.instance(), prefix, Some(Side::IntoDesign))?;
        let monitor = LiteMonitor::attach(sim, prefix)?;
        let MasterConfig { pauses, skew } = config;
        let seed = sim.seed();
        let state = State {
            prefix: prefix.to_owned(),
            writer: ports.write.map(|ports| Writer::new(ports, &pauses, skew, seed)),
            reader: ports.read.map(|ports| Reader::new(ports, &pauses, seed)),
            number: 0,
            cycle: 0,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self { state, monitor })
    }

    /// Queues a write; the number by which its answer is known.
    ///
    /// # Panics
    /// If its values do not fit the ports, or the design has no write channels.
    pub fn write(&self, request: LiteWrite) -> u64 {
        let mut state = self.state.borrow_mut();
        let State {
            prefix,
            writer,
            number,
            ..
        } = &mut *state;
        let queued = match writer {
            Some(writer) => writer.push(*number, request),
            None => Err("there are no write channels".to_owned()),
        };
        queued.unwrap_or_else(|rule| panic!("{prefix}: {rule}"));
        *number += 1;
        *number - 1
    }

    /// Queues a read; the number by which its answer is known.
    ///
    /// # Panics
    /// If its values do not fit the ports, or the design has no read channels.
    pub fn read(&self, request: LiteRead) -> u64 {
        let mut state = self.state.borrow_mut();
        let State {
            prefix,
            reader,
            number,
            ..
        } = &mut *state;
        let queued = match reader {
            Some(reader) => reader.push(*number, request),
            None => Err("there are no read channels".to_owned()),
        };
        queued.unwrap_or_else(|rule| panic!("{prefix}: {rule}"));
        *number += 1;
        *number - 1
    }

    /// All writes that were answered and not taken yet, in their order.
    pub fn take_writes(&self) -> Vec<LiteWriteDone> {
        let mut state = self.state.borrow_mut();
        state.writer.as_mut().map_or_else(Vec::new, Writer::take_done)
    }

    /// All reads that were answered and not taken yet, in their order.
    pub fn take_reads(&self) -> Vec<LiteReadDone> {
        let mut state = self.state.borrow_mut();
        state.reader.as_mut().map_or_else(Vec::new, Reader::take_done)
    }

    /// Writes that were not answered, sent or not.
    pub fn writes_left(&self) -> usize {
        self.state.borrow().writer.as_ref().map_or(0, Writer::left)
    }

    /// Reads that were not answered, sent or not.
    pub fn reads_left(&self) -> usize {
        self.state.borrow().reader.as_ref().map_or(0, Reader::left)
    }

    /// Whether everything is sent and answered.
    pub fn is_idle(&self) -> bool {
        self.writes_left() == 0 && self.reads_left() == 0
    }

    /// Forgets all accesses that were not begun; one that is offered cannot be taken back.
    pub fn clear(&self) {
        let mut state = self.state.borrow_mut();
        if let Some(writer) = &mut state.writer {
            writer.clear();
        }
        if let Some(reader) = &mut state.reader {
            reader.clear();
        }
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pauses(&self, pauses: &MasterPauses) {
        let mut state = self.state.borrow_mut();
        if let Some(writer) = &mut state.writer {
            writer.set_pauses(pauses);
        }
        if let Some(reader) = &mut state.reader {
            reader.set_pauses(pauses);
        }
    }

    /// Changes how far addresses and data are apart, from the next write that is queued.
    pub fn set_skew(&self, skew: Skew) {
        if let Some(writer) = &mut self.state.borrow_mut().writer {
            writer.skew = skew;
        }
    }

    /// The monitor on the same channels.
    pub fn monitor(&self) -> &LiteMonitor {
        &self.monitor
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        if let Some(writer) = &mut self.writer {
            writer.drive(dut, self.cycle);
        }
        if let Some(reader) = &mut self.reader {
            reader.drive(dut);
        }
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.cycle = cycle + 1;
        if let Some(writer) = &mut self.writer {
            writer.sample(dut, cycle);
        }
        if let Some(reader) = &mut self.reader {
            reader.sample(dut, cycle);
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        if let Some(writer) = &mut self.writer {
            writer.reset(dut);
        }
        if let Some(reader) = &mut self.reader {
            reader.reset(dut);
        }
    }

    fn unfinished(&self) -> Option<String> {
        let written = self.writer.as_ref().is_none_or(Writer::is_finished);
        let read = self.reader.as_ref().is_none_or(Reader::is_finished);
        (!written || !read).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let writes = self.writer.iter().map(Writer::describe);
        let halves: Vec<_> = writes.chain(self.reader.iter().map(Reader::describe)).collect();
        format!("{}: master: {}", self.prefix, halves.join("; "))
    }
}
