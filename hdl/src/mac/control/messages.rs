//! Keeps a host write until the owner of the board has acknowledged it.

use super::{ADDRESS, ControlShape, NUMBER, PLACE, TAIL};
use crate::mac::BEAT_BYTES;
use crate::stream::FrameIn;
use spinneret_regmap::ether::MOST_BYTES;
use spinneret_verilog::prelude::*;

/// Bits of a number of bytes.
pub(super) const BYTES: usize = MOST_BYTES.ilog2() as usize + 1;
/// Beats of data at most.
const DATA_BEATS: u64 = (MOST_BYTES / BEAT_BYTES) as u64;

/// Where a host write is.
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
    /// It waits for the acknowledgement.
    Waiting,
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

/// Keeps a host write until the owner has acknowledged it.
///
/// # Contract
/// - **Messages:** a frame of `w` is a host write of 1 to 1,024 bytes to `w_address`, which counts with the first beat. It is sent
///   until `acknowledged`, again whenever 2^`resend_bits` clocks have passed, 2^`tries_bits` times in all.
/// - **Numbers:** each frame of `w` has the next number, delivered or not, so that the owner sees the gap of a lost one.
/// - **Loss:** frames are dropped and `lost` while there is no owner, after a message without acknowledgement until the owner
///   is `heard` again, and if they are longer. `w` is never held for longer than all tries take.
/// - **Backpressure:** `w_ready` is low from the last beat of a write until it is acknowledged or lost, and while `can_write` is low.
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
    /// The owner has acknowledged the message.
    pub acknowledged: Wire<In, bool>,
    /// The message.
    pub m: MessageOut,
    /// The number changes.
    pub moves: Wire<Out, bool>,
    /// A host write was lost.
    pub lost: Wire<Out, bool>,
    /// Writes a beat.
    pub write: Wire<Out, bool>,
    /// Its place.
    pub write_place: Wire<Out, { PLACE }>,
    #[new(Reg::reset_to(State::Collect))]
    state: Reg<State>,
    beats: Reg<{ PLACE + 1 }, Reset>,
    bytes: Reg<{ BYTES }>,
    address: Reg<{ ADDRESS }>,
    number: Reg<{ NUMBER }, Reset>,
    timer: Reg<{ shape.resend_bits }>,
    tries: Reg<{ shape.tries_bits }, Reset>,
    is_acknowledged: Reg<bool, Reset>,
    /// The owner does not acknowledge.
    is_silent: Reg<bool, Reset>,
}

#[kernel(MessageKeeper)]
fn update() {
    let is_first = beats == 0;
    let refuses = (is_first && (!has_owner || is_silent)) || beats == DATA_BEATS;
    w.ready = state == State::Drop || (state == State::Collect && can_write);
    let takes = w.valid && w.ready;
    let (is_over, fails) = (wire_bit(), wire_bit());
    (is_over, fails) = (false, false);
    if heard {
        is_silent = false;
    }
    match state {
        State::Collect => {
            if takes {
                beats = beats + 1;
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
            fails = !has_owner;
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
    }
    if acknowledged && state != State::Collect && state != State::Drop {
        is_acknowledged = true;
    }
    moves = is_over || fails;
    lost = fails && !is_over;
    if is_over || fails {
        state = State::Collect;
        number = number + 1;
        beats = 0;
        tries = 0;
        is_acknowledged = false;
    }
    write = state == State::Collect && takes && !refuses;
    write_place = beats.slice(0, PLACE);
    m.valid = state == State::Full && has_owner && !is_acknowledged;
    m.number = number;
    m.address = address;
    m.bytes = bytes;
}
