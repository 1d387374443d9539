//! Keeps a host write or read until the owner of the board has acknowledged or answered it.

use super::{ADDRESS, ControlShape, NUMBER, PLACE, TAIL, WORD};
use crate::mac::BEAT_BYTES;
use crate::stream::{FrameIn, StreamOut};
use spinneret_regmap::ether::MOST_BYTES;
use spinneret_verilog::prelude::*;

/// Bits of a number of bytes.
pub(super) const BYTES: usize = MOST_BYTES.ilog2() as usize + 1;
/// Beats of data at most.
const DATA_BEATS: u64 = (MOST_BYTES / BEAT_BYTES) as u64;

/// Where a host write or read is.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum State {
    /// It comes in.
    Collect,
    /// It is not delivered; its rest is taken.
    Drop,
    /// It waits for the sender.
    Full,
    /// It is being sent.
    Sending,
    /// It waits for the acknowledgement or the answer.
    Waiting,
    /// Bytes of the answer are read from the memory.
    Fetch,
    /// They come in this clock.
    Load,
    /// They are given.
    Give,
}

/// Host reads.
#[interface(HostReadIn)]
pub struct HostReadOut {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// It is taken.
    pub ready: Wire<In, bool>,
    /// Address of its first byte.
    pub address: Wire<Out, { ADDRESS }>,
    /// Its bytes, 1 to 1,024.
    pub bytes: Wire<Out, { BYTES }>,
}

/// A message that can be sent.
#[interface(MessageIn)]
pub struct MessageOut {
    /// It is there.
    pub valid: Wire<Out, bool>,
    /// Its sending starts.
    pub starts: Wire<In, bool>,
    /// Its sending has ended.
    pub ended: Wire<In, bool>,
    /// Its number, or that of the next one.
    pub number: Wire<Out, { NUMBER }>,
    /// Address of its first byte.
    pub address: Wire<Out, { ADDRESS }>,
    /// Its bytes.
    pub bytes: Wire<Out, { BYTES }>,
}

/// Keeps a host write until the owner has acknowledged it, or a host read until the owner has answered it.
///
/// # Contract
/// - **Messages:** a frame of `w` is a host write of 1 to 1,024 bytes to `w_address`, which counts with the first beat. It is sent
///   until `acknowledged`, again whenever 2^`resend_bits` clocks have passed, 2^`tries_bits` times in all.
/// - **Reads** are sent in the same way. `host_data` then has 8 bytes of the answer in a beat, without a mark at the last one: a beat every 3
///   clocks in which `can_read` is high. All beats are 0 if the read is lost or the owner has no bytes for it (`has_bytes` is low).
/// - **Order:** one message is inside. A read goes before a write that has not begun if the message before was a write, and behind it otherwise.
/// - **Numbers:** each frame of `w` and each read has the next number, delivered or not, so that the owner sees the gap of a lost one.
/// - **Loss:** writes are dropped and `lost` while there is no owner, after a message without acknowledgement until the owner
///   is `heard` again, and if they are longer; reads are `lost` in the same cases. Nothing is held for longer than all tries take.
/// - **Backpressure:** `w_ready` is low from the last beat of a write, or a read's acceptance, until the message is over, and while `can_write` is low.
#[module(shape: ControlShape)]
pub struct MessageKeeper {
    /// Beats of host writes: the place of their last byte.
    pub w: FrameIn<{ TAIL }>,
    /// Address of the first byte.
    pub w_address: Wire<In, { ADDRESS }>,
    /// The memory can be written.
    pub can_write: Wire<In, bool>,
    /// There is an owner.
    pub has_owner: Wire<In, bool>,
    /// The owner was heard.
    pub heard: Wire<In, bool>,
    /// The owner has acknowledged or answered the message.
    pub acknowledged: Wire<In, bool>,
    /// With the bytes of the read.
    pub has_bytes: Wire<In, bool>,
    /// Host reads.
    pub host_read: HostReadIn,
    /// Their bytes.
    pub host_data: StreamOut<{ 2 * WORD }>,
    /// The message.
    pub m: MessageOut,
    /// It is a host read that is neither answered nor lost.
    pub reads: Wire<Out, bool>,
    /// The number changes.
    pub moves: Wire<Out, bool>,
    /// A host write or read was lost.
    pub lost: Wire<Out, bool>,
    /// Writes a beat.
    pub write: Wire<Out, bool>,
    /// Its place.
    pub write_place: Wire<Out, { PLACE }>,
    /// The memory can be read.
    pub can_read: Wire<In, bool>,
    /// Reads a beat.
    pub read: Wire<Out, bool>,
    /// Its place.
    pub read_place: Wire<Out, { PLACE }>,
    /// The beat, one clock later.
    pub data: Wire<In, { 2 * WORD }>,
    #[new(Reg::reset_to(State::Collect))]
    state: Reg<State>,
    beats: Reg<{ PLACE + 1 }, Reset>,
    bytes: Reg<{ BYTES }>,
    address: Reg<{ ADDRESS }>,
    number: Reg<{ NUMBER }, Reset>,
    timer: Reg<{ shape.resend_bits }>,
    tries: Reg<{ shape.tries_bits }, Reset>,
    is_acknowledged: Reg<bool, Reset>,
    /// The message is a read.
    is_read: Reg<bool, Reset>,
    /// The last message was a write.
    was_write: Reg<bool, Reset>,
    /// The answer has bytes.
    is_full: Reg<bool>,
    line: Reg<{ 2 * WORD }>,
    /// The owner does not acknowledge.
    is_silent: Reg<bool, Reset>,
}

#[kernel(MessageKeeper)]
fn update() {
    let is_first = beats == 0;
    let refuses = (is_first && (!has_owner || is_silent)) || beats == DATA_BEATS;
    let takes_read = state == State::Collect && is_first && host_read.valid && (was_write || !w.valid);
    host_read.ready = takes_read;
    w.ready = state == State::Drop || (state == State::Collect && can_write && !takes_read);
    let takes = w.valid && w.ready;
    let (is_over, fails) = (wire_bit(), wire_bit());
    (is_over, fails) = (false, false);
    if heard {
        is_silent = false;
    }
    match state {
        State::Collect => {
            if takes_read {
                address = host_read.address;
                bytes = host_read.bytes;
                is_read = true;
                state = State::Full;
            }
            if takes {
                beats = beats + 1;
                is_read = false;
                if is_first {
                    address = w_address;
                }
                if refuses {
                    state = State::Drop;
                    fails = w.last;
                } else if w.last {
                    bytes = cat!(beats, lit(0, TAIL)) + w.data.resize(BYTES) + 1;
                    state = State::Full;
                }
            }
        }
        State::Drop => {
            fails = takes && w.last;
        }
        State::Full => {
            is_over = is_acknowledged;
            fails = !has_owner || is_silent;
            if m.starts {
                state = State::Sending;
            }
        }
        State::Sending => {
            timer = 0;
            if m.ended {
                state = State::Waiting;
            }
        }
        State::Waiting => {
            is_over = is_acknowledged;
            timer = timer + 1;
            if timer.all() {
                state = State::Full;
                tries = tries + 1;
                if tries.all() {
                    fails = true;
                    is_silent = true;
                }
            }
            if !has_owner {
                fails = true;
            }
        }
        State::Fetch => {
            if can_read || !is_full {
                state = State::Load;
            }
        }
        State::Load => {
            line = data & is_full.repeat(2 * WORD);
            beats = beats + 1;
            state = State::Give;
        }
        State::Give => {
            if host_data.ready {
                state = State::Fetch;
                if cat!(beats, lit(0, TAIL)) >= bytes {
                    state = State::Collect;
                    beats = 0;
                }
            }
        }
    }
    let is_sent = state == State::Full || state == State::Sending || state == State::Waiting;
    if acknowledged && is_sent {
        is_acknowledged = true;
        is_full = has_bytes;
    }
    moves = is_over || fails;
    lost = fails && !is_over;
    if is_over || fails {
        state = State::Collect;
        number = number + 1;
        beats = 0;
        tries = 0;
        is_acknowledged = false;
        was_write = !is_read;
        if is_read {
            state = State::Fetch;
        }
        if fails && !is_over {
            is_full = false;
        }
    }
    write = state == State::Collect && takes && !refuses;
    write_place = beats.slice(0, PLACE);
    read = state == State::Fetch;
    read_place = beats.slice(0, PLACE);
    reads = is_read && is_sent;
    host_data.valid = state == State::Give;
    host_data.data = line;
    m.valid = state == State::Full && has_owner && !is_silent && !is_acknowledged;
    m.number = number;
    m.address = address;
    m.bytes = bytes;
}
