//! Bytes from a serial line.

use super::Timing;
use spinneret_verilog::prelude::*;

/// Bits of a byte.
const BYTE: usize = 8;

/// The line is idle; a low level starts a byte.
const IDLE: u64 = 0;
/// A byte comes in.
const RUN: u64 = 1;
/// The stop bit was low; wait until the line is high again.
const RECOVER: u64 = 2;

/// Number of the start bit.
const START: u64 = 0;
/// Number of the stop bit.
const STOP: u64 = 9;

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
#[hardware(timing: Timing)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct UartReceiver {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub rst: Wire<In, bool>,
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
    state: Reg<2, Reset>,
    /// Number of the bit: the start bit is 0.
    number: Reg<4>,
    /// Clocks until the next sample, minus 1.
    timer: Reg<{ timing.bit_width() }>,
    byte_value: Reg<{ BYTE }>,
    valid_value: Reg<bool, Reset>,
    broken_value: Reg<bool, Reset>,
    is_low: Wire<Local, bool>,
    sample: Wire<Local, bool>,
}

impl Logic for UartReceiver {
    #[kernel]
    fn update(&mut self) {
        let bit_clocks = self._timing.clocks_per_bit as u64;
        clocked!(self.clk, self.rst => self.low, self.state, self.valid_value, self.broken_value);
        clocked!(self.clk => self.number, self.timer, self.byte_value);
        self.low[0].d.next = !self.line.val();
        self.low[1].d.next = self.low[0].q.val();
        self.is_low.next = self.low[1].q.val();
        self.sample.next = (self.state.q.val() == RUN) & (self.timer.q.val() == 0);
        self.valid_value.d.next = false;
        self.broken_value.d.next = false;
        self.timer.d.next = self.timer.q.val() - 1;
        if self.sample.val() {
            self.timer.d.next = lit(bit_clocks - 1, self._timing.bit_width());
            self.number.d.next = self.number.q.val() + 1;
            if self.number.q.val() == START {
                if !self.is_low.val() {
                    self.state.d.next = lit(IDLE, 2);
                }
            } else if self.number.q.val() == STOP {
                self.valid_value.d.next = !self.is_low.val();
                self.broken_value.d.next = self.is_low.val();
                if self.is_low.val() {
                    self.state.d.next = lit(RECOVER, 2);
                } else {
                    self.state.d.next = lit(IDLE, 2);
                }
            } else {
                self.byte_value.d.next = cat!(!self.is_low.val(), self.byte_value.q.val().slice(1, BYTE - 1));
            }
        } else if (self.state.q.val() == IDLE) & self.is_low.val() {
            /// The middle of the start bit is half a bit away.
            self.state.d.next = lit(RUN, 2);
            self.number.d.next = lit(START, 4);
            self.timer.d.next = lit(bit_clocks / 2 - 1, self._timing.bit_width());
        } else if (self.state.q.val() == RECOVER) & !self.is_low.val() {
            self.state.d.next = lit(IDLE, 2);
        }
        self.data.next = self.byte_value.q.val();
        self.valid.next = self.valid_value.q.val();
        self.broken.next = self.broken_value.q.val();
    }
}
