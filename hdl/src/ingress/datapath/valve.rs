//! Keeps matched frames whole when the cluster is reset.

use crate::COUNTER_WIDTH;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Width of the number of frames whose metadata has not come yet.
const OWED_BITS: usize = 9;
/// Reasons for which packets leave the path.
pub(super) const CAUSES: usize = 4;
/// Width of the change of the number of packets in one clock, as a signed number.
const CHANGE_BITS: usize = 4;
/// Width of the number of packets in flight, as a signed number.
const FLIGHT_BITS: usize = 12;

/// The valve in front of the matched path: while the cluster is held in reset, matched frames end here, whole.
///
/// ```text
/// s ------> passing? ------> m          a frame that was cut, or that began while the path was held,
/// meta_s -> of such a frame? -> meta_m  is dropped to its end, and its metadata with it
///                |
///             lost <--- packets that were on their way when the path was reset
/// ```
///
/// # Contract
/// - **Behaviour**: what comes while `held` is low passes without delay. From the clock after `held` rises on, beats are
///   taken at once and go nowhere. The first frame that begins later than `held` falls passes again.
/// - **Metadata** comes once for each frame, in order, and goes the way of its frame. It may be there before its frame
///   has begun, as the matching engine knows a frame that waits after an unmatched one; it waits then, as it is unknown
///   yet which way the frame goes.
/// - **Account**: `lost` counts the packets that entered the path and neither became a HER nor were dropped for another
///   cause, and those whose frame ended here, modulo 2^32. It is right five clocks after `held` falls, or after the end of
///   the frame that was cut.
///   A frame that is dropped leaves before it has entered as a whole, but it is dropped only because earlier ones are in
///   the path, so the number of those in flight is not below 0 when a hold takes them.
/// - **Backpressure**: of its own only that metadata waits for the first beat of its frame while the path is held.
/// - **Reset** (`rst`) is that of the matching engine: the next beat is the first of a frame.
/// # Parameters
/// `data` is the width of a beat and `meta` that of its frame's metadata, in bits.
#[hardware(data: usize, meta: usize, beat = data + data / 8 + 2, last_at: usize = beat - 2)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FrameValve {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// The path after the valve is in reset.
    pub held: Wire<In, bool>,
    /// Beats of matched frames: {the frame is bad, tlast, tkeep, tdata}.
    pub s: StreamIn<{ beat }>,
    /// Metadata of matched frames.
    pub meta_s: StreamIn<{ meta }>,
    /// Beats of frames that pass.
    pub m: StreamOut<{ beat }>,
    /// Their metadata.
    pub meta_m: StreamOut<{ meta }>,
    /// Bit n: packets leave the path for the n-th reason in this cycle, one for each.
    pub left: Wire<In, { CAUSES }>,
    /// Packets that a reset of the path took.
    pub lost: Wire<Out, { COUNTER_WIDTH }>,
    in_frame: Reg<bool, Reset>,
    /// The next beat passes.
    pass: Reg<bool, Reset>,
    /// Frames that have begun and whose metadata has not come.
    owed: Reg<{ OWED_BITS }, Reset>,
    /// Of these, those whose metadata goes nowhere; they are the oldest.
    skip: Reg<{ OWED_BITS }, Reset>,
    /// Packets that entered the path and have not left it.
    flight: Reg<{ FLIGHT_BITS }, Reset>,
    arrived: Reg<bool, Reset>,
    departed: Reg<{ CAUSES }, Reset>,
    change: Reg<{ CHANGE_BITS }, Reset>,
    gone: Reg<{ FLIGHT_BITS }, Reset>,
    was_held: [Reg<bool, Reset>; 2],
    swallowed: [Reg<bool, Reset>; 3],
    lost_count: Reg<{ COUNTER_WIDTH }, Reset>,
    last: Wire<Local, bool>,
    taken: Wire<Local, bool>,
    meta_taken: Wire<Local, bool>,
    discard_meta: Wire<Local, bool>,
    owed_next: Wire<Local, { OWED_BITS }>,
    flight_next: Wire<Local, { FLIGHT_BITS }>,
}

impl Logic for FrameValve {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.in_frame, self.pass, self.owed, self.skip, self.flight, self.arrived,
            self.departed, self.change, self.gone, self.was_held, self.swallowed, self.lost_count);
        self.m.data.next = self.s.data.val();
        self.m.valid.next = self.s.valid.val() && self.pass.q.val();
        self.s.ready.next = self.m.ready.val() || !self.pass.q.val();
        self.last.next = self.s.data.val().get_bit(self._last_at);
        self.taken.next = self.s.valid.val() && (self.m.ready.val() || !self.pass.q.val());

        /// Beats pass from the beginning of a frame on.
        if self.taken.val() {
            self.in_frame.d.next = !self.last.val();
        }
        if self.held.val() {
            self.pass.d.next = false;
        } else if self.taken.val() && self.last.val() || !self.taken.val() && !self.in_frame.q.val() {
            self.pass.d.next = true;
        }

        /// Metadata that is owed while nothing passes belongs to discarded frames. If none is owed, its frame has not
        /// begun.
        self.discard_meta.next = (!self.pass.q.val() && self.owed.q.val().any()) || self.skip.q.val().any();
        self.meta_m.data.next = self.meta_s.data.val();
        self.meta_m.valid.next = self.meta_s.valid.val() && self.pass.q.val() && !self.discard_meta.val();
        self.meta_s.ready.next = self.discard_meta.val() || (self.pass.q.val() && self.meta_m.ready.val());
        self.meta_taken.next = self.meta_s.valid.val() && self.meta_s.ready.val();
        self.owed_next.next = self.owed.q.val()
            + word(self.taken.val() && !self.in_frame.q.val()).resize(OWED_BITS)
            - word(self.meta_taken.val()).resize(OWED_BITS);
        self.owed.d.next = self.owed_next.val();
        if self.held.val() || !self.pass.q.val() {
            self.skip.d.next = self.owed_next.val();
        } else if self.meta_taken.val() && self.skip.q.val().any() {
            self.skip.d.next = self.skip.q.val() - 1;
        }

        /// Packets in the path are lost when it is reset. The account is kept two clocks after: it takes the sum of five
        /// bits, then adds it.
        self.arrived.d.next = self.taken.val() && self.last.val() && self.pass.q.val();
        self.departed.d.next = self.left.val();
        self.swallowed[0].d.next = self.taken.val() && self.last.val() && !self.pass.q.val();
        self.was_held[0].d.next = self.held.val();
        self.change.d.next = word(self.arrived.q.val()).resize(CHANGE_BITS)
            - word(self.departed.q.val().get_bit(0)).resize(CHANGE_BITS)
            - cat!(
                (self.departed.q.val().get_bit(1) && self.departed.q.val().get_bit(2))
                    || (self.departed.q.val().get_bit(3)
                        && (self.departed.q.val().get_bit(1) || self.departed.q.val().get_bit(2))),
                self.departed.q.val().get_bit(1)
                    ^ self.departed.q.val().get_bit(2)
                    ^ self.departed.q.val().get_bit(3)
            )
            .resize(CHANGE_BITS);
        self.swallowed[1].d.next = self.swallowed[0].q.val();
        self.was_held[1].d.next = self.was_held[0].q.val();
        self.flight_next.next = self.flight.q.val()
            + cat!(
                fill(
                    self.change.q.val().get_bit(CHANGE_BITS - 1),
                    FLIGHT_BITS - CHANGE_BITS
                ),
                self.change.q.val()
            );
        self.swallowed[2].d.next = self.swallowed[1].q.val();
        if self.was_held[1].q.val() {
            self.flight.d.next = 0.into();
            self.gone.d.next = self.flight_next.val();
        } else {
            self.flight.d.next = self.flight_next.val();
            self.gone.d.next = 0.into();
        }
        self.lost_count.d.next = self.lost_count.q.val()
            + cat!(
                fill(
                    self.gone.q.val().get_bit(FLIGHT_BITS - 1),
                    COUNTER_WIDTH - FLIGHT_BITS
                ),
                self.gone.q.val()
            )
            + word(self.swallowed[2].q.val()).resize(COUNTER_WIDTH);
        self.lost.next = self.lost_count.q.val();
    }
}
