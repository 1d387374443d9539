//! Puts runs of strobed bytes together to pieces of host memory.

use super::HostDmaShape;
use super::layout::{PieceFields, RunFields};
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Runs that follow one another in host memory and in the ring become one piece.
///
/// A run continues with the next when it reaches the last lane of its beat, and the next one starts at lane 0; it is
/// cut at half of the ring and at its end, so that no piece goes around the ring or needs most of it. A beat
/// without run ends the piece before it, or becomes a piece without bytes, so that its line is free again.
///
/// One item a clock, but two for the last of a burst that does not continue with the run before. An item
/// leaves in the clock in which it is taken. How long an item takes follows from a few flags, and not from its strobes:
/// all in front waits for that.
#[hardware(
    shape: HostDmaShape,
    run: RunFields = RunFields::new(shape),
    piece: PieceFields = PieceFields::new(shape),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PieceAssembler {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Items, as [`RunFields`] says.
    pub run: StreamIn<{ run.width }>,
    /// Pieces, as [`PieceFields`] says; there is always room when `room` is high.
    pub piece: Wire<Out, { PieceFields::new(shape).width }>,
    /// The piece is there.
    pub piece_valid: Wire<Out, bool>,
    /// A piece finds room.
    pub room: Wire<In, bool>,
    /// There is a run before this item that has not left.
    open: Reg<bool, Reset>,
    /// It reaches the last lane of the beat before.
    goes_on: Reg<bool>,
    open_start: Reg<{ run.place.width }>,
    open_end: Reg<{ run.place.width }>,
    open_line: Reg<{ shape.line() }>,
    /// The run of the last item of the burst is open already.
    absorbed: Reg<bool, Reset>,
    /// The burst was at fault since the last piece.
    fault: Reg<bool, Reset>,
    fault_now: Wire<Local, bool>,
    stray: Wire<Local, bool>,
    /// There is a run that is not open already.
    fresh: Wire<Local, bool>,
    /// It can be written.
    usable: Wire<Local, bool>,
    joins: Wire<Local, bool>,
    conflict: Wire<Local, bool>,
    last: Wire<Local, bool>,
    whole: Wire<Local, bool>,
    leave: Wire<Local, bool>,
    go: Wire<Local, bool>,
    first_byte: Wire<Local, { run.place.width }>,
    last_byte: Wire<Local, { run.place.width }>,
    line: Wire<Local, { shape.line() }>,
    run_start: Wire<Local, { run.place.width }>,
    run_end: Wire<Local, { run.place.width }>,
    run_line: Wire<Local, { shape.line() }>,
}

impl Logic for PieceAssembler {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape;
        let (run, piece, lane) = (self._run, self._piece, shape.lane());
        clocked!(self.clk, self.rst => self.open, self.absorbed, self.fault);
        clocked!(self.clk => self.goes_on, self.open_start, self.open_end, self.open_line);
        self.last.next = self.run.data.val().flag(run.last);
        self.whole.next = self.run.data.val().flag(run.whole);
        /// Where the run is in its 4 KiB, and in the ring.
        self.run_start.next = cat!(
            self.run.data.val().field(run.place).slice(lane, shape.row()),
            self.run.data.val().field(run.start)
        );
        self.run_end.next = cat!(
            self.run.data.val().field(run.place).slice(lane, shape.row()),
            self.run.data.val().field(run.stop)
        );
        self.run_line.next = self.run.data.val().field(run.position).slice(0, shape.line());
        /// Strobes of bytes that the beat does not address are a fault, and are not written.
        self.stray.next = self.run.data.val().flag(run.found)
            && (self.run.data.val().field(run.start) < self.run.data.val().field(run.place).slice(0, lane)
                || self.run.data.val().field(run.stop) > self.run.data.val().field(run.lane_end));
        self.fresh.next = self.run.data.val().flag(run.found)
            && !self.run.data.val().flag(run.refused)
            && !self.absorbed.q.val();
        self.usable.next = self.fresh.val() && !self.stray.val();
        self.fault_now.next = self.fault.q.val()
            || self.stray.val()
            || self.run.data.val().flag(run.refused)
            || self.run.data.val().flag(run.fault);
        /// Does it continue with what is open?
        self.joins.next = self.open.q.val() && self.goes_on.q.val() && self.run.data.val().flag(run.follows);
        self.conflict.next = self.fresh.val() && self.open.q.val() && !self.joins.val();
        self.leave.next =
            self.run.valid.val() && (self.conflict.val() || !self.usable.val() || self.last.val());
        self.go.next = self.run.valid.val() && self.room.val();
        self.piece_valid.next = self.leave.val() && self.room.val();
        self.run.ready.next = self.room.val() && !(self.conflict.val() && self.last.val());
        if self.joins.val() || !self.usable.val() || self.conflict.val() {
            self.first_byte.next = self.open_start.q.val();
            self.line.next = self.open_line.q.val();
        } else {
            self.first_byte.next = self.run_start.val();
            self.line.next = self.run_line.val();
        }
        if self.usable.val() && !self.conflict.val() {
            self.last_byte.next = self.run_end.val();
        } else {
            self.last_byte.next = self.open_end.q.val();
        }
        self.piece.next = pack!(piece {
            start: self.first_byte.val(),
            stop: self.last_byte.val(),
            line: self.line.val(),
            moves: self.usable.val() || self.open.q.val(),
            whole: self.whole.val() && !self.conflict.val(),
            last: self.last.val() && !self.conflict.val(),
            fault: self.fault_now.val(),
            position: self.run.data.val().field(run.position),
            page: self.run.data.val().field(run.page),
            id: self.run.data.val().field(run.id),
            asker: self.run.data.val().field(run.asker),
        });
        if self.go.val() {
            self.fault.d.next = self.fault_now.val() && !self.leave.val();
            self.absorbed.d.next = self.conflict.val() && self.last.val();
            self.goes_on.d.next = self.whole.val() && self.run.data.val().field(run.stop).all();
            if self.usable.val() {
                self.open.d.next = self.conflict.val() || !self.last.val();
                self.open_end.d.next = self.run_end.val();
                if !self.joins.val() {
                    self.open_start.d.next = self.run_start.val();
                    self.open_line.d.next = self.run_line.val();
                }
            } else {
                self.open.d.next = false;
            }
        }
    }
}
