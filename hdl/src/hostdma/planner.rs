//! Decides what becomes of reads.

use super::layout::{AtomicFields, BurstFields, FoundFields, PlanFields};
use super::{GuardIn, HostDmaShape, HostGuard};
use crate::axi::{BurstCheck, LENGTH_BITS, PAGE_BITS};
use crate::entry::ParameterError;
use crate::stream::{SkidBuffer, StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Finds the bytes of a read, and whether it can and may be done: two clocks, one read a clock.
///
/// Data that atomic operations want goes the same way as reads that cannot be done, and before them.
#[hardware(
    shape: HostDmaShape,
    error = ParameterError,
    atomic: AtomicFields = AtomicFields::new(shape),
    burst: BurstFields = BurstFields::new(shape, false),
    found: FoundFields = FoundFields::new(shape),
    plan: PlanFields = PlanFields::new(shape),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ReadPlanner {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Reads, as [`BurstFields`] says.
    pub burst: StreamIn<{ burst.width }>,
    /// Atomic operations, as [`AtomicFields`] says.
    pub atomic: Optional<StreamIn<{ atomic.width }>, { shape.atomics }>,
    /// The windows.
    pub windows: Optional<GuardIn<{ shape.guard_shape() }>, { shape.guard }>,
    /// Plans, as [`PlanFields`] says.
    pub plan: StreamOut<{ plan.width }>,
    check: BurstCheck<{ shape.axi() }>,
    guard: Optional<HostGuard<{ shape.guard_shape() }>, { shape.guard }>,
    found: Reg<{ found.width }>,
    /// The context that asks.
    found_context: Optional<Reg<{ burst.asker.width }>, { shape.guard }>,
    found_valid: Reg<bool, Reset>,
    planned: Checked<SkidBuffer<{ plan.width }>>,
    move_on: Wire<Local, bool>,
    take: Wire<Local, bool>,
    outside: Wire<Local, bool>,
    refused: Wire<Local, bool>,
    id: Wire<Local, { shape.id }>,
    length: Wire<Local, { LENGTH_BITS }>,
}

impl Logic for ReadPlanner {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape;
        let (atomic, burst, found, plan) = (self._atomic, self._burst, self._found, self._plan);
        let (lane, row) = (shape.lane(), shape.row());
        clocked!(self.clk, self.rst => self.found_valid, self.planned);
        clocked!(self.clk => self.found, self.found_context);
        self.move_on.next = self.planned.s.ready.val();
        self.take.next = !self.found_valid.q.val() || self.move_on.val();
        /// First: which bytes, and can it be done?
        self.check.start.next = self.burst.data.val().field(burst.address).slice(0, PAGE_BITS);
        self.check.length.next = self.burst.data.val().field(burst.length);
        self.check.size.next = self.burst.data.val().field(burst.size);
        self.check.kind.next = self.burst.data.val().field(burst.kind);
        self.id.next = self.burst.data.val().field(burst.id);
        connect!(self.check => self; length, refused);
        self.burst.ready.next = self.take.val();
        if self.take.val() {
            self.found_valid.d.next = self.burst.valid.val();
        }
        if shape.atomics {
            self.atomic.ready.next = self.take.val();
            if self.atomic.valid.val() {
                self.burst.ready.next = false;
                self.id.next = self.atomic.data.val().field(atomic.id);
                self.length.next = self.atomic.data.val().field(atomic.length);
                self.refused.next = true;
                if self.take.val() {
                    self.found_valid.d.next = true;
                }
            }
        }
        if self.take.val() {
            self.found.d.next = pack!(found {
                start: self.check.start.val(),
                page: self
                    .burst
                    .data
                    .val()
                    .field(burst.address)
                    .slice(PAGE_BITS, shape.page()),
                refused: self.refused.val(),
                length: self.length.val(),
                size: self.check.size.val(),
                id: self.id.val(),
                stop: self.check.last_byte.val(),
            });
        }
        /// Then: may it be done, and what does it need?
        self.outside.next = false;
        if shape.guard {
            if self.take.val() {
                self.found_context.d.next = self.burst.data.val().field(burst.asker);
            }
            connect!(self.windows => self.guard.windows);
            self.guard.clk.next = self.clk.val();
            self.guard.asker.next = self.found_context.q.val();
            self.guard.first.next = cat!(
                self.found.q.val().field(found.page),
                self.found.q.val().field(found.start)
            );
            self.guard.last.next = cat!(
                self.found.q.val().field(found.page),
                self.found.q.val().field(found.stop)
            );
            self.outside.next = !self.guard.allowed.val() && !self.found.q.val().flag(found.refused);
        }
        self.planned.s.valid.next = self.found_valid.q.val();
        self.planned.s.data.next = pack!(plan {
            start: self.found.q.val().field(found.start),
            page: self.found.q.val().field(found.page),
            refused: self.found.q.val().flag(found.refused),
            length: self.found.q.val().field(found.length),
            size: self.found.q.val().field(found.size),
            id: self.found.q.val().field(found.id),
            outside: self.outside.val(),
            last_lane: self.found.q.val().field(found.stop).slice(0, lane),
            bytes: self.found.q.val().field(found.stop) - self.found.q.val().field(found.start),
            lines: self.found.q.val().field(found.stop).slice(lane, row)
                - self.found.q.val().field(found.start).slice(lane, row),
        });
        connect!(self.planned.m => self.plan);
    }
}
