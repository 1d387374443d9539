//! Bytes onto a serial line.

use super::Timing;
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Bits of a byte.
const BYTE: usize = 8;
/// Bits of a byte on the line: start, data, stop.
const FRAME: u64 = 10;

/// Sends bytes on a serial line: one start bit, eight data bits with the lowest first, one stop bit.
///
/// # Contract
/// - **Line:** a register, high when idle and after reset.
/// - **Backpressure:** `s_ready` is high when nothing is being sent; a byte that is taken is on the line for ten
///   bits, and then the next one is taken.
/// - **Reset:** the line is idle at once; the byte that was being sent is lost.
#[hardware(timing: Timing)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct UartTransmitter {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub rst: Wire<In, bool>,
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
    is_idle: Wire<Local, bool>,
}

impl Logic for UartTransmitter {
    #[kernel]
    fn update(&mut self) {
        let bit_clocks = self._timing.clocks_per_bit as u64;
        clocked!(self.clk, self.rst => self.low, self.left);
        clocked!(self.clk => self.rest, self.timer);
        self.is_idle.next = self.left.q.val() == 0;
        if self.is_idle.val() {
            self.timer.d.next = lit(bit_clocks - 1, self._timing.bit_width());
            if self.s.valid.val() {
                self.low.d.next = true;
                self.rest.d.next = !self.s.data.val();
                self.left.d.next = lit(FRAME, 4);
            }
        } else if self.timer.q.val() == 0 {
            self.timer.d.next = lit(bit_clocks - 1, self._timing.bit_width());
            self.left.d.next = self.left.q.val() - 1;
            /// After the data comes the stop bit, which is as the idle line.
            self.low.d.next = self.rest.q.val().get_bit(0);
            self.rest.d.next = cat!(lit(0, 1), self.rest.q.val().slice(1, BYTE - 1));
        } else {
            self.timer.d.next = self.timer.q.val() - 1;
        }
        self.s.ready.next = self.is_idle.val();
        self.line.next = !self.low.q.val();
    }
}
