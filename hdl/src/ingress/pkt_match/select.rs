//! The word that a rule looks at, counted from the frame or from its IP payload.
//!
//! ```text
//! lane           L-1         L
//! bytes       | a b c d | e f g h |
//! from frame            | e f g h |     front e f, back g h
//! from payload    | c d   e f |         back c d, front e f: the payload starts two bytes before a word
//! ```
//!
//! Both need the first half of lane L, so one multiplexer for each half of the word is enough. If L is lane 0, then
//! c d ended the beat before: it was selected there, and `keep_first` says that its register must keep it.

use super::MatchShape;
use super::shape::PAYLOAD_BASE_WIDTH;
use spinneret_verilog::prelude::*;

/// Selects the word that a rule looks at, which may count from the start of the IP payload.
///
/// It has no registers: the word is that of the beat at the inputs.
#[module(no_clock, shape: MatchShape)]
pub struct WordSelect {
    /// Number of the word.
    pub idx: Wire<In, { shape.place_width() }>,
    /// The word counts from the payload, not from the frame.
    pub relative: Wire<In, bool>,
    /// Beat of the frame.
    pub beat_data: Wire<In, { shape.data }>,
    /// Number of the beat within its frame.
    pub beat_number: Wire<In, { shape.beat_number_width() }>,
    /// The word of the frame that starts two bytes after the payload's start.
    pub payload_base: Wire<In, { PAYLOAD_BASE_WIDTH }>,
    /// Lane of the word before that one.
    pub payload_back: Wire<In, { shape.lane_width() }>,
    /// The word as the stream carries it, first byte least significant.
    pub word: Wire<Out, 32>,
    /// The word is in the beat, or its second half if the first ended the beat before.
    pub there: Wire<Out, bool>,
    /// The first half of the word ended the beat before.
    pub keep_first: Wire<Out, bool>,
}

#[kernel(WordSelect)]
fn update() {
    /// The word of the frame that starts with the front half. Both lanes are sums of their own, so that neither waits for
    /// the other.
    let place = idx + (payload_base & relative.repeat(PAYLOAD_BASE_WIDTH)).resize(shape.place_width());
    let (lane, beat) = place.split_at(shape.lane_width());
    /// The lane of the back half.
    let back_lane = idx.slice(0, shape.lane_width()) + (payload_back & relative.repeat(shape.lane_width()));
    let front = beat_data.at(cat!(lane, lit(0, 5)), 16);
    /// The beat without its first half, so that a lane of it starts with a back half.
    let backs = beat_data.slice(16, shape.data - 16).resize(shape.data);
    let back = backs.at(cat!(back_lane, lit(0, 5)), 16);
    word = if relative {
        cat!(front, back)
    } else {
        cat!(back, front)
    };
    there = beat == beat_number.resize(shape.place_beat_width());
    keep_first = relative & there & (lane == 0);
}
