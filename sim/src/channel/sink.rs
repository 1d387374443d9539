//! Receives items from a channel of the design.

use super::payload::Incoming;
use crate::agent::{Agent, Violation};
use crate::handshake::Levels;
use crate::model::{Instance, Model, ModelError};
use crate::pause::{Pause, Pauses};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Receives items from a channel of the design; clones share one queue.
#[derive(Debug)]
pub struct Sink<P: Incoming> {
    state: Rc<RefCell<State<P>>>,
    monitor: P::Monitor,
}

#[derive(Debug)]
struct State<P: Incoming> {
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
        let state = Rc::new(RefCell::new(State {
            payload,
            pauses,
            received: VecDeque::new(),
            levels: Levels::default(),
            transfers: 0,
            total: 0,
        }));
        sim.attach(Rc::<RefCell<State<P>>>::clone(&state));
        let monitor = state.borrow().payload.monitor(sim)?;
        Ok(Self { state, monitor })
    }

    /// The first complete item that was not taken yet.
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

impl<P: Incoming> Agent for State<P> {
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
            "{bus}: sink has received {total} {items}, {waiting} were not looked at, {missing}{part} bytes of the next, \
             {levels}"
        )
    }
}
