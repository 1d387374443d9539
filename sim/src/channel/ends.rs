//! Sends items into a channel of the design.

use super::{Incoming, Outgoing};
use crate::agent::{Agent, Violation};
use crate::handshake::Levels;
use crate::model::{Instance, Model, ModelError};
use crate::pause::{Pause, Pauses};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Sends items into a channel of the design, in order, beat by beat; clones share one queue.
#[derive(Debug)]
pub struct Source<P: Outgoing> {
    state: Rc<RefCell<SourceState<P>>>,
    monitor: P::Monitor,
}

#[derive(Debug)]
struct SourceState<P: Outgoing> {
    payload: P,
    pauses: Pauses,
    queue: VecDeque<P::Item>,
    /// The index of the next beat of the first item in the queue, or of the one on the bus.
    beat: usize,
    on_bus: bool,
    levels: Levels,
    transfers: u64,
    sent: u64,
    /// The cycle of the first beat of the latest item.
    first_cycle: u64,
}

impl<P: Outgoing> Clone for Source<P> {
    fn clone(&self) -> Self {
        Self {
            state: Rc::clone(&self.state),
            monitor: self.monitor.clone(),
        }
    }
}

impl<P: Outgoing> Source<P> {
    /// Puts a source and a monitor on the channel of a payload.
    ///
    /// # Errors
    /// If the monitor finds no such channel.
    pub fn of<M: Model>(sim: &mut Simulation<M>, payload: P, pause: Pause) -> Result<Self, ModelError> {
        let pauses = Pauses::new(pause, sim.rng(&format!("pauses of {}", payload.bus().name())));
        let state = Rc::new(RefCell::new(SourceState {
            payload,
            pauses,
            queue: VecDeque::new(),
            beat: 0,
            on_bus: false,
            levels: Levels::default(),
            transfers: 0,
            sent: 0,
            first_cycle: 0,
        }));
        sim.attach(Rc::<RefCell<SourceState<P>>>::clone(&state));
        let monitor = state.borrow().payload.monitor(sim)?;
        Ok(Self { state, monitor })
    }

    /// Queues an item: values of all fields, or a frame.
    ///
    /// # Panics
    /// If the ports cannot carry it.
    pub fn send(&self, item: impl Into<P::Item>) {
        let (item, mut state) = (item.into(), self.state.borrow_mut());
        let checked = state.payload.check(&item);
        checked.unwrap_or_else(|rule| panic!("{}: {rule}", state.payload.bus().name()));
        state.queue.push_back(item);
    }

    /// Number of items that are not sent completely.
    pub fn waiting(&self) -> usize {
        self.state.borrow().queue.len()
    }

    /// Whether everything is sent.
    pub fn is_idle(&self) -> bool {
        self.waiting() == 0
    }

    /// Items that were sent completely.
    pub fn sent(&self) -> u64 {
        self.state.borrow().sent
    }

    /// The cycle in which the first beat of the latest item was transferred.
    pub fn first_cycle(&self) -> u64 {
        self.state.borrow().first_cycle
    }

    /// Discards all items, except one that has started, which has to be completed.
    pub fn clear(&self) {
        let mut state = self.state.borrow_mut();
        let begun = usize::from(state.beat > 0 || state.on_bus);
        state.queue.truncate(begun);
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pause(&self, pause: Pause) {
        self.state.borrow_mut().pauses.set(pause);
    }

    /// The monitor on the same channel.
    pub fn monitor(&self) -> &P::Monitor {
        &self.monitor
    }
}

impl<P: Outgoing> Agent for SourceState<P> {
    fn drive(&mut self, dut: &mut Instance) {
        let paused = self.pauses.next(self.transfers);
        if !self.on_bus
            && !paused
            && let Some(item) = self.queue.front()
        {
            self.payload.drive(dut, item, self.beat);
            self.on_bus = true;
        }
        dut.set_high(self.payload.bus().valid, self.on_bus);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        self.levels = Levels {
            valid: self.on_bus,
            ready: dut.is_high(self.payload.bus().ready),
        };
        if !self.on_bus || !self.levels.ready {
            return Ok(());
        }
        if self.beat == 0 {
            self.first_cycle = cycle;
        }
        self.on_bus = false;
        self.transfers += 1;
        self.beat += 1;
        let item = self.queue.front();
        if item.is_some_and(|item| self.beat == self.payload.beats(item)) {
            self.queue.pop_front();
            self.sent += 1;
            self.beat = 0;
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        // An item of several beats that was interrupted is not sent again: the design saw its beginning.
        if !P::RESENDS && (self.beat > 0 || self.on_bus) {
            self.queue.pop_front();
        }
        self.beat = 0;
        self.on_bus = false;
        dut.set_high(self.payload.bus().valid, false);
    }

    fn unfinished(&self) -> Option<String> {
        (!self.queue.is_empty()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!(
            "{}: source has sent {} {}, {} are waiting, beat {} is next, {}",
            self.payload.bus().name(),
            self.sent,
            P::ITEMS,
            self.queue.len(),
            self.beat,
            self.levels
        )
    }
}

/// Receives items from a channel of the design; clones share one queue.
#[derive(Debug)]
pub struct Sink<P: Incoming> {
    state: Rc<RefCell<SinkState<P>>>,
    monitor: P::Monitor,
}

#[derive(Debug)]
struct SinkState<P: Incoming> {
    payload: P,
    pauses: Pauses,
    received: VecDeque<P::Item>,
    levels: Levels,
    transfers: u64,
    total: u64,
}

impl<P: Incoming> Clone for Sink<P> {
    fn clone(&self) -> Self {
        Self {
            state: Rc::clone(&self.state),
            monitor: self.monitor.clone(),
        }
    }
}

impl<P: Incoming> Sink<P> {
    /// Puts a sink and a monitor on the channel of a payload.
    ///
    /// # Errors
    /// If the monitor finds no such channel.
    pub fn of<M: Model>(sim: &mut Simulation<M>, payload: P, pause: Pause) -> Result<Self, ModelError> {
        let pauses = Pauses::new(pause, sim.rng(&format!("pauses of {}", payload.bus().name())));
        let state = Rc::new(RefCell::new(SinkState {
            payload,
            pauses,
            received: VecDeque::new(),
            levels: Levels::default(),
            transfers: 0,
            total: 0,
        }));
        sim.attach(Rc::<RefCell<SinkState<P>>>::clone(&state));
        let monitor = state.borrow().payload.monitor(sim)?;
        Ok(Self { state, monitor })
    }

    /// Takes the next received item.
    pub fn receive(&self) -> Option<P::Item> {
        self.state.borrow_mut().received.pop_front()
    }

    /// All complete items that were not taken yet.
    pub fn receive_all(&self) -> Vec<P::Item> {
        self.state.borrow_mut().received.drain(..).collect()
    }

    /// Complete items that were not taken yet.
    pub fn waiting(&self) -> usize {
        self.state.borrow().received.len()
    }

    /// Complete items since the start, taken or not.
    pub fn total(&self) -> u64 {
        self.state.borrow().total
    }

    /// Whether no item is half received.
    pub fn is_between_frames(&self) -> bool {
        self.state.borrow().payload.partial_bytes().is_none()
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pause(&self, pause: Pause) {
        self.state.borrow_mut().pauses.set(pause);
    }

    /// The monitor on the same channel.
    pub fn monitor(&self) -> &P::Monitor {
        &self.monitor
    }
}

impl<P: Incoming> Agent for SinkState<P> {
    fn drive(&mut self, dut: &mut Instance) {
        let paused = self.pauses.next(self.transfers);
        dut.set_high(self.payload.bus().ready, !paused);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        let bus = self.payload.bus();
        self.levels = Levels {
            valid: dut.is_high(bus.valid),
            ready: dut.is_high(bus.ready),
        };
        if self.levels.valid && self.levels.ready {
            self.transfers += 1;
            let taken = self.payload.take(dut, cycle);
            let item = taken.map_err(|rule| self.payload.bus().violation(rule))?;
            self.total += u64::from(item.is_some());
            self.received.extend(item);
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.payload.reset();
        dut.set_high(self.payload.bus().ready, false);
    }

    fn unfinished(&self) -> Option<String> {
        let left = self.payload.partial_bytes().is_some() || self.payload.missing() > 0;
        (left || !self.received.is_empty()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let (bus, items, levels) = (self.payload.bus().name(), P::ITEMS, self.levels);
        let (total, waiting) = (self.total, self.received.len());
        let missing = match self.payload.missing() {
            0 => String::new(),
            count => format!("{count} are missing, "),
        };
        let part = self.payload.partial_bytes().unwrap_or(0);
        format!(
            "{bus}: sink has received {total} {items}, {waiting} were not taken, {missing}{part} bytes of the next, \
             {levels}"
        )
    }
}
