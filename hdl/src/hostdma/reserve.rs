//! Gives reads their lines of the ring.

use super::HostDmaShape;
use super::layout::{JobFields, PlanFields};
use super::transfers::TransferShape;
use crate::axi::{DECERR, LENGTH_BITS, OKAY, PAGE_BITS, SLVERR};
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Reserves lines for a read and makes its transfers: one, or two if the ring's end lies within. A read that is
/// refused needs no lines, and becomes a transfer without bytes.
///
/// Combinational from `plan` to `transfer`.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct LineReserve {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Plans, as [`PlanFields`] says.
    pub plan: StreamIn,
    /// Transfers: {{refused, last, job}, moves bytes, length, RAM address, host address}.
    pub transfer: StreamOut,
    /// A line is free again.
    pub freed: Wire<In, bool>,
    /// The next line.
    fill: Reg,
    /// Lines that are free.
    space: Reg,
    /// The first part of the read is under way.
    second: Reg<bool>,
    moves: Wire<Local, bool>,
    wraps: Wire<Local, bool>,
    fits: Wire<Local, bool>,
    /// Lines up to the end of the ring, minus 1.
    left: Wire<Local>,
    needed: Wire<Local>,
    /// The last line of the first part, in its 4 KiB.
    middle: Wire<Local>,
    first_byte: Wire<Local>,
    last_byte: Wire<Local>,
    line: Wire<Local>,
    response: Wire<Local>,
    last: Wire<Local, bool>,
    reserve: Wire<Local, bool>,
    _shape: HostDmaShape,
    _plan: PlanFields,
}

impl LineReserve {
    /// A reserve of the given shape.
    pub fn new(shape: HostDmaShape) -> Self {
        let plan = PlanFields::new(shape);
        let transfers = transfers(shape);
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            plan: StreamIn::new(plan.width),
            transfer: StreamOut::new(transfers.element(shape)),
            freed: Wire::bit(),
            fill: Reg::word_reset(shape.line()),
            space: Reg::reset_to(lit(shape.lines as u64, shape.position())),
            second: Reg::bit_reset(),
            moves: Wire::bit(),
            wraps: Wire::bit(),
            fits: Wire::bit(),
            left: Wire::word(shape.line()),
            needed: Wire::word(shape.position()),
            middle: Wire::word(shape.row()),
            first_byte: Wire::word(PAGE_BITS),
            last_byte: Wire::word(PAGE_BITS),
            line: Wire::word(shape.line()),
            response: Wire::word(2),
            last: Wire::bit(),
            reserve: Wire::bit(),
            _shape: shape,
            _plan: plan,
        }
    }
}

/// What passes through the transfers of reads.
pub(super) fn transfers(shape: HostDmaShape) -> TransferShape {
    TransferShape {
        entries: shape.reads,
        payload: JobFields::new(shape).width + 1,
        ram: shape.line() + shape.lane(),
        length: PAGE_BITS + 1,
    }
}

impl Logic for LineReserve {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape;
        let plan = self._plan;
        let (lane, row, line, position) = (shape.lane(), shape.row(), shape.line(), shape.position());
        clocked!(self.clk, self.rst => self.fill, self.space, self.second);
        self.moves.next =
            !self.plan.data.val().get_bit(plan.refused.at) && !self.plan.data.val().get_bit(plan.outside.at);
        self.needed.next = self.plan.data.val().slice(plan.lines.at, row).resize(position) + 1;
        self.fits.next = self.plan.data.val().slice(plan.lines.at, row).resize(position) < self.space.q.val();
        /// Does the ring end within the read?
        self.left.next = !self.fill.q.val();
        self.wraps.next = self.moves.val()
            && self
                .plan
                .data
                .val()
                .slice(plan.lines.at, row)
                .resize(row.max(line))
                > self.left.val().resize(row.max(line));
        self.middle.next =
            self.plan.data.val().slice(plan.start.at + lane, row) + self.left.val().resize(row);
        self.first_byte.next = self.plan.data.val().slice(plan.start.at, PAGE_BITS);
        self.last_byte.next = self.plan.data.val().slice(plan.end.at, PAGE_BITS);
        self.line.next = self.fill.q.val();
        if self.second.q.val() {
            self.first_byte.next = cat!(self.middle.val() + 1, lit(0, lane));
            self.line.next = 0.into();
        } else if self.wraps.val() {
            self.last_byte.next = cat!(self.middle.val(), fill(true, lane));
        }
        self.last.next = !self.wraps.val() || self.second.q.val();
        if self.plan.data.val().get_bit(plan.outside.at) {
            self.response.next = DECERR.into();
        } else if self.moves.val() {
            self.response.next = OKAY.into();
        } else {
            self.response.next = SLVERR.into();
        }
        self.transfer.valid.next = self.plan.valid.val() && (self.fits.val() || !self.moves.val());
        self.plan.ready.next =
            self.transfer.ready.val() && (self.fits.val() || !self.moves.val()) && self.last.val();
        self.transfer.data.next = cat!(
            self.last.val(),
            self.moves.val(),
            self.response.val(),
            self.plan.data.val().slice(plan.id.at, plan.id.width),
            self.plan.data.val().slice(plan.size.at, plan.size.width),
            self.plan.data.val().slice(plan.length.at, LENGTH_BITS),
            self.plan.data.val().slice(plan.start.at, PAGE_BITS),
            self.fill.q.val(),
            self.moves.val(),
            self.last_byte.val().resize(PAGE_BITS + 1) - self.first_byte.val().resize(PAGE_BITS + 1) + 1,
            self.line.val(),
            self.first_byte.val().slice(0, lane),
            self.plan.data.val().slice(plan.page.at, plan.page.width),
            self.first_byte.val()
        );
        self.reserve.next = self.plan.valid.val() && self.plan.ready.val() && self.moves.val();
        if self.transfer.valid.val() && self.transfer.ready.val() {
            self.second.d.next = !self.last.val();
        }
        if self.reserve.val() {
            self.fill.d.next = self.fill.q.val() + self.needed.val().slice(0, line);
        }
        if self.reserve.val() {
            if self.freed.val() {
                self.space.d.next = self.space.q.val() - self.needed.val() + 1;
            } else {
                self.space.d.next = self.space.q.val() - self.needed.val();
            }
        } else if self.freed.val() {
            self.space.d.next = self.space.q.val() + 1;
        }
    }
}
