//! Messages for interrupts, as they leave the application.

use super::{Behind, Nic};
use spinneret_regmap::{COUNTER_WORDS, events};
use spinneret_sim::channel::ChannelSink;
use std::collections::VecDeque;

/// Clocks in which the statistics look at every counter, so that an error is told: 8 for a look, and its report.
const LOOK_CLOCKS: u64 = 10 * COUNTER_WORDS as u64;

/// Messages that have come, and until when the hardware may still send some.
#[derive(Debug)]
pub(super) struct Messages {
    /// A design around the application may have no port for them.
    sink: Option<ChannelSink>,
    lines: VecDeque<u32>,
    /// What software has written to `events.enable` and `events.moderation`.
    enable: u32,
    moderation: u32,
    /// Clock of the core in which something else moved last.
    moved: u64,
}

impl Messages {
    /// Those that come out of there.
    pub(super) fn new(sink: Option<ChannelSink>) -> Self {
        Self {
            sink,
            lines: VecDeque::new(),
            enable: 0,
            moderation: 0,
            moved: 0,
        }
    }

    /// Everything is forgotten, as it is by the hardware.
    pub(super) fn reset(&mut self) {
        self.lines.clear();
        [self.enable, self.moderation] = [0; 2];
    }

    /// Software has written a register.
    pub(super) fn written(&mut self, register: u32, value: u32) {
        match register {
            register if register == events::ENABLE.offset => self.enable = value,
            register if register == events::MODERATION.offset => self.moderation = value,
            _ => {}
        }
    }

    /// Whether somebody wants any.
    pub(super) fn are_wanted(&self) -> bool {
        self.sink.is_some() && self.enable & events::ENABLE.bits.mask(0) != 0
    }

    /// Something else moves in this clock.
    pub(super) fn moved(&mut self, clock: u64) {
        self.moved = clock;
    }

    /// Whether none can come any more by itself.
    pub(super) fn are_over(&self, clock: u64) -> bool {
        let longest = LOOK_CLOCKS + u64::from(self.moderation & events::MODERATION.bits.mask(0));
        !self.are_wanted() || clock - self.moved > longest
    }

    /// Takes those that came out.
    pub(super) fn collect(&mut self) {
        let items = self.sink.iter().flat_map(ChannelSink::receive_all);
        self.lines.extend(items.map(|item| item.values[0] as u32));
    }
}

impl<B: Behind> Nic<B> {
    /// The next line of `events.pending` that a message has come of. That of standard output is held back until its words can be
    /// read, as the simulation fetches them itself.
    pub fn take_message(&mut self) -> Option<u32> {
        let line = *self.messages.lines.front()?;
        let is_early = line == events::STDOUT_LINE && self.stdout.is_empty();
        if is_early && self.printed < self.behind.printed() {
            return None;
        }
        self.messages.lines.pop_front()
    }
}
