//! Checks the rules of a stream.

use super::frame::{Span, low_bits};
use super::ports::{StreamPorts, value64};
use crate::agent::{Agent, Violation};
use crate::handshake::{Counts, Watch};
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
    watch: Watch,
    /// `tid` and `tdest` of the frame that is under way.
    route: Option<(u64, u64)>,
    /// Cycles of the frame that is under way, or else of the last complete one.
    span: Span,
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
        let ports = StreamPorts::find(sim.dut.instance(), prefix, None)?;
        let state = State {
            watch: Watch::new(ports.handshake.clone()),
            ports,
            route: None,
            span: Span::default(),
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
        self.state.borrow().watch.counts
    }

    /// When the last complete frame was transferred; `None` before the first one
    /// that is counted, and within a frame.
    pub fn last_frame(&self) -> Option<Span> {
        let state = self.state.borrow();
        (state.watch.counts.frames > 0 && state.route.is_none()).then_some(state.span)
    }

    /// Starts counting from zero.
    pub fn clear(&self) {
        self.state.borrow_mut().watch.counts = Counts::default();
    }

    /// Whether `tvalid` was high in the last cycle.
    pub fn is_valid(&self) -> bool {
        self.state.borrow().watch.levels.valid
    }

    /// Whether `tready` was high in the last cycle.
    pub fn is_ready(&self) -> bool {
        self.state.borrow().watch.levels.ready
    }
}

impl State {
    fn check_beat(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        let last = self.ports.is_last(dut);
        self.check_keep(self.ports.keep(dut), last)?;
        let route = (value64(dut, self.ports.id), value64(dut, self.ports.dest));
        if let Some(first) = self.route.filter(|first| *first != route) {
            let rule = format!("tid and tdest changed within a frame: from {first:?} to {route:?}");
            return Err(self.watch.bus.violation(rule));
        }
        if self.route.is_none() {
            self.span.first_cycle = cycle;
        }
        self.span.last_cycle = cycle;
        self.route = (!last).then_some(route);
        self.watch.counts.beats += 1;
        self.watch.counts.frames += u64::from(last);
        Ok(())
    }

    fn check_keep(&mut self, keep: u128, last: bool) -> Result<(), Violation> {
        if self.allow_sparse {
            return Ok(());
        }
        let full = keep == low_bits(self.ports.bytes);
        let ends_with_null = self.allow_null_last && last == (keep == 0);
        let rule = if self.ending && !(last && keep == 0) {
            "after a beat that is not full comes more than a last beat without bytes"
        } else if !is_packed(keep) {
            "the bytes of a beat are not in the lowest lanes"
        } else if full || ends_with_null || (last && keep != 0) {
            self.ending = !last && !full;
            return Ok(());
        } else if last {
            "the last beat of a frame has no bytes"
        } else {
            "a beat that is not the last of its frame is not full"
        };
        Err(self.watch.bus.violation(format!("{rule}: tkeep is {keep:#x}")))
    }
}

impl Agent for State {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        if self.watch.check(dut)? {
            self.check_beat(dut, cycle)
        } else {
            Ok(())
        }
    }

    fn reset(&mut self, _dut: &mut Instance) {
        self.watch.reset();
        self.route = None;
        self.ending = false;
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        self.watch.check_reset(dut)
    }

    fn unfinished(&self) -> Option<String> {
        (self.route.is_some() || self.watch.is_waiting()).then(|| self.describe())
    }

    fn describe(&self) -> String {
        let Watch {
            bus, levels, counts, ..
        } = &self.watch;
        let Counts {
            beats,
            frames,
            stalls,
            ..
        } = counts;
        let inside = if self.route.is_some() {
            ", inside a frame"
        } else {
            ""
        };
        format!(
            "{}: monitor has seen {frames} frames, {beats} beats, {stalls} stalls{inside}, {levels}",
            bus.bus
        )
    }
}

/// Whether all ones are at the bottom.
fn is_packed(keep: u128) -> bool {
    keep & keep.wrapping_add(1) == 0
}
