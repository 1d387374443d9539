//! Checks the rules of a stream.

use super::{Span, low_bits};
use crate::agent::{Agent, Violation};
use crate::handshake::{Counts, Handshake, Names, Side, Watch};
use crate::model::{Direction, Instance, Model, ModelError, PortHandle};
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
/// Sources and sinks attach a monitor themselves.
#[derive(Clone, Debug)]
pub struct StreamMonitor {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    ports: StreamPorts,
    watch: Watch,
    /// `tid` and `tdest` of the frame in progress.
    route: Option<(u64, u64)>,
    /// The cycles of the frame in progress, or else of the last complete one.
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

    /// The counters since the start or the last [`clear`](Self::clear).
    pub fn counts(&self) -> Counts {
        self.state.borrow().watch.counts
    }

    /// When the last complete frame was transferred; `None` before the first one that is counted, and within a frame.
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

/// The ports of an AXI4-Stream with a common prefix; all but data, valid and ready are optional.
#[derive(Clone, Debug)]
pub struct StreamPorts {
    pub(super) handshake: Handshake,
    data: PortHandle,
    pub(super) keep: Option<PortHandle>,
    last: Option<PortHandle>,
    pub(super) id: Option<PortHandle>,
    pub(super) dest: Option<PortHandle>,
    pub(super) user: Option<PortHandle>,
    /// Bytes in a beat.
    pub(super) bytes: usize,
}

/// All signals of a beat but its data; 0 for those that a stream lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamBeat {
    /// `tkeep`; all ones on a stream without.
    pub keep: u128,
    /// `tlast`; true on a stream without.
    pub last: bool,
    /// `tid`.
    pub id: u64,
    /// `tdest`.
    pub dest: u64,
    /// `tuser`.
    pub user: u128,
}

impl StreamPorts {
    /// Looks up the ports of a stream with that direction, seen from the design.
    ///
    /// # Errors
    /// If the design has no such stream.
    pub fn attach(dut: &Instance, prefix: &str, direction: Direction) -> Result<Self, ModelError> {
        let side = match direction {
            Direction::Input => Side::IntoDesign,
            Direction::Output => Side::OutOfDesign,
        };
        Self::find(dut, prefix, Some(side))
    }

    /// Looks up the ports and checks that their directions and widths form a stream; without a side, the direction of
    /// `tvalid` decides.
    pub(super) fn find(dut: &Instance, prefix: &str, side: Option<Side>) -> Result<Self, ModelError> {
        let names = Names {
            dut,
            prefix,
            bus: "a stream",
        };
        let data = names.port("tdata")?;
        let [keep, last, id, dest, user] =
            ["tkeep", "tlast", "tid", "tdest", "tuser"].map(|signal| names.optional(signal));
        let payload = [Some(data), keep, last, id, dest, user]
            .into_iter()
            .flatten()
            .collect();
        let side = match side {
            Some(side) => side,
            None => Side::of(dut, names.port("tvalid")?),
        };
        let mut handshake = names.channel("t", payload, side)?;
        prefix.clone_into(&mut handshake.bus);
        let bytes = data.width() / 8;
        let mut needs = vec![(
            data,
            data.width() % 8 == 0 && bytes <= 128,
            "whole bytes, and at most 1024 bits",
        )];
        needs.extend(keep.map(|port| (port, port.width() == bytes, "one bit per byte of tdata")));
        needs.extend(last.map(|port| (port, port.width() == 1, "1 bit")));
        let narrow = [id, dest].into_iter().flatten();
        needs.extend(narrow.map(|port| (port, port.width() <= 64, "at most 64 bits")));
        needs.extend(user.map(|port| (port, port.width() <= 128, "at most 128 bits")));
        names.check_widths(&needs)?;
        Ok(Self {
            handshake,
            data,
            keep,
            last,
            id,
            dest,
            user,
            bytes,
        })
    }

    /// Valid, ready and the name of the stream.
    pub fn bus(&self) -> &Handshake {
        &self.handshake
    }

    /// Drives a beat; as many lanes as the stream has bytes.
    pub fn drive(&self, dut: &mut Instance, lanes: &[u8], beat: &StreamBeat) {
        dut.set_bytes(self.data, lanes);
        let values = [
            (self.keep, beat.keep),
            (self.last, u128::from(beat.last)),
            (self.id, u128::from(beat.id)),
            (self.dest, u128::from(beat.dest)),
            (self.user, beat.user),
        ];
        for (port, value) in values {
            if let Some(port) = port {
                dut.set_value(port, value);
            }
        }
    }

    /// The lanes of the beat on the stream.
    pub fn lanes<'a>(&self, dut: &'a Instance) -> &'a [u8] {
        &dut.bytes(self.data)[..self.bytes]
    }

    /// All other signals of the beat on the stream.
    pub fn read(&self, dut: &Instance) -> StreamBeat {
        StreamBeat {
            keep: self.keep(dut),
            last: self.is_last(dut),
            id: value64(dut, self.id),
            dest: value64(dut, self.dest),
            user: self.user.map_or(0, |port| dut.value(port)),
        }
    }

    /// `tkeep`; all ones on a stream without.
    pub(super) fn keep(&self, dut: &Instance) -> u128 {
        self.keep
            .map_or_else(|| low_bits(self.bytes), |port| dut.value(port))
    }

    /// `tlast`; on a stream without, every beat is a frame.
    pub(super) fn is_last(&self, dut: &Instance) -> bool {
        self.last.is_none_or(|port| dut.is_high(port))
    }
}

/// The value of an optional port of at most 64 bits.
pub(super) fn value64(dut: &Instance, port: Option<PortHandle>) -> u64 {
    // The width was checked when the ports were looked up.
    port.map_or(0, |port| dut.value(port) as u64)
}
