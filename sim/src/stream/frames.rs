//! Frames as beats, and beats as frames.

use super::StreamSink;
use super::StreamSource;
use super::frame::{Frame, Received};
use super::monitor::StreamMonitor;
use super::ports::{StreamBeat, StreamPorts, value64};
use crate::channel::{Incoming, Outgoing, Payload};
use crate::handshake::{Handshake, Side};
use crate::model::{Instance, Model, ModelError};
use crate::pause::Pause;
use crate::simulation::Simulation;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

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
    /// If the design has no such stream, or it goes out of the design.
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
    /// If the design has no such stream, or it goes into the design.
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
