//! The ports with which the design writes the RAM.

use super::config::{RamConfig, draw};
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

/// Takes the writes of the design: `<prefix>_cmd_*` and `<prefix>_done`.
///
/// Each segment takes commands when it likes, and gives one pulse of done for each, in order, one clock or
/// more after it. A command has to stay while it waits for ready, has to lie in the bytes that the design may
/// use, and must not touch a word that a descriptor in flight covers.
#[derive(Clone, Debug)]
pub struct RamWritePort {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    commands: Commands,
    done: PortHandle,
    ram: SegmentedRam,
    segments: Vec<Segment>,
    latency: Latency,
    rng: ChaCha8Rng,
    survives_reset: bool,
    /// The cycle that is driven next.
    cycle: u64,
}

/// What is under way in a segment.
#[derive(Debug)]
struct Segment {
    pauses: Pauses,
    taken: u64,
    /// Words whose write is not done, with the cycle of the pulse.
    writes: VecDeque<(u64, usize)>,
}

impl RamWritePort {
    /// Puts a RAM behind the ports with that prefix, such as `ram_wr`.
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
        let commands = Commands::find(dut, &format!("{prefix}_cmd"), ram.shape(), true)?;
        let done = dut.port(&format!("{prefix}_done"), Direction::Input)?;
        let segment = |number| Segment {
            pauses: Pauses::new(
                config.commands.clone(),
                sim.rng(&format!("pauses of {prefix} {number}")),
            ),
            taken: 0,
            writes: VecDeque::new(),
        };
        let state = State {
            segments: (0..commands.segments()).map(segment).collect(),
            commands,
            done,
            ram: ram.clone(),
            latency: config.latency,
            rng: sim.rng(&format!("latency of {prefix}")),
            survives_reset: false,
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

    /// Changes whether the RAM goes on when the design is reset: what it took before is done all the same.
    pub fn set_survives_reset(&self, survives: bool) {
        self.state.borrow_mut().survives_reset = survives;
    }
}

impl State {
    /// Gives the pulses of done that are due.
    fn give_done(&mut self, dut: &mut Instance) {
        let mut done = 0u64;
        for (number, segment) in self.segments.iter_mut().enumerate() {
            let due = segment.writes.pop_front_if(|(due, _)| *due <= self.cycle);
            if let Some((_, word)) = due {
                self.ram.write_done(word);
                done |= 1 << number;
            }
        }
        dut.set_value(self.done, done.into());
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let mut ready = 0u64;
        for (number, segment) in self.segments.iter_mut().enumerate() {
            ready |= u64::from(!segment.pauses.next(segment.taken)) << number;
        }
        self.commands.set_ready(dut, |number| ready >> number & 1 == 1);
        self.give_done(dut);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.cycle = cycle + 1;
        for (number, segment) in self.segments.iter_mut().enumerate() {
            let Some(command) = self.commands.check(dut, number)? else {
                continue;
            };
            segment.taken += 1;
            let word = self
                .ram
                .design_writes(number, command.line, &command.data, command.enables)
                .map_err(|rule| self.commands.violation(rule))?;
            let latency = draw(self.latency, &mut self.rng).max(1);
            segment.writes.push_back((cycle + latency, word));
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.commands.reset();
        self.commands.set_ready(dut, |_| false);
        set_bits(dut, self.done, self.segments.len(), |_| false);
        if !self.survives_reset {
            for segment in &mut self.segments {
                segment.writes.clear();
            }
            self.ram.forget_writes();
        }
    }

    fn drive_reset(&mut self, dut: &mut Instance, cycle: u64) {
        self.cycle = cycle;
        self.give_done(dut);
        self.cycle = cycle + 1;
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        self.commands.check_reset(dut)
    }

    fn unfinished(&self) -> Option<String> {
        let writes = self.segments.iter().any(|segment| !segment.writes.is_empty());
        (writes || self.commands.is_waiting()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let taken: u64 = self.segments.iter().map(|segment| segment.taken).sum();
        let waiting: usize = self.segments.iter().map(|segment| segment.writes.len()).sum();
        format!(
            "{}: RAM has taken {taken} writes, {waiting} are not done",
            self.commands.bus
        )
    }
}
