//! Marks the beats of frames whose length a descriptor says.

use super::DmaShape;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// The plan that beats of a frame are compared with: {the address is not that of a beat, one beat is all, strobes of the last beat,
/// beats after the first}; the last of no meaning if one beat is all.
///
/// `address` are the bits of the slot's address within a beat, `length` is that of the frame in bytes.
#[kernel]
pub(super) fn plan(shape: DmaShape, address: Sig, length: Sig) -> Sig {
    let (rest, whole) = length.split_at(shape.beat_bits());
    let ones = constant(fill(true, shape.beat().keep.width));
    /// A length of whole beats ends with a full one; no length at all is one beat without bytes.
    let tail = if !rest.any() && whole.any() {
        ones
    } else {
        !(ones << rest)
    };
    let left = if rest.any() { whole } else { whole - 1 };
    /// That one beat is all does not wait for the difference.
    let single = !(whole >> 1_usize).any() && (!whole[0] || !rest.any());
    cat!(address.any(), single, tail, left)
}

/// Compares frames with their descriptors and marks their beats; no clock of latency.
///
/// A frame that is not as long as its descriptor says, or whose bytes are not in the lowest lanes, is bad.
/// Nothing is written beyond the length, and nothing at all if the address is not that of a beat. Of the beats
/// after the length only the last one passes.
#[module(shape: DmaShape, beat = shape.beat(), keep = beat.keep.width)]
pub struct FrameMarker {
    /// The plan of each frame, as `plan` says.
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
}

#[kernel(FrameMarker)]
fn update() {
    let beat = shape.beat();
    let (keep_width, left_width) = (beat.keep.width, shape.beats_width());
    let keep = s.data.field(beat.keep);
    let last = s.data.flag(beat.last);
    let first = !in_frame;
    let past_now = !first && past;
    let (misplaced_now, left_now, tail_now, length_ends) = if first {
        let flags = left_width + keep_width;
        (
            plan.data[flags + 1],
            plan.data.slice(0, left_width),
            plan.data.slice(left_width, keep_width),
            plan.data[flags],
        )
    } else {
        (misplaced, left, tail, ends)
    };
    let full = fill(true, keep_width);
    let wanted = if past_now {
        lit(0, keep_width)
    } else if length_ends {
        tail_now
    } else {
        full
    };
    let bad = misplaced_now || keep != wanted || (past_now && spilled) || (last && !length_ends && !past_now);
    let ready = s.valid && (in_frame || plan.valid);
    m.valid = ready && (!past_now || last);
    let go = ready && (m.ready || (past_now && !last));
    s.ready = go;
    plan.ready = go && first;
    if go {
        in_frame = !last;
        past = past_now || length_ends;
        spilled = past_now && (spilled || keep.any());
        misplaced = misplaced_now;
        left = left_now - 1;
        ends = left_now == 1;
        tail = tail_now;
    }
    m.data = pack!(beat {
        data: s.data.field(beat.data),
        keep: keep & wanted & (!misplaced_now).repeat(keep_width),
        last,
        beyond: past_now,
        bad,
        over: false,
        cut: last || length_ends,
    });
}
