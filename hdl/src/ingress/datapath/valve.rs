//! Keeps matched frames whole when the cluster is reset. It has an entry in the catalog, for proofs of its own.

use crate::COUNTER_WIDTH;
use crate::entry::{Entry, Parameters as _};
use crate::ingress::slots::delayed;
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
#[module(data: usize, meta: usize, beat = data + data / 8 + 2, last_at: usize = beat - 2)]
pub struct FrameValve {
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
    lost_count: Reg<{ COUNTER_WIDTH }, Reset>,
}

#[kernel(FrameValve)]
fn update() {
    m.data = s.data;
    m.valid = s.valid && pass;
    s.ready = m.ready || !pass;
    let last = s.data[last_at];
    let taken = s.valid && (m.ready || !pass);

    /// Beats pass from the beginning of a frame on.
    if taken {
        in_frame = !last;
    }
    if held {
        pass = false;
    } else if taken && last || !taken && !in_frame {
        pass = true;
    }

    /// Metadata that is owed while nothing passes belongs to discarded frames. If none is owed, its frame has not
    /// begun.
    let discard_meta = (!pass && owed.any()) || skip.any();
    meta_m.data = meta_s.data;
    meta_m.valid = meta_s.valid && pass && !discard_meta;
    meta_s.ready = discard_meta || (pass && meta_m.ready);
    let meta_taken = meta_s.valid && meta_s.ready;
    let owed_next =
        owed + (taken && !in_frame).word().resize(OWED_BITS) - meta_taken.word().resize(OWED_BITS);
    owed = owed_next;
    if held || !pass {
        skip = owed_next;
    } else if meta_taken && skip.any() {
        skip = skip - 1;
    }

    /// Packets in the path are lost when it is reset. The account is kept two clocks after: it takes the sum of five
    /// bits, then adds it.
    let arrived = reg_reset(taken && last && pass, false);
    let departed = reg_reset(left, 0);
    let was_held = delayed(held, 2, |bit| reg_reset(bit, false));
    let swallowed = delayed(taken && last && !pass, 3, |bit| reg_reset(bit, false));
    let others = cat!(
        (departed[1] && departed[2]) || (departed[3] && (departed[1] || departed[2])),
        departed[1] ^ departed[2] ^ departed[3]
    );
    let change = reg_reset(
        arrived.word().resize(CHANGE_BITS)
            - departed[0].word().resize(CHANGE_BITS)
            - others.resize(CHANGE_BITS),
        0,
    );
    let flight_next = flight + change.sign_extend(FLIGHT_BITS);
    flight = if was_held[1] { 0 } else { flight_next };
    let gone = reg_reset(
        if was_held[1] {
            flight_next
        } else {
            lit(0, FLIGHT_BITS)
        },
        0,
    );
    lost_count = lost_count + gone.sign_extend(COUNTER_WIDTH) + swallowed[2].word().resize(COUNTER_WIDTH);
    lost = lost_count;
}

/// [`FrameValve`].
pub(crate) const VALVE_ENTRY: Entry = Entry::part(
    "frame_valve",
    "keeps matched frames whole when the cluster is reset",
    ValveShape::parameters,
    |values| {
        let ValveShape { data, length, tag } = ValveShape::new(values)?;
        Ok(Box::new(FrameValve::new(data, tag + length)))
    },
);

/// Parameters with small values: nothing depends on them but widths.
#[derive(Parameters)]
#[parameters(block = VALVE_ENTRY.name)]
struct ValveShape {
    /// Width of a beat in bits, a power of two.
    #[parameter(16, range = 16..=1024, power_of_two, name = "data_width")]
    data: usize,
    /// Width of a length in bits.
    #[parameter(1, range = 1..=32, name = "length_width")]
    length: usize,
    /// Width of a tag in bits.
    #[parameter(1, range = 1..=128, name = "tag_width")]
    tag: usize,
}
