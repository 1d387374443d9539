//! The ports with which the design reads the RAM.

use super::config::{RamConfig, draw};
use super::ports::fits;
use super::ram::SegmentedRam;
use super::segments::{Commands, set_bits};
use crate::agent::{Agent, Violation};
use crate::axi::Latency;
use crate::model::{Direction, Instance, Model, ModelError, PortHandle};
use crate::pause::{Pause, Pauses};
use crate::simulation::Simulation;
use rand_chacha::ChaCha8Rng;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Answers the reads of the design: `<prefix>_cmd_*` and `<prefix>_resp_*`.
///
/// Each segment takes commands when it likes, and answers in order, one clock or more after each; an answer
/// stays until the design is ready for it. A command has to stay while it waits for ready, has to lie in the
/// bytes that the design may use, and must not read a word that a descriptor in flight covers.
#[derive(Clone, Debug)]
pub struct RamReadPort {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    commands: Commands,
    data: PortHandle,
    valid: PortHandle,
    ready: PortHandle,
    ram: SegmentedRam,
    segments: Vec<Segment>,
    latency: Latency,
    rng: ChaCha8Rng,
    /// The bytes on the data port.
    bytes: Vec<u8>,
    stalls: u64,
    survives_reset: bool,
    /// The last cycle was one of reset, in which answers are not looked at.
    in_reset: bool,
    /// The cycle that is driven next.
    cycle: u64,
}

/// What is under way in a segment.
#[derive(Debug)]
struct Segment {
    pauses: Pauses,
    taken: u64,
    /// Answers that were not taken, with the cycle of the earliest; the first may be on the bus.
    answers: VecDeque<(u64, Vec<u8>)>,
    on_bus: bool,
}

impl RamReadPort {
    /// Puts a RAM behind the ports with that prefix, such as `ram_rd`.
    ///
    /// # Errors
    /// If the design has no such ports, or their widths are not those of the RAM.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        ram: &SegmentedRam,
        config: RamConfig,
    ) -> Result<Self, ModelError> {
        let dut = sim.dut.instance();
        let shape = ram.shape();
        let commands = Commands::find(dut, &format!("{prefix}_cmd"), shape, false)?;
        let input = |signal: &str| dut.port(&format!("{prefix}_resp_{signal}"), Direction::Input);
        let [data, valid] = [input("data")?, input("valid")?];
        let ready = dut.port(&format!("{prefix}_resp_ready"), Direction::Output)?;
        let bytes = (shape.segments * shape.segment_bytes) as usize;
        fits(dut, data, data.width() == 8 * bytes, "each byte has 8")?;
        for port in [valid, ready] {
            fits(
                dut,
                port,
                port.width() == commands.segments(),
                "each segment has 1",
            )?;
        }
        let segment = |number| Segment {
            pauses: Pauses::new(
                config.commands.clone(),
                sim.rng(&format!("pauses of {prefix} {number}")),
            ),
            taken: 0,
            answers: VecDeque::new(),
            on_bus: false,
        };
        let state = State {
            segments: (0..commands.segments()).map(segment).collect(),
            commands,
            data,
            valid,
            ready,
            ram: ram.clone(),
            latency: config.latency,
            rng: sim.rng(&format!("latency of {prefix}")),
            bytes: vec![0; bytes],
            stalls: 0,
            survives_reset: false,
            in_reset: false,
            cycle: 0,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self { state })
    }

    /// Commands that were taken, of all segments.
    pub fn taken(&self) -> u64 {
        let state = self.state.borrow();
        state.segments.iter().map(|segment| segment.taken).sum()
    }

    /// Cycles in which the design was not ready for an answer of a segment.
    pub fn stalls(&self) -> u64 {
        self.state.borrow().stalls
    }

    /// Changes the pauses of all segments from the next cycle on.
    pub fn set_pause(&self, pause: Pause) {
        for segment in &mut self.state.borrow_mut().segments {
            segment.pauses.set(pause.clone());
        }
    }

    /// Changes the latency, from the next command on.
    pub fn set_latency(&self, latency: Latency) {
        self.state.borrow_mut().latency = latency;
    }

    /// Changes whether the RAM goes on when the design is reset: what it took before is answered all the same, and
    /// an answer that comes in reset counts as taken.
    pub fn set_survives_reset(&self, survives: bool) {
        self.state.borrow_mut().survives_reset = survives;
    }
}

impl State {
    /// Puts the answers that are due on the bus.
    fn give_answers(&mut self, dut: &mut Instance) {
        let size = self.bytes.len() / self.segments.len();
        let mut changed = false;
        for (number, segment) in self.segments.iter_mut().enumerate() {
            if self.in_reset && segment.on_bus {
                segment.on_bus = false;
                segment.answers.pop_front();
            }
            let due = segment.answers.front().filter(|(due, _)| *due <= self.cycle);
            if let Some((_, bytes)) = due.filter(|_| !segment.on_bus) {
                self.bytes[number * size..(number + 1) * size].copy_from_slice(bytes);
                segment.on_bus = true;
                changed = true;
            }
        }
        set_bits(dut, self.valid, self.segments.len(), |number| {
            self.segments[number].on_bus
        });
        if changed {
            dut.set_bytes(self.data, &self.bytes);
        }
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let mut ready = 0u64;
        for (number, segment) in self.segments.iter_mut().enumerate() {
            ready |= u64::from(!segment.pauses.next(segment.taken)) << number;
        }
        self.commands.set_ready(dut, |number| ready >> number & 1 == 1);
        self.give_answers(dut);
        self.in_reset = false;
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.cycle = cycle + 1;
        let ready = dut.value(self.ready);
        for (number, segment) in self.segments.iter_mut().enumerate() {
            if segment.on_bus && ready >> number & 1 == 1 {
                segment.on_bus = false;
                segment.answers.pop_front();
            }
            self.stalls += u64::from(segment.on_bus);
            let Some(command) = self.commands.check(dut, number)? else {
                continue;
            };
            segment.taken += 1;
            let mut bytes = Vec::with_capacity(self.bytes.len());
            self.ram
                .design_reads(number, command.line, &mut bytes)
                .map_err(|rule| self.commands.violation(rule))?;
            let latency = draw(self.latency, &mut self.rng).max(1);
            segment.answers.push_back((cycle + latency, bytes));
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.commands.reset();
        self.commands.set_ready(dut, |_| false);
        set_bits(dut, self.valid, self.segments.len(), |_| false);
        if !self.survives_reset {
            for segment in &mut self.segments {
                segment.answers.clear();
                segment.on_bus = false;
            }
        }
        self.ram.forget_unread();
    }

    fn drive_reset(&mut self, dut: &mut Instance, cycle: u64) {
        self.cycle = cycle;
        self.give_answers(dut);
        (self.cycle, self.in_reset) = (cycle + 1, true);
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        self.commands.check_reset(dut)
    }

    fn unfinished(&self) -> Option<String> {
        let answers = self.segments.iter().any(|segment| !segment.answers.is_empty());
        (answers || self.commands.is_waiting()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let taken: u64 = self.segments.iter().map(|segment| segment.taken).sum();
        let waiting: usize = self.segments.iter().map(|segment| segment.answers.len()).sum();
        format!(
            "{}: RAM has taken {taken} reads, {waiting} are not answered",
            self.commands.bus
        )
    }
}
