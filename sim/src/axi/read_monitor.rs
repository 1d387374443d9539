//! Checks the rules of read channels.

use super::ports::ReadPorts;
use super::read_rules::ReadRules;
use super::scope::Scope;
use crate::agent::{Agent, Violation};
use crate::handshake::{Counts, Watch};
use crate::model::{Instance, Model, ModelError};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::rc::Rc;

/// Checks the rules of read channels, in either direction, and counts; clones share one state.
///
/// - Valid of each channel stays high, and the payload the same, until ready is high.
/// - Valid of each channel is low at the end of a reset.
/// - No burst crosses 4 KiB, uses ARBURST 3, has beats wider than the bus or a length that its kind
///   does not allow.
/// - A beat is for a read of that id, not earlier than in the cycle after its address.
/// - A read has as many beats as its address says, and RLAST is high in the last and in no other. Reads
///   of one id are answered in their order and not mixed; beats of different ids may be.
/// - EXOKAY answers exclusive reads only.
///
/// Where the design has AWATOP, an atomic operation that loads is answered here as well, and its id is
/// not used by anything else until then. Whoever puts a slave or a master on the channels gets a monitor
/// with it.
#[derive(Clone, Debug)]
pub struct ReadMonitor {
    state: Rc<RefCell<State>>,
}

/// What a [`ReadMonitor`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Address channel; `frames` is the number of bursts.
    pub address: Counts,
    /// Data channel; `frames` is the number of last beats.
    pub data: Counts,
}

#[derive(Debug)]
struct State {
    prefix: String,
    ports: ReadPorts,
    address: Watch,
    data: Watch,
    rules: ReadRules,
}

impl ReadMonitor {
    /// Puts a monitor on the read channels with that prefix.
    ///
    /// # Errors
    /// If the design has no such channels.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, prefix: &str) -> Result<Self, ModelError> {
        let ports = ReadPorts::find(sim.dut.instance(), prefix, None)?;
        let state = State {
            prefix: prefix.to_owned(),
            address: Watch::new(ports.address.channel.clone()),
            data: Watch::new(ports.data.clone()),
            rules: ReadRules::new(ports.bytes),
            ports,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self { state })
    }

    /// What was seen since the start.
    pub fn counts(&self) -> ReadCounts {
        let state = self.state.borrow();
        ReadCounts {
            address: state.address.counts,
            data: state.data.counts,
        }
    }

    /// Reads that wait for data, and atomic operations that do.
    pub fn under_way(&self) -> usize {
        self.state.borrow().rules.under_way()
    }

    /// From now on, lets pass what only a master can do wrong within a burst: its kind, length, size and
    /// address. Handshakes and everything about beats is checked as before.
    pub fn check_slave_only(&self) {
        self.state.borrow_mut().rules.set_scope(Scope::Slave);
    }
}

impl State {
    fn check_data(&mut self, dut: &Instance) -> Result<(), Violation> {
        let transferred = self.data.check(dut)?;
        if !self.data.levels.valid {
            return Ok(());
        }
        let id = dut.value(self.ports.rid) as u64;
        let code = dut.value(self.ports.rresp) as u8;
        let last = dut.is_high(self.ports.rlast);
        let offer = self.rules.offer(id, code, last);
        offer.map_err(|rule| self.data.bus.violation(rule))?;
        if transferred {
            self.rules.take(id);
            self.data.count(last);
        }
        Ok(())
    }

    fn check_address(&mut self, dut: &Instance) -> Result<(), Violation> {
        if !self.address.check(dut)? {
            return Ok(());
        }
        self.address.count(true);
        let opened = self.rules.address(self.ports.address.request(dut));
        opened.map_err(|rule| self.address.bus.violation(rule))
    }

    /// Atomic operations; the handshake itself is for the monitor of the write channels.
    fn check_atomics(&mut self, dut: &Instance) -> Result<(), Violation> {
        let Some(ports) = &self.ports.atomics else {
            return Ok(());
        };
        let bus = &ports.channel;
        if !dut.is_high(bus.valid) || !dut.is_high(bus.ready) {
            return Ok(());
        }
        let opened = self.rules.atomic(ports.request(dut));
        opened.map_err(|rule| bus.violation(rule))
    }
}

impl Agent for State {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        // A beat must not come in the cycle of its address, so it is looked at before that.
        self.check_data(dut)?;
        self.check_address(dut)?;
        self.check_atomics(dut)
    }

    fn reset(&mut self, _dut: &mut Instance) {
        self.address.reset();
        self.data.reset();
        self.rules.reset();
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        self.address.check_reset(dut)?;
        self.data.check_reset(dut)
    }

    fn unfinished(&self) -> Option<String> {
        let waits = self.address.is_waiting() || self.data.is_waiting();
        (waits || self.rules.under_way() != 0).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!(
            "{}: monitor has seen {} reads, {} beats; {} reads are under way, ar {}, r {}",
            self.prefix,
            self.address.counts.beats,
            self.data.counts.beats,
            self.rules.under_way(),
            self.address.levels,
            self.data.levels
        )
    }
}
