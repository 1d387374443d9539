//! The other side of a crossing as one side sees it.

use super::limits::STAGES;
use spinneret_verilog::prelude::*;

/// Brings the pointer of the other side of a crossing, and whether that side rests, into this clock.
///
/// The pointer changes in one bit at a time, so what comes out is one that the other side has or had. Neither has
/// a reset: it would stand between the clocks.
#[hardware(width: usize)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub(super) struct FarView {
    /// Clock of this side.
    pub clk: Signal<In, Clock>,
    /// Pointer of the other side, a register there.
    pub pointer: Wire<In, { width }>,
    /// The other side is in reset; a register there.
    pub resting: Wire<In, bool>,
    /// The pointer, a little later.
    pub pointer_seen: Wire<Out, { width }>,
    /// The other side is in reset, a little later.
    pub resting_seen: Wire<Out, bool>,
    #[new((0..STAGES).map(|_| Reg::starting_with(Word::zero(width)).with(RegAttribute::AsyncReg)).collect())]
    pointer_stage: Vec<Reg>,
    #[new((0..STAGES).map(|_| Reg::starting_with(true).with(RegAttribute::AsyncReg)).collect())]
    resting_stage: Vec<Reg<bool>>,
}

impl Logic for FarView {
    #[kernel(parameters(POINTER = self.pointer.width()))]
    fn update(&mut self) {
        clocked!(self.clk => self.pointer_stage, self.resting_stage);
        self.pointer_stage[0].d.next = self.pointer.val();
        self.resting_stage[0].d.next = self.resting.val();
        for stage in 1..STAGES {
            self.pointer_stage[stage].d.next = self.pointer_stage[stage - 1].q.val();
            self.resting_stage[stage].d.next = self.resting_stage[stage - 1].q.val();
        }
        self.pointer_seen.next = self.pointer_stage[STAGES - 1].q.val();
        self.resting_seen.next = self.resting_stage[STAGES - 1].q.val();
    }
}
