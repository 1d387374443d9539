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
    /// The counters side by side, the first in the lowest bits.
    values: Reg<{ events * COUNTER_WIDTH }, Reset>,
}

impl Logic for EventCounters {
    #[kernel(suffix = self._events)]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.happened, self.values);
        self.happened.d.next = self.events.val();
        for event in 0..self._events {
            let low = event * COUNTER_WIDTH;
            if self.happened.q.val().get_bit(event) {
                self.values.d.next.set_slice(
                    low,
                    COUNTER_WIDTH,
                    self.values.q.val().slice(low, COUNTER_WIDTH) + 1,
                );
            }
            self.counts[event].next = self.values.q.val().slice(low, COUNTER_WIDTH);
        }
    }
}
