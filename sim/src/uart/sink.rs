//! Receives from a serial line of the design.

use super::{FRAME_BITS, line};
use crate::agent::{Agent, Violation};
use crate::model::{Direction, Instance, Model, ModelError, PortHandle};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Receives from a serial line of the design and checks every clock of it; clones share one queue.
///
/// The design and the sink count the same clock, so every bit has exactly its number of clocks.
#[derive(Clone, Debug)]
pub struct UartSink {
    state: Rc<RefCell<State>>,
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
struct State {
    name: String,
    port: PortHandle,
    clocks_per_bit: u64,
    /// The levels of the byte that is coming in, one for each clock, and when it began.
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
        let state = State {
            name: name.to_owned(),
            port: line(sim.dut.instance(), name, Direction::Output)?,
            clocks_per_bit,
            current: Vec::new(),
            began: 0,
            received: VecDeque::new(),
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self { state })
    }

    /// The first byte that was not taken yet.
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

impl State {
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

impl Agent for State {
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
            "{}: {} bytes were not looked at{}",
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
