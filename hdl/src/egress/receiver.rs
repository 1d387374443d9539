//! Tells the lines that were read apart: which frame they belong to, and how they went.

use super::line::LineOut;
use super::shape::{DoneFields, FrameFields};
use crate::axi::DECERR;
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Gives each line of memory its place in its frame: one a clock, one clock later.
///
/// All reads have one id, so lines come in the order in which they were requested. An unrequested line
/// is ignored.
#[hardware(data: usize, frame: FrameFields, done: DoneFields = DoneFields::new())]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct LineReceiver {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: discards the frame that is coming in.
    pub rst: Wire<In, bool>,
    /// RDATA.
    pub data: Wire<In, { data }>,
    /// RRESP.
    pub response: Wire<In, 2>,
    /// RVALID; a line is always taken.
    pub valid: Wire<In, bool>,
    /// The frames that were asked for, in order.
    pub frame: StreamIn<{ frame.width }>,
    /// The line and its place.
    pub line: LineOut<{ data }>,
    /// How a frame went, as [`DoneFields`] says.
    pub done: Wire<Out, { done.width }>,
    /// Its last line has come.
    pub done_valid: Wire<Out, bool>,
    data_reg: Reg<{ data }>,
    response_reg: Reg<2>,
    valid_reg: Reg<bool, Reset>,
    /// After the first line of a frame.
    in_frame: Reg<bool, Reset>,
    /// Lines of the frame that are still to come, minus 1.
    left: Reg<{ frame.lines.width }>,
    /// State of the lines before, as in `done`.
    error: Reg<{ done.width }>,
    left_now: Wire<Local, { frame.lines.width }>,
    error_now: Wire<Local, { done.width }>,
    known: Wire<Local, bool>,
    last: Wire<Local, bool>,
}

impl Logic for LineReceiver {
    #[kernel]
    fn update(&mut self) {
        let (frame, done): (FrameFields, DoneFields) = (self._frame, self._done);
        clocked!(self.clk, self.rst => self.valid_reg, self.in_frame);
        clocked!(self.clk => self.data_reg, self.response_reg, self.left, self.error);
        self.valid_reg.d.next = self.valid.val();
        self.data_reg.d.next = self.data.val();
        self.response_reg.d.next = self.response.val();
        self.known.next = self.valid_reg.q.val() && self.frame.valid.val();
        /// The first bad line of a frame decides.
        self.error_now.next = pack!(done {
            error: self.response_reg.q.val().any(),
            decerr: self.response_reg.q.val() == DECERR,
        });
        if self.in_frame.q.val() {
            self.left_now.next = self.left.q.val();
            if self.error.q.val().flag(done.error) {
                self.error_now.next = self.error.q.val();
            }
        } else {
            self.left_now.next = self.frame.data.val().field(frame.lines);
        }
        self.last.next = self.left_now.val() == 0;
        if self.known.val() {
            self.in_frame.d.next = !self.last.val();
            self.left.d.next = self.left_now.val() - 1;
            self.error.d.next = self.error_now.val();
        }
        self.frame.ready.next = self.known.val() && self.last.val();
        self.done_valid.next = self.known.val() && self.last.val();
        self.done.next = self.error_now.val();
        self.line.data.next = self.data_reg.q.val();
        self.line.offset.next = self.frame.data.val().field(frame.offset);
        self.line.tail.next = self.frame.data.val().field(frame.tail);
        self.line.first.next = !self.in_frame.q.val();
        self.line.last.next = self.last.val();
        self.line.even.next = self.frame.data.val().flag(frame.even);
        self.line.error.next = self.error_now.val().flag(done.error);
        self.line.valid.next = self.known.val();
    }
}
