//! Store and forward: a frame leaves only when it is complete inside, and then without a pause.
//!
//! ```text
//!          read_ptr      frame_ptr        write_ptr
//!             |              |                |
//!  memory ----[ whole frames ][ frame coming in ]----   frame_ptr follows write_ptr after a frame,
//!             |                                         write_ptr returns to it to drop one
//!             +===> output register ===> m
//! ```
//!
//! # Contract
//! - **Latency:** if the last beat of a frame is taken in cycle t, its first beat is valid at the output in
//!   cycle t + 2 (if nothing is ahead of it).
//! - **Throughput:** one beat per cycle in and out at the same time. Once a frame's first beat is at the
//!   output, the output never waits for the input until the frame's end.
//! - **Capacity:** `depth` beats in the memory, complete or not; a beat frees its place when it moves to the
//!   output register. So a frame of up to `depth` beats fits into the empty FIFO.
//! - **Backpressure:** the input never stalls: `s_ready` is high from the second cycle after reset on.
//! - **Dropping:** a frame is dropped whole if `drop_frame` is high with its last beat, or if one of its beats
//!   comes while the memory is full (a frame longer than the FIFO always ends so). `dropped` is high for
//!   the cycle after its last beat; `dropped_overflow` then tells whether it did not fit.
//! - **Ordering:** frames leave in the order in which they came, unbroken.
//! - **Reset:** discards all frames: `s` must start with a new one.

use super::{FrameIn, FrameOut, entries};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// Store and forward: a frame leaves only when it is complete inside, and then without a pause.
/// # Parameters
/// `depth` is a power of two from 2 to 65536, `width` 1 to 4096 bits.
#[module(
    width: usize,
    depth: usize,
    error = ParameterError,
    _ = entries::WIDTH.check("frame_fifo", width)?,
    _ = entries::DEPTH.check("frame_fifo", depth)?,
    address: usize = address_width(depth),
)]
pub struct FrameFifo {
    /// Frames in; never stalls.
    pub s: FrameIn<{ width }>,
    /// With the last beat: drops the frame.
    pub drop_frame: Wire<In, bool>,
    /// Frames out.
    pub m: FrameOut<{ width }>,
    /// A frame was dropped in the cycle before.
    pub dropped: Wire<Out, bool>,
    /// With `dropped`: the frame did not fit.
    pub dropped_overflow: Wire<Out, bool>,
    memory: Ram<{ RamStyle::Block }, { depth }, { width + 1 }>,
    /// Where the next beat is written; one bit more than an address tells full from empty.
    write_ptr: Reg<{ address + 1 }, Reset>,
    /// Where the frame that is coming in began.
    frame_ptr: Reg<{ address + 1 }, Reset>,
    /// Where the next beat is read.
    read_ptr: Reg<{ address + 1 }, Reset>,
    accepting: Reg<bool, Reset>,
    /// The rest of the frame that is coming in is thrown away.
    overflowed: Reg<bool, Reset>,
    held: Reg<bool, Reset>,
    was_dropped: Reg<bool, Reset>,
    was_overflow: Reg<bool, Reset>,
}

#[kernel(
    FrameFifo,
    parameters(DEPTH = depth, WIDTH = width),
    numbers(ADDRESS = clog2(DEPTH), POINTER = clog2(DEPTH) + 1),
)]
fn update() {
    accepting = true;
    s.ready = accepting;
    /// A beat comes in.
    let push = s.valid && accepting;
    /// Pointers that differ in their highest bit alone are a whole memory apart.
    let full = write_ptr == (read_ptr ^ depth);
    /// The frame that is coming in does not fit.
    let overflow = overflowed || full;
    memory.write(
        push && !overflow,
        write_ptr.slice(0, address),
        cat!(s.last, s.data),
    );

    was_dropped = false;
    was_overflow = false;
    if push {
        write_ptr = write_ptr + 1;
        if overflow || (s.last && drop_frame) {
            write_ptr = frame_ptr;
            was_dropped = s.last;
            was_overflow = s.last && overflow;
        } else if s.last {
            frame_ptr = write_ptr + 1;
        }
        overflowed = overflow && !s.last;
    }
    dropped = was_dropped;
    dropped_overflow = was_overflow;

    /// A beat leaves the memory.
    let fetch = read_ptr != frame_ptr && (!held || m.ready);
    memory.read_enable = fetch;
    memory.read_addr = read_ptr.slice(0, address);
    if fetch {
        read_ptr = read_ptr + 1;
        held = true;
    } else if m.ready {
        held = false;
    }
    m.valid = held;
    m.data = memory.read_data.slice(0, width);
    m.last = memory.read_data[width];
}
