//! Checks the rules of valid and ready.

use crate::agent::{Agent, Violation};
use crate::handshake::{Counts, Handshake, Watch};
use crate::model::{Instance, Model};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::rc::Rc;

/// Checks the rules of a channel and counts; clones share one state.
///
/// - Valid stays high, and the payload the same, until ready is high.
/// - Valid is low at the end of a reset.
#[derive(Clone, Debug)]
pub struct ChannelMonitor {
    state: Rc<RefCell<Watch>>,
}

impl ChannelMonitor {
    /// Puts a monitor on a channel.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, bus: &Handshake) -> Self {
        let state = Rc::new(RefCell::new(Watch::new(bus.clone())));
        sim.attach(Rc::<RefCell<Watch>>::clone(&state));
        Self { state }
    }

    /// What was seen since the start.
    pub fn counts(&self) -> Counts {
        self.state.borrow().counts
    }
}

impl Agent for Watch {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        if self.check(dut)? {
            self.count(true);
        }
        Ok(())
    }

    fn reset(&mut self, _dut: &mut Instance) {
        Self::reset(self);
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        self.check_reset(dut)
    }

    fn unfinished(&self) -> Option<String> {
        self.is_waiting().then(|| self.describe())
    }

    fn describe(&self) -> String {
        let (bus, beats, levels) = (&self.bus.bus, self.counts.beats, self.levels);
        format!("{bus}: monitor has seen {beats} items, {levels}")
    }
}
