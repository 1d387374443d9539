//! Control of a board over Ethernet: the board's end of the protocol in `docs/boards/control.md`.
//!
//! ```text
//!  s ==> EtherTypeDemux ==> pass
//!             || control frames
//!        ControlReader ==heard==> engine <==words==> registers and memories
//!             || words written       | answer   ^ words read, words to write
//!             vv                     v          vv
//!          memory, 2 KiB ======> ControlSender ==> m
//!             ^^                     ^ message
//!  w ==> MessageKeeper --------------+
//!  host_read, host_data
//! ```
//!
//! Beats are those of [`BeatFields`](super::BeatFields). Frames have no FCS. The first byte of an Ethernet address is in the highest bits.
//!
//! # Contract
//! - **Frames:** `s` has good frames of port 0. Those of other EtherTypes leave at `pass`, as [`EtherTypeDemux`] says; those of this one end here.
//!   Frames of port 1 go through an `ether_type_demux` of their own, whose `control` is thrown away.
//! - **Requests:** `docs/boards/control.md`. A frame is classified when it has ended, and is answered, or dropped and counted. A write is executed
//!   only once all its words have come.
//! - **Once:** a request with the number after the last one is executed; the last one again is answered again, and not executed.
//! - **Words:** accesses are made one after the other in order of addresses. `words_valid` is high until `words_ready`; `done` is high for
//!   one clock, at least one clock later, with `read` and `error`. An error ends the request. The memories answer each access: the request
//!   waits for `done` as long as it takes, and nothing else does.
//! - **Messages:** as [`MessageKeeper`] says.
//! - **Backpressure:** control frames never wait. A request that comes while one is executed or answered is dropped as busy; acknowledgements
//!   are not. `m` may stall at any time.
//! - **Counters:** `select` n reads counter n in `value` 2 clocks later; each wraps. One for each control frame: `0` answered for the first time, `1`
//!   answered again, `2` malformed, `3` for others, `4` refused, `5` busy, `6` acknowledgement or answer to a host read. `7` host
//!   writes and reads that were lost.
//! - **Reset:** no session, and the counters are 0. Frames inside are lost.

mod demux;
mod messages;
mod reader;
mod sender;

pub(crate) use demux::ENTRY as DEMUX;
pub use demux::EtherTypeDemux;
pub use messages::{HostReadIn, HostReadOut, MessageIn, MessageKeeper, MessageOut};
pub use reader::{ControlReader, HeardIn, HeardOut, SessionIn, SessionOut};
pub use sender::{ControlSender, ReplyIn, ReplyOut};

use super::{BEAT, BEAT_BYTES, BYTE};
use crate::entry::{Entry, ParameterError, Variant};
use crate::stream::{FrameIn, FrameOut, StreamOut};
use crate::{COUNTER_WIDTH, EventCounters};
use sender::INFO_PLACE;
use spinneret_regmap::ether;
use spinneret_verilog::prelude::*;

/// Bits of an Ethernet address.
const MAC: usize = 6 * BYTE;
/// Bits of an EtherType.
const ETHER_TYPE_BITS: usize = 2 * BYTE;
/// Bits of a key.
const KEY: usize = 64;
/// Bits of the number of a request or message.
const NUMBER: usize = 32;
/// Bits of an address.
const ADDRESS: usize = 32;
/// Bits of the number of words in a frame.
const COUNT: usize = 16;
/// Bits of a word.
const WORD: usize = 32;
/// Bits of a kind that are not 0.
const KIND: usize = 3;
/// Bits of a status that are not 0.
const STATUS: usize = 2;
/// Beats of data in a frame.
const DATA_BEATS: usize = ether::MOST_BYTES / BEAT_BYTES;
/// Bits of the place of a beat of data.
const PLACE: usize = DATA_BEATS.trailing_zeros() as usize;
/// Bits of the place of a byte in a beat.
const TAIL: usize = BEAT - 2 * WORD;
/// Counters.
const COUNTERS: usize = 8;
/// Bits of the number of a counter.
const SELECT: usize = COUNTERS.trailing_zeros() as usize;

/// Parameters of the endpoint.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = ENTRY.name)]
pub struct ControlShape {
    /// Binary logarithm of the clocks after which a message is sent again.
    #[parameter(18, range = 4..=32)]
    pub resend_bits: usize,
    /// Binary logarithm of how often a message is sent before it is lost.
    #[parameter(8, range = 1..=16)]
    pub tries_bits: usize,
}

/// Accesses to registers and memories.
#[interface(WordsIn)]
pub struct WordsOut {
    /// An access is there.
    pub valid: Wire<Out, bool>,
    /// It is taken.
    pub ready: Wire<In, bool>,
    /// It writes.
    pub is_write: Wire<Out, bool>,
    /// Its address, a multiple of 4.
    pub address: Wire<Out, { ADDRESS }>,
    /// The word to write.
    pub data: Wire<Out, { WORD }>,
    /// The access is done.
    pub done: Wire<In, bool>,
    /// The word that was read.
    pub read: Wire<In, { WORD }>,
    /// The access was refused.
    pub error: Wire<In, bool>,
}

/// States of the engine.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum State {
    /// Waits for a request.
    Idle,
    /// The next word of a request.
    Next,
    /// The access waits to be taken.
    Issue,
    /// The access is under way.
    Access,
    /// The answer waits for the sender.
    Reply,
    /// The answer is being sent.
    Send,
}

/// Executes requests of a host that come over Ethernet, and sends host writes and reads to it.
#[module(shape: ControlShape, error = ParameterError, _ = shape.checked()?)]
pub struct ControlEndpoint {
    /// Frames that port 0 has received.
    pub s: FrameIn<{ BEAT }>,
    /// Those of other EtherTypes.
    pub pass: FrameOut<{ BEAT }>,
    /// Answers and messages for port 0.
    pub m: FrameOut<{ BEAT }>,
    /// The board's Ethernet address.
    pub mac: Wire<In, { MAC }>,
    /// Beat of the board's data.
    pub info_place: Wire<Out, { INFO_PLACE }>,
    /// That beat, its first byte in the lowest bits, in the same clock.
    pub info: Wire<In, { 2 * WORD }>,
    /// Accesses to registers and memories.
    pub words: WordsOut,
    /// Host writes.
    pub w: FrameIn<{ BEAT }>,
    /// Address of the first byte, with the first beat.
    pub w_address: Wire<In, { ADDRESS }>,
    /// Host reads.
    pub host_read: HostReadIn,
    /// Their bytes.
    pub host_data: StreamOut<{ 2 * WORD }>,
    /// Number of a counter.
    pub select: Wire<In, { SELECT }>,
    /// That counter.
    pub value: Wire<Out, { COUNTER_WIDTH }>,
    demux: EtherTypeDemux,
    reader: ControlReader,
    keeper: MessageKeeper<{ shape }>,
    sender: ControlSender,
    /// Words of a request or an answer, then the bytes of a message.
    memory: Ram<{ RamStyle::Block }, { 2 * DATA_BEATS }, { 2 * WORD }>,
    counters: EventCounters<{ COUNTERS }>,
    #[new(Reg::reset_to(State::Idle))]
    state: Reg<State>,
    has_owner: Reg<bool, Reset>,
    key: Reg<{ KEY }>,
    owner: Reg<{ MAC }>,
    first: Reg<{ NUMBER }>,
    next: Reg<{ NUMBER }>,
    /// The request that was executed last reads.
    is_read: Reg<bool, Reset>,
    /// Words of it that are done.
    done: Reg<{ PLACE + 2 }, Reset>,
    has_failed: Reg<bool, Reset>,
    address: Reg<{ ADDRESS }>,
    /// The first word of two that are read.
    even: Reg<{ WORD }>,
    reply_kind: Reg<{ KIND }>,
    reply_status: Reg<{ STATUS }>,
    reply_info: Reg<bool>,
    /// The answer is that of the last request.
    reply_last: Reg<bool>,
}

#[kernel(ControlEndpoint)]
fn update() {
    demux.s = s;
    pass = demux.pass;
    reader.s = demux.control;
    reader.mac = mac;
    reader.session.key = key;
    reader.session.first = first;
    reader.session.next = next;
    reader.session.message = keeper.m.number;
    reader.session.moves = keeper.moves;
    reader.session.reads = keeper.reads;
    reader.session.bytes = keeper.m.bytes;
    let heard = reader.heard;
    reader.is_open = state == State::Idle && !heard.valid;

    /// The class of the frame.
    let kind = |kind: u8| heard.kind == kind;
    let (discovers, opens, closes, reads, writes, answers_read) = (
        kind(ether::DISCOVER),
        kind(ether::OPEN),
        kind(ether::CLOSE),
        kind(ether::READ),
        kind(ether::WRITE),
        kind(ether::HOST_READ),
    );
    let acknowledges = answers_read || kind(ether::MESSAGE);
    let is_known = discovers || opens || closes || reads || writes || acknowledges;
    let has_range = heard.count != 0 && heard.count <= ether::MOST_WORDS && heard.address.slice(0, 2) == 0;
    let is_range_wrong = heard.is_open && (reads || writes) && !has_range;
    let is_spoken = heard.is_version || discovers;
    let is_malformed = !heard.is_whole || !is_spoken || !is_known || is_range_wrong;
    let is_foreign = heard.is_group || !(heard.is_mine || (heard.is_broadcast && discovers));
    let is_right = heard.valid && !is_malformed && !is_foreign;
    let is_owners = has_owner && heard.has_key;
    let is_request = is_right && !acknowledges && heard.is_open;
    let is_new = if opens {
        !(has_owner && heard.is_first)
    } else {
        heard.is_next
    };
    let is_again = if opens {
        has_owner && heard.is_first
    } else {
        heard.is_repeat
    };
    let may = if opens {
        !has_owner || heard.has_key
    } else {
        is_owners
    };
    let executes = is_request && !discovers && may && is_new;
    let repeats = is_request && !discovers && may && is_again && !is_new;
    let refuses = is_request && !discovers && !executes && !repeats;
    let tells = is_request && discovers;
    let is_acknowledgement = is_right && acknowledges && is_owners;

    if is_request {
        state = State::Reply;
        reply_kind = heard.kind.slice(0, KIND);
        reply_info = discovers;
        reply_status = if has_owner && !heard.has_key && !discovers {
            constant(lit(ether::IN_USE.into(), STATUS))
        } else if refuses {
            constant(lit(ether::NO_SESSION.into(), STATUS))
        } else {
            constant(lit(ether::DONE.into(), STATUS))
        };
        reply_last = false;
        address = heard.address;
    }
    if repeats {
        reply_last = !opens;
    }
    if executes {
        next = heard.number + 1;
        is_read = reads;
        done = 0;
        has_failed = false;
        if opens {
            has_owner = true;
            key = heard.key;
            owner = heard.source;
            first = heard.number;
        }
        if closes {
            has_owner = false;
        }
        if reads || writes {
            reply_last = true;
            state = State::Next;
        }
    }

    /// The words of a request, one after the other.
    let is_odd = done[0];
    let pair = done.slice(1, PLACE);
    let fetches = state == State::Next && !is_read && sender.is_idle;
    let word = if is_odd {
        memory.read_data.slice(WORD, WORD)
    } else {
        memory.read_data.slice(0, WORD)
    };
    words.valid = state == State::Issue;
    words.is_write = !is_read;
    words.address = address;
    words.data = word.swap_bytes();
    let ends_access = state == State::Access && words.done;
    let is_kept = ends_access && is_read && !words.error;
    let came = words.read.swap_bytes();
    match state {
        State::Idle => {}
        State::Next => {
            if done.resize(COUNT) == heard.count {
                state = State::Reply;
            } else if is_read || sender.is_idle {
                state = State::Issue;
            }
        }
        State::Issue => {
            if words.ready {
                state = State::Access;
            }
        }
        State::Access => {
            if words.done {
                has_failed = words.error;
                state = State::Next;
                if words.error {
                    state = State::Reply;
                } else {
                    done = done + 1;
                    address = address + 4;
                    even = came;
                }
            }
        }
        State::Reply => {
            if sender.is_idle {
                state = State::Send;
            }
        }
        State::Send => {
            if sender.is_idle {
                state = State::Idle;
            }
        }
    }

    /// Answers go first. While words are accessed, the memory is the engine's.
    let answers = state == State::Reply && sender.is_idle;
    let sends_message = keeper.m.valid && sender.is_idle && state == State::Idle;
    sender.starts = answers || sends_message;
    sender.starts_message = sends_message;
    sender.mac = mac;
    sender.owner = owner;
    sender.session = if has_owner {
        first
    } else {
        constant(lit(0, NUMBER))
    };
    sender.reply.target = heard.source;
    sender.reply.kind = reply_kind;
    sender.reply.status = if reply_last {
        has_failed.word().resize(STATUS)
    } else {
        reply_status
    };
    sender.reply.number = heard.number;
    sender.reply.words = if reply_last {
        done
    } else {
        constant(lit(0, PLACE + 2))
    };
    sender.reply.has_words = reply_last && is_read;
    sender.reply.has_info = reply_info;
    sender.message = keeper.m.number;
    sender.message_address = keeper.m.address;
    sender.message_bytes = keeper.m.bytes;
    sender.message_reads = keeper.reads;
    info_place = sender.info_place;
    sender.info = info;
    m = sender.m;

    keeper.w.data = w.data.slice(2 * WORD, TAIL);
    keeper.w.last = w.last;
    keeper.w.handshake() = w.handshake();
    keeper.w_address = w_address;
    keeper.can_write = !reader.write && !is_kept;
    keeper.has_owner = has_owner;
    keeper.heard = executes || repeats;
    keeper.acknowledged = is_acknowledgement && heard.is_message && answers_read == keeper.reads;
    keeper.has_bytes = heard.has_bytes;
    keeper.host_read = host_read;
    host_data = keeper.host_data;
    keeper.m.starts = sends_message;
    keeper.m.ended = sender.is_idle && sender.is_message;

    /// The engine's and the sender's words stay at the output until they are used.
    keeper.can_read = state == State::Idle && sender.is_idle;
    let keeper_reads = keeper.read && keeper.can_read;
    memory.read_enable = fetches || sender.read || keeper_reads;
    memory.read_addr = if fetches {
        cat!(false, pair)
    } else if keeper_reads {
        cat!(true, keeper.read_place)
    } else {
        cat!(sender.is_message, sender.read_place)
    };
    sender.data = memory.read_data;
    keeper.data = memory.read_data;
    memory.write_enable = reader.write || is_kept || keeper.write;
    memory.write_addr = if reader.write {
        cat!(reader.write_message, reader.write_place)
    } else if is_kept {
        cat!(false, pair)
    } else {
        cat!(true, keeper.write_place)
    };
    memory.write_data = if reader.write {
        demux.control.data.slice(0, 2 * WORD)
    } else if is_kept {
        if is_odd {
            cat!(came, even)
        } else {
            cat!(lit(0, WORD), came)
        }
    } else {
        w.data.slice(0, 2 * WORD)
    };

    let is_busy = is_right && !acknowledges && !heard.is_open;
    counters.events = cat!(
        keeper.lost,
        is_acknowledgement,
        is_busy,
        refuses || (is_right && acknowledges && !is_owners),
        heard.valid && !is_malformed && is_foreign,
        heard.valid && is_malformed,
        repeats,
        executes || tells
    );
    let mut values = counters.counts.to_vec();
    values.reverse();
    let selected = reg(select);
    value = reg(cat_all(&values).at(
        cat!(selected, lit(0, COUNTER_WIDTH.trailing_zeros() as usize)),
        COUNTER_WIDTH,
    ));
}

/// [`ControlEndpoint`].
pub(crate) const ENTRY: Entry = entry!(part "control_endpoint", ControlEndpoint(ControlShape)?:
    "executes requests of a host that come over Ethernet");

/// Models for the testbenches: one that gives up as soon as a test can wait for.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, "resend_bits=10 tries_bits=2"),
    DEMUX.variant(DEMUX.name, ""),
];
