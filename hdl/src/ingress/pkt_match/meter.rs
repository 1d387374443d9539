//! Length and message id of every frame.

use super::MatchShape;
use spinneret_verilog::prelude::*;

/// Bits of tkeep that are counted together in the first cycle.
const GROUP: usize = 8;

/// Measures frames: exact length in bytes from tkeep, and the message id.
///
/// One beat a cycle, never a stall. `done` is high three cycles after the last beat of a frame, and
/// `size` and `message_id` are those of the frame in that cycle.
#[hardware(
    shape: MatchShape,
    groups = shape.axis().keep() / GROUP,
    group_width = bit_width(GROUP),
    bytes_width = bit_width(shape.axis().keep()),
    halves = groups.min(2),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FrameMeter {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// The message id if this beat carries it.
    pub beat_id: Wire<In, { shape.message_id_width }>,
    /// Bytes of the beat that belong to the frame.
    pub beat_keep: Wire<In, { shape.axis().keep() }>,
    /// Number of the beat within its frame.
    pub beat_number: Wire<In, { shape.beat_number_width() }>,
    /// The beat is the last of its frame.
    pub beat_last: Wire<In, bool>,
    /// The beat is there.
    pub beat_valid: Wire<In, bool>,
    /// Number of the word of the frame that carries the message id.
    pub id_word: Optional<Wire<In, { shape.id_word_width() }>, { shape.ip_relative }>,
    /// The frame of three cycles ago is complete.
    pub done: Wire<Out, bool>,
    /// Its length in bytes.
    pub size: Wire<Out, 32>,
    /// Its message id; 0 if the frame ends before the word that carries it.
    pub message_id: Wire<Out, { shape.message_id_width }>,
    groups: [Reg<{ group_width }>; groups],
    /// Bytes of each group.
    count: [Wire<Local, { group_width }>; groups],
    valid_1: Reg<bool, Reset>,
    first_1: Reg<bool>,
    last_1: Reg<bool>,
    id_lane: Optional<Wire<Local, { shape.lane_width() }>, { shape.ip_relative }>,
    /// Words of the beat that the frame has completely.
    id_words: Optional<Wire<Local, { shape.lanes() }>, { shape.ip_relative }>,
    id_here: Wire<Local, bool>,
    id_1: Reg<{ shape.message_id_width }>,
    sums: [Wire<Local, { bytes_width }>; halves],
    /// Bytes of each half of the beat.
    halves: [Reg<{ bytes_width }>; halves],
    valid_2: Reg<bool, Reset>,
    first_2: Reg<bool>,
    last_2: Reg<bool>,
    id_2: Reg<{ shape.message_id_width }>,
    size_now: Wire<Local, 32>,
    size_value: Reg<32>,
    id_3: Reg<{ shape.message_id_width }>,
    done_value: Reg<bool, Reset>,
}

/// Groups of one part of several, all of about the same size.
fn groups_of(part: usize, parts: usize, groups: usize) -> std::ops::Range<usize> {
    part * groups / parts..(part + 1) * groups / parts
}

impl Logic for FrameMeter {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.groups, self.valid_1, self.first_1, self.last_1, self.id_1, self.halves,
            self.valid_2, self.first_2, self.last_2, self.id_2, self.size_value, self.id_3, self.done_value);
        /// First cycle: count the bytes of each group, and keep the message id when it passes.
        for group in 0..self.groups.len() {
            self.count[group].next = 0.into();
            for bit in 0..GROUP {
                self.count[group].next = self.count[group].val()
                    + word(self.beat_keep.val().get_bit(group * GROUP + bit)).resize(bit_width(GROUP));
            }
            self.groups[group].d.next = self.count[group].val();
        }
        self.valid_1.d.next = self.beat_valid.val();
        self.first_1.d.next = self.beat_number.val() == 0;
        self.last_1.d.next = self.beat_last.val();
        if self._shape.ip_relative {
            self.id_words.next = 0.into();
            for lane in 0..self._shape.lanes() {
                self.id_words
                    .next
                    .set_bit(lane, self.beat_keep.val().slice(4 * lane, 4).all());
            }
            self.id_lane.next = self.id_word.val().slice(0, self._shape.lane_width());
            self.id_here.next = (self.beat_number.val()
                == self
                    .id_word
                    .val()
                    .slice(self._shape.lane_width(), self._shape.beat_number_width()))
                & self.id_words.val().get_bit(self.id_lane.val().index());
        } else {
            self.id_here.next = (self.beat_number.val() == self._shape.message_id_beat() as u64)
                & self
                    .beat_keep
                    .val()
                    .slice(4 * self._shape.message_id_lane(), 4)
                    .all();
        }
        if self.beat_valid.val() {
            if self.id_here.val() {
                self.id_1.d.next = self.beat_id.val();
            } else if self.beat_number.val() == 0 {
                self.id_1.d.next = 0.into();
            }
        }
        /// Second cycle: bytes of each half of the beat, as one sum of all would be too deep.
        for half in 0..self.halves.len() {
            self.sums[half].next = 0.into();
            for group in groups_of(half, self.halves.len(), self.groups.len()) {
                self.sums[half].next = self.sums[half].val()
                    + self.groups[group]
                        .q
                        .val()
                        .resize(bit_width(self._shape.axis().keep()));
            }
            self.halves[half].d.next = self.sums[half].val();
        }
        self.valid_2.d.next = self.valid_1.q.val();
        self.first_2.d.next = self.first_1.q.val();
        self.last_2.d.next = self.last_1.q.val();
        self.id_2.d.next = self.id_1.q.val();
        /// Third cycle: bytes of the frame.
        self.size_now.next = self.size_value.q.val() & fill(!self.first_2.q.val(), 32);
        for half in 0..self.halves.len() {
            self.size_now.next = self.size_now.val() + self.halves[half].q.val().resize(32);
        }
        if self.valid_2.q.val() {
            self.size_value.d.next = self.size_now.val();
        }
        self.id_3.d.next = self.id_2.q.val();
        self.done_value.d.next = self.valid_2.q.val() & self.last_2.q.val();
        self.done.next = self.done_value.q.val();
        self.size.next = self.size_value.q.val();
        self.message_id.next = self.id_3.q.val();
    }
}
