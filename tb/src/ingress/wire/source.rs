//! Sends packets into the path.

use super::Ports;
use crate::ingress::packet::Packet;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Direction, Instance, Model};
use spinneret_sim::simulation::Simulation;
use spinneret_sim::stream::{Pause, Pauses, StreamMonitor};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Stream into the path.
const INPUT: &str = "s_axis_nic_rx";

/// Sends packets into the path, in order; clones share one queue.
///
/// Lanes that `tkeep` masks are random, so that a design that uses them does not work by luck.
#[derive(Clone, Debug)]
pub struct PacketSource {
    state: Rc<RefCell<SourceState>>,
    monitor: StreamMonitor,
}

impl PacketSource {
    /// Puts a source and a monitor on the path's input.
    ///
    /// # Panics
    /// If the design has no such input.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, pause: Pause) -> Self {
        let state = SourceState {
            ports: Ports::find(sim.dut.instance(), INPUT, Direction::Input),
            pauses: Pauses::new(pause, sim.rng("pauses of the wire")),
            rng: sim.rng("masked lanes of the wire"),
            queue: VecDeque::new(),
            beat: 0,
            on_bus: false,
            transfers: 0,
            sent: 0,
            first_cycle: 0,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<SourceState>>::clone(&state));
        let monitor = sim.monitor(INPUT);
        monitor.allow_sparse();
        Self { state, monitor }
    }

    /// Queues a packet.
    pub fn send(&self, packet: Rc<Packet>) {
        self.state.borrow_mut().queue.push_back(packet);
    }

    /// Packets that are not sent completely.
    pub fn waiting(&self) -> usize {
        self.state.borrow().queue.len()
    }

    /// Whether everything is sent.
    pub fn is_idle(&self) -> bool {
        self.waiting() == 0
    }

    /// Packets that were sent completely.
    pub fn sent(&self) -> u64 {
        self.state.borrow().sent
    }

    /// The cycle in which the first beat of the latest packet was taken.
    pub fn first_cycle(&self) -> u64 {
        self.state.borrow().first_cycle
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pause(&self, pause: Pause) {
        self.state.borrow_mut().pauses.set(pause);
    }

    /// The monitor on the same stream.
    pub fn monitor(&self) -> &StreamMonitor {
        &self.monitor
    }

    /// Forgets what waits; the design has to be in reset.
    pub(in crate::ingress) fn clear(&self) {
        self.state.borrow_mut().queue.clear();
    }
}

#[derive(Debug)]
struct SourceState {
    ports: Ports,
    pauses: Pauses,
    rng: ChaCha8Rng,
    queue: VecDeque<Rc<Packet>>,
    /// Which beat of the first packet is next, or on the bus.
    beat: usize,
    on_bus: bool,
    transfers: u64,
    sent: u64,
    first_cycle: u64,
}

impl SourceState {
    /// Puts the next beat on the bus.
    fn present(&mut self, dut: &mut Instance) {
        let Some(packet) = self.queue.front() else { return };
        let contents = packet.lanes(self.beat);
        if contents.len() == packet.beat_bytes {
            dut.set_bytes(self.ports.data, contents);
        } else {
            let mut lanes = vec![0; packet.beat_bytes];
            let (bytes, masked) = lanes.split_at_mut(contents.len());
            bytes.copy_from_slice(contents);
            self.rng.fill_bytes(masked);
            dut.set_bytes(self.ports.data, &lanes);
        }
        for (port, value) in [
            (self.ports.keep, packet.keep(self.beat).into()),
            (self.ports.last, packet.is_last(self.beat).into()),
            (self.ports.id, packet.id.into()),
            (self.ports.dest, packet.dest.into()),
            (self.ports.user, packet.user(self.beat)),
        ] {
            dut.set_value(port, value);
        }
        self.on_bus = true;
    }

    fn step(&mut self, cycle: u64) {
        if self.beat == 0 {
            self.first_cycle = cycle;
        }
        self.on_bus = false;
        self.transfers += 1;
        self.beat += 1;
        if self
            .queue
            .front()
            .is_some_and(|packet| self.beat == packet.beats())
        {
            self.queue.pop_front();
            self.sent += 1;
            self.beat = 0;
        }
    }
}

impl Agent for SourceState {
    fn drive(&mut self, dut: &mut Instance) {
        let paused = self.pauses.next(self.transfers);
        if !self.on_bus && !paused {
            self.present(dut);
        }
        dut.set_high(self.ports.valid, self.on_bus);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        if self.on_bus && dut.is_high(self.ports.ready) {
            self.step(cycle);
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        // A packet that was cut off is not sent again: the design saw its beginning.
        if self.beat > 0 || self.on_bus {
            self.queue.pop_front();
        }
        self.beat = 0;
        self.on_bus = false;
        dut.set_high(self.ports.valid, false);
    }

    fn unfinished(&self) -> Option<String> {
        (!self.queue.is_empty()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!(
            "{INPUT}: {} packets are sent, {} wait, beat {} is next",
            self.sent,
            self.queue.len(),
            self.beat
        )
    }
}
