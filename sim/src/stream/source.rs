//! Sends frames into a stream of the design.

use super::frame::Frame;
use super::monitor::StreamMonitor;
use super::ports::StreamPorts;
use crate::agent::{Agent, Violation};
use crate::handshake::{Levels, Side};
use crate::model::{Instance, Model, ModelError};
use crate::pause::{Pause, Pauses};
use crate::simulation::Simulation;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Sends frames into a stream of the design, in order; clones share one queue.
///
/// The bytes that `tkeep` masks are random, so that a design that uses them does not work by luck.
#[derive(Clone, Debug)]
pub struct StreamSource {
    state: Rc<RefCell<State>>,
    monitor: StreamMonitor,
}

#[derive(Debug)]
struct State {
    ports: StreamPorts,
    pauses: Pauses,
    rng: ChaCha8Rng,
    queue: VecDeque<Frame>,
    /// Which beat of the first frame in the queue is next, or on the bus.
    beat: usize,
    on_bus: bool,
    levels: Levels,
    transfers: u64,
    sent: u64,
    /// The lanes of one beat.
    lanes: Vec<u8>,
}

impl StreamSource {
    /// Puts a source and a monitor on the stream with that prefix, such as `s_axis`.
    ///
    /// # Errors
    /// If the design has no such stream, or it goes out of the design.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, prefix: &str, pause: Pause) -> Result<Self, ModelError> {
        let ports = StreamPorts::find(sim.dut.instance(), prefix, Some(Side::IntoDesign))?;
        let state = State {
            pauses: Pauses::new(pause, sim.rng(&format!("pauses of {prefix}"))),
            rng: sim.rng(&format!("masked bytes of {prefix}")),
            queue: VecDeque::new(),
            beat: 0,
            on_bus: false,
            levels: Levels::default(),
            transfers: 0,
            sent: 0,
            lanes: vec![0; ports.bytes],
            ports,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self {
            state,
            monitor: StreamMonitor::attach(sim, prefix)?,
        })
    }

    /// Queues a frame behind those that wait already.
    ///
    /// # Panics
    /// If a side-band value does not fit its port, or a beat is only partly filled on a stream that has
    /// no `tkeep` to say so.
    pub fn send(&self, frame: Frame) {
        let mut state = self.state.borrow_mut();
        state.check(&frame);
        state.queue.push_back(frame);
    }

    /// Frames that are not sent completely.
    pub fn waiting(&self) -> usize {
        self.state.borrow().queue.len()
    }

    /// Whether everything is sent.
    pub fn is_idle(&self) -> bool {
        self.waiting() == 0
    }

    /// Frames that were sent completely.
    pub fn sent(&self) -> u64 {
        self.state.borrow().sent
    }

    /// Forgets all frames but one of which a beat was offered, which has to be sent to its end.
    pub fn clear(&self) {
        let mut state = self.state.borrow_mut();
        let begun = usize::from(state.beat > 0 || state.on_bus);
        state.queue.truncate(begun);
    }

    /// Changes the pauses from the next cycle on.
    pub fn set_pause(&self, pause: Pause) {
        self.state.borrow_mut().pauses.set(pause);
    }

    /// The monitor on the same stream.
    pub fn monitor(&self) -> &StreamMonitor {
        &self.monitor
    }
}

impl State {
    fn check(&self, frame: &Frame) {
        let bus = &self.ports.handshake.bus;
        let values = [
            ("tid", self.ports.id, u128::from(frame.id)),
            ("tdest", self.ports.dest, u128::from(frame.dest)),
        ];
        for (name, port, value) in values.into_iter().chain([("tuser", self.ports.user, frame.user)]) {
            let width = port.map_or(0, |port| port.width());
            let fits = width >= 128 || value >> width == 0;
            assert!(
                fits,
                "{bus}: {name} is {width} bits wide: {value:#x} does not fit"
            );
        }
        let full =
            !frame.bytes.is_empty() && frame.bytes.len().is_multiple_of(self.ports.bytes) && !frame.null_last;
        let count = frame.bytes.len();
        assert!(
            self.ports.keep.is_some() || full,
            "{bus}: {count} bytes do not fill beats, and there is no tkeep"
        );
    }

    /// Puts the next beat on the bus.
    fn present(&mut self, dut: &mut Instance) {
        let Some(frame) = self.queue.front() else { return };
        let beat = frame.beat(self.beat, self.ports.bytes);
        let (bytes, masked) = self.lanes.split_at_mut(beat.bytes.len());
        bytes.copy_from_slice(beat.bytes);
        self.rng.fill_bytes(masked);
        dut.set_bytes(self.ports.data, &self.lanes);
        let values = [
            (self.ports.keep, beat.keep()),
            (self.ports.last, u128::from(beat.last)),
            (self.ports.id, u128::from(frame.id)),
            (self.ports.dest, u128::from(frame.dest)),
            (self.ports.user, frame.user),
        ];
        for (port, value) in values {
            if let Some(port) = port {
                dut.set_value(port, value);
            }
        }
        self.on_bus = true;
    }

    /// Goes on to the next beat.
    fn step(&mut self) {
        self.on_bus = false;
        self.transfers += 1;
        self.beat += 1;
        if self
            .queue
            .front()
            .is_some_and(|frame| self.beat == frame.beats(self.ports.bytes))
        {
            self.queue.pop_front();
            self.sent += 1;
            self.beat = 0;
        }
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let paused = self.pauses.next(self.transfers);
        if !self.on_bus && !paused {
            self.present(dut);
        }
        dut.set_high(self.ports.handshake.valid, self.on_bus);
    }

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        self.levels = Levels {
            valid: self.on_bus,
            ready: dut.is_high(self.ports.handshake.ready),
        };
        if self.on_bus && self.levels.ready {
            self.step();
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        // A frame that was cut off is not sent again: the design saw its beginning.
        if self.beat > 0 || self.on_bus {
            self.queue.pop_front();
        }
        self.beat = 0;
        self.on_bus = false;
        dut.set_high(self.ports.handshake.valid, false);
    }

    fn unfinished(&self) -> Option<String> {
        (!self.queue.is_empty()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let (bus, levels) = (&self.ports.handshake.bus, self.levels);
        let (waiting, sent) = (self.queue.len(), self.sent);
        format!(
            "{bus}: source has sent {sent} frames, {waiting} are waiting, beat {} is next, {levels}",
            self.beat
        )
    }
}
