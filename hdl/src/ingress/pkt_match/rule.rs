//! One rule: looks at one word of a frame.

use super::MatchShape;
use spinneret_verilog::prelude::*;

/// One match rule: one word of the frame, masked, must lie within a range.
///
/// It takes one beat a cycle; the hit comes out two cycles after the beat. A word that the frame
/// does not have, or that lies behind the inspected beats, never matches.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct MatchRule {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: the rule matches nothing until it is loaded.
    pub rst: Wire<In, bool>,
    /// Takes the rule from the four ports below.
    pub load: Wire<In, bool>,
    /// Number of the word within the frame.
    pub idx: Wire<In, Word>,
    /// Bits of the word that count, network order.
    pub mask: Wire<In, Word>,
    /// Smallest masked value that matches, network order.
    pub start: Wire<In, Word>,
    /// Largest masked value that matches, network order.
    pub limit: Wire<In, Word>,
    /// Beat of the frame.
    pub beat_data: Wire<In, Word>,
    /// Words of the beat that the frame has completely.
    pub beat_words: Wire<In, Word>,
    /// Number of the beat within its frame.
    pub beat_number: Wire<In, Word>,
    /// The beat is there.
    pub beat_valid: Wire<In, bool>,
    /// The beat of two cycles ago holds the word, and it matches.
    pub hit: Wire<Out, bool>,
    /// The rule names a word that is inspected.
    usable: Reg<bool>,
    lane: Reg,
    beat: Reg,
    mask_value: Reg,
    start_value: Reg,
    limit_value: Reg,
    /// The selected word as the stream carries it.
    raw: Wire<Local>,
    /// The selected word, masked, in network order.
    masked: Reg,
    masked_valid: Reg<bool>,
    hit_value: Reg<bool>,
    _shape: MatchShape,
}

impl MatchRule {
    /// A rule for beats of the given shape.
    pub fn new(shape: MatchShape) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            load: Wire::bit(),
            idx: Wire::word(32),
            mask: Wire::word(32),
            start: Wire::word(32),
            limit: Wire::word(32),
            beat_data: Wire::word(shape.axis.data),
            beat_words: Wire::word(shape.lanes()),
            beat_number: Wire::word(shape.beat_number_width()),
            beat_valid: Wire::bit(),
            hit: Wire::bit(),
            usable: Reg::bit_reset(),
            lane: Reg::word(shape.lane_width()),
            beat: Reg::word(shape.beat_number_width()),
            mask_value: Reg::word(32),
            start_value: Reg::word(32),
            limit_value: Reg::word(32),
            raw: Wire::word(32),
            masked: Reg::word(32),
            masked_valid: Reg::bit_reset(),
            hit_value: Reg::bit_reset(),
            _shape: shape,
        }
    }
}

impl Logic for MatchRule {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.usable, self.lane, self.beat, self.mask_value, self.start_value,
            self.limit_value, self.masked, self.masked_valid, self.hit_value);
        if self.load.val() {
            self.usable.d.next = self.idx.val() < self._shape.words() as u64;
            self.lane.d.next = self.idx.val().slice(0, self._shape.lane_width());
            self.beat.d.next = self
                .idx
                .val()
                .slice(self._shape.lane_width(), self._shape.beat_number_width());
            self.mask_value.d.next = self.mask.val();
            self.start_value.d.next = self.start.val();
            self.limit_value.d.next = self.limit.val();
        }
        /// First cycle: select the word, turn it into network order and mask it.
        self.raw.next = self.beat_data.val().slice(self.lane.q.val().index() * 32, 32);
        self.masked.d.next = self.raw.val().swap_bytes() & self.mask_value.q.val();
        self.masked_valid.d.next = self.beat_valid.val()
            & self.usable.q.val()
            & (self.beat_number.val() == self.beat.q.val())
            & self.beat_words.val().get_bit(self.lane.q.val().index());
        /// Second cycle: compare. A rule whose start is above its limit never matches.
        self.hit_value.d.next = self.masked_valid.q.val()
            & (self.masked.q.val() >= self.start_value.q.val())
            & (self.masked.q.val() <= self.limit_value.q.val());
        self.hit.next = self.hit_value.q.val();
    }
}
