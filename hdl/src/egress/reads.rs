//! Plans of frames become reads, as far as the frame buffer has room.

use super::shape::{AnswerFields, PlanFields, ReadFields, ReadShape};
use crate::axi::LENGTH_BITS;
use crate::entry::{Checked, Entry, ParameterError};
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// [`FrameReader`] in the catalog, for a proof of its own.
pub(crate) const READER_ENTRY: Entry = entry!(part ReadShape::BLOCK, FrameReader(ReadShape):
    "reads the lines of frames by bursts that stay in their block of memory");

/// [`FrameRoom`] in the catalog, for a proof of its own.
pub(crate) const ROOM_ENTRY: Entry = entry!(part RoomShape::BLOCK, FrameRoom(RoomShape):
    "counts the places of the frame buffer that nobody has a claim to");

/// Reads the lines of one frame after the other, by bursts that stay in their block of memory.
///
/// ```text
///          +--> answer: every plan, when its turn comes
///   plan --+--> frame:  those that are read, with their first burst
///          +--> burst:  one a clock
///   room --^
/// ```
///
/// # Contract
/// - **Throughput**: one burst a clock, also from frame to frame; a plan that is refused takes a clock.
/// - **Latency**: none. The outputs lead into queues with registers.
/// - **Backpressure**: a plan waits for room for the longest frame and for places in all queues it goes into, so
///   that whatever is read finds its place.
/// - **Bursts** end with their block of 64 lines, or of 4 KiB if those are less.
#[module(
    shape: ReadShape,
    width = shape.beats().max(shape.block()) + 1,
    plan = PlanFields::new(shape),
    answer = AnswerFields::new(shape),
    read: ReadFields = ReadFields::new(shape),
)]
pub struct FrameReader {
    /// Plans, as [`PlanFields`] says.
    pub plan: StreamIn<{ plan.width }>,
    /// Beats of the frame, which need room.
    pub need: Wire<Out, { shape.beats() }>,
    /// There is room for any frame.
    pub roomy: Wire<In, bool>,
    /// Claims the room.
    pub take: Wire<Out, bool>,
    /// The answer that is due, as in [`AnswerFields`].
    pub answer: StreamOut<{ answer.width }>,
    /// Outcome of the lines that are read.
    pub frame: StreamOut<{ shape.frame().width }>,
    /// Reads, as [`ReadFields`] says.
    pub burst: StreamOut<{ read.width }>,
    /// After the first burst of a frame.
    bursting: Reg<bool, Reset>,
    /// The next line.
    line: Reg<{ shape.line() }>,
    /// Lines that are not asked for, minus 1.
    left: Reg<{ width }>,
}

#[kernel(FrameReader { plan, need, roomy, take, answer, frame, burst, bursting, line, left, shape, read })]
fn update() {
    let (width, block) = (left.width(), shape.block());
    let planned = PlanFields::new(shape).of(plan.data);
    let refused = AnswerFields::new(shape).of(planned.answer).refused;
    need = planned.beats;
    /// A plan starts when everything that comes of it has its place.
    let start = plan.valid && !bursting && answer.ready && (refused || (roomy && frame.ready && burst.ready));
    plan.ready = start;
    take = start && !refused;
    answer.valid = start;
    answer.data = planned.answer;
    frame.valid = take;
    frame.data = planned.frame;
    /// The burst: up to the end of the frame or of the block. After the first one it begins with a block.
    let lines = shape.frame().of(planned.frame).lines.resize(width);
    let (place, number) = planned.line.split_at(block);
    let (left_low, left_blocks) = left.split_at(block);
    /// Lines of a frame's first block after the first line.
    let behind = !place;
    let fits = if bursting {
        !left_blocks.any()
    } else {
        lines <= behind.resize(width)
    };
    let rest = if bursting { left_low } else { lines.slice(0, block) };
    let most = behind | bursting.repeat(block);
    let length = if fits { rest } else { most };
    burst.valid = take || (bursting && burst.ready);
    burst.data = pack!(read {
        line: if bursting { line } else { planned.line },
        length: length.resize(LENGTH_BITS)
    });
    if burst.valid {
        bursting = !fits;
    }
    /// The rest begins with the next block. It counts only while there is one.
    if burst.ready {
        let number_now = if bursting {
            line.slice(block, number.width())
        } else {
            number
        };
        line = cat!(number_now + 1, lit(0, block));
        left = if bursting {
            cat!(left_blocks - 1, left_low)
        } else {
            lines - behind.resize(width) - 1
        };
    }
}

/// Sizes of the frame buffer.
#[derive(Parameters, Clone, Copy, Debug)]
#[parameters(block = "frame_room", check)]
pub struct RoomShape {
    /// Beats of the buffer.
    #[parameter(512, range = 2..=16384)]
    pub places: usize,
    /// Beats of the longest frame.
    #[parameter(150, range = 1..=8192)]
    pub most: usize,
}

impl RoomShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let needed = 2 * self.most;
        if self.places < needed {
            let reason = format!("it must be at least {needed}, for two of the longest frames");
            return Err(checked.refuse("places", reason));
        }
        Ok(())
    }
}

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
#[module(
    shape: RoomShape,
    count = bit_width(shape.places),
    need = bit_width(shape.most),
    freed = bit_width(shape.most + 1),
)]
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
    #[new(Reg::reset_to(Word::new(shape.places as u64, count)))]
    room: Reg,
    freed: Reg<{ freed }, Reset>,
}

#[kernel(
    FrameRoom {
        roomy, take, need, sent, dropped, dropped_beats, room, freed, shape
    },
    suffix = format!("{}_{}", self._shape.places, self._shape.most),
)]
fn update() {
    let (count, most) = (room.width(), shape.most);
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
