//! First in, first out: decouples a producer from a consumer by up to `depth` elements.
//!
//! ```text
//!             +--------+      +----------------+
//!  s =====+==>| memory |=====>| output register|====> m        registered
//!         |   +--------+      +----------------+
//!         |   +--------+
//!         +==>| memory |==============================> m        falls through
//!             +--------+
//! ```
//!
//! # Contract
//! - **Latency:** an element that is taken in cycle t is valid at the output in cycle t + 2 with a
//!   registered output, in cycle t + 1 with fall-through (if nothing is ahead of it).
//! - **Throughput:** one element per cycle in and out at the same time; a registered output needs a `depth`
//!   of at least 4 for it, as 2 elements pass in 3 cycles through 2 places. A full FIFO takes its next
//!   element in the cycle after one has left it, so a full FIFO that drains leaves no gap either.
//! - **Capacity:** exactly `depth` elements; the output register holds one of them, not one more.
//!   `level` counts them all, and shows in cycle t + 1 what was taken and given in cycle t.
//! - **Backpressure:** `s_ready` is a register: low when full, and in the first cycle after reset.
//!   `almost_full` is a register: high while at most `margin` more elements fit, so that a producer
//!   that looks at it (and not at `s_ready`) may still push `margin` elements after it has risen.
//! - **Paths:** no path from `s` to `m` or back. `m_valid` is a register; `m_data` too if registered,
//!   else it is read from the memory in the same cycle.
//! - **Ordering:** elements leave in the order in which they came.
//! - **Reset:** empties the FIFO; contents of memory and output register stay, unseen.

use super::{FifoConfig, StreamIn, StreamOut};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// First in, first out, for the elements of a stream.
/// # Parameters
/// The depth is a power of two from 2, the margin less than it, and only distributed RAM falls through.
#[module(
    config: FifoConfig,
    error = ParameterError,
    _ = config.checked()?,
    pointer = address_width(config.depth),
    registered: bool = config.registered,
    own_register: bool = registered && !config.block,
)]
pub struct Fifo {
    /// Elements in.
    pub s: StreamIn<{ config.width }>,
    /// Elements out.
    pub m: StreamOut<{ config.width }>,
    /// Elements inside.
    pub level: Wire<Out, { pointer + 1 }>,
    /// At most the margin's number of elements still fit.
    pub almost_full: Wire<Out, bool>,
    memory: Ram<{ config.style() }, { config.depth }, { config.width }>,
    write_ptr: Reg<{ pointer }, Reset>,
    read_ptr: Reg<{ pointer }, Reset>,
    /// Elements in memory and output register.
    count: Reg<{ pointer + 1 }, Reset>,
    /// Less than the depth is inside.
    not_full: Reg<bool, Reset>,
    nearly_full: Reg<bool, Reset>,
    /// Something is in the memory.
    stored: Reg<bool, Reset>,
    /// The output register holds an element (registered output only).
    held: Optional<Reg<bool, Reset>, { registered }>,
    /// The output register (only where the memory has none of its own).
    held_data: Optional<Reg<{ config.width }>, { own_register }>,
}

#[kernel(
    Fifo,
    suffix = config.variant(),
    parameters(WIDTH = config.width, DEPTH = config.depth, MARGIN = config.margin),
    numbers(ADDRESS = clog2(DEPTH), COUNT = clog2(DEPTH) + 1, RISE = DEPTH - MARGIN),
)]
fn update() {
    let (depth, rise) = (config.depth, config.depth - config.margin);
    let shown = if registered { *held } else { stored };
    /// An element comes in.
    let push = s.valid && not_full;
    /// An element leaves the memory.
    let fetch = stored && if registered { !*held || m.ready } else { m.ready };
    /// An element leaves the FIFO.
    let pop = shown && m.ready;

    /// The next place is free as long as there is one. Its contents count only when the pointer has moved, so
    /// the memory need not wait for whether something comes.
    memory.write(not_full, write_ptr, s.data);
    memory.read_addr = read_ptr;
    if push {
        write_ptr = write_ptr + 1;
    }
    if fetch {
        read_ptr = read_ptr + 1;
        stored = read_ptr + 1 != write_ptr;
    }
    /// An element that comes in is in the memory in the next cycle, whatever leaves it.
    if push {
        stored = true;
    }
    /// The flags follow the level, which changes by one at most.
    if push && !pop {
        count = count + 1;
        if count == depth - 1 {
            not_full = false;
        }
        if count == rise - 1 {
            nearly_full = true;
        }
    } else if pop && !push {
        count = count - 1;
        not_full = true;
        if count == rise {
            nearly_full = false;
        }
    } else {
        /// Rises after reset.
        not_full = count != depth;
    }
    if registered {
        *held = fetch || *held && !m.ready;
    }
    m.data = if own_register {
        if fetch {
            *held_data = memory.read_data;
        }
        *held_data
    } else {
        memory.read_data
    };
    if config.block {
        memory.read_enable = fetch;
    }
    m.valid = shown;
    s.ready = not_full;
    level = count;
    almost_full = nearly_full;
}
