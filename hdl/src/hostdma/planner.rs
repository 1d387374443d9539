//! Decides what becomes of reads.

use super::layout::{BurstFields, PlanFields};
use super::{GuardIn, HostDmaShape, HostGuard};
use crate::axi::{BurstCheck, LENGTH_BITS, PAGE_BITS};
use crate::entry::ParameterError;
use crate::stream::{SkidBuffer, StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Finds the bytes of a read, and whether it can and may be done: two clocks, one read a clock.
///
/// What atomic operations ask for goes the same way as reads that cannot be done, and before them.
#[hardware(
    shape: HostDmaShape,
    error = ParameterError,
    burst = BurstFields::new(shape, false),
    plan = PlanFields::new(shape),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ReadPlanner {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Reads, as [`BurstFields`] says.
    pub burst: StreamIn<{ burst.width }>,
    /// Atomic operations: {beats, minus 1; id}.
    pub atomic: Optional<StreamIn<{ LENGTH_BITS + shape.id }>, { shape.atomics }>,
    /// The windows.
    pub windows: Optional<GuardIn<{ shape.guard_shape() }>, { shape.guard }>,
    /// Plans, as [`PlanFields`] says.
    pub plan: StreamOut<{ plan.width }>,
    check: BurstCheck<{ shape.axi() }>,
    guard: Optional<HostGuard<{ shape.guard_shape() }>, { shape.guard }>,
    /// {place of the last byte in its 4 KiB, the plan up to what the guard says}.
    found: Reg<{ plan.outside.at + PAGE_BITS }>,
    /// The context that asks.
    found_context: Optional<Reg<{ burst.context.width }>, { shape.guard }>,
    found_valid: Reg<bool, Reset>,
    planned: Checked<SkidBuffer<{ plan.width }>>,
    move_on: Wire<Local, bool>,
    take: Wire<Local, bool>,
    outside: Wire<Local, bool>,
    refused: Wire<Local, bool>,
    id: Wire<Local, { shape.id }>,
    length: Wire<Local, { LENGTH_BITS }>,
    #[new(burst)]
    _burst: BurstFields,
    #[new(plan)]
    _plan: PlanFields,
}

impl Logic for ReadPlanner {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape;
        let (burst, plan) = (self._burst, self._plan);
        let (lane, row) = (shape.lane(), shape.row());
        let end = plan.outside.at;
        clocked!(self.clk, self.rst => self.found_valid, self.planned);
        clocked!(self.clk => self.found, self.found_context);
        self.move_on.next = self.planned.s.ready.val();
        self.take.next = !self.found_valid.q.val() || self.move_on.val();
        /// First: which bytes, and can it be done?
        self.check.start.next = self.burst.data.val().slice(burst.address.at, PAGE_BITS);
        self.check.length.next = self.burst.data.val().field(burst.length);
        self.check.size.next = self.burst.data.val().field(burst.size);
        self.check.kind.next = self.burst.data.val().field(burst.kind);
        self.id.next = self.burst.data.val().field(burst.id);
        self.length.next = self.check.length.val();
        self.refused.next = self.check.refused.val();
        self.burst.ready.next = self.take.val();
        if self.take.val() {
            self.found_valid.d.next = self.burst.valid.val();
        }
        if shape.atomics {
            self.atomic.ready.next = self.take.val();
            if self.atomic.valid.val() {
                self.burst.ready.next = false;
                self.id.next = self.atomic.data.val().slice(0, shape.id);
                self.length.next = self.atomic.data.val().slice(shape.id, LENGTH_BITS);
                self.refused.next = true;
                if self.take.val() {
                    self.found_valid.d.next = true;
                }
            }
        }
        if self.take.val() {
            self.found.d.next = cat!(
                self.check.last_byte.val(),
                self.id.val(),
                self.check.size.val(),
                self.length.val(),
                self.refused.val(),
                self.burst
                    .data
                    .val()
                    .slice(burst.address.at + PAGE_BITS, shape.page()),
                self.check.start.val()
            );
        }
        /// Then: may it be done, and what does it need?
        self.outside.next = false;
        if shape.guard {
            if self.take.val() {
                self.found_context.d.next = self.burst.data.val().field(burst.context);
            }
            GuardIn::link(&mut self.windows, &mut self.guard.windows);
            self.guard.clk.next = self.clk.val();
            self.guard.asker.next = self.found_context.q.val();
            self.guard.first.next = cat!(
                self.found.q.val().field(plan.page),
                self.found.q.val().field(plan.start)
            );
            self.guard.last.next = cat!(
                self.found.q.val().field(plan.page),
                self.found.q.val().slice(end, PAGE_BITS)
            );
            self.outside.next = !self.guard.allowed.val() && !self.found.q.val().flag(plan.refused);
        }
        self.planned.s.valid.next = self.found_valid.q.val();
        self.planned.s.data.next = cat!(
            self.found.q.val().slice(end + lane, row) - self.found.q.val().slice(plan.start.at + lane, row),
            self.found.q.val().slice(end, PAGE_BITS) - self.found.q.val().field(plan.start),
            self.found.q.val().slice(end, lane),
            self.outside.val(),
            self.found.q.val().slice(0, plan.outside.at)
        );
        StreamOut::link(&mut self.plan, &mut self.planned.m);
    }
}
