//! A block that tests generate.

use spinneret_verilog::prelude::*;

/// Adds a step to a value at every clock.
#[derive(LogicBlock, Describe, Debug)]
pub(crate) struct Counter {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub rst: Wire<In, Bit>,
    /// What is added.
    pub step: Wire<In, Word>,
    /// The value.
    pub count: Wire<Out, Word>,
    value: Reg,
}

impl Counter {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            step: Wire::word(width),
            count: Wire::word(width),
            value: Reg::reset_to(Word::zero(width)),
        }
    }
}

impl Logic for Counter {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.value);
        self.value.d.next = self.value.q.val() + self.step.val();
        self.count.next = self.value.q.val();
    }
}
