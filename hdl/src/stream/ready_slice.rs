//! Register slice for ready alone: costs no clock.
//!
//! ```text
//!  s ===+=============================>+\
//!       |  +------------------------+  | >===> m
//!       +=>| spare register, used   |=>+/
//!          | when the output stalls |
//!          +------------------------+
//! ```
//!
//! # Contract
//! - **Latency:** none: an element that comes in while nothing is held is at the output in the same cycle.
//! - **Throughput:** one element per cycle.
//! - **Backpressure:** holds one element, the one that was taken while the output was not ready. `s_ready` is
//!   a register: low while an element is held, and in the first cycle after reset.
//! - **Paths:** from `s` valid and data to `m`; none from `m` ready to `s`.
//! - **Ordering:** elements leave in the order in which they came.
//! - **Reset:** discards the element that is held.

use super::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Makes the ready signal of a stream a register and costs no clock: an element passes straight through,
/// or waits in a spare register if it was taken while the output was not ready.
#[module(width: usize)]
pub struct ReadySlice {
    /// Elements in.
    pub s: StreamIn<{ width }>,
    /// Elements out.
    pub m: StreamOut<{ width }>,
    spare: Reg<{ width }>,
    spare_used: Reg<bool, Reset>,
    ready: Reg<bool, Reset>,
}

#[kernel(ReadySlice, parameters(WIDTH = width))]
fn update() {
    /// Low in the first cycle after reset, when nothing may be taken yet.
    m.valid = spare_used || (s.valid && ready);
    m.data = if spare_used { spare } else { s.data };
    /// Something is at the output and stays there.
    let stays = !m.ready && m.valid;
    spare_used = stays;
    ready = !stays;
    if ready {
        spare = s.data;
    }
    s.ready = ready;
}
