//! Events of the application, as lines.

use super::ID_BITS;
use spinneret_regmap::{CONTEXTS, error_counters, events};
use spinneret_verilog::prelude::*;

/// Lines of the contexts.
const WINDOWS: usize = CONTEXTS as usize;
/// All lines.
const LINES: usize = events::LINES as usize;

/// Says which lines' events happen, in the order of `events.pending`.
///
/// # Contract
/// - **Context n**: a write burst of it to host memory was answered, so its bytes are where Corundum's DMA puts them, or
///   were refused. While `by_context` is 0 the cluster does not say who asks, and the lines of all contexts are meant.
/// - **Standard output** has a word, and had none in the clock before.
/// - **Errors**: a counter of errors has moved, as the statistics report it: when their turn comes, and they are taken.
/// - **Latency**: one clock.
#[hardware(first_statistic: u64)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct EventLines {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// A write burst to host memory was answered.
    pub arrived: Wire<In, bool>,
    /// The context that asked for it.
    pub asker: Wire<In, { address_width(WINDOWS) }>,
    /// It is known which context that is.
    pub by_context: Wire<In, bool>,
    /// Standard output has a word.
    pub stdout_valid: Wire<In, bool>,
    /// The growth of a counter is reported.
    pub reported: Wire<In, bool>,
    /// Its number as a statistic.
    pub statistic: Wire<In, { ID_BITS }>,
    /// Bit n: the event of line n happens.
    pub happened: Wire<Out, { LINES }>,
    lines: Reg<{ LINES }, Reset>,
    stdout_before: Reg<bool, Reset>,
    /// The statistic is a counter of errors.
    is_error: Wire<Local, bool>,
}

impl Logic for EventLines {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.lines, self.stdout_before);
        self.lines.d.next = 0.into();
        for context in 0..WINDOWS {
            self.lines.d.next.set_bit(
                context,
                self.arrived.val() && (!self.by_context.val() || self.asker.val() == context as u64),
            );
        }
        self.stdout_before.d.next = self.stdout_valid.val();
        self.lines.d.next.set_bit(
            events::STDOUT_LINE as usize,
            self.stdout_valid.val() && !self.stdout_before.q.val(),
        );
        self.is_error.next = false;
        for (number, (_, counts_errors)) in (0..).zip(error_counters()) {
            if counts_errors && self.statistic.val() == self._first_statistic + number {
                self.is_error.next = true;
            }
        }
        self.lines.d.next.set_bit(
            events::ERRORS_LINE as usize,
            self.reported.val() && self.is_error.val(),
        );
        self.happened.next = self.lines.q.val();
    }
}
