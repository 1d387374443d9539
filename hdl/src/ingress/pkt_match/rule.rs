//! One rule: looks at one word of a frame.

use super::shape::PAYLOAD_BASE_WIDTH;
use super::{MatchShape, WordSelect};
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
    select: Optional<WordSelect<{ shape }>, { option }>,
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
    /// Second cycle: compare. A rule whose start is above its limit never matches.
    let (there, value) = if shape.ip_relative {
        select.idx = place.resize(shape.place_width());
        select.relative = *relative;
        select.beat_data = beat_data;
        select.beat_number = beat_number;
        select.payload_base = *payload_base;
        select.payload_back = *payload_back;
        masked = select.word.swap_bytes();
        /// Between two beats `beat_number` is that of the next one, so the half is kept for as long as it takes.
        if select.keep_first {
            masked[16..32] = masked[16..32];
        }
        let is_complete = if *relative {
            payload_words[lane]
        } else {
            beat_words[lane]
        };
        let there = reg_reset(beat_valid & usable & select.there, false);
        (there & is_complete, masked & mask)
    } else {
        /// First cycle: select the word, turn it into network order and mask it.
        let word = beat_data.at(cat!(lane, lit(0, 5)), 32);
        masked = word.swap_bytes() & mask;
        (
            reg_reset(
                beat_valid & usable & (beat_number == beat) & beat_words[lane],
                false,
            ),
            masked,
        )
    };
    hit = reg_reset(there & (value >= start) & (value <= limit), false);
}
