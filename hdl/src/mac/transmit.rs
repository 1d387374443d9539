//! Sends frames to a PHY: preamble, padding, FCS and the gap between frames.
//!
//! # Contract
//! - **Frames:** 7 bytes 0x55, the start of frame delimiter, the bytes of the frame, zeros up to 60 bytes, four bytes of the FCS; then the PHY
//!   gets nothing for 12 clocks at least.
//! - **Latency:** the first byte of the preamble is at the PHY 1 clock after `s_valid`, the first byte of the frame 9 clocks after it.
//! - **Throughput:** a frame of n bytes takes max(n, 60) + 24 clocks, if the next one is there.
//! - **Whole frames:** once its first byte was taken, a byte is taken in each clock. If one is not there, the frame breaks off with `tx_er`
//!   for a clock, its rest is taken and not sent, `underrun`.
//! - **Pause:** no frame begins while `holds` is high. One that has begun is sent whole.
//! - **Events:** `sent` or `underrun`, for one clock, at the end of each frame.
//! - **Paths:** outputs to the PHY are registers; `s_ready` is one of the state.
//! - **Reset:** ends the frame that is being sent. The rest of it is sent as a frame, so software that resets it empties its queue as well.

use super::crc::{CRC, FIRST, next_sum};
use super::{BYTE, DELIMITER, FCS_BYTES, GAP, PREAMBLE, PREAMBLE_BYTES, SHORTEST};
use crate::entry::Entry;
use crate::stream::FrameIn;
use spinneret_verilog::prelude::*;

/// Bytes of the shortest frame without its FCS.
const LEAST: u64 = (SHORTEST - FCS_BYTES) as u64;
/// Bits of a number of bytes up to that.
const COUNT: usize = 6;

/// The part of a frame that is being sent.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum State {
    /// Nothing.
    Idle,
    /// Preamble and delimiter.
    Preamble,
    /// The frame.
    Frame,
    /// Zeros.
    Padding,
    /// The FCS.
    Fcs,
    /// Nothing: the rest of a frame that broke off is taken.
    Rest,
    /// Nothing, between two frames.
    Gap,
}

/// Sends frames to a PHY.
#[module]
pub struct MacTransmitter {
    /// Frames, a byte a beat.
    pub s: FrameIn<{ BYTE }>,
    /// No frame may begin.
    pub holds: Wire<In, bool>,
    /// A byte.
    pub txd: Wire<Out, { BYTE }>,
    /// It is valid.
    pub tx_en: Wire<Out, bool>,
    /// The frame is wrong.
    pub tx_er: Wire<Out, bool>,
    /// A frame was sent.
    pub sent: Wire<Out, bool>,
    /// A frame broke off.
    pub underrun: Wire<Out, bool>,
    #[new(Reg::reset_to(State::Gap))]
    state: Reg<State>,
    /// Bytes of this state; of the frame with its padding, at most 60.
    count: Reg<{ COUNT }, Reset>,
    sum: Reg<{ CRC }>,
}

#[kernel(MacTransmitter)]
fn update() {
    /// The next byte for the PHY, if any.
    let (byte, sends) = (wire(BYTE), wire_bit());
    let (breaks, ends) = (wire_bit(), wire_bit());
    (byte, sends) = (lit(0, BYTE), true);
    (breaks, ends) = (false, false);
    let is_least = count == LEAST - 1;
    let begins = s.valid && !holds;
    let next = count + 1;
    match state {
        State::Idle => {
            sends = begins;
            byte = PREAMBLE;
            count = 1;
            sum = FIRST;
            if begins {
                state = State::Preamble;
            }
        }
        State::Preamble => {
            byte = PREAMBLE;
            count = next;
            if count == PREAMBLE_BYTES {
                byte = DELIMITER;
                count = 0;
                state = State::Frame;
            }
        }
        State::Frame => {
            byte = s.data;
            sum = next_sum(sum, s.data);
            if !is_least {
                count = next;
            }
            if !s.valid {
                breaks = true;
                state = State::Rest;
            } else if s.last {
                state = if is_least { State::Fcs } else { State::Padding };
                if is_least {
                    count = 0;
                }
            }
        }
        State::Padding => {
            sum = next_sum(sum, constant(lit(0, BYTE)));
            count = next;
            if is_least {
                count = 0;
                state = State::Fcs;
            }
        }
        State::Fcs => {
            byte = !sum.slice(0, BYTE);
            sum = cat!(lit(0, BYTE), sum.slice(BYTE, CRC - BYTE));
            count = next;
            if count == (FCS_BYTES - 1) as u64 {
                ends = true;
                count = 1;
                state = State::Gap;
            }
        }
        State::Rest => {
            sends = false;
            count = 1;
            if s.valid && s.last {
                state = State::Gap;
            }
        }
        State::Gap => {
            sends = false;
            count = next;
            if count == GAP {
                state = State::Idle;
            }
        }
    }
    s.ready = state == State::Frame || state == State::Rest;
    txd = reg(byte);
    tx_en = reg_reset(sends, false);
    tx_er = reg_reset(breaks, false);
    sent = reg_reset(ends, false);
    underrun = reg_reset(breaks, false);
}

/// [`MacTransmitter`].
pub(crate) const ENTRY: Entry =
    entry!(part "mac_transmitter", MacTransmitter(): "sends Ethernet frames to a PHY");
