//! Turns plans into reads.

use super::shape::{AnswerFields, EgressShape, PlanFields, ReadFields};
use crate::axi::LENGTH_BITS;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Reads the lines of one frame after the other, by bursts that stay in their block of memory.
///
/// ```text
///          +--> answer: every plan, when its turn comes
///   plan --+--> frame:  those that are read, with their first burst
///          +--> burst:  one a clock
///   room --^
/// ```
///
/// # Contract
/// - **Throughput**: one burst a clock, also from frame to frame; a plan that is refused takes a clock.
/// - **Latency**: none. The outputs lead into queues with registers.
/// - **Backpressure**: a plan waits for room for the longest frame and for places in all queues it goes into, so
///   that whatever is read finds its place.
/// - **Bursts** end with their block of 64 lines, or of 4 KiB if those are less.
#[module(
    shape: EgressShape,
    width = shape.beats().max(shape.block()) + 1,
    plan = PlanFields::new(shape),
    answer = AnswerFields::new(shape),
    read: ReadFields = ReadFields::new(shape),
)]
pub struct FrameReader {
    /// Plans, as [`PlanFields`] says.
    pub plan: StreamIn<{ plan.width }>,
    /// Beats of the frame, which need room.
    pub need: Wire<Out, { shape.beats() }>,
    /// There is room for any frame.
    pub roomy: Wire<In, bool>,
    /// Claims the room.
    pub take: Wire<Out, bool>,
    /// The answer that is due, as in [`AnswerFields`].
    pub answer: StreamOut<{ answer.width }>,
    /// Outcome of the lines that are read.
    pub frame: StreamOut<{ shape.frame().width }>,
    /// Reads, as [`ReadFields`] says.
    pub burst: StreamOut<{ read.width }>,
    /// After the first burst of a frame.
    bursting: Reg<bool, Reset>,
    /// The next line.
    line: Reg<{ shape.line() }>,
    /// Lines that are not asked for, minus 1.
    left: Reg<{ width }>,
}

#[kernel(FrameReader { plan, need, roomy, take, answer, frame, burst, bursting, line, left, shape, read })]
fn update() {
    let (width, block) = (left.width(), shape.block());
    let planned = PlanFields::new(shape).of(plan.data);
    let refused = AnswerFields::new(shape).of(planned.answer).refused;
    need = planned.beats;
    /// A plan starts when everything that comes of it has its place.
    let start = plan.valid && !bursting && answer.ready && (refused || (roomy && frame.ready && burst.ready));
    plan.ready = start;
    take = start && !refused;
    answer.valid = start;
    answer.data = planned.answer;
    frame.valid = take;
    frame.data = planned.frame;
    /// The burst: up to the end of the frame or of the block.
    let (line_now, left_now) = if bursting {
        (line, left)
    } else {
        (planned.line, shape.frame().of(planned.frame).lines.resize(width))
    };
    let (place, number) = line_now.split_at(block);
    /// Lines after this one in its block.
    let behind = !place;
    let fits = left_now <= behind.resize(width);
    let length = if fits { left_now.slice(0, block) } else { behind };
    burst.valid = take || (bursting && burst.ready);
    burst.data = pack!(read {
        line: line_now,
        length: length.resize(LENGTH_BITS)
    });
    if burst.valid {
        bursting = !fits;
    }
    /// The rest begins with the next block. It counts only while there is one.
    if burst.ready {
        line = cat!(number + 1, lit(0, block));
        left = left_now - behind.resize(width) - 1;
    }
}
