//! Sends items into a channel of the design.

use super::ports;
use crate::agent::{Agent, Violation};
use crate::handshake::{Counts, Side, Watch};
use crate::model::{Instance, Model, ModelError};
use crate::pause::{Pause, Pauses};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Sends items into a channel of the design, in order; clones share one queue.
#[derive(Clone, Debug)]
pub struct ChannelSource {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    watch: Watch,
    widths: Vec<usize>,
    pauses: Pauses,
    queue: VecDeque<Vec<u64>>,
    on_bus: bool,
}

impl ChannelSource {
    /// Puts a source on the channel with that prefix and these fields.
    ///
    /// # Errors
    /// If the design has no such channel, it goes out of the design, or a field has more than 64 bits.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        prefix: &str,
        fields: &[&str],
        pause: Pause,
    ) -> Result<Self, ModelError> {
        let bus = ports::find(sim.dut.instance(), prefix, fields, Side::IntoDesign)?;
        let state = State {
            widths: bus.payload.iter().map(|port| port.width()).collect(),
            watch: Watch::new(bus),
            pauses: Pauses::new(pause, sim.rng(&format!("pauses of {prefix}"))),
            queue: VecDeque::new(),
            on_bus: false,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self { state })
    }

    /// Queues an item, one value for each field.
    ///
    /// # Panics
    /// If there are more or fewer values than fields, or a value does not fit its field.
    pub fn send(&self, item: &[u64]) {
        let mut state = self.state.borrow_mut();
        let bus = &state.watch.bus.bus;
        assert_eq!(
            item.len(),
            state.widths.len(),
            "{bus} has {} fields",
            state.widths.len()
        );
        for (value, width) in item.iter().zip(&state.widths) {
            let fits = *width == 64 || value >> width == 0;
            assert!(fits, "{bus}: {value:#x} does not fit a field of {width} bits");
        }
        state.queue.push_back(item.to_vec());
    }

    /// Items that were not transferred yet.
    pub fn waiting(&self) -> usize {
        self.state.borrow().queue.len()
    }

    /// Whether everything is sent.
    pub fn is_idle(&self) -> bool {
        self.waiting() == 0
    }

    /// Forgets all items that were not transferred, for after a reset: one that is on the bus may not go away.
    ///
    /// # Panics
    /// If an item is on the bus.
    pub fn clear(&self) {
        let mut state = self.state.borrow_mut();
        assert!(!state.on_bus, "{}: an item is on the bus", state.watch.bus.bus);
        state.queue.clear();
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
        if let Some(item) = self.queue.front().filter(|_| !self.on_bus && !paused) {
            for (port, value) in self.watch.bus.payload.iter().zip(item) {
                dut.set_value(*port, u128::from(*value));
            }
            self.on_bus = true;
        }
        dut.set_high(self.watch.bus.valid, self.on_bus);
    }

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        if self.watch.check(dut)? {
            self.queue.pop_front();
            self.on_bus = false;
            self.watch.counts.beats += 1;
            self.watch.counts.frames += 1;
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        // An item that the design saw but did not take stays in the queue.
        self.on_bus = false;
        self.watch.reset();
        dut.set_high(self.watch.bus.valid, false);
    }

    fn unfinished(&self) -> Option<String> {
        (!self.queue.is_empty()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let Watch {
            bus, levels, counts, ..
        } = &self.watch;
        let waiting = self.queue.len();
        format!(
            "{}: source has sent {} items, {waiting} are waiting, {levels}",
            bus.bus, counts.beats
        )
    }
}
