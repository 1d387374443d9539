//! Serial lines: one start bit, eight data bits with the lowest first, one stop bit, no parity.

use crate::agent::{Agent, Violation};
use crate::model::{Direction, Instance, Model, ModelError, PortHandle};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Bits of a byte on the line.
const FRAME_BITS: u64 = 10;

/// A port of one bit.
fn line(dut: &Instance, name: &str, direction: Direction) -> Result<PortHandle, ModelError> {
    let port = dut.port(name, direction)?;
    if port.width() == 1 {
        return Ok(port);
    }
    Err(ModelError::UnfitPort {
        model: dut.name(),
        port: name.to_owned(),
        reason: format!("is {} bits wide; a serial line is 1 bit", port.width()),
    })
}

/// Thousandths of a clock in a clock.
const MILLIS: u64 = 1000;

/// Length of a bit, in thousandths of a clock, so that a line may be a little fast or slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed {
    /// Thousandths of a clock.
    pub millis_per_bit: u64,
}

impl Speed {
    /// A bit of that many clocks.
    pub fn exact(clocks_per_bit: u64) -> Self {
        Self {
            millis_per_bit: MILLIS * clocks_per_bit,
        }
    }

    /// A line that is faster (negative) or slower by that percentage.
    #[must_use]
    pub fn off_by(self, percent: i64) -> Self {
        let factor = u64::try_from(100 + percent).expect("the change is above -100 %");
        Self {
            millis_per_bit: self.millis_per_bit * factor / 100,
        }
    }
}

/// Drives a serial line into the design; clones share one queue.
#[derive(Clone, Debug)]
pub struct UartSource {
    state: Rc<RefCell<SourceState>>,
}

#[derive(Debug)]
struct SourceState {
    name: String,
    port: PortHandle,
    speed: Speed,
    /// Levels with their lengths in thousandths of a clock.
    levels: VecDeque<(bool, u64)>,
    /// How much of the first level has passed.
    passed: u64,
}

impl UartSource {
    /// Puts a source on an input of one bit.
    ///
    /// # Errors
    /// If the design has no such input.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        name: &str,
        clocks_per_bit: u64,
    ) -> Result<Self, ModelError> {
        let port = line(sim.dut.instance(), name, Direction::Input)?;
        let state = SourceState {
            name: name.to_owned(),
            port,
            speed: Speed::exact(clocks_per_bit),
            levels: VecDeque::new(),
            passed: 0,
        };
        sim.dut.instance_mut().set_high(port, true);
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<SourceState>>::clone(&state));
        Ok(Self { state })
    }

    /// Changes the speed of what is sent from now on.
    pub fn set_speed(&self, speed: Speed) {
        self.state.borrow_mut().speed = speed;
    }

    /// Queues bytes, without a pause between them.
    pub fn send(&self, bytes: &[u8]) {
        let mut state = self.state.borrow_mut();
        for byte in bytes {
            state.push_byte(*byte, true);
        }
    }

    /// Queues a byte without its stop bit.
    pub fn send_broken(&self, byte: u8) {
        self.state.borrow_mut().push_byte(byte, false);
    }

    /// Queues a level of the line for a number of clocks: high for a pause, low for a break or a glitch.
    pub fn hold(&self, level: bool, clocks: u64) {
        self.state.borrow_mut().levels.push_back((level, MILLIS * clocks));
    }

    /// Whether all queued bytes have been sent.
    pub fn is_idle(&self) -> bool {
        self.state.borrow().levels.is_empty()
    }
}

impl SourceState {
    fn push_byte(&mut self, byte: u8, stop: bool) {
        let bits = (0..8).map(|bit| byte >> bit & 1 == 1);
        let bits = [false].into_iter().chain(bits).chain([stop]);
        debug_assert_eq!(bits.clone().count() as u64, FRAME_BITS);
        self.levels
            .extend(bits.map(|level| (level, self.speed.millis_per_bit)));
    }
}

impl Agent for SourceState {
    fn drive(&mut self, dut: &mut Instance) {
        let level = self.levels.front().is_none_or(|(level, _)| *level);
        dut.set_high(self.port, level);
        if self.levels.is_empty() {
            return;
        }
        self.passed += MILLIS;
        while let Some((_, length)) = self.levels.front()
            && self.passed >= *length
        {
            self.passed -= length;
            self.levels.pop_front();
        }
        if self.levels.is_empty() {
            self.passed = 0;
        }
    }

    fn sample(&mut self, _dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.levels.clear();
        self.passed = 0;
        dut.set_high(self.port, true);
    }

    fn unfinished(&self) -> Option<String> {
        (!self.levels.is_empty()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!("{}: {} levels are not sent", self.name, self.levels.len())
    }
}

/// Receives from a serial line of the design and checks every clock of it; clones share one queue.
///
/// The design and the sink count the same clock, so every bit has exactly its number of clocks.
#[derive(Clone, Debug)]
pub struct UartSink {
    state: Rc<RefCell<SinkState>>,
}

/// A byte that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The byte.
    pub byte: u8,
    /// The cycle in which its start bit began.
    pub cycle: u64,
}

#[derive(Debug)]
struct SinkState {
    name: String,
    port: PortHandle,
    clocks_per_bit: u64,
    /// The levels of the byte that is arriving, one for each clock, and the cycle in which it began.
    current: Vec<bool>,
    began: u64,
    received: VecDeque<Received>,
}

impl UartSink {
    /// Puts a sink on an output of one bit.
    ///
    /// # Errors
    /// If the design has no such output.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        name: &str,
        clocks_per_bit: u64,
    ) -> Result<Self, ModelError> {
        let state = SinkState {
            name: name.to_owned(),
            port: line(sim.dut.instance(), name, Direction::Output)?,
            clocks_per_bit,
            current: Vec::new(),
            began: 0,
            received: VecDeque::new(),
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<SinkState>>::clone(&state));
        Ok(Self { state })
    }

    /// Takes the next received byte.
    pub fn receive(&self) -> Option<Received> {
        self.state.borrow_mut().received.pop_front()
    }

    /// Bytes that were not taken yet.
    pub fn waiting(&self) -> usize {
        self.state.borrow().received.len()
    }

    /// Whether nothing is on the line.
    pub fn is_idle(&self) -> bool {
        self.state.borrow().current.is_empty()
    }
}

impl SinkState {
    /// Reads a complete byte.
    fn finish(&mut self) -> Result<(), Violation> {
        let mut byte = 0;
        for (number, levels) in self.current.chunks(self.clocks_per_bit as usize).enumerate() {
            let level = levels[0];
            if levels.contains(&!level) {
                return Err(
                    self.violation(format!("bit {number} changes within its {} clocks", levels.len()))
                );
            }
            match number {
                0 => {}
                9 if !level => return Err(self.violation("the stop bit is low".to_owned())),
                9 => {}
                _ => byte |= u8::from(level) << (number - 1),
            }
        }
        self.received.push_back(Received {
            byte,
            cycle: self.began,
        });
        self.current.clear();
        Ok(())
    }

    fn violation(&self, rule: String) -> Violation {
        Violation {
            bus: self.name.clone(),
            rule,
        }
    }
}

impl Agent for SinkState {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        let level = dut.is_high(self.port);
        if self.current.is_empty() {
            if level {
                return Ok(());
            }
            self.began = cycle;
        }
        self.current.push(level);
        if self.current.len() as u64 == FRAME_BITS * self.clocks_per_bit {
            return self.finish();
        }
        Ok(())
    }

    fn reset(&mut self, _dut: &mut Instance) {
        self.current.clear();
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        if dut.is_high(self.port) {
            return Ok(());
        }
        Err(self.violation("the line is low in reset".to_owned()))
    }

    fn unfinished(&self) -> Option<String> {
        (!self.received.is_empty() || !self.current.is_empty()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!(
            "{}: {} bytes were not taken{}",
            self.name,
            self.received.len(),
            if self.current.is_empty() {
                ""
            } else {
                ", one is on the line"
            }
        )
    }
}
