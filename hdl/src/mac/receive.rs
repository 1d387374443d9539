//! Receives frames from a PHY: finds their start, checks their length and FCS, and takes pause frames out.
//!
//! # Contract
//! - **Start:** `rx_dv` rises with a byte of the preamble or the start of frame delimiter. The preamble may be of any length, 0 too. Anything
//!   else before the delimiter: nothing is received until `rx_dv` falls, `no_delimiter`.
//! - **Bytes** after the delimiter leave in their order, except for the last four, the FCS. `last` is with the last byte before these. Nothing
//!   leaves of a frame with less than five bytes.
//! - **Latency:** a byte leaves 7 clocks after it came, or, in a frame that ends or is cut, when `last` is known. `last` is 2 clocks after
//!   the clock in which `rx_dv` is low.
//! - **Good** frames have the right FCS, 64 bytes to `longest` bytes with it, no `rx_er` in a byte of theirs, and are no pause frames. All others leave with
//!   `error` at their last byte.
//! - **Events:** one for each end of a frame, in the clock of its `last`, the first that holds: `giant`, `coding`, `runt`, `bad_fcs`,
//!   `pause`, `good`. A frame is cut at `longest` bytes, which is its end then.
//! - **Pause frames** (802.3, 31B): destination 01-80-C2-00-00-01, type 0x8808, opcode 1. `quanta` is their time, with the event.
//! - **Backpressure:** none, bytes cannot wait.
//! - **Paths:** inputs and outputs are registers.
//! - **Reset:** waits until `rx_dv` is low, and forgets the frame that is coming.

use super::crc::{CRC, FIRST, RESIDUE, next_sum};
use super::{BYTE, BytesOut, DELIMITER, FCS_BYTES, LONGEST, PREAMBLE, QUANTA, ReceiveEvents, SHORTEST};
use crate::entry::{Entry, ParameterError};
use spinneret_verilog::prelude::*;

/// Bytes that are kept until it is known whether the frame goes on: the FCS, and the last one before it.
const KEPT: usize = FCS_BYTES + 1;
/// Bytes by which a pause frame is known, with their places: destination, type, opcode.
const PAUSE: [(u64, u64); 10] = [
    (0, 0x01),
    (1, 0x80),
    (2, 0xc2),
    (3, 0x00),
    (4, 0x00),
    (5, 0x01),
    (12, 0x88),
    (13, 0x08),
    (14, 0x00),
    (15, 0x01),
];
/// The places of its time.
const TIME: [u64; 2] = [16, 17];

/// Where a frame is.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum State {
    /// Nothing comes.
    Idle,
    /// The preamble comes.
    Preamble,
    /// Bytes come.
    Frame,
    /// The rest is left out.
    Skip,
}

/// Parameters of the receiver.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = ENTRY.name)]
pub struct ReceiverShape {
    /// Bytes of the longest frame with its FCS.
    #[parameter(LONGEST, range = 64..=9622)]
    pub longest: usize,
}

impl ReceiverShape {
    /// Bits of a number of bytes.
    fn count(self) -> usize {
        address_width(self.longest + 2)
    }
}

/// Receives frames from a PHY.
#[module(shape: ReceiverShape, error = ParameterError, _ = shape.checked()?)]
pub struct MacReceiver {
    /// A byte.
    pub rxd: Wire<In, { BYTE }>,
    /// It is valid.
    pub rx_dv: Wire<In, bool>,
    /// The PHY reports an error.
    pub rx_er: Wire<In, bool>,
    /// Bytes of frames.
    pub m: BytesOut,
    /// Ends of frames.
    pub event: ReceiveEvents,
    /// Time of the last pause frame.
    pub quanta: Wire<Out, { QUANTA }>,
    #[new(Reg::reset_to(State::Skip))]
    state: Reg<State>,
    /// Bytes after the delimiter, the last one first.
    kept: [Reg<{ BYTE }>; KEPT],
    /// Their number, at most one more than `longest`.
    count: Reg<{ shape.count() }>,
    sum: Reg<{ CRC }>,
    /// The PHY has reported an error.
    has_error: Reg<bool>,
    /// All bytes so far are those of a pause frame.
    is_pause: Reg<bool>,
    pause_time: Reg<{ QUANTA }>,
}

#[kernel(MacReceiver, suffix = shape.longest)]
fn update() {
    let data = reg(rxd);
    let valid = reg_reset(rx_dv, false);
    let failed = reg(rx_er);

    let is_long = count > shape.longest as u64;
    let (ends, cut) = (wire_bit(), wire_bit());
    /// The delimiter is looked for, or cannot come any more.
    let (looks, lost) = (wire_bit(), wire_bit());
    (ends, cut, looks, lost) = (false, false, valid, false);
    match state {
        State::Idle => {
            count = 0;
            sum = FIRST;
            has_error = false;
            is_pause = true;
        }
        State::Preamble => {
            lost = !valid;
            state = State::Idle;
        }
        State::Frame => {
            looks = false;
            cut = is_long;
            ends = !valid && !is_long;
            if is_long {
                state = if valid { State::Skip } else { State::Idle };
            } else if !valid {
                state = State::Idle;
            } else {
                count = count + 1;
                sum = next_sum(sum, data);
                has_error = has_error || failed;
                for (place, byte) in PAUSE {
                    if count == place && data != byte {
                        is_pause = false;
                    }
                }
                if count == TIME[0] {
                    pause_time = cat!(data, pause_time.slice(0, BYTE));
                }
                if count == TIME[1] {
                    pause_time = cat!(pause_time.slice(BYTE, BYTE), data);
                }
            }
        }
        State::Skip => {
            looks = false;
            if !valid {
                state = State::Idle;
            }
        }
    }
    if looks {
        if data == DELIMITER {
            state = State::Frame;
        } else if data == PREAMBLE {
            state = State::Preamble;
        } else {
            state = State::Skip;
            lost = true;
        }
    }

    /// The oldest byte leaves when another one comes, or the frame is over.
    let comes = state == State::Frame && valid && !is_long;
    let (oldest, is_full) = (kept[KEPT - 1], count >= KEPT as u64);
    if comes {
        for place in 1..KEPT {
            kept[place] = kept[place - 1];
        }
        kept[0] = data;
    }
    let is_over = ends || cut;
    let is_short = count < SHORTEST as u64;
    let is_right = sum == RESIDUE;
    let causes = [cut, has_error, is_short, !is_right, is_pause];
    let is_good = !or_all(causes);
    m.valid = reg_reset((comes || is_over) && is_full, false);
    m.data = reg(oldest);
    m.last = reg(is_over);
    m.error = reg(is_over && !is_good);

    /// The first cause that holds.
    let mut before = !is_over;
    let mut firsts = Vec::new();
    for cause in causes {
        firsts.push(reg_reset(!before && cause, false));
        before = before || cause;
    }
    event.giant = firsts[0];
    event.coding = firsts[1];
    event.runt = firsts[2];
    event.bad_fcs = firsts[3];
    event.pause = firsts[4];
    event.good = reg_reset(is_over && is_good, false);
    event.no_delimiter = reg_reset(lost, false);
    quanta = reg(pause_time);
}

/// [`MacReceiver`].
pub(crate) const ENTRY: Entry = entry!(part "mac_receiver", MacReceiver(ReceiverShape)?:
    "receives Ethernet frames from a PHY");
