//! A FIFO that costs no clock while it is empty.
//!
//! ```text
//!  s ==+===============================> m     empty: straight through
//!      |   +------+
//!      +==>| FIFO |====+===============> m     without a register: after what waits
//!      |   +------+    |
//!      |               |   +----------+
//!      +===============+==>| register |==> m   with one: the first element that waits
//!                          +----------+
//! ```
//!
//! Block RAM reads into a register of its own. Then the one here holds the first element that must wait, which the FIFO
//! could not show at once, and those after it come from the FIFO's. In front of distributed RAM it holds whatever is
//! the first, so that nothing is read from the memory in the cycle in which it leaves.
//!
//! # Contract
//! - **Latency:** none while nothing waits: what comes in is at the output in the same cycle. An element
//!   that the other side does not take waits inside, and so do those after it.
//! - **Throughput:** one element a clock. With block RAM the one after the first that has waited comes two clocks
//!   after it came in at the earliest, which is the time that the memory takes.
//! - **Capacity:** exactly `depth` elements; with a register that holds the first, `depth` more fit after it.
//! - **Backpressure:** `s_ready` is a register: low when the FIFO is full, and in the first cycle after reset.
//!   `almost_full` is one too: high while at most `margin` more elements fit into the FIFO.
//! - **Paths:** from `s_valid` and `s_data` to `m_valid` and `m_data`, none from `m_ready` to `s`.
//! - **Ordering:** elements leave in the order in which they came.
//! - **Reset:** discards what is inside.

use super::{Fifo, FifoConfig, StreamIn, StreamOut};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// First in, first out, without any latency while it is empty.
#[module(
    config: FifoConfig,
    error = ParameterError,
    registered: bool = config.registered,
    block: bool = config.block,
)]
pub struct PassFifo {
    /// Elements in.
    pub s: StreamIn<{ config.width }>,
    /// Elements out.
    pub m: StreamOut<{ config.width }>,
    /// At most the margin's number of elements still fit.
    pub almost_full: Wire<Out, bool>,
    fifo: Checked<Fifo<{ config.behind_a_register() }>>,
    /// Something is in the FIFO, also if it is not at its output yet (block RAM only).
    waiting: Optional<Reg<bool, Reset>, { block }>,
    /// The first element that must wait (registered output only).
    first: Optional<Reg<{ config.width }>, { registered }>,
    first_used: Optional<Reg<bool, Reset>, { registered }>,
}

#[kernel(
    PassFifo,
    suffix = config.variant(),
    parameters(WIDTH = config.width, DEPTH = config.depth, MARGIN = config.margin),
)]
fn update() {
    s.ready = fifo.s.ready;
    almost_full = fifo.almost_full;
    fifo.s.data = s.data;
    let comes = s.valid && fifo.s.ready;
    /// Something is ahead of the input.
    let blocked = if block { *waiting } else { fifo.m.valid };
    /// The register keeps its element, which is the first of all.
    let stays = registered && (*first_used && !m.ready);
    /// An element passes from the input, or from the FIFO if that has none of its own to show first.
    let (valid, data) = if registered && !block {
        (comes, s.data)
    } else {
        if blocked {
            (fifo.m.valid, fifo.m.data)
        } else {
            (comes, s.data)
        }
    };
    if registered {
        m.valid = *first_used || valid;
        m.data = if *first_used { *first } else { data };
    } else {
        m.valid = valid;
        m.data = data;
    }
    if block {
        fifo.m.ready = m.ready && !*first_used;
        fifo.s.valid = s.valid && (blocked || stays);
        if !stays {
            *first = s.data;
        }
        /// An element goes there if nothing else is ahead of it and it cannot leave now.
        *first_used = stays || (comes && !blocked && (*first_used || !m.ready));
        /// The last element leaves the FIFO when only one is inside and none comes.
        let goes = fifo.m.valid && fifo.m.ready;
        *waiting = if blocked {
            comes || !goes || fifo.level != 1
        } else {
            comes && stays
        };
    } else if registered {
        /// The register is used whenever something is in the FIFO.
        fifo.m.ready = m.ready;
        fifo.s.valid = s.valid && *first_used && (blocked || !m.ready);
        if !stays {
            *first = if blocked { fifo.m.data } else { s.data };
        }
        *first_used = stays || blocked || (comes && (*first_used || !m.ready));
    } else {
        fifo.m.ready = m.ready;
        fifo.s.valid = s.valid && (blocked || !m.ready);
    }
}
