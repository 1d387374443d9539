//! Register slice for ready alone: costs no clock.

use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Makes the ready signal of a stream a register and costs no clock: an element passes straight through,
/// or waits in a spare register if it was taken while the output was not ready.
///
/// Throughput one element a clock; paths from `s` valid and data to `m`, none from `m` ready to `s`.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ReadySlice {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: forgets what is held.
    pub rst: Wire<In, bool>,
    /// Elements in.
    pub s: StreamIn,
    /// Elements out.
    pub m: StreamOut,
    spare: Reg,
    spare_used: Reg<bool>,
    ready: Reg<bool>,
    /// Something is at the output and stays there.
    stays: Wire<Local, bool>,
}

impl ReadySlice {
    /// A slice for payloads of `width` bits.
    pub fn new(width: usize) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            s: StreamIn::new(width),
            m: StreamOut::new(width),
            spare: Reg::word(width),
            spare_used: Reg::bit_reset(),
            ready: Reg::bit_reset(),
            stays: Wire::bit(),
        }
    }
}

impl Logic for ReadySlice {
    #[kernel(suffix = self.spare.q.width())]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.spare_used, self.ready);
        clocked!(self.clk => self.spare);
        /// Low in the first cycle after reset, when nothing may be taken yet.
        if self.spare_used.q.val() {
            self.m.valid.next = true;
            self.m.data.next = self.spare.q.val();
        } else {
            self.m.valid.next = self.s.valid.val() && self.ready.q.val();
            self.m.data.next = self.s.data.val();
        }
        self.stays.next =
            !self.m.ready.val() && (self.spare_used.q.val() || (self.s.valid.val() && self.ready.q.val()));
        self.spare_used.d.next = self.stays.val();
        self.ready.d.next = !self.stays.val();
        if self.ready.q.val() {
            self.spare.d.next = self.s.data.val();
        }
        self.s.ready.next = self.ready.q.val();
    }
}
