//! Receives frames from a stream of the design.

use super::frame::{Frame, Received};
use super::monitor::StreamMonitor;
use super::ports::{StreamPorts, value64};
use crate::agent::{Agent, Violation};
use crate::handshake::{Levels, Side};
use crate::model::{Instance, Model, ModelError};
use crate::pause::{Pause, Pauses};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Receives frames from a stream of the design; clones share one queue.
#[derive(Clone, Debug)]
pub struct StreamSink {
    state: Rc<RefCell<State>>,
    monitor: StreamMonitor,
}

#[derive(Debug)]
struct State {
    ports: StreamPorts,
    pauses: Pauses,
    received: VecDeque<Received>,
    /// Bytes of the frame that is arriving, and the cycle of its first beat.
    partial: Option<(Vec<u8>, u64)>,
    levels: Levels,
    transfers: u64,
    total: u64,
}

impl StreamSink {
    /// Puts a sink and a monitor on the stream with that prefix, such as `m_axis`.
    ///
    /// # Errors
    /// If the design has no such stream, or it goes into the design.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, prefix: &str, pause: Pause) -> Result<Self, ModelError> {
        let state = State {
            ports: StreamPorts::find(sim.dut.instance(), prefix, Some(Side::OutOfDesign))?,
            pauses: Pauses::new(pause, sim.rng(&format!("pauses of {prefix}"))),
            received: VecDeque::new(),
            partial: None,
            levels: Levels::default(),
            transfers: 0,
            total: 0,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self {
            state,
            monitor: StreamMonitor::attach(sim, prefix)?,
        })
    }

    /// The first complete frame that was not taken yet.
    pub fn receive(&self) -> Option<Received> {
        self.state.borrow_mut().received.pop_front()
    }

    /// All complete frames that were not taken yet.
    pub fn receive_all(&self) -> Vec<Received> {
        self.state.borrow_mut().received.drain(..).collect()
    }

    /// Complete frames that were not taken yet.
    pub fn waiting(&self) -> usize {
        self.state.borrow().received.len()
    }

    /// Complete frames since the start, taken or not.
    pub fn total(&self) -> u64 {
        self.state.borrow().total
    }

    /// Whether no frame is half received.
    pub fn is_between_frames(&self) -> bool {
        self.state.borrow().partial.is_none()
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
    fn take_beat(&mut self, dut: &Instance, cycle: u64) {
        self.transfers += 1;
        let keep = self.ports.keep(dut);
        let lanes = dut.bytes(self.ports.data);
        let (mut bytes, first_cycle) = self.partial.take().unwrap_or_else(|| (Vec::new(), cycle));
        if keep & keep.wrapping_add(1) == 0 {
            bytes.extend_from_slice(&lanes[..keep.count_ones() as usize]);
        } else {
            let kept = |(lane, _): &(usize, &u8)| keep >> lane & 1 == 1;
            bytes.extend(
                lanes
                    .iter()
                    .enumerate()
                    .take(self.ports.bytes)
                    .filter(kept)
                    .map(|(_, byte)| byte),
            );
        }
        if !self.ports.is_last(dut) {
            self.partial = Some((bytes, first_cycle));
            return;
        }
        let frame = Frame {
            // A frame without bytes cannot end in any other way.
            null_last: keep == 0 && !bytes.is_empty(),
            bytes,
            id: value64(dut, self.ports.id),
            dest: value64(dut, self.ports.dest),
            user: self.ports.user.map_or(0, |port| dut.value(port)),
        };
        self.received.push_back(Received {
            frame,
            first_cycle,
            last_cycle: cycle,
        });
        self.total += 1;
    }
}

impl Agent for State {
    fn drive(&mut self, dut: &mut Instance) {
        let paused = self.pauses.next(self.transfers);
        dut.set_high(self.ports.handshake.ready, !paused);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        let bus = &self.ports.handshake;
        self.levels = Levels {
            valid: dut.is_high(bus.valid),
            ready: dut.is_high(bus.ready),
        };
        if self.levels.valid && self.levels.ready {
            self.take_beat(dut, cycle);
        }
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.partial = None;
        dut.set_high(self.ports.handshake.ready, false);
    }

    fn unfinished(&self) -> Option<String> {
        (self.partial.is_some() || !self.received.is_empty()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let (bus, levels) = (&self.ports.handshake.bus, self.levels);
        let (total, waiting) = (self.total, self.received.len());
        let half = self.partial.as_ref().map_or(0, |(bytes, _)| bytes.len());
        format!(
            "{bus}: sink has received {total} frames, {waiting} were not looked at, {half} bytes of the next, {levels}"
        )
    }
}
