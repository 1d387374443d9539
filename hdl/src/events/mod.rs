//! Gathers events, and turns them into messages: what stands between the hardware and an interrupt of the host.
//!
//! ```text
//!              t          t + 1                                  t + 2
//!  happened => pending => due: enabled, not told, rested => output => m_axis_irq {line}
//!  clear    =>   |           ^ told, timers <-------------- taken --+
//!                +=> pending, as software reads it
//! ```
//!
//! # Contract
//! - **Pending:** a line is pending from the clock after its event on until the clock after its `clear`. An event in
//!   the same clock as `clear` wins, so no event is lost: each is followed by a clock in which its line is pending.
//! - **Messages:** a line is due while it is pending and enabled and was not told since its last event that was not
//!   pending yet, its last `clear` or the last clock in which it was not enabled, the latest of these. A due line is
//!   chosen for the output, and counts as sent from then on; a later clear does not withdraw the message.
//! - **Moderation:** after the clock in which a message was taken, at least `moderation` clocks pass in which none of
//!   that line is at the output. A value that changes counts from the next message on.
//! - **Fairness:** among due lines the next one in turn is chosen, so a line waits for one message of every other one.
//! - **Latency:** an event in cycle t is pending in t + 1, and its message at the output in t + 2 if nothing else waits.
//! - **Throughput:** a message a clock of different lines.
//! - **Backpressure:** a message waits at the output until it is taken; its line is not chosen again in the meantime.
//! - **Counter:** `sent` counts messages that were taken, one clock later, and wraps.
//! - **Registers:** all outputs are registers; no path leads from input to output.
//! - **Reset** (`rst` high) discards events, messages and moderation.

mod entry;
mod shape;

pub(crate) use entry::{ENTRY, SIMULATED};
pub use shape::EventsShape;

use crate::COUNTER_WIDTH;
use spinneret_verilog::prelude::*;

/// Messages: the number of a line each.
#[interface(vector: usize)]
pub struct MessageOut {
    /// Number of the line.
    pub tdata: Wire<Out, { vector }>,
    /// There is a message.
    pub tvalid: Wire<Out, bool>,
    /// It is taken.
    pub tready: Wire<In, bool>,
}

/// Gathers events, and turns them into messages.
#[hardware(
    shape: EventsShape,
    lines: usize = shape.lines,
    moderation: usize = shape.moderation,
    vector: usize = address_width(shape.lines),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct SpinneretEvents {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub rst: Wire<In, bool>,
    /// Bit n: the event of line n happens in this clock.
    pub happened: Wire<In, { lines }>,
    /// Bit n: line n is cleared.
    pub clear: Wire<In, { lines }>,
    /// Bit n: line n sends messages.
    pub enable: Wire<In, { lines }>,
    /// Clocks between two messages of a line.
    pub moderation: Wire<In, { moderation }>,
    /// Bit n: the event of line n has happened since it was cleared.
    pub pending: Wire<Out, { lines }>,
    /// Messages that were taken.
    pub sent: Wire<Out, { COUNTER_WIDTH }>,
    /// Messages.
    pub m_axis_irq: MessageOut<{ vector }>,
    waiting: Reg<{ lines }, Reset>,
    /// A message says what is pending.
    told: Reg<{ lines }, Reset>,
    /// The message at the output is that of this line.
    offered: Reg<{ lines }, Reset>,
    valid: Reg<bool, Reset>,
    number: Reg<{ vector }>,
    /// Lines after the one that was chosen last.
    behind: Reg<{ lines }, Reset>,
    /// The timer of the line is not 0.
    resting: Reg<{ lines }, Reset>,
    timers: [Reg<{ moderation }>; lines],
    count: Reg<{ COUNTER_WIDTH }, Reset>,
    due: Wire<Local, { lines }>,
    /// Those of the due lines among which the lowest is chosen.
    candidates: Wire<Local, { lines }>,
    chosen: Wire<Local, { lines }>,
    free: Wire<Local, bool>,
}

impl Logic for SpinneretEvents {
    #[kernel]
    fn update(&mut self) {
        let (lines, vector) = (self._lines, self._vector);
        clocked!(self.clk, self.rst => self.waiting, self.told, self.offered, self.valid, self.behind, self.resting,
            self.count);
        clocked!(self.clk => self.number, self.timers);

        self.waiting.d.next = (self.waiting.q.val() & !self.clear.val()) | self.happened.val();
        self.pending.next = self.waiting.q.val();

        /// The next due line in turn.
        self.due.next = self.waiting.q.val()
            & self.enable.val()
            & !self.told.q.val()
            & !self.offered.q.val()
            & !self.resting.q.val();
        self.candidates.next = self.due.val();
        if (self.due.val() & self.behind.q.val()).any() {
            self.candidates.next = self.due.val() & self.behind.q.val();
        }
        self.chosen.next = 0.into();
        self.free.next = !self.valid.q.val() || self.m_axis_irq.tready.val();
        for line in 0..lines {
            let before = lit((1 << line) - 1, lines);
            if self.free.val()
                && self.candidates.val().get_bit(line)
                && !(self.candidates.val() & before).any()
            {
                self.chosen.next.set_bit(line, true);
                self.number.d.next = lit(line as u64, vector);
                self.behind.d.next = lit(u64::MAX >> (64 - lines) & !((2 << line) - 1), lines);
            }
        }
        if self.free.val() {
            self.offered.d.next = self.chosen.val();
            self.valid.d.next = self.chosen.val().any();
        }
        self.told.d.next = (self.told.q.val() | self.chosen.val()) & !self.clear.val() & self.enable.val();

        /// A line rests when its message is taken.
        for line in 0..lines {
            if self.offered.q.val().get_bit(line) && self.m_axis_irq.tready.val() {
                self.timers[line].d.next = self.moderation.val();
                self.resting.d.next.set_bit(line, self.moderation.val().any());
            } else if self.resting.q.val().get_bit(line) {
                self.timers[line].d.next = self.timers[line].q.val() - 1;
                self.resting.d.next.set_bit(line, self.timers[line].q.val() != 1);
            }
        }
        if self.valid.q.val() && self.m_axis_irq.tready.val() {
            self.count.d.next = self.count.q.val() + 1;
        }
        self.sent.next = self.count.q.val();
        self.m_axis_irq.tdata.next = self.number.q.val();
        self.m_axis_irq.tvalid.next = self.valid.q.val();
    }
}
