//! One rule: looks at one word of a frame.

use super::shape::PAYLOAD_BASE_WIDTH;
use super::{MatchShape, WordSelect};
use spinneret_verilog::prelude::*;

/// One match rule: one word of the frame, masked, must lie within a range.
///
/// It takes one beat a cycle; the hit comes out two cycles after the beat. A word that the frame
/// does not have, or that lies after the inspected beats, never matches.
#[hardware(shape: MatchShape, option = shape.ip_relative)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct MatchRule {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: the rule matches nothing until it is loaded.
    pub rst: Wire<In, bool>,
    /// Takes the rule from the four ports below.
    pub load: Wire<In, bool>,
    /// Number of the word within the frame.
    pub idx: Wire<In, 32>,
    /// Bits of the word that count, network order.
    pub mask: Wire<In, 32>,
    /// Smallest masked value that matches, network order.
    pub start: Wire<In, 32>,
    /// Largest masked value that matches, network order.
    pub limit: Wire<In, 32>,
    /// Beat of the frame.
    pub beat_data: Wire<In, { shape.data }>,
    /// Words of the beat that the frame has completely.
    pub beat_words: Wire<In, { shape.lanes() }>,
    /// Number of the beat within its frame.
    pub beat_number: Wire<In, { shape.beat_number_width() }>,
    /// The beat is there.
    pub beat_valid: Wire<In, bool>,
    /// The rule counts `idx` from the start of the IP payload; taken with the rule.
    pub relative: Optional<Wire<In, bool>, { option }>,
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
    lane: Reg<{ shape.lane_width() }>,
    beat: Reg<{ shape.beat_number_width() }>,
    mask_value: Reg<32>,
    start_value: Reg<32>,
    limit_value: Reg<32>,
    relative_value: Optional<Reg<bool>, { option }>,
    select: Optional<WordSelect<{ shape }>, { option }>,
    /// The frame has all of the word.
    is_complete: Optional<Wire<Local, bool>, { option }>,
    /// The selected word, masked a cycle later than without the option, as its selection takes longer.
    late_masked: Optional<Wire<Local, 32>, { option }>,
    /// The selected word as the stream carries it.
    raw: Wire<Local, 32>,
    /// The selected word in network order, masked already unless selecting it takes too long.
    masked: Reg<32>,
    masked_valid: Reg<bool, Reset>,
    hit_value: Reg<bool, Reset>,
}

impl Logic for MatchRule {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.usable, self.lane, self.beat, self.mask_value, self.start_value,
            self.limit_value, self.relative_value, self.masked, self.masked_valid, self.hit_value);
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
            if self._shape.ip_relative {
                self.relative_value.d.next = self.relative.val();
            }
        }
        /// First cycle: select the word, turn it into network order and mask it.
        if self._shape.ip_relative {
            self.select.idx.next =
                cat!(self.beat.q.val(), self.lane.q.val()).resize(self._shape.place_width());
            self.select.relative.next = self.relative_value.q.val();
            connect!(self => self.select; beat_data, beat_number, payload_base, payload_back);
            self.raw.next = self.select.word.val();
        } else {
            self.raw.next = self.beat_data.val().slice(self.lane.q.val().index() * 32, 32);
        }
        if self._shape.ip_relative {
            self.masked.d.next = self.raw.val().swap_bytes();
        } else {
            self.masked.d.next = self.raw.val().swap_bytes() & self.mask_value.q.val();
        }
        if self._shape.ip_relative {
            /// Between two beats `beat_number` is that of the next one, so the half is kept for as long as it takes.
            if self.select.keep_first.val() {
                self.masked
                    .d
                    .next
                    .set_slice(16, 16, self.masked.q.val().slice(16, 16));
            }
            self.masked_valid.d.next = self.beat_valid.val() & self.usable.q.val() & self.select.there.val();
        } else {
            self.masked_valid.d.next = self.beat_valid.val()
                & self.usable.q.val()
                & (self.beat_number.val() == self.beat.q.val())
                & self.beat_words.val().get_bit(self.lane.q.val().index());
        }
        /// Second cycle: compare. A rule whose start is above its limit never matches.
        if self._shape.ip_relative {
            self.is_complete.next = self.beat_words.val().get_bit(self.lane.q.val().index());
            if self.relative_value.q.val() {
                self.is_complete.next = self.payload_words.val().get_bit(self.lane.q.val().index());
            }
            self.late_masked.next = self.masked.q.val() & self.mask_value.q.val();
            self.hit_value.d.next = self.masked_valid.q.val()
                & self.is_complete.val()
                & (self.late_masked.val() >= self.start_value.q.val())
                & (self.late_masked.val() <= self.limit_value.q.val());
        } else {
            self.hit_value.d.next = self.masked_valid.q.val()
                & (self.masked.q.val() >= self.start_value.q.val())
                & (self.masked.q.val() <= self.limit_value.q.val());
        }
        self.hit.next = self.hit_value.q.val();
    }
}
