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
#[hardware(
    shape: EgressShape,
    width = shape.beats().max(shape.block()) + 1,
    plan: PlanFields = PlanFields::new(shape),
    answer: AnswerFields = AnswerFields::new(shape),
    read: ReadFields = ReadFields::new(shape),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FrameReader {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: discards the frame that is being read.
    pub rst: Wire<In, bool>,
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
    line_now: Wire<Local, { shape.line() }>,
    left_now: Wire<Local, { width }>,
    /// Lines after this one in its block.
    behind: Wire<Local, { shape.block() }>,
    fits: Wire<Local, bool>,
    length: Wire<Local, { shape.block() }>,
    refused: Wire<Local, bool>,
    start: Wire<Local, bool>,
    read: Wire<Local, bool>,
}

impl Logic for FrameReader {
    #[kernel]
    fn update(&mut self) {
        let (line, block, frame) = (self._shape.line(), self._shape.block(), self._shape.frame());
        let (plan, answer, read) = (self._plan, self._answer, self._read);
        let width = self.left.q.width();
        clocked!(self.clk, self.rst => self.bursting);
        clocked!(self.clk => self.line, self.left);
        self.refused.next = self.plan.data.val().field(plan.answer).flag(answer.refused);
        self.need.next = self.plan.data.val().field(plan.beats);
        /// A plan starts when everything that comes of it has its place.
        self.start.next = self.plan.valid.val()
            && !self.bursting.q.val()
            && self.answer.ready.val()
            && (self.refused.val() || (self.roomy.val() && self.frame.ready.val() && self.burst.ready.val()));
        self.plan.ready.next = self.start.val();
        self.take.next = self.start.val() && !self.refused.val();
        self.answer.valid.next = self.start.val();
        self.answer.data.next = self.plan.data.val().field(plan.answer);
        self.frame.valid.next = self.start.val() && !self.refused.val();
        self.frame.data.next = self.plan.data.val().field(plan.frame);
        /// The burst: up to the end of the frame or of the block.
        if self.bursting.q.val() {
            self.line_now.next = self.line.q.val();
            self.left_now.next = self.left.q.val();
        } else {
            self.line_now.next = self.plan.data.val().field(plan.line);
            self.left_now.next = self
                .plan
                .data
                .val()
                .field(plan.frame)
                .field(frame.lines)
                .resize(width);
        }
        self.behind.next = !self.line_now.val().slice(0, block);
        self.fits.next = self.left_now.val() <= self.behind.val().resize(width);
        if self.fits.val() {
            self.length.next = self.left_now.val().slice(0, block);
        } else {
            self.length.next = self.behind.val();
        }
        self.read.next =
            (self.start.val() && !self.refused.val()) || (self.bursting.q.val() && self.burst.ready.val());
        self.burst.valid.next = self.read.val();
        self.burst.data.next = pack!(read {
            line: self.line_now.val(),
            length: self.length.val().resize(LENGTH_BITS),
        });
        if self.read.val() {
            self.bursting.d.next = !self.fits.val();
        }
        /// The rest begins with the next block. It counts only while there is one.
        if self.burst.ready.val() {
            self.line.d.next = cat!(self.line_now.val().slice(block, line - block) + 1, lit(0, block));
            self.left.d.next = self.left_now.val() - self.behind.val().resize(width) - 1;
        }
    }
}
