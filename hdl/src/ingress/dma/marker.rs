//! Marks the beats of frames whose length a descriptor says.

use super::DmaShape;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Computes what the beats of a frame are compared with; combinational.
#[hardware(shape: DmaShape, keep = shape.beat().keep.width)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FramePlan {
    /// Bits of the slot's address within a beat.
    pub address: Wire<In, { shape.beat_bits() }>,
    /// Length of the frame in bytes.
    pub length: Wire<In, { shape.length }>,
    /// {the address is not that of a beat, one beat is all, strobes of the last beat, beats after the first}; the
    /// last of no meaning if one beat is all.
    pub plan: Wire<Out, { shape.plan() }>,
    tail: Wire<Local, { keep }>,
    left: Wire<Local, { shape.beats_width() }>,
    whole: Wire<Local, { shape.beats_width() }>,
    rest: Wire<Local, { shape.beat_bits() }>,
    ones: Wire<Local, { keep }>,
    single: Wire<Local, bool>,
}

impl Logic for FramePlan {
    #[kernel]
    fn update(&mut self) {
        let (bits, keep) = (self._shape.beat_bits(), self._shape.beat().keep.width);
        self.whole.next = self.length.val().slice(bits, self._shape.beats_width());
        self.rest.next = self.length.val().slice(0, bits);
        self.ones.next = fill(true, keep);
        /// A length of whole beats ends with a full one; no length at all is one beat without bytes.
        if !self.rest.val().any() && self.whole.val().any() {
            self.tail.next = self.ones.val();
        } else {
            self.tail.next = !(self.ones.val() << self.rest.val());
        }
        if self.rest.val().any() {
            self.left.next = self.whole.val();
        } else {
            self.left.next = self.whole.val() - 1;
        }
        /// That one beat is all does not wait for the difference.
        self.single.next =
            !(self.whole.val() >> 1).any() && (!self.whole.val().get_bit(0) || !self.rest.val().any());
        self.plan.next = cat!(
            self.address.val().any(),
            self.single.val(),
            self.tail.val(),
            self.left.val()
        );
    }
}

/// Compares frames with their descriptors and marks their beats; no clock of latency.
///
/// A frame that is not as long as its descriptor says, or whose bytes are not in the lowest lanes, is bad.
/// Nothing is written beyond the length, and nothing at all if the address is not that of a beat. Of the beats
/// after the length only the last one passes.
#[hardware(shape: DmaShape, beat = shape.beat(), keep = beat.keep.width)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FrameMarker {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// The [`FramePlan`] of each frame.
    pub plan: StreamIn<{ shape.plan() }>,
    /// Beats of the frames: {tlast, tkeep, tdata}.
    pub s: StreamIn<{ shape.data + keep + 1 }>,
    /// Marked beats.
    pub m: StreamOut<{ beat.width }>,
    in_frame: Reg<bool, Reset>,
    /// After the length.
    past: Reg<bool>,
    /// Of the beats after the length, one had bytes.
    spilled: Reg<bool>,
    misplaced: Reg<bool>,
    left: Reg<{ shape.beats_width() }>,
    /// The next beat is the last one of the length.
    ends: Reg<bool>,
    tail: Reg<{ keep }>,
    first: Wire<Local, bool>,
    past_now: Wire<Local, bool>,
    misplaced_now: Wire<Local, bool>,
    left_now: Wire<Local, { shape.beats_width() }>,
    tail_now: Wire<Local, { keep }>,
    length_ends: Wire<Local, bool>,
    wanted: Wire<Local, { keep }>,
    keep: Wire<Local, { keep }>,
    last: Wire<Local, bool>,
    bad: Wire<Local, bool>,
    ready: Wire<Local, bool>,
    go: Wire<Local, bool>,
}

impl Logic for FrameMarker {
    #[kernel]
    fn update(&mut self) {
        let beat = self._shape.beat();
        let (keep, left) = (beat.keep.width, self._shape.beats_width());
        clocked!(self.clk, self.rst => self.in_frame);
        clocked!(self.clk => self.past, self.spilled, self.misplaced, self.left, self.ends, self.tail);
        self.keep.next = self.s.data.val().field(beat.keep);
        self.last.next = self.s.data.val().flag(beat.last);
        self.first.next = !self.in_frame.q.val();
        if self.first.val() {
            self.past_now.next = false;
            self.misplaced_now.next = self.plan.data.val().get_bit(left + keep + 1);
            self.left_now.next = self.plan.data.val().slice(0, left);
            self.tail_now.next = self.plan.data.val().slice(left, keep);
            self.length_ends.next = self.plan.data.val().get_bit(left + keep);
        } else {
            self.past_now.next = self.past.q.val();
            self.misplaced_now.next = self.misplaced.q.val();
            self.left_now.next = self.left.q.val();
            self.tail_now.next = self.tail.q.val();
            self.length_ends.next = self.ends.q.val();
        }
        if self.past_now.val() {
            self.wanted.next = lit(0, keep);
        } else if self.length_ends.val() {
            self.wanted.next = self.tail_now.val();
        } else {
            self.wanted.next = fill(true, keep);
        }
        self.bad.next = self.misplaced_now.val()
            || self.keep.val() != self.wanted.val()
            || (self.past_now.val() && !self.first.val() && self.spilled.q.val())
            || (self.last.val() && !self.length_ends.val() && !self.past_now.val());
        self.ready.next = self.s.valid.val() && (self.in_frame.q.val() || self.plan.valid.val());
        self.m.valid.next = self.ready.val() && (!self.past_now.val() || self.last.val());
        self.go.next = self.ready.val() && (self.m.ready.val() || (self.past_now.val() && !self.last.val()));
        self.s.ready.next = self.go.val();
        self.plan.ready.next = self.go.val() && self.first.val();
        if self.go.val() {
            self.in_frame.d.next = !self.last.val();
            self.past.d.next = self.past_now.val() || self.length_ends.val();
            self.spilled.d.next = self.past_now.val() && (self.spilled.q.val() || self.keep.val().any());
            self.misplaced.d.next = self.misplaced_now.val();
            self.left.d.next = self.left_now.val() - 1;
            self.ends.d.next = self.left_now.val() == 1;
            self.tail.d.next = self.tail_now.val();
        }
        /// {cut, over, bad, beyond, last, strobes, data}
        self.m.data.next = cat!(
            self.last.val() || self.length_ends.val(),
            false,
            self.bad.val(),
            self.past_now.val(),
            self.last.val(),
            self.keep.val() & self.wanted.val() & fill(!self.misplaced_now.val(), keep),
            self.s.data.val().field(beat.data)
        );
    }
}
