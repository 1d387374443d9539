//! Register slice: cuts every combinational path of a stream, in both directions.
//!
//! ```text
//!          +---------------------------+
//!  s ===+=>|                           |===> output register ===> m
//!       |  | spare register, used when |
//!       +=>| the output stalls         |
//!          +---------------------------+
//! ```
//!
//! # Contract
//! - **Latency:** an element that is taken in cycle t is valid at the output in cycle t + 1.
//! - **Throughput:** one element per cycle.
//! - **Backpressure:** holds two elements. `s_ready` is a register: low while the spare register is
//!   used, and in the first cycle after reset.
//! - **Paths:** none from `s` to `m` or back; all outputs are registers.
//! - **Ordering:** elements leave in the order in which they came.
//! - **Reset:** discards both elements.

use super::{StreamIn, StreamOut, entries};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// Register slice: cuts every combinational path of a stream, in both directions.
/// # Parameters
/// `width` is 1 to 4096 bits.
#[module(width: usize, error = ParameterError, _ = entries::WIDTH.check("skid_buffer", width)?)]
pub struct SkidBuffer {
    /// Elements in.
    pub s: StreamIn<{ width }>,
    /// Elements out.
    pub m: StreamOut<{ width }>,
    data: Reg<{ width }>,
    valid: Reg<bool, Reset>,
    spare: Reg<{ width }>,
    spare_used: Reg<bool, Reset>,
    ready: Reg<bool, Reset>,
}

#[kernel(SkidBuffer, parameters(WIDTH = width))]
fn update() {
    let push = s.valid && ready;
    /// The output register is free, or empties in this cycle.
    let free = !valid || m.ready;
    ready = !spare_used;
    if free {
        /// The spare register goes first; while it is used, nothing comes in.
        valid = spare_used || push;
        data = if spare_used { spare } else { s.data };
        spare_used = false;
        ready = true;
    } else if push {
        spare_used = true;
        ready = false;
    }
    /// Follows the input until it must keep it.
    if ready {
        spare = s.data;
    }
    s.ready = ready;
    m.valid = valid;
    m.data = data;
}
