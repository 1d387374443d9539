//! Counters of the halves of the host DMA.

use super::ERROR_BITS;
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// Errors of a status that are counted apart: 1 to this one.
pub const ERROR_CODES: usize = 11;
/// The code under which errors count that Corundum gives no meaning to.
const OTHER_ERROR: usize = 3;

/// The event that a burst is answered.
const BURST: usize = ERROR_CODES;
/// The event that it could not be done.
const REFUSED: usize = ERROR_CODES + 1;
/// The event that it had bytes outside of all windows.
const OUTSIDE: usize = ERROR_CODES + 2;
/// The event that a status came for a tag that was not in flight.
const STRAY: usize = ERROR_CODES + 3;
/// How many events there are.
const EVENTS: usize = ERROR_CODES + 4;

/// Counts the events of a half; every count wraps at 2^32.
#[module]
pub struct HalfCounters {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: all counts are 0.
    pub rst: Wire<In, bool>,
    /// The half is in reset: nothing that it shows has happened.
    pub in_reset: Wire<In, bool>,
    /// A transfer is retired.
    pub retired: Wire<In, bool>,
    /// The error of its status; 0 if it has none.
    pub error: Wire<In, { ERROR_BITS }>,
    /// A burst is answered.
    pub answered: Wire<In, bool>,
    /// With `answered`: it could not be done.
    pub refused: Wire<In, bool>,
    /// With `answered`: it had bytes outside of all windows.
    pub outside: Wire<In, bool>,
    /// A status came for a tag that was not in flight.
    pub stray: Wire<In, bool>,
    /// Bursts that were answered.
    pub bursts_count: Wire<Out, { COUNTER_WIDTH }>,
    /// Bursts that could not be done.
    pub refused_count: Wire<Out, { COUNTER_WIDTH }>,
    /// Bursts with bytes outside of all windows.
    pub outside_count: Wire<Out, { COUNTER_WIDTH }>,
    /// Statuses for tags that were not in flight.
    pub stray_count: Wire<Out, { COUNTER_WIDTH }>,
    /// Statuses by error: 1 in the lowest word, and so on.
    pub error_counts: Wire<Out, { ERROR_CODES * COUNTER_WIDTH }>,
    counters: EventCounters<{ EVENTS }>,
}

#[kernel(
    HalfCounters {
        in_reset, retired, error, answered, refused, outside, stray, bursts_count, refused_count, outside_count,
        stray_count, error_counts, counters
    },
)]
fn update() {
    /// The errors of statuses; those without meaning count as 3.
    let errors = word_of((1..=ERROR_CODES).map(|code| retired && error == code));
    if retired && error > ERROR_CODES {
        errors[OTHER_ERROR - 1] = true;
    }
    /// One bit for each event, that with the highest number first.
    let events = cat!(stray, answered && outside, answered && refused, answered, errors);
    counters.events = events & (!in_reset).repeat(EVENTS);
    bursts_count = counters.counts[BURST];
    refused_count = counters.counts[REFUSED];
    outside_count = counters.counts[OUTSIDE];
    stray_count = counters.counts[STRAY];
    for (code, count) in counters.counts[..ERROR_CODES].iter().enumerate() {
        error_counts.slice(code * COUNTER_WIDTH, COUNTER_WIDTH) = *count;
    }
}
