//! Length and message id of every frame.

use super::MatchShape;
use spinneret_verilog::prelude::*;

/// Bits of tkeep that are counted together in the first cycle.
const GROUP: usize = 8;

/// Groups of one part of several, all of about the same size.
fn groups_of(part: usize, parts: usize, groups: usize) -> std::ops::Range<usize> {
    part * groups / parts..(part + 1) * groups / parts
}

/// Measures frames: exact length in bytes from tkeep, and the message id.
///
/// One beat a cycle, never a stall. `done` is high three cycles after the last beat of a frame, and
/// `size` and `message_id` are those of the frame in that cycle.
#[module(shape: MatchShape)]
pub struct FrameMeter {
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
    id: Reg<{ shape.message_id_width }>,
    total: Reg<32>,
}

#[kernel(FrameMeter)]
fn update() {
    let bytes_width = bit_width(shape.axis().keep());
    /// The beat carries the message id, all of it.
    let id_here = if shape.ip_relative {
        let (id_lane, id_beat) = id_word
            .slice(0, shape.lane_width() + shape.beat_number_width())
            .split_at(shape.lane_width());
        /// Words of the beat that the frame has completely.
        let id_words = word_of((0..shape.lanes()).map(|lane| beat_keep.slice(4 * lane, 4).all()));
        (beat_number == id_beat) & id_words[id_lane]
    } else {
        (beat_number == shape.message_id_beat()) & beat_keep.slice(4 * shape.message_id_lane(), 4).all()
    };
    if beat_valid {
        if id_here {
            id = beat_id;
        } else if beat_number == 0 {
            id = 0;
        }
    }
    /// First cycle: count the bytes of each group.
    let groups: Vec<_> = (0..shape.axis().keep() / GROUP)
        .map(|group| reg(beat_keep.slice(group * GROUP, GROUP).count_ones(bit_width(GROUP))))
        .collect();
    let (counted, counted_first, counted_last) = (
        reg_reset(beat_valid, false),
        reg(beat_number == 0),
        reg(beat_last),
    );
    /// Second cycle: bytes of each half of the beat, as one sum of all would be too deep.
    let parts = groups.len().min(2);
    let halves: Vec<_> = (0..parts)
        .map(|part| {
            reg(sum(
                groups[groups_of(part, parts, groups.len())].iter().copied(),
                bytes_width,
            ))
        })
        .collect();
    let (summed, summed_first, summed_last, summed_id) = (
        reg_reset(counted, false),
        reg(counted_first),
        reg(counted_last),
        reg(id),
    );
    /// Third cycle: bytes of the frame.
    if summed {
        total = (total & (!summed_first).repeat(32)) + sum(halves, 32);
    }
    done = reg_reset(summed & summed_last, false);
    message_id = reg(summed_id);
    size = total;
}
