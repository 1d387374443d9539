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

use crate::COUNTER_WIDTH;
use crate::entry::{Entry, Variant};
use spinneret_regmap::events;
use spinneret_verilog::prelude::*;

/// [`SpinneretEvents`].
pub(crate) const ENTRY: Entry = entry!(shipped EventsShape::BLOCK, SpinneretEvents(EventsShape):
    "gathers events, and turns them into messages for interrupts");

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    // A moderation that a test gets to the end of, and a number of lines that fills its vectors.
    ENTRY.variant("spinneret_events_small", "lines=4 moderation_width=3"),
];

/// How many events there are, and how far apart their messages can be kept.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "spinneret_events")]
pub struct EventsShape {
    /// Lines, an event each.
    #[parameter(events::LINES as usize, range = 2..=32)]
    pub lines: usize,
    /// Width of the moderation in bits.
    #[parameter(events::MODERATION.bits.mask(0).count_ones() as usize, range = 1..=32, name = "moderation_width")]
    pub moderation: usize,
}

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
#[module(shape: EventsShape, vector: usize = address_width(shape.lines))]
pub struct SpinneretEvents {
    /// Bit n: the event of line n happens in this clock.
    pub happened: Wire<In, { shape.lines }>,
    /// Bit n: line n is cleared.
    pub clear: Wire<In, { shape.lines }>,
    /// Bit n: line n sends messages.
    pub enable: Wire<In, { shape.lines }>,
    /// Clocks between two messages of a line.
    pub moderation: Wire<In, { shape.moderation }>,
    /// Bit n: the event of line n has happened since it was cleared.
    pub pending: Wire<Out, { shape.lines }>,
    /// Messages that were taken.
    pub sent: Wire<Out, { COUNTER_WIDTH }>,
    /// Messages.
    pub m_axis_irq: MessageOut<{ vector }>,
    waiting: Reg<{ shape.lines }, Reset>,
    /// A message says what is pending.
    told: Reg<{ shape.lines }, Reset>,
    /// The message at the output is that of this line.
    offered: Reg<{ shape.lines }, Reset>,
    valid: Reg<bool, Reset>,
    number: Reg<{ vector }>,
    /// Lines after the one that was chosen last.
    behind: Reg<{ shape.lines }, Reset>,
    /// The timer of the line is not 0.
    resting: Reg<{ shape.lines }, Reset>,
    timers: [Reg<{ shape.moderation }>; shape.lines],
    count: Reg<{ COUNTER_WIDTH }, Reset>,
}

#[kernel(
    SpinneretEvents {
        happened, clear, enable, moderation, pending, sent, m_axis_irq, waiting, told, offered, valid, number, behind,
        resting, timers, count, shape
    },
)]
fn update() {
    let (lines, taken) = (shape.lines, m_axis_irq.tready);
    waiting = (waiting & !clear) | happened;
    pending = waiting;

    /// The next due line in turn.
    let due = waiting & enable & !told & !offered & !resting;
    let after = due & behind;
    /// Those of the due lines among which the lowest is chosen.
    let candidates = if after.any() { after } else { due };
    let free = !valid || taken;
    let chosen = word_of((0..lines).map(|line| {
        let before = lit((1 << line) - 1, lines);
        free && candidates[line] && !(candidates & before).any()
    }));
    for line in 0..lines {
        if chosen[line] {
            number = line;
            behind = lit((1 << lines) - (2 << line), lines);
        }
    }
    if free {
        offered = chosen;
        valid = chosen.any();
    }
    told = (told | chosen) & !clear & enable;

    /// A line rests when its message is taken.
    for (line, timer) in timers.iter().enumerate() {
        if offered[line] && taken {
            *timer = moderation;
            resting[line] = moderation.any();
        } else if resting[line] {
            *timer = *timer - 1;
            resting[line] = *timer != 1;
        }
    }
    if valid && taken {
        count = count + 1;
    }
    sent = count;
    m_axis_irq.tdata = number;
    m_axis_irq.tvalid = valid;
}
