//! Keeps account of what a RAM still must answer.

use spinneret_verilog::prelude::*;

/// Counts commands that segments of a RAM have taken and not answered yet.
///
/// A command that is taken in a clock counts from the next one on; an answer is never in the clock of its command.
/// # Parameters
/// `bits` is the width of each count: a segment has fewer than 2^`bits` open commands.
#[hardware(segments: usize, bits: usize)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct RamAccount {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: nothing is to be answered.
    pub rst: Wire<In, bool>,
    /// Bit s: segment s takes a command.
    pub taken: Wire<In, { segments }>,
    /// Bit s: segment s answers one.
    pub answered: Wire<In, { segments }>,
    /// All are answered.
    pub settled: Wire<Out, bool>,
    counts: [Reg<{ bits }, Reset>; segments],
    open: Wire<Local, { segments }>,
}

impl Logic for RamAccount {
    #[kernel(suffix = format!("{}x{}", self.counts.len(), self.counts[0].q.width()))]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.counts);
        self.open.next = 0.into();
        for segment in 0..self.counts.len() {
            if self.taken.val().get_bit(segment) && !self.answered.val().get_bit(segment) {
                self.counts[segment].d.next = self.counts[segment].q.val() + 1;
            } else if self.answered.val().get_bit(segment) && !self.taken.val().get_bit(segment) {
                self.counts[segment].d.next = self.counts[segment].q.val() - 1;
            }
            self.open
                .next
                .set_bit(segment, self.counts[segment].q.val().any());
        }
        self.settled.next = !self.open.val().any();
    }
}
