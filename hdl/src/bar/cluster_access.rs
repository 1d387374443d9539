//! One access to the cluster, from its start to its answer or to the end of patience.

use crate::axi::{OKAY, SLVERR};
use spinneret_verilog::prelude::*;

/// Width of a response in bits.
pub(super) const RESPONSE_BITS: usize = 2;

/// Follows the accesses of one direction to the cluster, one after another.
///
/// An access that is started is either sent or refused at once. One that is sent ends with its answer, when
/// the cluster is held in reset, or when its time is over; then its late answer is still outstanding, and no
/// other is sent before that has come.
/// # Parameters
/// `timeout_cycles` is at least 2, as the soonest answer comes in the second clock.
#[hardware(timeout_cycles: u64)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ClusterAccess {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// An access starts; none is in flight.
    pub start: Wire<In, bool>,
    /// The cluster is held in reset: nothing is in flight there.
    pub held: Wire<In, bool>,
    /// Something of the last access waits for the cluster to take it.
    pub waits: Wire<In, bool>,
    /// The cluster answers.
    pub answer: Wire<In, bool>,
    /// With `answer`: BRESP or RRESP.
    pub answer_code: Wire<In, { RESPONSE_BITS }>,
    /// With `start`: the access is sent.
    pub send: Wire<Out, bool>,
    /// The access ends.
    pub done: Wire<Out, bool>,
    /// With `done`: how it went.
    pub response: Wire<Out, { RESPONSE_BITS }>,
    /// With `done`: the cluster has answered with OKAY.
    pub good: Wire<Out, bool>,
    /// It ends because the cluster is held in reset.
    pub held_event: Wire<Out, bool>,
    /// It ends because its time is over, or that of one before whose answer is outstanding.
    pub timeout_event: Wire<Out, bool>,
    /// It ends with an answer that is not OKAY.
    pub error_event: Wire<Out, bool>,
    /// An access is sent and has not ended.
    active: Reg<bool, Reset>,
    /// The answer of an access that has ended is outstanding.
    late: Reg<bool, Reset>,
    /// Clocks that are left, minus 1.
    left: Reg<{ address_width(timeout_cycles as usize) }>,
    blocked: Wire<Local, bool>,
    came: Wire<Local, bool>,
    over: Wire<Local, bool>,
    #[new(timeout_cycles)]
    _timeout: u64,
}

impl Logic for ClusterAccess {
    #[kernel(suffix = self._timeout)]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.active, self.late);
        clocked!(self.clk => self.left);
        self.blocked.next = self.late.q.val() || self.waits.val();
        self.send.next = self.start.val() && !self.held.val() && !self.blocked.val();
        self.came.next = self.active.q.val() && !self.held.val() && self.answer.val();
        self.over.next =
            self.active.q.val() && !self.held.val() && !self.answer.val() && self.left.q.val() == 0;
        /// How it ends.
        self.held_event.next = self.held.val() && (self.start.val() || self.active.q.val());
        self.timeout_event.next =
            self.over.val() || (self.start.val() && !self.held.val() && self.blocked.val());
        self.error_event.next = self.came.val() && self.answer_code.val() != OKAY;
        self.good.next = self.came.val() && self.answer_code.val() == OKAY;
        self.done.next = self.held_event.val() || self.timeout_event.val() || self.came.val();
        /// EXOKAY is no answer to an access that is not exclusive.
        if self.came.val() && self.answer_code.val() != 1 {
            self.response.next = self.answer_code.val();
        } else {
            self.response.next = SLVERR.into();
        }
        if self.send.val() {
            self.active.d.next = true;
            self.left.d.next = (self._timeout - 1).into();
        } else {
            self.left.d.next = self.left.q.val() - 1;
            if self.done.val() {
                self.active.d.next = false;
            }
        }
        if self.held.val() || self.answer.val() {
            self.late.d.next = false;
        } else if self.over.val() {
            self.late.d.next = true;
        }
    }
}
