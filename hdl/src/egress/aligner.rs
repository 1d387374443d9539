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
/// `data` is the width of a line in bits, `beats` that of a number of beats.
#[hardware(data: usize, beats: usize, keep = data / 8, offset = keep.trailing_zeros() as usize)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct LineAligner {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Lines.
    pub line: LineIn<{ data }>,
    /// Bytes of a beat; those that `keep` does not name mean nothing.
    pub data: Wire<Out, { data }>,
    /// Bytes that belong to the frame.
    pub keep: Wire<Out, { keep }>,
    /// The beat is the last of its frame.
    pub last: Wire<Out, bool>,
    /// With the last beat: a line of the frame could not be read.
    pub bad: Wire<Out, bool>,
    /// With the last beat: the beats of the frame.
    pub count: Wire<Out, { beats }>,
    /// The beat is there.
    pub valid: Wire<Out, bool>,
    /// The line after no turn, one turn, and so on.
    turns: [Wire<Local, { data }>; offset.div_ceil(2) + 1],
    turned: Reg<{ data }>,
    offset: Reg<{ offset }>,
    tail: Reg<{ offset }>,
    first: Reg<bool>,
    last_line: Reg<bool>,
    even: Reg<bool>,
    error: Reg<bool>,
    turned_valid: Reg<bool, Reset>,
    /// The line before, and what is left to say of its frame.
    carry: Reg<{ data }>,
    carry_tail: Reg<{ offset }>,
    carry_error: Reg<bool>,
    /// The line before ends its frame and has a beat of its own.
    flush: Reg<bool, Reset>,
    beats: Reg<{ beats }, Reset>,
    tail_now: Wire<Local, { offset }>,
    completes: Wire<Local, bool>,
    ends: Wire<Local, bool>,
}

impl Logic for LineAligner {
    #[kernel(suffix = format!("{}_{}", self.data.width(), self.count.width()))]
    fn update(&mut self) {
        let (width, lanes, bits) = (self.data.width(), self.keep.width(), self.offset.q.width());
        clocked!(self.clk, self.rst => self.turned_valid, self.flush, self.beats);
        clocked!(self.clk => self.turned, self.offset, self.tail, self.first, self.last_line, self.even, self.error,
            self.carry, self.carry_tail, self.carry_error);
        /// Turns: by up to three steps of one byte, then of four, and so on; each is one table a bit.
        self.turns[0].next = self.line.data.val();
        for turn in 0..self.turns.len() - 1 {
            let step = 8 << (2 * turn);
            let select = (bits - 2 * turn).min(2);
            self.turns[turn + 1].next = self.turns[turn].val();
            for steps in 1..1 << select {
                if self.line.offset.val().slice(2 * turn, select) == steps as u64 {
                    self.turns[turn + 1].next = cat!(
                        self.turns[turn].val().slice(0, steps * step),
                        self.turns[turn].val().slice(steps * step, width - steps * step)
                    );
                }
            }
        }
        self.turned_valid.d.next = self.line.valid.val();
        self.turned.d.next = self.turns[self.turns.len() - 1].val();
        self.offset.d.next = self.line.offset.val();
        self.tail.d.next = self.line.tail.val();
        self.first.d.next = self.line.first.val();
        self.last_line.d.next = self.line.last.val();
        self.even.d.next = self.line.even.val();
        self.error.d.next = self.line.error.val();
        /// The line before.
        if self.turned_valid.q.val() {
            self.carry.d.next = self.turned.q.val();
            self.carry_tail.d.next = self.tail.q.val();
            self.carry_error.d.next = self.error.q.val();
        }
        self.flush.d.next = self.turned_valid.q.val() && self.last_line.q.val() && self.even.q.val();
        /// The beat: what is left of the line before, then the lowest bytes of this one.
        self.completes.next = self.turned_valid.q.val() && !self.first.q.val();
        self.ends.next = self.flush.q.val() || (self.last_line.q.val() && !self.even.q.val());
        self.data.next = self.turned.q.val();
        for lane in 0..lanes {
            if self.flush.q.val() || self.offset.q.val() <= (lanes - 1 - lane) as u64 {
                self.data
                    .next
                    .set_slice(8 * lane, 8, self.carry.q.val().slice(8 * lane, 8));
            }
        }
        if self.flush.q.val() {
            self.tail_now.next = self.carry_tail.q.val();
            self.bad.next = self.carry_error.q.val();
        } else {
            self.tail_now.next = self.tail.q.val();
            self.bad.next = self.error.q.val();
        }
        self.keep.next = 0.into();
        for lane in 0..lanes {
            self.keep
                .next
                .set_bit(lane, !self.ends.val() || self.tail_now.val() >= lane as u64);
        }
        self.valid.next = self.completes.val() || self.flush.q.val();
        self.last.next = self.ends.val();
        /// Beats of the frame.
        self.count.next = self.beats.q.val() + 1;
        if self.completes.val() || self.flush.q.val() {
            if self.ends.val() {
                self.beats.d.next = 0.into();
            } else {
                self.beats.d.next = self.beats.q.val() + 1;
            }
        }
    }
}
