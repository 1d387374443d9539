//! One rule: looks at one word of a frame.
//!
//! A word of the IP payload lies across two words of the frame, as the payload starts two bytes before a word:
//!
//! ```text
//! lane           L-1         L
//! bytes       | a b c d | e f g h |
//! from frame            | e f g h |     front half e f, back half g h
//! from payload    | c d   e f |         back half c d, front half e f
//! ```
//!
//! Both need the first half of lane L, so one multiplexer for each half of the word is enough. If L is lane 0, then c d
//! ended the beat before: it was selected there, and its register keeps it.

use super::MatchShape;
use super::shape::PAYLOAD_BASE_WIDTH;
use spinneret_verilog::prelude::*;

/// A rule as registers hold it, but in network order.
#[interface(relative: bool)]
pub struct RuleIn {
    /// Number of the word within the frame.
    pub idx: Wire<In, 32>,
    /// Bits of the word that count.
    pub mask: Wire<In, 32>,
    /// Smallest masked value that matches.
    pub start: Wire<In, 32>,
    /// Largest masked value that matches.
    pub limit: Wire<In, 32>,
    /// The rule counts `idx` from the start of the IP payload.
    pub relative: Optional<Wire<In, bool>, { relative }>,
}

/// One match rule: one word of the frame, masked, must lie within a range.
///
/// It takes one beat a cycle; the hit comes out two cycles after the beat. A word that the frame
/// does not have, or that lies after the inspected beats, never matches.
#[module(shape: MatchShape, option = shape.ip_relative)]
pub struct MatchRule {
    /// Takes the rule from the ports below.
    pub load: Wire<In, bool>,
    /// The rule.
    pub rule: RuleIn<{ option }>,
    /// Beat of the frame.
    pub beat_data: Wire<In, { shape.data }>,
    /// Words of the beat that the frame has completely.
    pub beat_words: Wire<In, { shape.lanes() }>,
    /// Number of the beat within its frame.
    pub beat_number: Wire<In, { shape.beat_number_width() }>,
    /// The beat is there.
    pub beat_valid: Wire<In, bool>,
    /// Bit k: the frame has word k of its payload, or k plus a multiple of the lanes, if that ends in the beat. With
    /// this port, it and `beat_words` are those of the beat of the cycle before.
    pub payload_words: Optional<Wire<In, { shape.lanes() }>, { option }>,
    /// The word of the frame that starts two bytes after the payload's start.
    pub payload_base: Optional<Wire<In, { PAYLOAD_BASE_WIDTH }>, { option }>,
    /// Lane of the word before that one.
    pub payload_back: Optional<Wire<In, { shape.lane_width() }>, { option }>,
    /// The beat of two cycles ago holds the word, and it matches.
    pub hit: Wire<Out, bool>,
    /// The rule names a word that is inspected.
    usable: Reg<bool, Reset>,
    place: Reg<{ shape.lane_width() + shape.beat_number_width() }>,
    mask: Reg<32>,
    start: Reg<32>,
    limit: Reg<32>,
    relative: Optional<Reg<bool>, { option }>,
    /// The selected word in network order, masked already unless selecting it takes too long.
    masked: Reg<32>,
}

#[kernel(MatchRule)]
fn update() {
    if load {
        usable = rule.idx < shape.words();
        place = rule.idx.slice(0, place.width());
        mask = rule.mask;
        start = rule.start;
        limit = rule.limit;
        if shape.ip_relative {
            *relative = *rule.relative;
        }
    }
    let (lane, beat) = place.split_at(shape.lane_width());
    let (there, value) = if shape.ip_relative {
        let relative = *relative;
        let base = *payload_base & relative.repeat(PAYLOAD_BASE_WIDTH);
        let back = *payload_back & relative.repeat(shape.lane_width());
        /// The word of the frame that starts with the front half. Both lanes are sums of their own, so that neither waits
        /// for the other.
        let front_place = place.resize(shape.place_width()) + base.resize(shape.place_width());
        let (front_lane, front_beat) = front_place.split_at(shape.lane_width());
        let back_lane = lane + back;
        let front_half = beat_data.at(cat!(front_lane, lit(0, 5)), 16);
        /// The beat without its first half, so that a lane of it starts with a back half.
        let backs = beat_data.slice(16, shape.data - 16).resize(shape.data);
        let back_half = backs.at(cat!(back_lane, lit(0, 5)), 16);
        let word = if relative {
            cat!(front_half, back_half)
        } else {
            cat!(back_half, front_half)
        };
        let is_here = front_beat == beat_number.resize(shape.place_beat_width());
        masked = word.swap_bytes();
        /// The first half ended the beat before. Between two beats `beat_number` is that of the next one, so it is kept for
        /// as long as it takes.
        if relative & is_here & (front_lane == 0) {
            masked[16..32] = masked[16..32];
        }
        let is_complete = if relative {
            payload_words[lane]
        } else {
            beat_words[lane]
        };
        let there = reg_reset(beat_valid & usable & is_here, false);
        (there & is_complete, masked & mask)
    } else {
        /// First cycle: select the word, turn it into network order and mask it.
        let word = beat_data.at(cat!(lane, lit(0, 5)), 32);
        masked = word.swap_bytes() & mask;
        let is_here = (beat_number == beat) & beat_words[lane];
        let there = reg_reset(beat_valid & usable & is_here, false);
        (there, masked)
    };
    /// Second cycle: compare. A rule whose start is above its limit never matches.
    hit = reg_reset(there & (value >= start) & (value <= limit), false);
}
