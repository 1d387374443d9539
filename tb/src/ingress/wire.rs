//! The packets' way in and, for those that do not match, out again: beat by beat, sound or not.

use super::packet::Packet;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::channel::{Handshake, Incoming, Outgoing, Payload, Sink, Source};
use spinneret_sim::model::{Direction, Instance, Model, ModelError};
use spinneret_sim::simulation::Simulation;
use spinneret_sim::stream::{Pause, StreamBeat, StreamMonitor, StreamPorts};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Sends packets into the path, in order; clones share one queue.
pub type PacketSource = Source<PacketsIn>;

/// Packets as beats. Lanes that have no contents are random, so that a design that uses them does not work by luck.
#[derive(Debug)]
pub struct PacketsIn {
    ports: StreamPorts,
    rng: ChaCha8Rng,
}

/// Puts a source and a monitor on the path's input.
///
/// # Panics
/// If the design has no such input.
pub(super) fn packet_source<M: Model>(sim: &mut Simulation<M>, pause: Pause) -> PacketSource {
    let ports = StreamPorts::attach(sim.dut.instance(), "s_axis_nic_rx", Direction::Input);
    let rng = sim.rng("masked lanes of the wire");
    let source = ports.and_then(|ports| Source::of(sim, PacketsIn { ports, rng }, pause));
    source.unwrap_or_else(|error| panic!("{error}"))
}

impl Payload for PacketsIn {
    type Item = Rc<Packet>;
    type Monitor = StreamMonitor;
    const ITEMS: &'static str = "packets";

    fn bus(&self) -> &Handshake {
        self.ports.bus()
    }

    fn monitor<M: Model>(&self, sim: &mut Simulation<M>) -> Result<StreamMonitor, ModelError> {
        sparse(&self.ports, sim)
    }
}

impl Outgoing for PacketsIn {
    fn beats(&self, packet: &Rc<Packet>) -> usize {
        packet.beats()
    }

    fn drive(&mut self, dut: &mut Instance, packet: &Rc<Packet>, beat: usize) {
        let contents = packet.lanes(beat);
        let mut lanes = vec![0; packet.beat_bytes];
        let (bytes, masked) = lanes.split_at_mut(contents.len());
        bytes.copy_from_slice(contents);
        self.rng.fill_bytes(masked);
        self.ports.drive(dut, &lanes, &signals(packet, beat));
    }
}

/// Compares unmatched packets with what was sent, beat by beat as they come; clones share one state.
#[derive(Clone, Debug)]
pub struct BypassSink {
    sink: Sink<Bypass>,
    expected: Rc<RefCell<VecDeque<Rc<Packet>>>>,
}

#[derive(Debug)]
struct Bypass {
    ports: StreamPorts,
    expected: Rc<RefCell<VecDeque<Rc<Packet>>>>,
    /// Which beat of the first packet is next.
    beat: usize,
}

impl BypassSink {
    /// Puts a sink and a monitor on the path's output for unmatched packets.
    ///
    /// # Panics
    /// If the design has no such output.
    pub(super) fn attach<M: Model>(sim: &mut Simulation<M>, pause: Pause) -> Self {
        let ports = StreamPorts::attach(sim.dut.instance(), "m_axis_nic_rx", Direction::Output);
        let expected = Rc::<RefCell<VecDeque<_>>>::default();
        let bypass = |ports| Bypass {
            ports,
            expected: Rc::clone(&expected),
            beat: 0,
        };
        let sink = ports.and_then(|ports| Sink::of(sim, bypass(ports), pause));
        Self {
            sink: sink.unwrap_or_else(|error| panic!("{error}")),
            expected,
        }
    }

    /// A packet that has to come out, behind those before.
    pub fn expect(&self, packet: Rc<Packet>) {
        self.expected.borrow_mut().push_back(packet);
    }

    /// Packets that have not come out completely.
    pub fn missing(&self) -> usize {
        self.expected.borrow().len()
    }

    /// Packets that have come out completely.
    pub fn received(&self) -> u64 {
        self.sink.total()
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pause(&self, pause: Pause) {
        self.sink.set_pause(pause);
    }

    /// The monitor on the same stream.
    pub fn monitor(&self) -> &StreamMonitor {
        self.sink.monitor()
    }

    /// Takes note of the packets that have come out.
    pub(super) fn receive_all(&self) {
        self.sink.receive_all();
    }

    /// Forgets what was to come; the design has to be in reset.
    pub(super) fn clear(&self) {
        self.expected.borrow_mut().clear();
        self.sink.receive_all();
    }
}

impl Payload for Bypass {
    type Item = ();
    type Monitor = StreamMonitor;
    const ITEMS: &'static str = "packets";

    fn bus(&self) -> &Handshake {
        self.ports.bus()
    }

    fn monitor<M: Model>(&self, sim: &mut Simulation<M>) -> Result<StreamMonitor, ModelError> {
        sparse(&self.ports, sim)
    }
}

impl Incoming for Bypass {
    /// Compares a beat with what it has to be.
    fn take(&mut self, dut: &Instance, _cycle: u64) -> Result<Option<()>, String> {
        let mut expected = self.expected.borrow_mut();
        let Some(packet) = expected.front() else {
            return Err("there is a packet that nobody sent, or that has to be matched".to_owned());
        };
        let place = format!(
            "beat {} of an unmatched packet of {} bytes",
            self.beat,
            packet.bytes.len()
        );
        let (found, sent) = (self.ports.read(dut), signals(packet, self.beat));
        if found != sent {
            return Err(format!("{found:x?} comes where {sent:x?} was sent, {place}"));
        }
        let (lanes, contents) = (self.ports.lanes(dut), packet.lanes(self.beat));
        let differs = |lane: &usize| sent.keep >> lane & 1 == 1 && contents[*lane] != lanes[*lane];
        let same = contents == &lanes[..contents.len()];
        if let Some(lane) = (0..contents.len()).find(|lane| !same && differs(lane)) {
            return Err(format!("lane {lane} is not as sent, {place}"));
        }
        self.beat += 1;
        if self.beat < packet.beats() {
            return Ok(None);
        }
        expected.pop_front();
        self.beat = 0;
        Ok(Some(()))
    }

    fn missing(&self) -> usize {
        self.expected.borrow().len()
    }

    fn reset(&mut self) {
        self.beat = 0;
    }
}

/// All signals of a beat but its data.
fn signals(packet: &Packet, beat: usize) -> StreamBeat {
    StreamBeat {
        keep: packet.keep(beat).into(),
        last: packet.is_last(beat),
        id: packet.id,
        dest: packet.dest,
        user: packet.user(beat),
    }
}

/// A monitor that allows any `tkeep`.
fn sparse<M: Model>(ports: &StreamPorts, sim: &mut Simulation<M>) -> Result<StreamMonitor, ModelError> {
    let monitor = StreamMonitor::attach(sim, ports.bus().name())?;
    monitor.allow_sparse();
    Ok(monitor)
}
