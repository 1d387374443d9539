//! Gives reads their lines of the ring.

use super::HostDmaShape;
use super::layout::TransferShape;
use super::layout::{HeldFields, JobFields, PlanFields, ReadPayload, TransferFields};
use crate::axi::{DECERR, OKAY, PAGE_BITS, SLVERR};
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Reserves lines for a read and makes its transfers: one, or two if the ring's end lies within. A read that is
/// refused needs no lines, and becomes a transfer without bytes.
///
/// A read is at `transfer` one clock after it was taken.
#[hardware(
    shape: HostDmaShape,
    plan: PlanFields = PlanFields::new(shape),
    held: HeldFields = HeldFields::new(shape),
    job: JobFields = JobFields::new(shape),
    payload: ReadPayload = ReadPayload::new(shape),
    transfer: TransferFields = TransferFields::new(shape.address, transfers(shape)),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct LineReserve {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Plans, as [`PlanFields`] says.
    pub plan: StreamIn<{ plan.width }>,
    /// Transfers, as [`TransferFields`] says, with [`ReadPayload`].
    pub transfer: StreamOut<{ transfer.width }>,
    /// A line is free again.
    pub freed: Wire<In, bool>,
    /// The next line.
    fill: Reg<{ shape.line() }, Reset>,
    /// Lines that are free.
    #[new(Reg::reset_to(lit(shape.lines() as u64, shape.position())))]
    space: Reg,
    /// A read that has its lines.
    held: Reg<{ held.width }>,
    held_valid: Reg<bool, Reset>,
    /// The ring ends within it.
    wraps: Reg<bool>,
    /// Its first part is in flight.
    second: Reg<bool, Reset>,
    needs: Wire<Local, bool>,
    /// Lines that are needed, minus 1.
    needed: Wire<Local, { shape.position() }>,
    fits: Wire<Local, bool>,
    move_on: Wire<Local, bool>,
    reserve: Wire<Local, bool>,
    moves: Wire<Local, bool>,
    last: Wire<Local, bool>,
    line: Wire<Local, { shape.line() }>,
    first_byte: Wire<Local, { PAGE_BITS }>,
    /// Bytes of the part, minus 1.
    bytes: Wire<Local, { PAGE_BITS }>,
    line_now: Wire<Local, { shape.line() }>,
    response: Wire<Local, 2>,
}

/// Words that pass through the transfers of reads.
pub(super) fn transfers(shape: HostDmaShape) -> TransferShape {
    TransferShape {
        entries: shape.reads,
        payload: ReadPayload::new(shape).into(),
        ram: shape.line() + shape.lane(),
        length: PAGE_BITS + 1,
    }
}

impl Logic for LineReserve {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape;
        let (plan, held, transfer) = (self._plan, self._held, self._transfer);
        let (payload, job) = (self._payload, self._job);
        let (lane, row, line, position) = (shape.lane(), shape.row(), shape.line(), shape.position());
        clocked!(self.clk, self.rst => self.fill, self.space, self.held_valid, self.second);
        clocked!(self.clk => self.held, self.wraps);
        /// A read that has its lines: does the ring end within?
        self.moves.next = !self.held.q.val().field(held.plan).flag(plan.refused)
            && !self.held.q.val().field(held.plan).flag(plan.outside);
        self.line.next = self.held.q.val().field(held.line);
        self.last.next = !self.wraps.q.val() || self.second.q.val();
        self.first_byte.next = self.held.q.val().field(held.plan).field(plan.start);
        self.bytes.next = self.held.q.val().field(held.plan).field(plan.bytes);
        self.line_now.next = self.line.val();
        if self.second.q.val() {
            self.first_byte.next = cat!(
                self.held
                    .q
                    .val()
                    .field(held.plan)
                    .field(plan.start)
                    .slice(lane, row)
                    - self.line.val().slice(0, row),
                lit(0, lane)
            );
            self.bytes.next = cat!(
                self.held.q.val().field(held.plan).field(plan.lines) + self.line.val().slice(0, row),
                self.held.q.val().field(held.plan).field(plan.last_lane)
            );
            self.line_now.next = 0.into();
        } else if self.wraps.q.val() {
            self.bytes.next = cat!(
                (!self.line.val()).resize(row),
                !self
                    .held
                    .q
                    .val()
                    .field(held.plan)
                    .field(plan.start)
                    .slice(0, lane)
            );
        }
        if self.held.q.val().field(held.plan).flag(plan.outside) {
            self.response.next = DECERR.into();
        } else if self.moves.val() {
            self.response.next = OKAY.into();
        } else {
            self.response.next = SLVERR.into();
        }
        self.transfer.valid.next = self.held_valid.q.val();
        self.transfer.data.next = pack!(transfer {
            host_address: cat!(
                self.held.q.val().field(held.plan).field(plan.page),
                self.first_byte.val()
            ),
            ram_address: cat!(self.line_now.val(), self.first_byte.val().slice(0, lane)),
            length: self.bytes.val().resize(PAGE_BITS + 1) + 1,
            moves: self.moves.val(),
            payload: pack!(payload {
                job: pack!(job {
                    line: self.line.val(),
                    start: self.held.q.val().field(held.plan).field(plan.start),
                    length: self.held.q.val().field(held.plan).field(plan.length),
                    size: self.held.q.val().field(held.plan).field(plan.size),
                    id: self.held.q.val().field(held.plan).field(plan.id),
                    response: self.response.val(),
                    held: self.moves.val(),
                }),
                last: self.last.val(),
            }),
        });
        /// The next read: it gets lines, if they are needed and free.
        self.needs.next =
            !self.plan.data.val().flag(plan.refused) && !self.plan.data.val().flag(plan.outside);
        self.needed.next = self.plan.data.val().field(plan.lines).resize(position);
        /// The carry says whether more lines are free than `needed`, which is one less than is needed.
        self.fits.next = (self.space.q.val().resize(position + 1)
            + (!self.needed.val()).resize(position + 1))
        .get_bit(position);
        self.move_on.next = !self.held_valid.q.val() || (self.transfer.ready.val() && self.last.val());
        self.plan.ready.next = self.move_on.val() && (self.fits.val() || !self.needs.val());
        self.reserve.next =
            self.plan.valid.val() && self.move_on.val() && self.fits.val() && self.needs.val();
        if self.move_on.val() {
            self.held_valid.d.next = self.plan.valid.val() && self.plan.ready.val();
            self.held.d.next = pack!(held {
                plan: self.plan.data.val(),
                line: self.fill.q.val(),
            });
            self.wraps.d.next = self.needs.val() && self.needed.val() > (!self.fill.q.val()).resize(position);
        }
        if self.reserve.val() {
            self.fill.d.next = self.fill.q.val() + self.needed.val().slice(0, line) + 1;
        }
        /// Adding the complement takes one more away than subtracting.
        self.space.d.next = self.space.q.val()
            + (!self.needed.val() & fill(self.reserve.val(), position))
            + word(self.freed.val()).resize(position);
        if self.held_valid.q.val() && self.transfer.ready.val() {
            self.second.d.next = !self.last.val();
        }
    }
}
