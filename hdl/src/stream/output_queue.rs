//! A queue whose output is a register and that costs one clock.
//!
//! ```text
//!  s ==+================+==>| register |==> m
//!      |   +------+     |
//!      +==>| FIFO |=====+    while the register is not free, or something is in the FIFO
//!          +------+
//! ```
//!
//! # Contract
//! - **Latency:** an element that is taken in cycle t is at the output in cycle t + 1, if nothing is ahead of it.
//! - **Throughput:** one element per cycle. A full queue takes its next element in the cycle after one has left.
//! - **Capacity:** exactly `depth` elements and the one in the register.
//! - **Backpressure:** `s_ready` is a register: low when full, and in the first cycle after reset.
//!   `almost_full` is one too: high while at most `margin` more elements fit.
//! - **Paths:** none from `s` to `m` or back; all outputs are registers.
//! - **Ordering:** elements leave in the order in which they came.
//! - **Reset:** empties the queue; what the register holds stays, unseen.

use super::{Fifo, FifoConfig, StreamIn, StreamOut};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// A FIFO with a register at its output that an element reaches in one clock when nothing is ahead of it.
/// # Parameters
/// As those of a [`Fifo`] with fall-through, whose margin `almost_full` has.
#[module(
    width: usize,
    depth: usize,
    margin: usize,
    error = ParameterError,
)]
pub struct OutputQueue {
    /// Elements in.
    pub s: StreamIn<{ width }>,
    /// Elements out.
    pub m: StreamOut<{ width }>,
    /// At most the margin's number of elements still fit.
    pub almost_full: Wire<Out, bool>,
    fifo: Checked<Fifo<{ FifoConfig::distributed(width, depth).with_margin(margin) }>>,
    data: Reg<{ width }>,
    valid: Reg<bool, Reset>,
}

#[kernel(
    OutputQueue,
    parameters(WIDTH = width, DEPTH = depth, MARGIN = margin),
)]
fn update() {
    /// The register is free, or empties in this cycle.
    let free = !valid || m.ready;
    /// The input goes straight to the register.
    let bypass = free && !fifo.m.valid;
    s.ready = fifo.s.ready;
    almost_full = fifo.almost_full;
    fifo.s.data = s.data;
    fifo.s.valid = s.valid && !bypass;
    fifo.m.ready = free;
    if free {
        if fifo.m.valid {
            valid = true;
            data = fifo.m.data;
        } else {
            valid = s.valid && fifo.s.ready;
            data = s.data;
        }
    }
    m.valid = valid;
    m.data = data;
}
