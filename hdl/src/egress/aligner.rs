//! Makes beats of lines, whatever place of its first line a frame starts at.
//!
//! ```text
//!           +---------+   +----------+      +------+
//!  line ===>| turns   |==>| turned   |==+==>| pick |===> beat
//!           | to lane | +>| register |  |   +------+
//!           | 0       | | +----------+  |      ^
//!           +---------+ |               v      |
//!                       |          +-------+   |
//!                       +----------| carry |===+
//!                                  +-------+
//! ```
//!
//! # Contract
//! - **Behaviour**: the bytes of a frame's lines, from `offset` of the first line on, fill beats from lane 0 on.
//!   A beat has the bytes that are left of its line, then those of the next line.
//! - **Slots**: a beat leaves with the line after its first one. If a frame ends in the line that its last
//!   beat starts in (`even`), that beat leaves in the clock after the last line, in which at most the first
//!   line of the next frame comes: that one has no beat to complete. So no line ever waits.
//! - **Throughput**: one line a clock, from frame to frame too, whatever their offsets.
//! - **Latency**: a beat is at the output one clock after the line that completes it; the one after the last
//!   line two clocks after that.
//! - **Backpressure**: none.
//! - **Last beat**: `keep` has ones for exactly `tail` + 1 bytes from lane 0 on; all other beats are full.
//!   `bad` comes with it if a line of the frame was marked as an error. `count` is its number, from 1 on.
//! - **Reset** discards the frame that is coming in.

use super::line::LineIn;
use spinneret_verilog::prelude::*;

/// Turns lines of memory into beats: one a clock, any alignment.
/// # Parameters
/// `width` is that of a line in bits, `beats_width` that of a number of beats.
#[module(width: usize, beats_width: usize, lanes: usize = width / 8, bits: usize = lanes.trailing_zeros() as usize)]
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
    pub count: Wire<Out, { beats_width }>,
    /// The beat is there.
    pub valid: Wire<Out, bool>,
    turned: Reg<{ width }>,
    /// The line before, and what is left to say of its frame.
    carry: Reg<{ width }>,
    carry_tail: Reg<{ bits }>,
    carry_error: Reg<bool>,
    beats: Reg<{ beats_width }, Reset>,
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
    suffix = format!("{}_{}", self._width, self._beats_width),
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
