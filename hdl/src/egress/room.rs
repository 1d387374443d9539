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
#[module(places: usize, most: usize, count = bit_width(places), need = bit_width(most), freed = bit_width(most + 1))]
pub struct FrameRoom {
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
}

#[kernel(
    FrameRoom {
        roomy, take, need, sent, dropped, dropped_beats, room, freed, most
    },
    suffix = format!("{}_{}", self._places, self._most),
)]
fn update() {
    let count = room.width();
    roomy = reg_reset(if take { room >= 2 * most } else { room >= most }, false);
    let left = if take { room - need.resize(count) } else { room };
    room = left + freed.resize(count);
    let one = sent.word().resize(freed.width());
    freed = if dropped {
        dropped_beats.resize(freed.width()) + one
    } else {
        one
    };
}
