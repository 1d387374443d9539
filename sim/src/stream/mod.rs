//! AXI4-Stream bus models: a source, a sink and the monitor that checks the rules.
//!
//! ```text
//! Frame --> StreamSource --> s_axis [design] m_axis --> StreamSink --> Received
//!                    StreamMonitor      StreamMonitor
//! ```
//!
//! The streams carry at most 1024 bits of data, with `tvalid` and `tready`; `tkeep`, `tlast`, `tid`,
//! `tdest` and `tuser` where the design has them.

mod monitor;

pub use crate::handshake::Counts;
pub use crate::pause::{Pause, Pauses};
pub use monitor::{StreamBeat, StreamMonitor, StreamPorts};

use crate::channel::{Incoming, Outgoing, Payload, Sink, Source};
use crate::handshake::{Handshake, Side};
use crate::model::{Instance, Model, ModelError};
use crate::simulation::Simulation;
use monitor::value64;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Sends frames into a stream of the design, in order; clones share one queue.
///
/// The bytes that `tkeep` masks are random, so that a design that uses them does not work by luck.
pub type StreamSource = Source<FramesOut>;
/// Receives frames from a stream of the design; clones share one queue.
pub type StreamSink = Sink<FramesIn>;

impl<M: Model> Simulation<M> {
    /// Puts a source and a monitor on the stream with that prefix, such as `s_axis`.
    ///
    /// # Panics
    /// If the design has no such input stream; [`StreamSource::attach`] returns an error instead.
    pub fn source(&mut self, prefix: &str, pause: Pause) -> StreamSource {
        StreamSource::attach(self, prefix, pause).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Puts a sink and a monitor on the stream with that prefix, such as `m_axis`.
    ///
    /// # Panics
    /// If the design has no such output stream; [`StreamSink::attach`] returns an error instead.
    pub fn sink(&mut self, prefix: &str, pause: Pause) -> StreamSink {
        StreamSink::attach(self, prefix, pause).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Attaches a monitor to the stream with that prefix, which another agent drives.
    ///
    /// # Panics
    /// If the design has no such stream; [`StreamMonitor::attach`] returns an error instead.
    pub fn monitor(&mut self, prefix: &str) -> StreamMonitor {
        StreamMonitor::attach(self, prefix).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// A frame: the bytes from one `tlast` to the next, with its side-band values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The bytes, without those that `tkeep` masks.
    pub bytes: Vec<u8>,
    /// `tid`; 0 on a stream without.
    pub id: u64,
    /// `tdest`; 0 on a stream without.
    pub dest: u64,
    /// `tuser`, sent with every beat and received with the last; 0 on a stream without.
    pub user: u128,
    /// Whether the last beat has no bytes at all (`tkeep` is 0), as some cores end frames of unknown length. A
    /// monitor allows it only if configured so. A frame without bytes always has one.
    pub null_last: bool,
}

impl Frame {
    /// A frame of these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            ..Self::default()
        }
    }

    /// The same frame with another `tid`.
    #[must_use]
    pub fn with_id(self, id: u64) -> Self {
        Self { id, ..self }
    }

    /// The same frame with another `tdest`.
    #[must_use]
    pub fn with_dest(self, dest: u64) -> Self {
        Self { dest, ..self }
    }

    /// The same frame with another `tuser`.
    #[must_use]
    pub fn with_user(self, user: u128) -> Self {
        Self { user, ..self }
    }

    /// The same frame with a last beat without bytes.
    #[must_use]
    pub fn with_null_last(self) -> Self {
        Self {
            null_last: true,
            ..self
        }
    }

    /// How many beats the frame takes on a stream of that many bytes.
    pub fn beats(&self, stream_bytes: usize) -> usize {
        let full = self.bytes.len().div_ceil(stream_bytes);
        if self.null_last { full + 1 } else { full.max(1) }
    }

    /// The beat with that number on a stream of that many bytes.
    pub fn beat(&self, index: usize, stream_bytes: usize) -> Beat<'_> {
        let start = (index * stream_bytes).min(self.bytes.len());
        let end = (start + stream_bytes).min(self.bytes.len());
        Beat {
            bytes: &self.bytes[start..end],
            last: index + 1 == self.beats(stream_bytes),
        }
    }
}

/// One transfer of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat<'a> {
    /// The bytes that `tkeep` does not mask, in the lowest lanes.
    pub bytes: &'a [u8],
    /// `tlast`.
    pub last: bool,
}

impl Beat<'_> {
    /// `tkeep`: one bit per byte, lowest first.
    pub fn keep(&self) -> u128 {
        low_bits(self.bytes.len())
    }
}

/// A frame that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The frame.
    pub frame: Frame,
    /// Cycle of the first beat.
    pub first_cycle: u64,
    /// Cycle of the last beat.
    pub last_cycle: u64,
}

/// The cycles of a frame on a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Cycle of the first beat.
    pub first_cycle: u64,
    /// Cycle of the last beat.
    pub last_cycle: u64,
}

/// A number with that many ones, at most 128.
fn low_bits(count: usize) -> u128 {
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

/// Frames that are sent.
#[derive(Debug)]
pub struct FramesOut {
    ports: StreamPorts,
    rng: ChaCha8Rng,
    /// The lanes of one beat.
    lanes: Vec<u8>,
}

/// Frames that are received.
#[derive(Debug)]
pub struct FramesIn {
    ports: StreamPorts,
    /// Bytes of the frame that is arriving, and the cycle of its first beat.
    partial: Option<(Vec<u8>, u64)>,
}

impl StreamSource {
    /// Puts a source and a monitor on the stream with that prefix, such as `s_axis`.
    ///
    /// # Errors
    /// If the design has no such stream, or it is an output.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, prefix: &str, pause: Pause) -> Result<Self, ModelError> {
        let ports = StreamPorts::find(sim.dut.instance(), prefix, Some(Side::IntoDesign))?;
        let frames = FramesOut {
            rng: sim.rng(&format!("masked bytes of {prefix}")),
            lanes: vec![0; ports.bytes],
            ports,
        };
        Self::of(sim, frames, pause)
    }
}

impl StreamSink {
    /// Puts a sink and a monitor on the stream with that prefix, such as `m_axis`.
    ///
    /// # Errors
    /// If the design has no such stream, or it is an input.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, prefix: &str, pause: Pause) -> Result<Self, ModelError> {
        let ports = StreamPorts::find(sim.dut.instance(), prefix, Some(Side::OutOfDesign))?;
        let partial = None;
        Self::of(sim, FramesIn { ports, partial }, pause)
    }
}

impl Outgoing for FramesOut {
    fn check(&self, frame: &Frame) -> Result<(), String> {
        let values = [
            ("tid", self.ports.id, u128::from(frame.id)),
            ("tdest", self.ports.dest, u128::from(frame.dest)),
            ("tuser", self.ports.user, frame.user),
        ];
        for (name, port, value) in values {
            let width = port.map_or(0, |port| port.width());
            if width < 128 && value >> width != 0 {
                return Err(format!("{name} is {width} bits wide: {value:#x} does not fit"));
            }
        }
        let count = frame.bytes.len();
        let full = count > 0 && count.is_multiple_of(self.ports.bytes) && !frame.null_last;
        if self.ports.keep.is_none() && !full {
            return Err(format!("{count} bytes do not fill beats, and there is no tkeep"));
        }
        Ok(())
    }

    fn beats(&self, frame: &Frame) -> usize {
        frame.beats(self.ports.bytes)
    }

    fn drive(&mut self, dut: &mut Instance, frame: &Frame, beat: usize) {
        let beat = frame.beat(beat, self.ports.bytes);
        let (bytes, masked) = self.lanes.split_at_mut(beat.bytes.len());
        bytes.copy_from_slice(beat.bytes);
        self.rng.fill_bytes(masked);
        let beat = StreamBeat {
            keep: beat.keep(),
            last: beat.last,
            id: frame.id,
            dest: frame.dest,
            user: frame.user,
        };
        self.ports.drive(dut, &self.lanes, &beat);
    }
}

impl Payload for FramesOut {
    type Item = Frame;
    type Monitor = StreamMonitor;
    const ITEMS: &'static str = "frames";

    fn bus(&self) -> &Handshake {
        &self.ports.handshake
    }

    fn monitor<M: Model>(&self, sim: &mut Simulation<M>) -> Result<StreamMonitor, ModelError> {
        StreamMonitor::attach(sim, self.ports.handshake.name())
    }
}

impl Payload for FramesIn {
    type Item = Received;
    type Monitor = StreamMonitor;
    const ITEMS: &'static str = "frames";

    fn bus(&self) -> &Handshake {
        &self.ports.handshake
    }

    fn monitor<M: Model>(&self, sim: &mut Simulation<M>) -> Result<StreamMonitor, ModelError> {
        StreamMonitor::attach(sim, self.ports.handshake.name())
    }
}

impl Incoming for FramesIn {
    fn take(&mut self, dut: &Instance, cycle: u64) -> Result<Option<Received>, String> {
        let keep = self.ports.keep(dut);
        let lanes = self.ports.lanes(dut);
        let (mut bytes, first_cycle) = self.partial.take().unwrap_or_else(|| (Vec::new(), cycle));
        if keep & keep.wrapping_add(1) == 0 {
            bytes.extend_from_slice(&lanes[..keep.count_ones() as usize]);
        } else {
            let kept = |(lane, _): &(usize, &u8)| keep >> lane & 1 == 1;
            bytes.extend(lanes.iter().enumerate().filter(kept).map(|(_, byte)| byte));
        }
        if !self.ports.is_last(dut) {
            self.partial = Some((bytes, first_cycle));
            return Ok(None);
        }
        let frame = Frame {
            // A frame without bytes cannot end in any other way.
            null_last: keep == 0 && !bytes.is_empty(),
            bytes,
            id: value64(dut, self.ports.id),
            dest: value64(dut, self.ports.dest),
            user: self.ports.user.map_or(0, |port| dut.value(port)),
        };
        let last_cycle = cycle;
        Ok(Some(Received {
            frame,
            first_cycle,
            last_cycle,
        }))
    }

    fn partial_bytes(&self) -> Option<usize> {
        self.partial.as_ref().map(|(bytes, _)| bytes.len())
    }

    fn reset(&mut self) {
        self.partial = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{Beat, Frame};

    fn beats(frame: &Frame, stream_bytes: usize) -> Vec<(usize, bool, u128)> {
        let beat = |index| frame.beat(index, stream_bytes);
        let summary = |beat: Beat<'_>| (beat.bytes.len(), beat.last, beat.keep());
        (0..frame.beats(stream_bytes)).map(beat).map(summary).collect()
    }

    #[test]
    fn splits_frames_into_beats() {
        assert_eq!(
            beats(&Frame::new([0; 9]), 4),
            [(4, false, 15), (4, false, 15), (1, true, 1)]
        );
        assert_eq!(beats(&Frame::new([0; 8]), 4), [(4, false, 15), (4, true, 15)]);
        assert_eq!(beats(&Frame::new([]), 4), [(0, true, 0)]);
        assert_eq!(beats(&Frame::new([0; 128]), 128), [(128, true, u128::MAX)]);
    }

    #[test]
    fn adds_a_beat_without_bytes_on_request() {
        assert_eq!(
            beats(&Frame::new([0; 4]).with_null_last(), 4),
            [(4, false, 15), (0, true, 0)]
        );
        assert_eq!(
            beats(&Frame::new([0; 3]).with_null_last(), 4),
            [(3, false, 7), (0, true, 0)]
        );
        assert_eq!(beats(&Frame::new([]).with_null_last(), 4), [(0, true, 0)]);
    }
}
