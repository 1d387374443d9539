//! Sends every frame to the output that its select element names.
//!
//! ```text
//!                +--------+====> register ====> m[0]
//!  s ===========>|  one   |====> register ====> m[1]
//!  select ======>|  of n  |====> ...
//!                +--------+----> (nowhere, counted by misrouted)
//! ```
//!
//! # Contract
//! - **Latency:** a beat that is taken in cycle t is valid at its output in cycle t + 1.
//! - **Throughput:** one beat per cycle, also from frame to frame and from output to output.
//! - **Select:** one element per frame, the number of the output. No beat is taken before it is
//!   valid; it is taken together with the last beat of its frame.
//! - **Backpressure:** an output that stalls blocks the input only while the current frame goes to it.
//! - **Paths:** `s_ready` depends in the same cycle on `select` and on the `ready` of the selected
//!   output; `select_ready` on `s` as well. All outputs are registers.
//! - **Ordering:** frames to the same output leave in the order in which they came, unbroken.
//! - **Reset:** discards the beats in the output registers. The block remembers nothing about frames, so
//!   `s` and `select` must be reset together.
//! - **Bad input:** a frame whose select element is beyond the last output is taken at one beat per cycle
//!   and discarded; `misrouted` is high in the cycle after its last beat.

use super::{FrameIn, FrameOut, StreamIn, entries};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// Sends every frame to the output that its select element names.
/// # Parameters
/// `ports` are 1 to 64 outputs, `width` 1 to 4096 bits.
#[module(
    ports: usize,
    width: usize,
    error = ParameterError,
    _ = entries::PORTS.check("frame_demux", ports)?,
    _ = entries::WIDTH.check("frame_demux", width)?,
)]
pub struct FrameDemux {
    /// Frames in.
    pub s: FrameIn<{ width }>,
    /// Number of the output, one element per frame.
    pub select: StreamIn<{ address_width(ports) }>,
    /// Frames out.
    pub m: [FrameOut<{ width }>; ports],
    /// A frame was discarded in the cycle before, because no output has its number.
    pub misrouted: Wire<Out, bool>,
    data: [Reg<{ width }>; ports],
    last: [Reg<bool>; ports],
    valid: [Reg<bool, Reset>; ports],
    discarded: Reg<bool, Reset>,
}

#[kernel(
    FrameDemux,
    suffix = ports, parameters(WIDTH = width),
)]
fn update() {
    /// The output that is selected exists.
    let exists = wire_bit();
    /// The register of the output that is selected is free, or empties in this cycle.
    let free = wire_bit();
    exists = false;
    free = false;
    for (i, m) in m.iter().enumerate() {
        if select.data == i {
            exists = true;
            free = !valid[i] || m.ready;
        }
    }
    /// A beat can be taken. A beat without an output is taken at once.
    let ready = select.valid && (free || !exists);
    /// A beat is taken.
    let take = s.valid && ready;
    s.ready = ready;
    select.ready = take && s.last;
    for (i, m) in m.iter().enumerate() {
        if m.ready {
            valid[i] = false;
        }
        if take && select.data == i {
            valid[i] = true;
            data[i] = s.data;
            last[i] = s.last;
        }
        m.data = data[i];
        m.last = last[i];
        m.valid = valid[i];
    }
    discarded = take && s.last && !exists;
    misrouted = discarded;
}
