//! Joins streams of frames into one, frame by frame, in turn.
//!
//! ```text
//!  s[0] =====>+--------+
//!  s[1] =====>|  pick  |====> register ====> m, source
//!  ...        +--------+
//! ```
//!
//! # Contract
//! - **Latency:** a beat that is taken in cycle t is valid at the output in cycle t + 1.
//! - **Throughput:** one beat per cycle, also from frame to frame: where any input has a frame
//!   waiting, no cycle is lost between frames.
//! - **Fairness:** round robin by frame. After a frame of input i the inputs are asked in the order
//!   i + 1, i + 2, ..., i; so a frame waits for at most one frame of every other input. The turn
//!   starts with input 0 after reset.
//! - **Backpressure:** `m_ready` low holds the beat, and stops the input whose turn it is. An input that
//!   pauses within its frame holds the output: frames are not interleaved.
//! - **Paths:** the `ready` of an input depends in the same cycle on `m_ready` and on the `valid` of all
//!   inputs. All outputs on the side of `m` are registers.
//! - **Ordering:** frames of the same input stay in order.
//! - **Reset:** discards the beat in the output register and the frame that was going through: all inputs
//!   must start with a new frame.

use super::{FrameIn, FrameOut, entries};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// Joins streams of frames into one, frame by frame, in turn.
/// # Parameters
/// `ports` are 1 to 64 inputs, `width` 1 to 4096 bits.
#[module(
    ports: usize,
    width: usize,
    error = ParameterError,
    _ = entries::PORTS.check("frame_arbiter", ports)?,
    _ = entries::WIDTH.check("frame_arbiter", width)?,
    number: usize = address_width(ports),
)]
pub struct FrameArbiter {
    /// Frames in.
    pub s: [FrameIn<{ width }>; ports],
    /// Frames out.
    pub m: FrameOut<{ width }>,
    /// Number of the input that the beat at the output came from; valid and stable as the beat.
    pub source: Wire<Out, { number }>,
    data: Reg<{ width }>,
    last: Reg<bool>,
    valid: Reg<bool, Reset>,
    /// The input that had a beat taken most recently.
    #[new(Reg::reset_to(lit(ports as u64 - 1, number)))]
    owner: Reg,
    /// The owner's frame is not over.
    within_frame: Reg<bool, Reset>,
}

#[kernel(
    FrameArbiter,
    suffix = self.s.len(), parameters(WIDTH = width),
)]
fn update() {
    /// The input whose turn it is: within a frame, the owner; else the first that waits behind the owner, or before it.
    let turn = wire(number);
    turn = owner;
    for (i, s) in s.iter().enumerate().rev() {
        if s.valid {
            turn = i;
        }
    }
    for (i, s) in s.iter().enumerate().skip(1).rev() {
        if s.valid && owner < i {
            turn = i;
        }
    }
    if within_frame {
        turn = owner;
    }

    /// That input has a beat.
    let offered = wire_bit();
    let (offered_last, offered_data) = (wire_bit(), wire(data.width()));
    offered = false;
    offered_last = s[0].last;
    offered_data = s[0].data;
    for (i, s) in s.iter().enumerate() {
        if turn == i {
            offered = s.valid;
            offered_last = s.last;
            offered_data = s.data;
        }
    }

    /// The output register is free, or empties in this cycle.
    let free = !valid || m.ready;
    for (i, s) in s.iter().enumerate() {
        s.ready = free && turn == i;
    }
    if free {
        valid = offered;
        data = offered_data;
        last = offered_last;
        if offered {
            owner = turn;
            within_frame = !offered_last;
        }
    }
    m.data = data;
    m.last = last;
    m.valid = valid;
    source = owner;
}
