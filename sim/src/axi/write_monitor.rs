//! Checks the rules of write channels.

use super::ports::WritePorts;
use super::scope::Scope;
use super::write_rules::{Finished, WriteBeat, WriteRules};
use crate::agent::{Agent, Violation};
use crate::handshake::{Counts, Watch};
use crate::model::{Instance, Model, ModelError};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Checks the rules of write channels, in either direction, and counts; clones share one state.
///
/// - Valid of each channel stays high, and the payload the same, until ready is high.
/// - Valid of each channel is low at the end of a reset.
/// - No burst crosses 4 KiB, uses AWBURST 3, has beats wider than the bus or a length that its kind
///   does not allow.
/// - WLAST is high in the last beat of a burst and in no other.
/// - Strobes are inside of the bytes that the beat addresses.
/// - A response is for a burst of that id that is complete, comes after its last beat, and comes once.
///
/// - EXOKAY answers exclusive bursts only.
///
/// Data before its address is allowed, as in AXI4, and checked when the address comes. What an exclusive
/// or an atomic access may look like is not checked. Whoever puts a slave or a master on the channels
/// gets a monitor with it.
#[derive(Clone, Debug)]
pub struct WriteMonitor {
    state: Rc<RefCell<State>>,
}

/// What a [`WriteMonitor`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteCounts {
    /// Address channel; `frames` is the number of bursts.
    pub address: Counts,
    /// Data channel; `frames` is the number of last beats.
    pub data: Counts,
    /// Response channel; `frames` is the number of responses.
    pub response: Counts,
}

#[derive(Debug)]
struct State {
    prefix: String,
    ports: WritePorts,
    address: Watch,
    data: Watch,
    response: Watch,
    rules: WriteRules,
    /// Complete bursts, if somebody takes them.
    finished: Option<VecDeque<Finished>>,
}

impl WriteMonitor {
    /// Puts a monitor on the write channels with that prefix.
    ///
    /// # Errors
    /// If the design has no such channels.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, prefix: &str) -> Result<Self, ModelError> {
        let ports = WritePorts::find(sim.dut.instance(), prefix, None)?;
        let state = State {
            prefix: prefix.to_owned(),
            address: Watch::new(ports.address.channel.clone()),
            data: Watch::new(ports.data.clone()),
            response: Watch::new(ports.response.clone()),
            rules: WriteRules::new(ports.bytes),
            finished: None,
            ports,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self { state })
    }

    /// What was seen since the start.
    pub fn counts(&self) -> WriteCounts {
        let state = self.state.borrow();
        WriteCounts {
            address: state.address.counts,
            data: state.data.counts,
            response: state.response.counts,
        }
    }

    /// From now on, lets pass what only a master can do wrong within a burst: its kind, length, size and
    /// address, WLAST and strobes. Handshakes and everything about responses is checked as before.
    pub fn check_slave_only(&self) {
        self.state.borrow_mut().rules.set_scope(Scope::Slave);
    }

    /// Keeps complete bursts until they are taken.
    pub(super) fn keep_finished(&self) {
        self.state.borrow_mut().finished = Some(VecDeque::new());
    }

    /// The oldest complete burst that was not taken yet.
    pub(super) fn take_finished(&self) -> Option<Finished> {
        self.state.borrow_mut().finished.as_mut()?.pop_front()
    }
}

impl State {
    fn check_response(&mut self, dut: &Instance) -> Result<(), Violation> {
        let transferred = self.response.check(dut)?;
        if !self.response.levels.valid {
            return Ok(());
        }
        let id = dut.value(self.ports.bid) as u64;
        let code = dut.value(self.ports.bresp) as u8;
        let offer = self.rules.offer(id, code);
        offer.map_err(|rule| self.response.bus.violation(rule))?;
        if transferred {
            self.rules.answer(id);
            self.response.count(true);
        }
        Ok(())
    }

    fn check_address(&mut self, dut: &Instance) -> Result<(), Violation> {
        if !self.address.check(dut)? {
            return Ok(());
        }
        self.address.count(true);
        let finished = self.rules.address(self.ports.address.request(dut));
        let finished = finished.map_err(|rule| self.address.bus.violation(rule))?;
        self.keep(finished);
        Ok(())
    }

    fn check_data(&mut self, dut: &Instance) -> Result<(), Violation> {
        if !self.data.check(dut)? {
            return Ok(());
        }
        let beat = WriteBeat {
            bytes: dut.bytes(self.ports.wdata)[..self.ports.bytes].to_vec(),
            strobes: dut.value(self.ports.wstrb),
            last: dut.is_high(self.ports.wlast),
        };
        self.data.count(beat.last);
        let finished = self.rules.data(beat);
        let finished = finished.map_err(|rule| self.data.bus.violation(rule))?;
        self.keep(finished);
        Ok(())
    }

    fn keep(&mut self, finished: Option<Finished>) {
        if let Some(queue) = &mut self.finished {
            queue.extend(finished);
        }
    }
}

impl Agent for State {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        // A response must not come in the cycle of the last beat, so it is looked at before that.
        self.check_response(dut)?;
        self.check_address(dut)?;
        self.check_data(dut)
    }

    fn reset(&mut self, _dut: &mut Instance) {
        for watch in [&mut self.address, &mut self.data, &mut self.response] {
            watch.reset();
        }
        self.rules.reset();
        if let Some(queue) = &mut self.finished {
            queue.clear();
        }
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        [&self.address, &self.data, &self.response]
            .iter()
            .try_for_each(|watch| watch.check_reset(dut))
    }

    fn unfinished(&self) -> Option<String> {
        let waits = [&self.address, &self.data, &self.response]
            .iter()
            .any(|watch| watch.is_waiting());
        (waits || self.rules.under_way() != (0, 0)).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let (bursts, beats) = self.rules.under_way();
        format!(
            "{}: monitor has seen {} bursts, {} beats, {} responses; {bursts} bursts and {beats} beats \
             are under way, aw {}, w {}, b {}",
            self.prefix,
            self.address.counts.beats,
            self.data.counts.beats,
            self.response.counts.beats,
            self.address.levels,
            self.data.levels,
            self.response.levels
        )
    }
}
