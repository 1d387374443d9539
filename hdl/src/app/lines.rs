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
#[module(first_statistic: u64)]
pub struct EventLines {
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
}

#[kernel(
    EventLines {
        arrived, asker, by_context, stdout_valid, reported, statistic, happened, first_statistic
    },
)]
fn update() {
    let lines = wire(LINES);
    for context in 0..WINDOWS {
        lines[context] = arrived && (!by_context || asker == context);
    }
    let stdout_before = reg_reset(stdout_valid, false);
    lines[events::STDOUT_LINE as usize] = stdout_valid && !stdout_before;
    /// The statistic is a counter of errors.
    let is_error = wire_bit();
    is_error = false;
    for (number, (_, counts_errors)) in (0..).zip(error_counters()) {
        if counts_errors {
            if statistic == first_statistic + number {
                is_error = true;
            }
        }
    }
    lines[events::ERRORS_LINE as usize] = reported && is_error;
    happened = reg_reset(lines, 0);
}
