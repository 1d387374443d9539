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
#[hardware(shape: MatchShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    /// The word of the frame that starts with the front half.
    place: Wire<Local, { shape.place_width() }>,
    lane: Wire<Local, { shape.lane_width() }>,
    /// The lane of the back half.
    back_lane: Wire<Local, { shape.lane_width() }>,
    front: Wire<Local, 16>,
    /// The beat without its first half, so that a lane of it starts with a back half.
    backs: Wire<Local, { shape.data }>,
    back: Wire<Local, 16>,
    in_beat: Wire<Local, bool>,
}

impl Logic for WordSelect {
    #[kernel]
    fn update(&mut self) {
        /// Both lanes are sums of their own, so that neither waits for the other.
        self.place.next = self.idx.val()
            + (self.payload_base.val() & fill(self.relative.val(), PAYLOAD_BASE_WIDTH))
                .resize(self._shape.place_width());
        self.lane.next = self.place.val().slice(0, self._shape.lane_width());
        self.back_lane.next = self.idx.val().slice(0, self._shape.lane_width())
            + (self.payload_back.val() & fill(self.relative.val(), self._shape.lane_width()));
        self.front.next = self.beat_data.val().slice(self.lane.val().index() * 32, 16);
        self.backs.next = self
            .beat_data
            .val()
            .slice(16, self._shape.data - 16)
            .resize(self._shape.data);
        self.back.next = self.backs.val().slice(self.back_lane.val().index() * 32, 16);
        self.word.next = cat!(self.back.val(), self.front.val());
        if self.relative.val() {
            self.word.next = cat!(self.front.val(), self.back.val());
        }
        self.in_beat.next = self
            .place
            .val()
            .slice(self._shape.lane_width(), self._shape.place_beat_width())
            == self.beat_number.val().resize(self._shape.place_beat_width());
        self.there.next = self.in_beat.val();
        self.keep_first.next = self.relative.val() & self.in_beat.val() & (self.lane.val() == 0);
    }
}
