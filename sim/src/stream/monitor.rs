//! Checks the rules of a stream.

use super::frame::low_bits;
use super::ports::{StreamPorts, value64};
use crate::agent::{Agent, Violation};
use crate::handshake::{Counts, Handshake, Levels, Stability};
use crate::model::{Instance, Model, ModelError};
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::rc::Rc;

/// Checks the rules of a stream, in either direction, and counts; clones share one state.
///
/// - `tvalid` stays high, and the payload the same, until `tready` is high.
/// - `tvalid` is low at the end of a reset.
/// - All beats of a frame but the last are full; the last has its bytes in the lowest lanes, and at
///   least one.
/// - `tid` and `tdest` are the same in all beats of a frame.
///
/// Whoever puts a source or a sink on a stream gets a monitor with it.
#[derive(Clone, Debug)]
pub struct StreamMonitor {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    ports: StreamPorts,
    stability: Stability,
    counts: Counts,
    levels: Levels,
    /// `tid` and `tdest` of the frame that is under way.
    route: Option<(u64, u64)>,
    /// Whether a beat was not full, so that only a last beat without bytes may follow it.
    ending: bool,
    allow_null_last: bool,
    allow_sparse: bool,
}

impl StreamMonitor {
    /// Puts a monitor on the stream with that prefix.
    ///
    /// # Errors
    /// If the design has no such stream.
    pub fn attach<M: Model>(sim: &mut Simulation<M>, prefix: &str) -> Result<Self, ModelError> {
        let state = State {
            ports: StreamPorts::find(sim.dut.instance(), prefix, None)?,
            stability: Stability::default(),
            counts: Counts::default(),
            levels: Levels::default(),
            route: None,
            ending: false,
            allow_null_last: false,
            allow_sparse: false,
        };
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self { state })
    }

    /// Allows a last beat without bytes.
    pub fn allow_null_last(&self) {
        self.state.borrow_mut().allow_null_last = true;
    }

    /// Allows any `tkeep` in any beat.
    pub fn allow_sparse(&self) {
        self.state.borrow_mut().allow_sparse = true;
    }

    /// What was seen since the start or the last [`clear`](Self::clear).
    pub fn counts(&self) -> Counts {
        self.state.borrow().counts
    }

    /// Starts counting from zero.
    pub fn clear(&self) {
        self.state.borrow_mut().counts = Counts::default();
    }

    /// Whether `tvalid` was high in the last cycle.
    pub fn is_valid(&self) -> bool {
        self.state.borrow().levels.valid
    }

    /// Whether `tready` was high in the last cycle.
    pub fn is_ready(&self) -> bool {
        self.state.borrow().levels.ready
    }
}

impl State {
    fn check_beat(&mut self, dut: &Instance) -> Result<(), Violation> {
        let last = self.ports.is_last(dut);
        self.check_keep(self.ports.keep(dut), last)?;
        let route = (value64(dut, self.ports.id), value64(dut, self.ports.dest));
        if let Some(first) = self.route.filter(|first| *first != route) {
            return Err(self.ports.handshake.violation(format!(
                "tid and tdest changed within a frame: from {first:?} to {route:?}"
            )));
        }
        self.route = (!last).then_some(route);
        self.counts.beats += 1;
        self.counts.frames += u64::from(last);
        Ok(())
    }

    fn check_keep(&mut self, keep: u128, last: bool) -> Result<(), Violation> {
        if self.allow_sparse {
            return Ok(());
        }
        let full = keep == low_bits(self.ports.bytes);
        let null_last = last && keep == 0 && self.allow_null_last;
        let rule = if self.ending && !null_last {
            "after a beat that is not full comes more than a last beat without bytes"
        } else if !is_packed(keep) {
            "the bytes of a beat are not in the lowest lanes"
        } else if !last && !full && !(self.allow_null_last && keep != 0) {
            "a beat that is not the last of its frame is not full"
        } else if last && keep == 0 && !self.allow_null_last {
            "the last beat of a frame has no bytes"
        } else {
            self.ending = !last && !full;
            return Ok(());
        };
        Err(self
            .ports
            .handshake
            .violation(format!("{rule}: tkeep is {keep:#x}")))
    }
}

impl Agent for State {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        let bus = &self.ports.handshake;
        let now = Levels {
            valid: bus.is_valid(dut),
            ready: dut.is_high(bus.ready),
        };
        self.levels = now;
        self.stability.check(dut, bus, now)?;
        self.counts.stalls += u64::from(now.valid && !now.ready);
        self.counts.idles += u64::from(!now.valid && now.ready);
        if now.valid && now.ready {
            self.check_beat(dut)?;
        }
        Ok(())
    }

    fn reset(&mut self, _dut: &mut Instance) {
        self.stability.reset();
        self.route = None;
        self.ending = false;
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        let bus = &self.ports.handshake;
        if bus.is_valid(dut) {
            Err(bus.violation("tvalid is high in reset"))
        } else {
            Ok(())
        }
    }

    fn unfinished(&self) -> Option<String> {
        (self.route.is_some() || self.stability.is_waiting()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let (bus, levels) = (&self.ports.handshake.bus, Handshake::levels(self.levels));
        let Counts {
            beats,
            frames,
            stalls,
            ..
        } = self.counts;
        let inside = if self.route.is_some() {
            ", inside a frame"
        } else {
            ""
        };
        format!("{bus}: monitor has seen {frames} frames, {beats} beats, {stalls} stalls{inside}, {levels}")
    }
}

/// Whether all ones are at the bottom.
fn is_packed(keep: u128) -> bool {
    keep & keep.wrapping_add(1) == 0
}
