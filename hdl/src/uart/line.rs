//! Bytes from and onto a serial line: one start bit, eight data bits with the lowest first, one stop bit.

use super::{BYTE, Timing};
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Number of the start bit.
const START: u64 = 0;
/// Number of the stop bit.
const STOP: u64 = 9;
/// Bits of a byte on the line.
const FRAME: u64 = STOP + 1;

/// States of a receiver.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum Reception {
    /// The line is idle; a low level starts a byte.
    Idle,
    /// A byte comes in.
    Run,
    /// The stop bit was low; wait until the line is high again.
    Recover,
}

/// Takes bytes from a serial line: one start bit, eight data bits with the lowest first, one stop bit.
///
/// ```text
///             ___     ___ ___ ___     ___ ____
///      line      |___|_0_|_1_|_2_|...|_7_|stop
///   samples        ^   ^   ^   ^       ^   ^
/// ```
///
/// # Contract
/// - **Sampling:** the line passes two registers, then every bit is sampled in its middle. A start bit that is
///   high in its middle was a glitch and starts nothing.
/// - **Output:** `valid` is high for one clock, in which `data` is the byte. `broken` is high for one clock if the
///   stop bit is low; the byte is dropped, and no other starts before the line was high.
/// - **Speed:** bytes may follow one another without a pause, with a clock up to 4 % fast or slow if a bit has 16
///   clocks or more.
/// - **Reset:** discards the byte that is coming in.
#[module(timing: Timing)]
pub(crate) struct UartReceiver {
    /// The line, high when idle; it may change at any time.
    pub line: Wire<In, bool>,
    /// The byte, with `valid`.
    pub data: Wire<Out, { BYTE }>,
    /// A byte came in.
    pub valid: Wire<Out, bool>,
    /// Something that is no byte came in.
    pub broken: Wire<Out, bool>,
    /// The line is low, as seen by two registers; they start with an idle line.
    low: [Reg<bool, Reset>; 2],
    #[new(Reg::reset_to(Reception::Idle))]
    state: Reg<Reception>,
    /// Number of the bit: the start bit is 0.
    number: Reg<4>,
    /// Clocks until the next sample, minus 1.
    timer: Reg<{ timing.bit_width() }>,
    byte_value: Reg<{ BYTE }>,
}

#[kernel(UartReceiver { line, data, valid, broken, low, state, number, timer, byte_value, timing })]
fn update() {
    let bit_clocks = timing.clocks_per_bit;
    low[0] = !line;
    low[1] = low[0];
    let is_low = low[1];
    let sample = state == Reception::Run && timer == 0;
    timer = timer - 1;
    if sample {
        timer = bit_clocks - 1;
        number = number + 1;
        if number == START {
            if !is_low {
                state = Reception::Idle;
            }
        } else if number == STOP {
            state = if is_low {
                Reception::Recover
            } else {
                Reception::Idle
            };
        } else {
            byte_value = cat!(!is_low, byte_value[1..BYTE]);
        }
    } else if state == Reception::Idle && is_low {
        /// The middle of the start bit is half a bit away.
        state = Reception::Run;
        number = START;
        timer = bit_clocks / 2 - 1;
    } else if state == Reception::Recover && !is_low {
        state = Reception::Idle;
    }
    let ends = sample && number == STOP;
    data = byte_value;
    valid = reg_reset(ends && !is_low, false);
    broken = reg_reset(ends && is_low, false);
}

/// Sends bytes on a serial line: one start bit, eight data bits with the lowest first, one stop bit.
///
/// # Contract
/// - **Line:** a register, high when idle and after reset.
/// - **Backpressure:** `s_ready` is high when nothing is being sent; a byte that is taken is on the line for ten
///   bits, and then the next one is taken.
/// - **Reset:** the line is idle at once; the byte that was being sent is lost.
#[module(timing: Timing)]
pub(crate) struct UartTransmitter {
    /// Bytes.
    pub s: StreamIn<{ BYTE }>,
    /// The line, high when idle.
    pub line: Wire<Out, bool>,
    /// The line is low: what is sent is kept inverted, so that registers that start at 0 mean an idle line.
    low: Reg<bool, Reset>,
    /// Inverted bits that follow.
    rest: Reg<{ BYTE }>,
    /// Bits that are still to end, the one on the line included.
    left: Reg<4, Reset>,
    /// Clocks until the next bit, minus 1.
    timer: Reg<{ timing.bit_width() }>,
}

#[kernel(UartTransmitter { s, line, low, rest, left, timer, timing })]
fn update() {
    let bit_clocks = timing.clocks_per_bit;
    let is_idle = left == 0;
    timer = timer - 1;
    if is_idle {
        timer = bit_clocks - 1;
        if s.valid {
            low = true;
            rest = !s.data;
            left = FRAME;
        }
    } else if timer == 0 {
        timer = bit_clocks - 1;
        left = left - 1;
        /// After the data comes the stop bit, which is as the idle line.
        low = rest[0];
        rest = rest >> 1;
    }
    s.ready = is_idle;
    line = !low;
}
