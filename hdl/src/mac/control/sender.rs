//! Sends answers and messages: their headers, and the words in the memory.

use super::messages::BYTES;
use super::{ADDRESS, COUNT, KIND, MAC, NUMBER, PLACE, STATUS, WORD};
use crate::mac::{BEAT, BYTE, BeatFields};
use crate::stream::FrameOut;
use spinneret_regmap::ether;
use spinneret_verilog::prelude::*;

/// Bits of a beat's bytes.
const LINE: usize = 2 * WORD;
/// The first beat of the data.
const HEADER: u64 = (ether::HEADER_BYTES * BYTE / LINE) as u64;
/// The last beat of the shortest frame.
const SHORTEST: u64 = (ether::SHORTEST_BYTES * BYTE / LINE) as u64 - 1;
/// Bits of the number of a beat.
const BEAT_NUMBER: usize = PLACE + 1;
/// Beats of the board's data.
const INFO_BEATS: usize = ether::INFO_BYTES * BYTE / LINE;
/// Bits of the number of one.
pub(super) const INFO_PLACE: usize = INFO_BEATS.trailing_zeros() as usize;

/// An answer to send.
#[interface(ReplyIn)]
pub struct ReplyOut {
    /// Its receiver.
    pub target: Wire<Out, { MAC }>,
    /// Its kind.
    pub kind: Wire<Out, { KIND }>,
    /// Its status.
    pub status: Wire<Out, { STATUS }>,
    /// Number of its request.
    pub number: Wire<Out, { NUMBER }>,
    /// Words that were accessed.
    pub words: Wire<Out, { PLACE + 2 }>,
    /// They follow.
    pub has_words: Wire<Out, bool>,
    /// The board's data follow.
    pub has_info: Wire<Out, bool>,
}

/// Sends answers and messages.
///
/// # Contract
/// - **Frames:** as `docs/boards/control.md` has them, in whole beats, 8 beats at least, with zeros in the beats after the data. All inputs but `starts`
///   are stable while `is_idle` is low.
/// - **Start:** `starts` for one clock while `is_idle` is high. `is_idle` rises when the last beat is taken.
/// - **Throughput:** a beat a clock from the first to the last one.
#[module]
pub struct ControlSender {
    /// A frame starts.
    pub starts: Wire<In, bool>,
    /// It is a message.
    pub starts_message: Wire<In, bool>,
    /// Nothing is being sent.
    pub is_idle: Wire<Out, bool>,
    /// The frame that is sent, or was last, is a message.
    pub is_message: Wire<Out, bool>,
    /// The board's address.
    pub mac: Wire<In, { MAC }>,
    /// The owner's address.
    pub owner: Wire<In, { MAC }>,
    /// The session.
    pub session: Wire<In, { NUMBER }>,
    /// The answer.
    pub reply: ReplyIn,
    /// Number of the message, or of the next one.
    pub message: Wire<In, { NUMBER }>,
    /// Address of the message.
    pub message_address: Wire<In, { ADDRESS }>,
    /// Bytes of the message.
    pub message_bytes: Wire<In, { BYTES }>,
    /// The message is a host read, without data.
    pub message_reads: Wire<In, bool>,
    /// Beat of the board's data.
    pub info_place: Wire<Out, { INFO_PLACE }>,
    /// That beat, its first byte in the lowest bits.
    pub info: Wire<In, { LINE }>,
    /// Reads two words of the memory, which it holds from the next clock on.
    pub read: Wire<Out, bool>,
    /// Their place.
    pub read_place: Wire<Out, { PLACE }>,
    /// The two words.
    pub data: Wire<In, { LINE }>,
    /// Frames.
    pub m: FrameOut<{ BEAT }>,
    sends_message: Reg<bool>,
    active: Reg<bool, Reset>,
    beat: Reg<{ BEAT_NUMBER }>,
    held: Reg<bool, Reset>,
    is_last: Reg<bool>,
    from_memory: Reg<bool>,
    line: Reg<{ LINE }>,
}

#[kernel(ControlSender)]
fn update() {
    let fields = BeatFields::new();
    let in_beats = |count: Sig<Word>, bits: usize| {
        let rounded = count + ((1_u64 << bits) - 1);
        rounded.slice(bits, count.width() - bits).resize(BEAT_NUMBER)
    };
    let no_beats = constant(lit(0, BEAT_NUMBER));
    let words = reply.words.resize(PLACE + 3);
    let beats = if sends_message && message_reads {
        no_beats
    } else if sends_message {
        in_beats(message_bytes.resize(BYTES + 1), 3)
    } else if reply.has_info {
        constant(lit(INFO_BEATS as u64, BEAT_NUMBER))
    } else if reply.has_words {
        in_beats(words, 1)
    } else {
        no_beats
    };
    let from_header = beat - HEADER;
    let is_data = beat >= HEADER && from_header < beats;
    let is_end = beat >= SHORTEST && (from_header + 1) >= beats;

    let target = if sends_message { owner } else { reply.target };
    let kind = if sends_message {
        cat!(lit(u64::from(ether::MESSAGE) >> 1, KIND - 1), message_reads)
    } else {
        reply.kind
    };
    let number = if sends_message { message } else { reply.number };
    let address = if sends_message { message_address } else { message };
    let count = if sends_message {
        message_bytes.resize(COUNT)
    } else {
        reply.words.resize(COUNT)
    };
    let status = if sends_message {
        constant(lit(0, STATUS))
    } else {
        reply.status
    };
    /// In network order.
    let header = wire(LINE);
    header = 0;
    match beat.slice(0, 3) {
        0 => header = cat!(target, mac.slice(4 * BYTE, 2 * BYTE)),
        1 => {
            header = cat!(
                mac.slice(0, 4 * BYTE),
                lit(ether::ETHER_TYPE.into(), 2 * BYTE),
                lit(ether::VERSION.into(), BYTE),
                lit(u64::from(ether::FROM_BOARD) >> KIND, BYTE - KIND),
                kind
            );
        }
        2 => header = cat!(session, lit(0, WORD)),
        3 => header = cat!(number, address),
        4 => {
            header = cat!(
                count,
                lit(0, BYTE - STATUS),
                status,
                lit(0, BYTE),
                lit(ether::MOST_WORDS as u64, WORD)
            );
        }
        _ => {}
    }
    /// Bytes of a beat that does not come from the memory.
    let made = wire(LINE);
    made = 0;
    if beat < HEADER {
        made = header.swap_bytes();
    } else if is_data && reply.has_info {
        made = info;
    }

    let fetches = active && (!held || m.ready);
    if m.ready {
        held = false;
    }
    if fetches {
        held = true;
        is_last = is_end;
        from_memory = is_data && (sends_message || !reply.has_info);
        line = made;
        beat = beat + 1;
        active = !is_end;
    }
    if starts {
        active = true;
        beat = 0;
        sends_message = starts_message;
    }
    read = fetches;
    read_place = from_header.slice(0, PLACE);
    info_place = from_header.slice(0, INFO_PLACE);
    is_idle = !active && !held;
    is_message = sends_message;
    m.data = pack!(fields {
        data: if from_memory { data } else { line },
        tail: lit(7, 3),
    });
    m.last = is_last;
    m.valid = held;
}
