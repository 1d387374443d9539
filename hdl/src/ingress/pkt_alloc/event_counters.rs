//! What the allocator counts.

use spinneret_verilog::prelude::*;

/// Width of a counter; it wraps.
pub(super) const COUNTER_WIDTH: usize = 32;

/// Counts events, one counter for each, one cycle after they happen.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct EventCounters {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: all counters are 0.
    pub rst: Wire<In, bool>,
    /// Bit n: event n happens in this cycle.
    pub events: Wire<In>,
    /// How often each event has happened.
    pub counts: Vec<Wire<Out>>,
    happened: Reg,
    values: Vec<Reg>,
}

impl EventCounters {
    /// EventCounters for `events` events.
    pub fn new(events: usize) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            events: Wire::word(events),
            counts: vec![Wire::word(COUNTER_WIDTH); events],
            happened: Reg::word_reset(events),
            values: vec![Reg::word_reset(COUNTER_WIDTH); events],
        }
    }
}

impl Logic for EventCounters {
    #[kernel]
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
