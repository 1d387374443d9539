//! Reads control frames: their header, whether they are for this board, and the words of writes.

use super::messages::BYTES;
use super::{ADDRESS, COUNT, KEY, MAC, NUMBER, PLACE};
use crate::mac::{BEAT, BYTE, BeatFields};
use crate::stream::FrameIn;
use spinneret_regmap::ether::{HOST_READ, MOST_WORDS, VERSION, WRITE};
use spinneret_verilog::prelude::*;

/// Beats of the header.
const HEADER: u64 = 5;
/// Bits of the number of a beat up to that.
const BEAT_NUMBER: usize = 3;
/// Beats of data at most.
const DATA_BEATS: u64 = MOST_WORDS as u64 / 2;

/// The session that a frame is compared with.
#[interface(SessionIn)]
pub struct SessionOut {
    /// The owner's key.
    pub key: Wire<Out, { KEY }>,
    /// Number of the request that began the session.
    pub first: Wire<Out, { NUMBER }>,
    /// Number of the next request.
    pub next: Wire<Out, { NUMBER }>,
    /// Number of the message.
    pub message: Wire<Out, { NUMBER }>,
    /// The message's number changes.
    pub moves: Wire<Out, bool>,
    /// The message is a host read.
    pub reads: Wire<Out, bool>,
    /// Its bytes.
    pub bytes: Wire<Out, { BYTES }>,
}

/// A frame that has ended.
#[interface(HeardIn)]
pub struct HeardOut {
    /// It has ended: the others are valid in this clock.
    pub valid: Wire<Out, bool>,
    /// It began while requests could be executed.
    pub is_open: Wire<Out, bool>,
    /// It has the header, and all words of a write, or all or no bytes of the host read that waits.
    pub is_whole: Wire<Out, bool>,
    /// It has the version of the protocol.
    pub is_version: Wire<Out, bool>,
    /// It is for the board.
    pub is_mine: Wire<Out, bool>,
    /// It is for all.
    pub is_broadcast: Wire<Out, bool>,
    /// Its sender is a group.
    pub is_group: Wire<Out, bool>,
    /// It has the owner's key.
    pub has_key: Wire<Out, bool>,
    /// It has the number of the request that began the session.
    pub is_first: Wire<Out, bool>,
    /// It has the number of the next request.
    pub is_next: Wire<Out, bool>,
    /// It has the number of the last request.
    pub is_repeat: Wire<Out, bool>,
    /// It has the number of the message.
    pub is_message: Wire<Out, bool>,
    /// It has as many bytes as the host read.
    pub has_bytes: Wire<Out, bool>,
    /// Its kind.
    pub kind: Wire<Out, { BYTE }>,
    /// Its sender, as all below only of a frame that is open.
    pub source: Wire<Out, { MAC }>,
    /// Its key.
    pub key: Wire<Out, { KEY }>,
    /// Its number.
    pub number: Wire<Out, { NUMBER }>,
    /// Its address.
    pub address: Wire<Out, { ADDRESS }>,
    /// Its words.
    pub count: Wire<Out, { COUNT }>,
}

/// Reads control frames.
///
/// # Contract
/// - **Backpressure:** none, `s_ready` is always high.
/// - **Header:** `heard` is valid in the clock after the last beat. Flags are those of each frame. Source, key, number, address and count are
///   those of the last frame whose first beat came while `is_open` was high.
/// - **Words:** those of a write that can be executed, and the bytes of a host read, go to `write`, 8 bytes in a clock, as they are in the frame.
#[module]
pub struct ControlReader {
    /// Control frames.
    pub s: FrameIn<{ BEAT }>,
    /// A request can be executed.
    pub is_open: Wire<In, bool>,
    /// The board's address.
    pub mac: Wire<In, { MAC }>,
    /// The session.
    pub session: SessionIn,
    /// Frames that have ended.
    pub heard: HeardOut,
    /// Two words of a write, or 8 bytes of a host read.
    pub write: Wire<Out, bool>,
    /// They are of a host read.
    pub write_message: Wire<Out, bool>,
    /// Their place.
    pub write_place: Wire<Out, { PLACE }>,
    beat: Reg<{ BEAT_NUMBER }, Reset>,
    /// Beats of data so far.
    data_beats: Reg<{ PLACE + 1 }>,
    opened: Reg<bool>,
    is_whole: Reg<bool>,
    is_version: Reg<bool>,
    is_mine: Reg<bool>,
    is_broadcast: Reg<bool>,
    is_group: Reg<bool>,
    has_key: Reg<bool>,
    is_first: Reg<bool>,
    is_next: Reg<bool>,
    is_repeat: Reg<bool>,
    is_message: Reg<bool>,
    has_bytes: Reg<bool>,
    is_empty: Reg<bool>,
    kind: Reg<{ BYTE }>,
    source: Reg<{ MAC }>,
    key: Reg<{ KEY }>,
    number: Reg<{ NUMBER }>,
    address: Reg<{ ADDRESS }>,
    count: Reg<{ COUNT }>,
    /// Words that have come.
    words: Reg<{ PLACE + 2 }>,
}

#[kernel(ControlReader)]
fn update() {
    let fields = BeatFields::new();
    /// In network order, the first byte highest.
    let line = s.data.field(fields.data).swap_bytes();
    let tail = s.data.field(fields.tail);
    let takes = if beat == 0 { is_open } else { opened };
    let low = line.slice(0, NUMBER);
    let high = line.slice(NUMBER, NUMBER);
    s.ready = true;

    let is_data = beat == HEADER;
    let is_host_read = kind == HOST_READ;
    let executes = opened && kind == WRITE && is_next;
    let answers = is_host_read && is_message && is_mine && session.reads;
    write = s.valid && is_data && has_key && (executes || answers) && data_beats < DATA_BEATS;
    write_message = is_host_read;
    write_place = data_beats.slice(0, PLACE);
    if s.valid {
        if s.last {
            beat = 0;
        } else if !is_data {
            beat = beat + 1;
        }
        if beat == 0 {
            opened = is_open;
            let target = line.slice(2 * BYTE, MAC);
            is_mine = target == mac;
            is_broadcast = target.all();
            is_group = line[BYTE];
            data_beats = 0;
        }
        if beat == 1 {
            is_version = low.slice(BYTE, BYTE) == VERSION;
            kind = low.slice(0, BYTE);
        }
        if beat == 2 {
            has_key = line == session.key;
        }
        if beat == 3 {
            is_first = high == session.first;
            is_next = high == session.next;
            is_repeat = high + 1 == session.next;
            is_message = high == session.message;
        }
        if beat == 4 {
            let bytes = high.slice(COUNT, COUNT);
            has_bytes = session.reads && bytes == session.bytes.resize(COUNT);
            is_empty = bytes == 0;
        }
        if takes {
            if beat == 0 {
                source = cat!(line.slice(0, 2 * BYTE), source.slice(0, 4 * BYTE));
            }
            if beat == 1 {
                source = cat!(source.slice(4 * BYTE, 2 * BYTE), high);
            }
            if beat == 2 {
                key = line;
            }
            if beat == 3 {
                number = high;
                address = low;
            }
            if beat == 4 {
                count = high.slice(COUNT, COUNT);
            }
        }
        let has_one = tail >= 3;
        let has_two = tail == 7;
        let both = cat!(has_one && has_two, has_one && !has_two);
        is_whole = is_data || (beat == 4 && has_two);
        words = 0;
        if is_data {
            if data_beats < DATA_BEATS {
                data_beats = data_beats + 1;
            }
            words = cat!(data_beats, lit(0, 1)) + both.resize(PLACE + 2);
        }
    }
    /// A message that is over cannot be acknowledged any more.
    if session.moves {
        is_message = false;
    }

    heard.valid = reg_reset(s.valid && s.last, false);
    heard.is_open = opened;
    let has_words = kind != WRITE || !opened || words.resize(COUNT) >= count;
    let has_data = has_bytes && cat!(words, lit(0, 2)) >= session.bytes;
    heard.is_whole = is_whole && has_words && (!is_host_read || !is_message || is_empty || has_data);
    heard.has_bytes = has_bytes;
    heard.is_version = is_version;
    heard.is_mine = is_mine;
    heard.is_broadcast = is_broadcast;
    heard.is_group = is_group;
    heard.has_key = has_key;
    heard.is_first = is_first;
    heard.is_next = is_next;
    heard.is_repeat = is_repeat;
    heard.is_message = is_message;
    heard.kind = kind;
    heard.source = source;
    heard.key = key;
    heard.number = number;
    heard.address = address;
    heard.count = count;
}
