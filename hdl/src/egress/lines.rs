//! Lines of memory, as they are read, become beats of frames.

use super::shape::{DoneFields, FrameFields};
use crate::axi::DECERR;
use crate::entry::Entry;
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// A line out of a block, which is taken whenever it is there.
#[interface(LineIn, data: usize, offset = (data / 8).trailing_zeros() as usize)]
pub struct LineOut {
    /// The bytes of memory.
    pub data: Wire<Out, { data }>,
    /// Place of the frame's first byte in its first line.
    pub offset: Wire<Out, { offset }>,
    /// Bytes of the frame's last beat, minus 1.
    pub tail: Wire<Out, { offset }>,
    /// The line is the first of its frame.
    pub first: Wire<Out, bool>,
    /// The line is the last of its frame.
    pub last: Wire<Out, bool>,
    /// The frame has as many beats as lines.
    pub even: Wire<Out, bool>,
    /// This line, or one of the frame before it, could not be read.
    pub error: Wire<Out, bool>,
    /// The line is there.
    pub valid: Wire<Out, bool>,
}

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

/// [`LineAligner`] in the catalog, for a proof of its own.
pub(crate) const ALIGNER_ENTRY: Entry = entry!(part AlignerShape::BLOCK, LineAligner(AlignerShape):
    "makes beats of lines, whatever place of a line a frame starts at");

/// Widths of lines and beats.
#[derive(Parameters, Clone, Copy, Debug)]
#[parameters(block = "line_aligner")]
pub struct AlignerShape {
    /// Width of a line and of a beat in bits, a power of two.
    #[parameter(512, range = 16..=1024, power_of_two)]
    pub data_width: usize,
    /// Width of a number of beats in bits.
    #[parameter(8, range = 1..=16)]
    pub beats_width: usize,
}

/// Makes beats of lines, whatever place of its first line a frame starts at.
///
/// ```text
///           +---------+   +----------+      +------+
///  line ===>| turns   |==>| turned   |==+==>| pick |===> beat
///           | to lane | +>| register |  |   +------+
///           | 0       | | +----------+  |      ^
///           +---------+ |               v      |
///                       |          +-------+   |
///                       +----------| carry |===+
///                                  +-------+
/// ```
///
/// # Contract
/// - **Behaviour**: the bytes of a frame's lines, from `offset` of the first line on, fill beats from lane 0 on.
///   A beat has the bytes that are left of its line, then those of the next line.
/// - **Slots**: a beat leaves with the line after its first one. If a frame ends in the line that its last
///   beat starts in (`even`), that beat leaves in the clock after the last line, in which at most the first
///   line of the next frame comes: that one has no beat to complete. So no line ever waits.
/// - **Throughput**: one line a clock, from frame to frame too, whatever their offsets.
/// - **Latency**: a beat is at the output one clock after the line that completes it; the one after the last
///   line two clocks after that.
/// - **Backpressure**: none.
/// - **Last beat**: `keep` has ones for exactly `tail` + 1 bytes from lane 0 on; all other beats are full.
///   `bad` comes with it if a line of the frame was marked as an error. `count` is its number, from 1 on.
/// - **Reset** discards the frame that is coming in.
#[module(
    shape: AlignerShape,
    width = shape.data_width,
    lanes: usize = width / 8,
    bits: usize = lanes.trailing_zeros() as usize,
)]
pub struct LineAligner {
    /// Lines.
    pub line: LineIn<{ width }>,
    /// Bytes of a beat; those that `keep` does not name mean nothing.
    pub data: Wire<Out, { width }>,
    /// Bytes that belong to the frame.
    pub keep: Wire<Out, { lanes }>,
    /// The beat is the last of its frame.
    pub last: Wire<Out, bool>,
    /// With the last beat: a line of the frame could not be read.
    pub bad: Wire<Out, bool>,
    /// With the last beat: the beats of the frame.
    pub count: Wire<Out, { shape.beats_width }>,
    /// The beat is there.
    pub valid: Wire<Out, bool>,
    turned: Reg<{ width }>,
    /// The line before, and what is left to say of its frame.
    carry: Reg<{ width }>,
    carry_tail: Reg<{ bits }>,
    carry_error: Reg<bool>,
    beats: Reg<{ shape.beats_width }, Reset>,
}

/// Turns a line by as many bytes as `bytes` says: by up to three steps of one byte, then of four, and so on; each is one
/// table a bit.
#[kernel]
fn turn(line: Sig, bytes: Sig) -> Sig {
    let mut turned = line;
    for low in (0..bytes.width()).step_by(2) {
        let select = bytes.slice(low, (bytes.width() - low).min(2));
        let by = |steps: usize| {
            let (rest, first) = turned.split_at(steps * (8 << low));
            (select == steps, cat!(rest, first))
        };
        turned = first(&(1..1 << select.width()).map(by).collect::<Vec<_>>(), turned);
    }
    turned
}

#[kernel(
    LineAligner {
        line, data, keep, last, bad, count, valid, turned, carry, carry_tail, carry_error, beats, lanes
    },
    suffix = format!("{}_{}", self._shape.data_width, self._shape.beats_width),
)]
fn update() {
    turned = turn(line.data, line.offset);
    let (offset, tail, first, last_line) =
        (reg(line.offset), reg(line.tail), reg(line.first), reg(line.last));
    let (even, error, turned_valid) = (reg(line.even), reg(line.error), reg_reset(line.valid, false));
    /// The line before.
    if turned_valid {
        carry = turned;
        carry_tail = tail;
        carry_error = error;
    }
    /// The line before ends its frame and has a beat of its own.
    let flush = reg_reset(turned_valid && last_line && even, false);
    /// The beat: what is left of the line before, then the lowest bytes of this one.
    for lane in 0..lanes {
        let of_carry = flush || offset <= lanes - 1 - lane;
        data.slice(8 * lane, 8) = if of_carry {
            carry.slice(8 * lane, 8)
        } else {
            turned.slice(8 * lane, 8)
        };
    }
    let ends = flush || (last_line && !even);
    let tail_now = if flush { carry_tail } else { tail };
    bad = if flush { carry_error } else { error };
    keep = word_of((0..lanes).map(|lane| !ends || tail_now >= lane));
    valid = turned_valid && !first || flush;
    last = ends;
    /// Beats of the frame.
    count = beats + 1;
    if valid {
        beats = if ends { 0 } else { count };
    }
}
