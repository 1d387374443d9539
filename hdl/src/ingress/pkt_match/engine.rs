//! All rules, and the decision that they give together.

use super::shape::PAYLOAD_BASE_WIDTH;
use super::{MatchRule, MatchShape};
use spinneret_verilog::prelude::*;

/// All rulesets: watches the beats of frames and decides about each frame.
///
/// One beat a cycle, never a stall. Two cycles after the last inspected beat of a frame, or its last
/// beat if that comes first, `decide` is high for one cycle and `decide_matched` is the decision; the
/// registered outputs follow one cycle later and stay until the next decision.
#[hardware(
    shape: MatchShape,
    vector = 32 * shape.all_rules(),
    number = shape.beat_number_width(),
    option = shape.ip_relative,
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct MatchEngine {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: nothing matches until rules are loaded.
    pub rst: Wire<In, bool>,
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
    mode_value: Reg<{ shape.rulesets }>,
    valid_1: Reg<bool, Reset>,
    last_1: Reg<bool>,
    number_1: Reg<{ number }>,
    valid_2: Reg<bool, Reset>,
    last_2: Reg<bool>,
    number_2: Reg<{ number }>,
    words: Wire<Local, { shape.lanes() }>,
    /// Words of the beat of which the frame has the first half.
    halves: Optional<Wire<Local, { shape.lanes() }>, { option }>,
    /// The same twice, so that it can be read from any lane on.
    halves_twice: Optional<Wire<Local, { 2 * shape.lanes() }>, { option }>,
    words_1: Optional<Reg<{ shape.lanes() }>, { option }>,
    /// Bit k: the frame has word k of its payload, or k plus a multiple of the lanes, if that ends in the beat.
    payload_words_1: Optional<Reg<{ shape.lanes() }>, { option }>,
    /// The beat is there, and rules may look at it.
    inspected: Optional<Wire<Local, bool>, { option }>,
    /// Hits of the beat, one bit a rule.
    beat_hits: Wire<Local, { shape.all_rules() }>,
    /// Hits of the frame so far, the beat included.
    hits: Wire<Local, { shape.all_rules() }>,
    earlier_hits: Reg<{ shape.all_rules() }>,
    matching_sets: Wire<Local, { shape.rulesets }>,
    decision: Wire<Local, bool>,
    chosen: Wire<Local, 2>,
    chosen_end: Wire<Local, bool>,
    is_matched: Wire<Local, bool>,
    matched_value: Reg<bool, Reset>,
    ruleset_value: Reg<2>,
    end_value: Reg<bool>,
}

impl Logic for MatchEngine {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.rules, self.mode_value, self.valid_1, self.last_1, self.number_1,
            self.valid_2, self.last_2, self.number_2, self.earlier_hits, self.matched_value, self.ruleset_value,
            self.end_value, self.words_1, self.payload_words_1);
        if self.load.val() {
            self.mode_value.d.next = self.mode.val();
        }
        /// A word that is only partly inside the frame does not exist.
        self.words.next = 0.into();
        for lane in 0..self._shape.lanes() {
            self.words
                .next
                .set_bit(lane, self.beat_keep.val().slice(4 * lane, 4).all());
        }
        /// Registers hold mask, start and end byte-swapped; the rules compare in network order.
        for rule in 0..self._shape.all_rules() {
            self.rules[rule].load.next = self.load.val();
            self.rules[rule].idx.next = self.idx.val().slice(32 * rule, 32);
            self.rules[rule].mask.next = self.mask.val().slice(32 * rule, 32).swap_bytes();
            self.rules[rule].start.next = self.start.val().slice(32 * rule, 32).swap_bytes();
            self.rules[rule].limit.next = self.limit.val().slice(32 * rule, 32).swap_bytes();
            connect!(self => self.rules[rule]; beat_data, beat_number);
            if !self._shape.ip_relative {
                self.rules[rule].beat_words.next = self.words.val();
                self.rules[rule].beat_valid.next = self.beat_valid.val();
            }
        }
        if self._shape.ip_relative {
            /// A word that counts from the payload takes two bytes of its lane, and two of the lane before, which
            /// the frame has then as well. The sum of two word numbers may be in a beat that is not inspected.
            self.halves.next = 0.into();
            for lane in 0..self._shape.lanes() {
                self.halves
                    .next
                    .set_bit(lane, self.beat_keep.val().slice(4 * lane, 2).all());
            }
            self.halves_twice.next = cat!(self.halves.val(), self.halves.val());
            /// Rules need them in their second cycle only.
            self.words_1.d.next = self.words.val();
            self.payload_words_1.d.next = self.halves_twice.val().slice(
                self.payload_base.val().slice(0, self._shape.lane_width()).index(),
                self._shape.lanes(),
            ) & fill(self.payload_found.val(), self._shape.lanes());
            self.inspected.next =
                self.beat_valid.val() & (self.beat_number.val() <= (self._shape.beats() - 1) as u64);
            for rule in 0..self._shape.all_rules() {
                self.rules[rule].relative.next = self.relative.val().get_bit(rule);
                self.rules[rule].beat_words.next = self.words_1.q.val();
                self.rules[rule].payload_words.next = self.payload_words_1.q.val();
                connect!(self => self.rules[rule]; payload_base, payload_back);
                self.rules[rule].beat_valid.next = self.inspected.val();
            }
        }
        /// Data of a beat for the decision travels in parallel to the rules.
        self.valid_1.d.next = self.beat_valid.val();
        self.last_1.d.next = self.beat_last.val();
        self.number_1.d.next = self.beat_number.val();
        self.valid_2.d.next = self.valid_1.q.val();
        self.last_2.d.next = self.last_1.q.val();
        self.number_2.d.next = self.number_1.q.val();
        /// Hits of earlier beats of the frame count, those of the frame before it do not.
        self.beat_hits.next = 0.into();
        for rule in 0..self._shape.all_rules() {
            self.beat_hits.next.set_bit(rule, self.rules[rule].hit.val());
        }
        self.hits.next = self.beat_hits.val()
            | (self.earlier_hits.q.val() & fill(self.number_2.q.val() != 0, self._shape.all_rules()));
        if self.valid_2.q.val() {
            self.earlier_hits.d.next = self.hits.val();
        }
        self.matching_sets.next = 0.into();
        for set in 0..self._shape.rulesets {
            self.matching_sets.next.set_bit(
                set,
                (self.mode_value.q.val().get_bit(set)
                    & self
                        .hits
                        .val()
                        .slice(set * self._shape.rules, self._shape.rules - 1)
                        .any())
                    | self
                        .hits
                        .val()
                        .slice(set * self._shape.rules, self._shape.rules - 1)
                        .all(),
            );
        }
        /// The lowest matching ruleset wins.
        self.chosen.next = 0.into();
        self.chosen_end.next = false;
        for set in (0..self._shape.rulesets).rev() {
            if self.matching_sets.val().get_bit(set) {
                self.chosen.next = lit(set as u64, 2);
                self.chosen_end.next = self
                    .hits
                    .val()
                    .get_bit(set * self._shape.rules + self._shape.rules - 1);
            }
        }
        self.is_matched.next = self.active.val() & self.matching_sets.val().any();
        self.decision.next = self.valid_2.q.val()
            & ((self.number_2.q.val() == (self._shape.beats() - 1) as u64)
                | (self.last_2.q.val() & (self.number_2.q.val() <= (self._shape.beats() - 1) as u64)));
        if self.decision.val() {
            self.matched_value.d.next = self.is_matched.val();
            self.ruleset_value.d.next = self.chosen.val();
            self.end_value.d.next = self.chosen_end.val();
        }
        self.decide.next = self.decision.val();
        self.decide_matched.next = self.is_matched.val();
        self.matched.next = self.matched_value.q.val();
        self.ruleset.next = self.ruleset_value.q.val();
        self.end_of_message.next = self.end_value.q.val();
        self.busy.next = self.beat_valid.val() | self.valid_1.q.val() | self.valid_2.q.val();
    }
}
