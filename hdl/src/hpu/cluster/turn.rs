use super::{PIPELINES, THREADS};
use spinneret_verilog::prelude::*;

/// Says which of two pipelines goes first where both want the same.
///
/// Two threads meet in every fourth clock. Each pair has a turn of its own: one that had to wait, while the other one had not, goes
/// first the next time. So none waits for the other twice in a row, however often it offers.
#[module]
pub struct Turn {
    /// The pipeline has to wait in this clock.
    pub waits: [Wire<In, bool>; PIPELINES],
    /// The second pipeline goes first.
    pub second: Wire<Out, bool>,
    /// Of each pair of threads, the one of this clock last.
    turns: [Reg<bool, Reset>; THREADS],
}

#[kernel(Turn)]
fn update() {
    let last = THREADS - 1;
    second = turns[last];
    turns[0] = if waits[0] != waits[1] {
        waits[1]
    } else {
        turns[last]
    };
    for number in 0..last {
        turns[number + 1] = turns[number];
    }
}
