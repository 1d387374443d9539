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
#[hardware]
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    errors: Wire<Local, { ERROR_CODES }>,
    counters: EventCounters<{ EVENTS }>,
}

impl Logic for HalfCounters {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.counters);
        self.errors.next = 0.into();
        for code in 1..=ERROR_CODES {
            self.errors
                .next
                .set_bit(code - 1, self.retired.val() && self.error.val() == code as u64);
        }
        if self.retired.val() && self.error.val() > ERROR_CODES as u64 {
            self.errors.next.set_bit(OTHER_ERROR - 1, true);
        }
        /// The event with the highest number first.
        self.counters.events.next = cat!(
            self.stray.val(),
            self.answered.val() && self.outside.val(),
            self.answered.val() && self.refused.val(),
            self.answered.val(),
            self.errors.val()
        ) & fill(!self.in_reset.val(), EVENTS);
        self.bursts_count.next = self.counters.counts[BURST].val();
        self.refused_count.next = self.counters.counts[REFUSED].val();
        self.outside_count.next = self.counters.counts[OUTSIDE].val();
        self.stray_count.next = self.counters.counts[STRAY].val();
        self.error_counts.next = 0.into();
        for code in 0..ERROR_CODES {
            self.error_counts.next.set_slice(
                code * COUNTER_WIDTH,
                COUNTER_WIDTH,
                self.counters.counts[code].val(),
            );
        }
    }
}
