//! Compares unmatched packets with what was sent.

use super::Ports;
use crate::ingress::packet::Packet;
use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Direction, Instance, Model};
use spinneret_sim::simulation::Simulation;
use spinneret_sim::stream::{Pause, Pauses, StreamMonitor};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Stream of unmatched packets out of the path.
const OUTPUT: &str = "m_axis_nic_rx";

/// Compares unmatched packets with what was sent, beat by beat as they come; clones share one state.
#[derive(Clone, Debug)]
pub struct BypassSink {
    state: Rc<RefCell<SinkState>>,
    monitor: StreamMonitor,
}

impl BypassSink {
    /// Puts a sink and a monitor on the path's output for unmatched packets.
    ///
    /// # Panics
    /// If the design has no such output.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, pause: Pause) -> Self {
        let state = SinkState {
            ports: Ports::find(sim.dut.instance(), OUTPUT, Direction::Output),
            pauses: Pauses::new(pause, sim.rng("pauses of the bypass")),
            expected: VecDeque::new(),
            beat: 0,
            transfers: 0,
            received: 0,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<SinkState>>::clone(&state));
        let monitor = sim.monitor(OUTPUT);
        monitor.allow_sparse();
        Self { state, monitor }
    }

    /// A packet that has to come out, behind those before.
    pub fn expect(&self, packet: Rc<Packet>) {
        self.state.borrow_mut().expected.push_back(packet);
    }

    /// Packets that have not come out completely.
    pub fn missing(&self) -> usize {
        self.state.borrow().expected.len()
    }

    /// Packets that have come out completely.
    pub fn received(&self) -> u64 {
        self.state.borrow().received
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pause(&self, pause: Pause) {
        self.state.borrow_mut().pauses.set(pause);
    }

    /// The monitor on the same stream.
    pub fn monitor(&self) -> &StreamMonitor {
        &self.monitor
    }

    /// Forgets what was to come; the design has to be in reset.
    pub(in crate::ingress) fn clear(&self) {
        self.state.borrow_mut().expected.clear();
    }
}

#[derive(Debug)]
struct SinkState {
    ports: Ports,
    pauses: Pauses,
    expected: VecDeque<Rc<Packet>>,
    /// Which beat of the first packet is next.
    beat: usize,
    transfers: u64,
    received: u64,
}

impl SinkState {
    /// Compares a beat with what it has to be.
    fn check(&mut self, dut: &Instance) -> Result<(), String> {
        let Some(packet) = self.expected.front() else {
            return Err("there is a packet that nobody sent, or that has to be matched".to_owned());
        };
        let value = |port| dut.value(port);
        for (name, found, sent) in [
            ("tkeep", value(self.ports.keep), packet.keep(self.beat).into()),
            ("tlast", value(self.ports.last), packet.is_last(self.beat).into()),
            ("tid", value(self.ports.id), packet.id.into()),
            ("tdest", value(self.ports.dest), packet.dest.into()),
            ("tuser", value(self.ports.user), packet.user(self.beat)),
        ] {
            if found != sent {
                return Err(format!(
                    "{name} is {found:#x} where {sent:#x} was sent, {}",
                    self.place()
                ));
            }
        }
        let keep = packet.keep(self.beat);
        let (sent, found) = (packet.lanes(self.beat), dut.bytes(self.ports.data));
        let differs = |lane: &usize| keep >> lane & 1 == 1 && sent[*lane] != found[*lane];
        let same = sent == &found[..sent.len()];
        match (0..sent.len()).find(|lane| !same && differs(lane)) {
            Some(lane) => Err(format!("lane {lane} is not as sent, {}", self.place())),
            None => Ok(()),
        }
    }

    fn place(&self) -> String {
        format!("beat {} of unmatched packet {}", self.beat, self.received)
    }

    fn step(&mut self) {
        self.transfers += 1;
        self.beat += 1;
        if self
            .expected
            .front()
            .is_some_and(|packet| self.beat == packet.beats())
        {
            self.expected.pop_front();
            self.received += 1;
            self.beat = 0;
        }
    }
}

impl Agent for SinkState {
    fn drive(&mut self, dut: &mut Instance) {
        let paused = self.pauses.next(self.transfers);
        dut.set_high(self.ports.ready, !paused);
    }

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        if dut.is_high(self.ports.valid) && dut.is_high(self.ports.ready) {
            self.check(dut).map_err(|rule| Violation {
                bus: OUTPUT.to_owned(),
                rule,
            })?;
            self.step();
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.beat = 0;
        dut.set_high(self.ports.ready, false);
    }

    fn unfinished(&self) -> Option<String> {
        (!self.expected.is_empty()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!(
            "{OUTPUT}: {} packets have come out, {} are missing, beat {} is next",
            self.received,
            self.expected.len(),
            self.beat
        )
    }
}
