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
#[module(width: usize, known: FrameFields, result: DoneFields = DoneFields::new())]
pub struct LineReceiver {
    /// RDATA.
    pub data: Wire<In, { width }>,
    /// RRESP.
    pub response: Wire<In, 2>,
    /// RVALID; a line is always taken.
    pub valid: Wire<In, bool>,
    /// The frames that were asked for, in order.
    pub frame: StreamIn<{ known.width }>,
    /// The line and its place.
    pub line: LineOut<{ width }>,
    /// How a frame went, as [`DoneFields`] says.
    pub done: Wire<Out, { result.width }>,
    /// Its last line has come.
    pub done_valid: Wire<Out, bool>,
    /// After the first line of a frame.
    in_frame: Reg<bool, Reset>,
    /// Lines of the frame that are still to come, minus 1.
    left: Reg<{ known.lines.width }>,
    /// State of the lines before, as in `done`.
    error: Reg<{ result.width }>,
}

#[kernel(LineReceiver { data, response, valid, frame, line, done, done_valid, in_frame, left, error, known, result })]
fn update() {
    let (data_reg, response_reg, valid_reg) = (reg(data), reg(response), reg_reset(valid, false));
    let frame_now = known.of(frame.data);
    let asked = valid_reg && frame.valid;
    let left_now = if in_frame { left } else { frame_now.lines };
    let last = left_now == 0;
    /// The first bad line of a frame decides.
    done = if in_frame && result.of(error).error {
        error
    } else {
        pack!(result {
            error: response_reg.any(),
            decerr: response_reg == DECERR
        })
    };
    if asked {
        in_frame = !last;
        left = left_now - 1;
        error = done;
    }
    frame.ready = asked && last;
    done_valid = asked && last;
    line.data = data_reg;
    line.offset = frame_now.offset;
    line.tail = frame_now.tail;
    line.first = !in_frame;
    line.last = last;
    line.even = frame_now.even;
    line.error = result.of(done).error;
    line.valid = asked;
}
