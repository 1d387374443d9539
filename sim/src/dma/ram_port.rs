//! The ports with which the design writes or reads the RAM.

use super::config::{RamConfig, draw};
use super::ports::{Commands, fits, set_bits};
use super::ram::SegmentedRam;
use crate::agent::{Agent, Violation};
use crate::axi::Latency;
use crate::model::{Direction, Instance, Model, ModelError, PortHandle};
use crate::pause::{Pause, Pauses};
use crate::simulation::Simulation;
use rand_chacha::ChaCha8Rng;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Takes the writes of the design (`<prefix>_cmd_*` and `<prefix>_done`), or answers its reads (`<prefix>_cmd_*` and
/// `<prefix>_resp_*`).
///
/// Each segment takes commands when it likes. A write has one pulse of done, a read one answer, in order, one clock or
/// more after the command; an answer stays until the design is ready for it. A command has to stay while it waits for
/// ready, has to be in the bytes that the design may use, and must not touch a word that a descriptor in flight
/// covers.
#[derive(Clone, Debug)]
pub struct RamPort {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    commands: Commands,
    answers: Answers,
    ram: SegmentedRam,
    segments: Vec<Segment>,
    latency: Latency,
    rng: ChaCha8Rng,
    stalls: u64,
    survives_reset: bool,
    /// The last cycle was one of reset, in which answers are not checked.
    in_reset: bool,
    /// The next cycle to drive.
    cycle: u64,
}

/// The ports of the answers.
#[derive(Debug)]
enum Answers {
    /// One pulse for each write.
    Done(PortHandle),
    /// Data for each read.
    Data {
        data: PortHandle,
        valid: PortHandle,
        ready: PortHandle,
        /// The bytes on the data port.
        bytes: Vec<u8>,
    },
}

/// The accesses of a segment that are in flight.
#[derive(Debug)]
struct Segment {
    pauses: Pauses,
    taken: u64,
    /// Commands without answer; the answer of the first may be on the bus.
    pending: VecDeque<Pending>,
    on_bus: bool,
}

/// A command without answer.
#[derive(Debug)]
struct Pending {
    /// The cycle of the earliest answer.
    due: u64,
    /// The word that is written.
    word: usize,
    /// The bytes that were read.
    bytes: Vec<u8>,
}

impl RamPort {
    /// Attaches a RAM to the ports with that prefix, such as `ram_wr`, with which the design writes.
    ///
    /// # Errors
    /// If the design has no such ports, or their widths are not those of the RAM.
    pub fn attach_writes<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        ram: &SegmentedRam,
        config: RamConfig,
    ) -> Result<Self, ModelError> {
        let dut = sim.dut.instance();
        let commands = Commands::find(dut, &format!("{prefix}_cmd"), ram.shape(), true)?;
        let done = dut.port(&format!("{prefix}_done"), Direction::Input)?;
        Ok(Self::of(
            sim,
            prefix,
            (commands, Answers::Done(done)),
            ram,
            config,
        ))
    }

    /// Attaches a RAM to the ports with that prefix, such as `ram_rd`, with which the design reads.
    ///
    /// # Errors
    /// If the design has no such ports, or their widths are not those of the RAM.
    pub fn attach_reads<M: Model>(
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
            let fit = port.width() == commands.segments();
            fits(dut, port, fit, "each segment has 1")?;
        }
        let answers = Answers::Data {
            data,
            valid,
            ready,
            bytes: vec![0; bytes],
        };
        Ok(Self::of(sim, prefix, (commands, answers), ram, config))
    }

    fn of<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        (commands, answers): (Commands, Answers),
        ram: &SegmentedRam,
        config: RamConfig,
    ) -> Self {
        let segment = |number| Segment {
            pauses: Pauses::new(
                config.commands.clone(),
                sim.rng(&format!("pauses of {prefix} {number}")),
            ),
            taken: 0,
            pending: VecDeque::new(),
            on_bus: false,
        };
        let state = State {
            segments: (0..commands.segments()).map(segment).collect(),
            commands,
            answers,
            ram: ram.clone(),
            latency: config.latency,
            rng: sim.rng(&format!("latency of {prefix}")),
            stalls: 0,
            survives_reset: false,
            in_reset: false,
            cycle: 0,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Self { state }
    }

    /// Commands that were taken, of all segments.
    pub fn taken(&self) -> u64 {
        self.state.borrow().taken()
    }

    /// Number of cycles in which the design was not ready for read data.
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

    /// Changes whether the RAM keeps running when the design is reset: commands accepted before are completed or
    /// answered all the same, and an answer during reset counts as accepted.
    pub fn set_survives_reset(&self, survives: bool) {
        self.state.borrow_mut().survives_reset = survives;
    }
}

impl State {
    fn taken(&self) -> u64 {
        self.segments.iter().map(|segment| segment.taken).sum()
    }

    /// Drives the `done` pulses that are due, or the data that is due.
    fn answer(&mut self, dut: &mut Instance) {
        let count = self.segments.len();
        match &mut self.answers {
            Answers::Done(port) => {
                let mut done = 0u64;
                for (number, segment) in self.segments.iter_mut().enumerate() {
                    let due = segment.pending.pop_front_if(|next| next.due <= self.cycle);
                    if let Some(Pending { word, .. }) = due {
                        self.ram.write_done(word);
                        done |= 1 << number;
                    }
                }
                dut.set_value(*port, done.into());
            }
            Answers::Data {
                data, valid, bytes, ..
            } => {
                let size = bytes.len() / count;
                let mut changed = false;
                for (number, segment) in self.segments.iter_mut().enumerate() {
                    if self.in_reset && segment.on_bus {
                        segment.on_bus = false;
                        segment.pending.pop_front();
                    }
                    let due = segment.pending.front().filter(|next| next.due <= self.cycle);
                    if let Some(next) = due.filter(|_| !segment.on_bus) {
                        bytes[number * size..(number + 1) * size].copy_from_slice(&next.bytes);
                        segment.on_bus = true;
                        changed = true;
                    }
                }
                set_bits(dut, *valid, count, |number| self.segments[number].on_bus);
                if changed {
                    dut.set_bytes(*data, bytes);
                }
            }
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
        self.answer(dut);
        self.in_reset = false;
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.cycle = cycle + 1;
        let ready = match &self.answers {
            Answers::Done(_) => 0,
            Answers::Data { ready, .. } => dut.value(*ready),
        };
        for (number, segment) in self.segments.iter_mut().enumerate() {
            if segment.on_bus && ready >> number & 1 == 1 {
                segment.on_bus = false;
                segment.pending.pop_front();
            }
            self.stalls += u64::from(segment.on_bus);
            let Some(command) = self.commands.check(dut, number)? else {
                continue;
            };
            segment.taken += 1;
            let mut bytes = Vec::new();
            let done = match self.answers {
                Answers::Done(_) => {
                    self.ram
                        .design_writes(number, command.line, &command.data, command.enables)
                }
                Answers::Data { .. } => self
                    .ram
                    .design_reads(number, command.line, &mut bytes)
                    .map(|()| 0),
            };
            let word = done.map_err(|rule| self.commands.violation(rule))?;
            let due = cycle + draw(self.latency, &mut self.rng).max(1);
            segment.pending.push_back(Pending { due, word, bytes });
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.commands.reset();
        self.commands.set_ready(dut, |_| false);
        let (Answers::Done(valid) | Answers::Data { valid, .. }) = &self.answers;
        set_bits(dut, *valid, self.segments.len(), |_| false);
        let writes = matches!(self.answers, Answers::Done(_));
        if !self.survives_reset {
            for segment in &mut self.segments {
                segment.pending.clear();
                segment.on_bus = false;
            }
            if writes {
                self.ram.forget_writes();
            }
        }
        if !writes {
            self.ram.forget_unread();
        }
    }

    fn drive_reset(&mut self, dut: &mut Instance, cycle: u64) {
        self.cycle = cycle;
        self.answer(dut);
        (self.cycle, self.in_reset) = (cycle + 1, true);
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        self.commands.check_reset(dut)
    }

    fn unfinished(&self) -> Option<String> {
        let left = self.segments.iter().any(|segment| !segment.pending.is_empty());
        (left || self.commands.is_waiting()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let waiting: usize = self.segments.iter().map(|segment| segment.pending.len()).sum();
        let (taken, bus) = (self.taken(), &self.commands.bus);
        format!("{bus}: RAM has taken {taken} commands, {waiting} are not answered")
    }
}
