//! Counters of events.

use spinneret_verilog::prelude::*;

/// Width of a counter in bits; it wraps.
pub const COUNTER_WIDTH: usize = 32;

/// Counts events, one counter for each.
///
/// An event is in its counter two clocks after it happens: a register lies before the counters, so that
/// events may come from deep logic.
/// # Parameters
/// `events_width` is at least 1.
#[module(events_width: usize)]
pub struct EventCounters {
    /// Bit n: event n happens in this cycle.
    pub events: Wire<In, { events_width }>,
    /// How often each event has happened.
    pub counts: [Wire<Out, { COUNTER_WIDTH }>; events_width],
    /// The counters side by side, the first in the lowest bits.
    values: Reg<{ events_width * COUNTER_WIDTH }, Reset>,
}

#[kernel(EventCounters { events, counts, values, events_width }, suffix = self._events_width)]
fn update() {
    let happened = reg_reset(events, Word::zero(events_width));
    for (event, count) in counts.iter().enumerate() {
        let value = values.slice(event * COUNTER_WIDTH, COUNTER_WIDTH);
        if happened[event] {
            value = value + 1;
        }
        *count = value;
    }
}
