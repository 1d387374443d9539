//! All rules, and the decision that they give together.

use super::shape::PAYLOAD_BASE_WIDTH;
use super::{MatchRule, MatchShape};
use spinneret_verilog::prelude::*;

/// All rulesets: watches the beats of frames and decides about each frame.
///
/// One beat a cycle, never a stall. Two cycles after the last inspected beat of a frame, or its last
/// beat if that comes first, `decide` is high for one cycle and `decide_matched` is the decision; the
/// registered outputs follow one cycle later and stay until the next decision.
#[module(
    shape: MatchShape,
    vector = 32 * shape.all_rules(),
    number = shape.beat_number_width(),
    option = shape.ip_relative,
)]
pub struct MatchEngine {
    /// Takes all rules; only while `busy` is low and no frame is inside.
    pub load: Wire<In, bool>,
    /// The rules are in force; changes only when `load` may be high.
    pub active: Wire<In, bool>,
    /// Bit s: ruleset s joins its rules by OR, otherwise by AND.
    pub mode: Wire<In, { shape.rulesets }>,
    /// Word numbers of all rules, 32 bits each, ruleset-major.
    pub idx: Wire<In, { vector }>,
    /// Masks of all rules as registers hold them (byte-swapped).
    pub mask: Wire<In, { vector }>,
    /// Range starts of all rules as registers hold them (byte-swapped).
    pub start: Wire<In, { vector }>,
    /// Range ends of all rules as registers hold them (byte-swapped).
    pub limit: Wire<In, { vector }>,
    /// Payload of the beat.
    pub beat_data: Wire<In, { shape.data }>,
    /// Bytes of the beat that belong to the frame.
    pub beat_keep: Wire<In, { shape.axis().keep() }>,
    /// Number of the beat within its frame.
    pub beat_number: Wire<In, { number }>,
    /// The beat is the last of its frame.
    pub beat_last: Wire<In, bool>,
    /// The beat is there.
    pub beat_valid: Wire<In, bool>,
    /// Bit r of ruleset s, ruleset-major: the rule counts from the start of the IP payload.
    pub relative: Optional<Wire<In, { shape.all_rules() }>, { option }>,
    /// The frame has an IP payload, and its place is known.
    pub payload_found: Optional<Wire<In, bool>, { option }>,
    /// The word of the frame that starts two bytes after the payload's start.
    pub payload_base: Optional<Wire<In, { PAYLOAD_BASE_WIDTH }>, { option }>,
    /// Lane of the word before that one.
    pub payload_back: Optional<Wire<In, { shape.lane_width() }>, { option }>,
    /// A frame is decided in this cycle.
    pub decide: Wire<Out, bool>,
    /// The decision: the frame matches a ruleset.
    pub decide_matched: Wire<Out, bool>,
    /// The last decision.
    pub matched: Wire<Out, bool>,
    /// Lowest ruleset that matched.
    pub ruleset: Wire<Out, 2>,
    /// The end-of-message rule of that ruleset matched.
    pub end_of_message: Wire<Out, bool>,
    /// A beat is being evaluated.
    pub busy: Wire<Out, bool>,
    /// The rules, ruleset-major.
    rules: [MatchRule<{ shape }>; shape.all_rules()],
    held_mode: Reg<{ shape.rulesets }>,
    earlier_hits: Reg<{ shape.all_rules() }>,
    is_matched: Reg<bool, Reset>,
    chosen: Reg<2>,
    chosen_end: Reg<bool>,
}

#[kernel(MatchEngine)]
fn update() {
    let (lanes, option, last_inspected) = (shape.lanes(), shape.ip_relative, shape.beats() - 1);
    if load {
        held_mode = mode;
    }
    let complete = |bytes: usize| word_of((0..lanes).map(|lane| beat_keep.slice(4 * lane, bytes).all()));
    /// A word that is only partly inside the frame does not exist.
    let words = complete(4);
    let (rule_words, payload_words) = if option {
        /// Rules need the words of a beat in their second cycle only, if the payload counts. A word that counts from there takes
        /// two bytes of its lane, and two of the lane before, which the frame has then as well.
        let halves = complete(2);
        let halves_twice = cat!(halves, halves);
        let from_base = halves_twice.at(payload_base.slice(0, shape.lane_width()), lanes);
        (reg(words), Some(reg(from_base & payload_found.repeat(lanes))))
    } else {
        (words, None)
    };
    /// The sum of two word numbers may be in a beat that is not inspected.
    let inspected = if option {
        beat_valid & (beat_number <= last_inspected)
    } else {
        beat_valid
    };
    /// Registers hold mask, start and end byte-swapped; the rules compare in network order.
    for (number, rule) in rules.iter().enumerate() {
        rule.load = load;
        rule.rule.idx = idx.slice(32 * number, 32);
        rule.rule.mask = mask.slice(32 * number, 32).swap_bytes();
        rule.rule.start = start.slice(32 * number, 32).swap_bytes();
        rule.rule.limit = limit.slice(32 * number, 32).swap_bytes();
        rule.beat_data = beat_data;
        rule.beat_number = beat_number;
        rule.beat_words = rule_words;
        rule.beat_valid = inspected;
        if let Some(payload_words) = payload_words {
            *rule.rule.relative = relative[number];
            *rule.payload_words = payload_words;
            *rule.payload_base = *payload_base;
            *rule.payload_back = *payload_back;
        }
    }
    /// The decision needs three things of a beat: that it is valid, its number, and whether it is the last.
    let looking = reg_reset(beat_valid, false);
    let (looked_last, looked_number) = (reg(beat_last), reg(beat_number));
    let decided = reg_reset(looking, false);
    let (last, number) = (reg(looked_last), reg(looked_number));
    /// Hits of earlier beats of the frame count, those of the frame before it do not.
    let beat_hits = word_of(rules.iter().map(|rule| rule.hit));
    let hits = beat_hits | (earlier_hits & (number != 0).repeat(shape.all_rules()));
    if decided {
        earlier_hits = hits;
    }
    let sets: Vec<_> = (0..shape.rulesets)
        .map(|set| {
            hits.slice(set * shape.rules, shape.rules)
                .split_at(shape.rules - 1)
        })
        .collect();
    let matches = sets
        .iter()
        .enumerate()
        .map(|(set, (rules, _))| (held_mode[set] & rules.any()) | rules.all());
    let matching_sets = word_of(matches);
    decide = decided & ((number == last_inspected) | (last & (number <= last_inspected)));
    decide_matched = active & matching_sets.any();
    if decide {
        is_matched = decide_matched;
        chosen = 0;
        chosen_end = false;
        /// The lowest matching ruleset wins.
        for (set, (_, end)) in sets.iter().enumerate().rev() {
            if matching_sets[set] {
                chosen = set;
                chosen_end = end[0];
            }
        }
    }
    matched = is_matched;
    ruleset = chosen;
    end_of_message = chosen_end;
    busy = beat_valid | looking | decided;
}
