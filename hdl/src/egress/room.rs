//! Counts the unclaimed places of the frame buffer.

use spinneret_verilog::prelude::*;

/// Keeps account of the buffer: a frame claims a place for each beat before it is read, and gives it back
/// when the beat has left, or all of them when the frame is dropped.
///
/// ```text
/// take, need --> claims ==> room <== places of sent and dropped beats, one clock later
///                            |
///                            v
///                          roomy
/// ```
///
/// # Contract
/// - `roomy` is a register: while it is high, there is room for the longest frame, so that whether a frame
///   fits need not be found out in the clock in which it starts. `take` claims `need` places; only then.
/// - **Rate**: a claim a clock while there is room for two of the longest frames, else one every other clock.
/// - Places that are freed in a clock count from the second clock after it on, and for `roomy` from the
///   third.
/// - Nothing is lost: free places, those that are claimed and those that come back are always all.
/// - **Reset**: all places are free; `roomy` rises one clock later.
/// # Parameters
/// `places` is at least twice `most`, the longest frame.
#[hardware(places: usize, most: usize, count = bit_width(places), need = bit_width(most), freed = bit_width(most + 1))]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FrameRoom {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: all places are free.
    pub rst: Wire<In, bool>,
    /// There is room for the longest frame.
    pub roomy: Wire<Out, bool>,
    /// Claims places; only while there is room.
    pub take: Wire<In, bool>,
    /// How many.
    pub need: Wire<In, { need }>,
    /// A beat left the buffer.
    pub sent: Wire<In, bool>,
    /// A frame was dropped.
    pub dropped: Wire<In, bool>,
    /// Its beats.
    pub dropped_beats: Wire<In, { need }>,
    #[new(Reg::reset_to(Word::new(places as u64, count)))]
    room: Reg,
    freed: Reg<{ freed }, Reset>,
    roomy_reg: Reg<bool, Reset>,
    left: Wire<Local, { count }>,
}

impl Logic for FrameRoom {
    #[kernel(suffix = format!("{}_{}", self._places, self._most))]
    fn update(&mut self) {
        let (count, freed) = (self.room.q.width(), self.freed.q.width());
        let most = self._most as u64;
        clocked!(self.clk, self.rst => self.room, self.freed, self.roomy_reg);
        self.roomy.next = self.roomy_reg.q.val();
        if self.take.val() {
            self.left.next = self.room.q.val() - self.need.val().resize(count);
            self.roomy_reg.d.next = self.room.q.val() >= 2 * most;
        } else {
            self.left.next = self.room.q.val();
            self.roomy_reg.d.next = self.room.q.val() >= most;
        }
        self.room.d.next = self.left.val() + self.freed.q.val().resize(count);
        self.freed.d.next = word(self.sent.val()).resize(freed);
        if self.dropped.val() {
            self.freed.d.next = self.dropped_beats.val().resize(freed) + word(self.sent.val()).resize(freed);
        }
    }
}
