//! Receives items from a channel of the design.

use super::ports;
use crate::agent::{Agent, Violation};
use crate::handshake::{Counts, Side, Watch};
use crate::model::{Instance, Model, ModelError};
use crate::pause::{Pause, Pauses};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Receives items from a channel of the design and checks its rules; clones share one queue.
#[derive(Clone, Debug)]
pub struct ChannelSink {
    state: Rc<RefCell<State>>,
}

/// An item that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// One value for each field.
    pub values: Vec<u64>,
    /// The cycle in which it was transferred.
    pub cycle: u64,
}

#[derive(Debug)]
struct State {
    watch: Watch,
    pauses: Pauses,
    received: VecDeque<Item>,
}

impl ChannelSink {
    /// Puts a sink on the channel with that prefix and these fields.
    ///
    /// # Errors
    /// If the design has no such channel, it goes into the design, or a field has more than 64 bits.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        fields: &[&str],
        pause: Pause,
    ) -> Result<Self, ModelError> {
        let bus = ports::find(sim.dut.instance(), prefix, fields, Side::OutOfDesign)?;
        let pauses = Pauses::new(pause, sim.rng(&format!("pauses of {prefix}")));
        let state = State {
            watch: Watch::new(bus),
            pauses,
            received: VecDeque::new(),
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self { state })
    }

    /// The first item that was not taken yet.
    pub fn receive(&self) -> Option<Item> {
        self.state.borrow_mut().received.pop_front()
    }

    /// All items that were not taken yet.
    pub fn receive_all(&self) -> Vec<Item> {
        self.state.borrow_mut().received.drain(..).collect()
    }

    /// Items that were not taken yet.
    pub fn waiting(&self) -> usize {
        self.state.borrow().received.len()
    }

    /// Items since the start, taken or not.
    pub fn total(&self) -> u64 {
        self.counts().beats
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pause(&self, pause: Pause) {
        self.state.borrow_mut().pauses.set(pause);
    }

    /// What was seen since the start.
    pub fn counts(&self) -> Counts {
        self.state.borrow().watch.counts
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let paused = self.pauses.next(self.watch.counts.beats);
        dut.set_high(self.watch.bus.ready, !paused);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        if self.watch.check(dut)? {
            // The widths were checked when the ports were looked up.
            let value = |port: &_| dut.value(*port) as u64;
            let values = self.watch.bus.payload.iter().map(value).collect();
            self.received.push_back(Item { values, cycle });
            self.watch.counts.beats += 1;
            self.watch.counts.frames += 1;
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.watch.reset();
        dut.set_high(self.watch.bus.ready, false);
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        self.watch.check_reset(dut)
    }

    fn unfinished(&self) -> Option<String> {
        (!self.received.is_empty() || self.watch.is_waiting()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let Watch {
            bus, levels, counts, ..
        } = &self.watch;
        let waiting = self.received.len();
        format!(
            "{}: sink has received {} items, {waiting} were not looked at, {levels}",
            bus.bus, counts.beats
        )
    }
}
