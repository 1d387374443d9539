//! Packets, and their way in and out, beat by beat, sound or not.

use spinneret_sim::channel::{Handshake, Incoming, Outgoing, Payload, Sink, Source};
use spinneret_sim::model::ModelError;
use spinneret_sim::prelude::*;
use spinneret_sim::stream::{StreamBeat, StreamPorts};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// A packet from the wire.
///
/// Unlike a [`Frame`](spinneret_sim::stream::Frame) it can be wrong: `tkeep` of one beat may be anything, and
/// `tuser` of its last beat may be another than that of the beats before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Bytes of a beat, at most 64.
    pub beat_bytes: usize,
    /// The lanes of its beats, first beat first, without those that no beat fills.
    pub bytes: Vec<u8>,
    /// Whether a last beat without bytes follows.
    pub null_last: bool,
    /// A beat whose `tkeep` does not follow from the bytes; the bytes then fill whole beats.
    pub odd: Option<OddBeat>,
    /// `tid`.
    pub id: u64,
    /// `tdest`.
    pub dest: u64,
    /// `tuser` of the last beat; bit 0 says that the frame is bad.
    pub user: u128,
    /// `tuser` of the beats before, which says nothing.
    pub early_user: u128,
}

/// `tkeep` of one beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OddBeat {
    /// The beat, counted from 0.
    pub beat: usize,
    /// Its `tkeep`.
    pub keep: u64,
}

impl Packet {
    /// A sound packet of these bytes, in beats of that many.
    pub fn new(beat_bytes: usize, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            beat_bytes,
            bytes: bytes.into(),
            null_last: false,
            odd: None,
            id: 0,
            dest: 0,
            user: 0,
            early_user: 0,
        }
    }

    /// The same packet with the error bit of its last beat set.
    #[must_use]
    pub fn marked_bad(mut self) -> Self {
        self.user |= 1;
        self
    }

    /// The same packet with a last beat without bytes.
    #[must_use]
    pub fn with_null_last(self) -> Self {
        Self {
            null_last: true,
            ..self
        }
    }

    /// The same packet with another `tkeep` in one beat; bits for which there is no lane do not count.
    ///
    /// # Panics
    /// If the bytes do not fill whole beats, so that there would be lanes without contents.
    #[must_use]
    pub fn with_keep(self, beat: usize, keep: u64) -> Self {
        assert!(
            self.bytes.len().is_multiple_of(self.beat_bytes),
            "beats are not full"
        );
        let keep = keep & low_bits(self.beat_bytes);
        let odd = Some(OddBeat { beat, keep });
        Self { odd, ..self }
    }

    /// Its beats.
    pub fn beats(&self) -> usize {
        (self.bytes.len().div_ceil(self.beat_bytes) + usize::from(self.null_last)).max(1)
    }

    /// The lanes of a beat that have contents.
    pub fn lanes(&self, beat: usize) -> &[u8] {
        let start = (beat * self.beat_bytes).min(self.bytes.len());
        let end = (start + self.beat_bytes).min(self.bytes.len());
        &self.bytes[start..end]
    }

    /// `tkeep` of a beat.
    pub fn keep(&self, beat: usize) -> u64 {
        match self.odd {
            Some(odd) if odd.beat == beat => odd.keep,
            _ => low_bits(self.lanes(beat).len()),
        }
    }

    /// Returns whether a beat is the last.
    pub fn is_last(&self, beat: usize) -> bool {
        beat + 1 == self.beats()
    }

    /// `tuser` of a beat.
    pub fn user(&self, beat: usize) -> u128 {
        if self.is_last(beat) {
            self.user
        } else {
            self.early_user
        }
    }

    /// Its side band as it is announced, with `tid` and `tdest` of these widths: {tuser without the error bit, tdest, tid}.
    pub fn side(&self, [id, dest]: [u32; 2]) -> u128 {
        self.user >> 1 << (id + dest) | u128::from(self.dest) << id | u128::from(self.id)
    }

    /// Its length in bytes, as `tkeep` says.
    pub fn length(&self) -> u64 {
        match self.odd {
            None => self.bytes.len() as u64,
            Some(_) => (0..self.beats())
                .map(|beat| u64::from(self.keep(beat).count_ones()))
                .sum(),
        }
    }

    /// Returns whether the path drops it as a bad frame: its last beat is marked bad, or its bytes do not fill the
    /// lanes without gap. Beats without bytes after the last byte are no gap.
    pub fn is_bad(&self) -> bool {
        let (mut gap, mut ended) = (false, false);
        for keep in (0..self.beats()).map(|beat| self.keep(beat)) {
            gap |= keep & keep.wrapping_add(1) != 0 || ended && keep != 0;
            ended |= keep != low_bits(self.beat_bytes);
        }
        self.user & 1 == 1 || gap
    }
}

/// A number with that many ones, at most 64.
fn low_bits(count: usize) -> u64 {
    u64::MAX.checked_shr(64 - count as u32).unwrap_or(0)
}

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

    /// A packet that has to come out, after those before.
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
            return Err("unexpected packet: not sent, or one that must match".to_owned());
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

#[cfg(test)]
mod tests {
    use super::Packet;

    #[test]
    fn beats_carry_all_bytes() {
        let packet = Packet::new(64, [7; 130]);
        let keeps: Vec<u64> = (0..packet.beats()).map(|beat| packet.keep(beat)).collect();
        assert_eq!(keeps, [u64::MAX, u64::MAX, 3]);
        assert_eq!((packet.length(), packet.is_bad()), (130, false));
        let packet = Packet::new(64, [7; 128]).with_null_last();
        assert_eq!((packet.beats(), packet.keep(2), packet.length()), (3, 0, 128));
        assert!(!packet.is_bad());
        assert!(!Packet::new(64, [7; 100]).with_null_last().is_bad(), "no gap");
    }

    #[test]
    fn only_what_the_contract_names_is_bad() {
        let packet = || Packet::new(64, [0; 192]);
        assert!(packet().marked_bad().is_bad());
        let early = Packet {
            early_user: 0xffff,
            ..packet()
        };
        assert!(!early.is_bad(), "tuser counts in the last beat only");
        assert!(
            packet().with_keep(1, u64::MAX >> 1).is_bad(),
            "a gap between beats"
        );
        assert!(packet().with_keep(2, 5).is_bad(), "a hole");
        assert!(packet().with_keep(0, 0).is_bad(), "a first beat without bytes");
        let short = packet().with_keep(2, 0xf);
        assert_eq!((short.is_bad(), short.length()), (false, 132));
    }

    #[test]
    fn beats_have_any_width() {
        let packet = Packet::new(16, [7; 40]);
        let keeps: Vec<u64> = (0..packet.beats()).map(|beat| packet.keep(beat)).collect();
        assert_eq!((keeps, packet.is_bad()), (vec![0xffff, 0xffff, 0xff], false));
        let packet = Packet::new(16, [7; 48]);
        assert!(!packet.clone().with_keep(1, u64::MAX).is_bad(), "all lanes");
        assert!(packet.with_keep(1, 0x7fff).is_bad(), "a gap between beats");
    }
}
