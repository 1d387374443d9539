//! Drives a serial line into the design.

use super::{FRAME_BITS, line};
use crate::agent::{Agent, Violation};
use crate::model::{Direction, Instance, Model, ModelError, PortHandle};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

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

    /// A line that is faster (negative) or slower by that many per cent.
    #[must_use]
    pub fn off_by(self, percent: i64) -> Self {
        let factor = u64::try_from(100 + percent).expect("no line is slower than standing still");
        Self {
            millis_per_bit: self.millis_per_bit * factor / 100,
        }
    }
}

/// Drives a serial line into the design; clones share one queue.
#[derive(Clone, Debug)]
pub struct UartSource {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
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
        let state = State {
            name: name.to_owned(),
            port,
            speed: Speed::exact(clocks_per_bit),
            levels: VecDeque::new(),
            passed: 0,
        };
        sim.dut.instance_mut().set_high(port, true);
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
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

    /// Whether all that was queued has been sent.
    pub fn is_idle(&self) -> bool {
        self.state.borrow().levels.is_empty()
    }
}

impl State {
    fn push_byte(&mut self, byte: u8, stop: bool) {
        let bits = (0..8).map(|bit| byte >> bit & 1 == 1);
        let bits = [false].into_iter().chain(bits).chain([stop]);
        debug_assert_eq!(bits.clone().count() as u64, FRAME_BITS);
        self.levels
            .extend(bits.map(|level| (level, self.speed.millis_per_bit)));
    }
}

impl Agent for State {
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
        format!("{}: {} levels are left to be sent", self.name, self.levels.len())
    }
}
