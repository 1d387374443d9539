//! Counters of events.

use spinneret_verilog::prelude::*;

/// Width of a counter in bits; it wraps.
pub const COUNTER_WIDTH: usize = 32;

/// Counts events, one counter for each.
///
/// An event is in its counter two clocks after it happens: a register lies before the counters, so that
/// events may come from deep logic.
/// # Parameters
/// `events` is at least 1.
#[hardware(events: usize)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct EventCounters {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: all counters are 0.
    pub rst: Wire<In, bool>,
    /// Bit n: event n happens in this cycle.
    pub events: Wire<In, { events }>,
    /// How often each event has happened.
    pub counts: [Wire<Out, { COUNTER_WIDTH }>; events],
    happened: Reg<{ events }, Reset>,
    values: [Reg<{ COUNTER_WIDTH }, Reset>; events],
}

impl Logic for EventCounters {
    #[kernel(suffix = self.values.len())]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.happened, self.values);
        self.happened.d.next = self.events.val();
        for event in 0..self.values.len() {
            if self.happened.q.val().get_bit(event) {
                self.values[event].d.next = self.values[event].q.val() + 1;
            }
            self.counts[event].next = self.values[event].q.val();
        }
    }
}
