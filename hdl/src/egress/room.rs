//! Counts the places of the frame buffer that nobody has a claim to.

use super::shape::bits;
use spinneret_verilog::prelude::*;

/// Keeps account of the buffer: a frame claims a place for each beat before it is read, and gives it back
/// when the beat has left, or all of them when the frame is dropped.
///
/// ```text
/// take, need --> claims ==> room <== places of sent and dropped beats, one clock later
/// ```
///
/// # Contract
/// - `enough` says whether `need` places are free, in the same clock. `take` claims them; only when there is
///   enough.
/// - Places that are given back in a clock count from the second clock after it on.
/// - Nothing is lost: free places, those that are claimed and those that come back are always all.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FrameRoom {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: all places are free.
    pub rst: Wire<In, bool>,
    /// Places that are wanted.
    pub need: Wire<In>,
    /// So many are free.
    pub enough: Wire<Out, bool>,
    /// Claims them.
    pub take: Wire<In, bool>,
    /// A beat left the buffer.
    pub sent: Wire<In, bool>,
    /// A frame was dropped.
    pub dropped: Wire<In, bool>,
    /// Its beats.
    pub dropped_beats: Wire<In>,
    room: Reg,
    freed: Reg,
    left: Wire<Local>,
    _places: usize,
}

impl FrameRoom {
    /// An account of `places`, of which a frame takes `most` at most; not more than there are.
    pub fn new(places: usize, most: usize) -> Self {
        let (count, freed) = (bits(places), bits(most + 1));
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            need: Wire::word(bits(most)),
            enough: Wire::bit(),
            take: Wire::bit(),
            sent: Wire::bit(),
            dropped: Wire::bit(),
            dropped_beats: Wire::word(bits(most)),
            room: Reg::reset_to(Word::new(places as u64, count)),
            freed: Reg::word_reset(freed),
            left: Wire::word(count),
            _places: places,
        }
    }
}

impl Logic for FrameRoom {
    #[kernel(suffix = format!("{}_{}", self._places, self.need.width()))]
    fn update(&mut self) {
        let (count, freed) = (self.room.q.width(), self.freed.q.width());
        clocked!(self.clk, self.rst => self.room, self.freed);
        self.enough.next = self.room.q.val() >= self.need.val().resize(count);
        if self.take.val() {
            self.left.next = self.room.q.val() - self.need.val().resize(count);
        } else {
            self.left.next = self.room.q.val();
        }
        self.room.d.next = self.left.val() + self.freed.q.val().resize(count);
        if self.dropped.val() {
            self.freed.d.next = self.dropped_beats.val().resize(freed) + word(self.sent.val()).resize(freed);
        } else {
            self.freed.d.next = word(self.sent.val()).resize(freed);
        }
    }
}
