//! The block of events: its contract in plain Rust, compared in every cycle, and a bench that drives its inputs.

use crate::bench::{Finish, Parameters};
use crate::reference::{self, Pins, Reference};
use spinneret_sim::prelude::*;

/// State of a line.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    pending: bool,
    /// A message was chosen for what is pending.
    notified: bool,
    /// The first cycle in which it may be chosen again.
    ready_at: u64,
}

/// The contract.
struct Contract {
    lines: Vec<Line>,
    /// The line whose message is at the output.
    output: Option<usize>,
    /// The line that was chosen last.
    last: usize,
    sent: u64,
    cycle: u64,
}

impl Contract {
    fn new(lines: usize) -> Self {
        Self {
            lines: vec![Line::default(); lines],
            output: None,
            last: lines - 1,
            sent: 0,
            cycle: 0,
        }
    }

    fn check(&self, pins: Pins<'_>) -> Result<(), String> {
        let bits = (0..).zip(&self.lines);
        let pending = bits.fold(0, |bits, (number, line)| bits | u64::from(line.pending) << number);
        pins.expect("pending", pending)?;
        pins.expect("sent", self.sent)?;
        pins.expect("m_axis_irq_tvalid", self.output.is_some())?;
        match self.output {
            Some(line) => pins.expect("m_axis_irq_tdata", line as u64),
            None => Ok(()),
        }
    }

    /// The next line in turn that a message can be sent of.
    fn choose(&self, enable: u64) -> Option<usize> {
        let count = self.lines.len();
        (1..=count).map(|step| (self.last + step) % count).find(|number| {
            let line = self.lines[*number];
            let is_due = line.pending && !line.notified && enable >> number & 1 == 1;
            is_due && self.cycle >= line.ready_at && self.output != Some(*number)
        })
    }
}

impl Reference for Contract {
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        self.check(pins)?;
        let [happened, clear, enable] = ["happened", "clear", "enable"].map(|name| pins.value(name));
        let taken = self.output.filter(|_| pins.high("m_axis_irq_tready"));
        if self.output.is_none() || taken.is_some() {
            let chosen = self.choose(enable);
            self.last = chosen.unwrap_or(self.last);
            self.output = chosen;
            if let Some(line) = chosen {
                self.lines[line].notified = true;
            }
        }
        if let Some(line) = taken {
            self.sent += 1;
            self.lines[line].ready_at = self.cycle + 1 + pins.value("moderation");
        }
        for (number, line) in self.lines.iter_mut().enumerate() {
            let bit = |word: u64| word >> number & 1 == 1;
            line.notified &= bit(enable) && !bit(clear);
            line.pending = line.pending && !bit(clear) || bit(happened);
        }
        self.cycle += 1;
        Ok(())
    }

    fn reset(&mut self) {
        *self = Self::new(self.lines.len());
    }

    fn inside(&self) -> usize {
        usize::from(self.output.is_some())
    }
}

/// Values of the inputs that stay until they are set again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Lines that send messages, a bit each.
    pub enable: u64,
    /// Clocks between two messages of a line.
    pub moderation: u64,
}

/// The block with a sink and its reference model.
#[derive(Debug)]
pub struct EventsBench<M: Model> {
    /// The simulation.
    pub sim: Simulation<M>,
    /// Messages.
    pub sink: ChannelSink,
    /// A bit for each line.
    pub all: u64,
}

impl<M: Model> Finish for EventsBench<M> {}

impl<M: Model> EventsBench<M> {
    /// Resets the block, with these pauses of the sink; nothing happens, and no line is enabled.
    pub fn new(mut sim: Simulation<M>, pause: Pause) -> Self {
        let lines = Parameters::of::<M>().get("lines") as usize;
        let sink = sim.channel_sink("m_axis_irq_t", &["data"], pause);
        reference::attach(&mut sim, Contract::new(lines));
        let all = (1 << lines) - 1;
        let mut bench = Self { sim, sink, all };
        bench.sim.set("happened", 0_u64);
        bench.sim.set("clear", 0_u64);
        bench.apply(Settings::default());
        bench.sim.reset();
        bench
    }

    /// Changes the settings from the next cycle on.
    pub fn apply(&mut self, settings: Settings) {
        self.sim.set("enable", settings.enable);
        self.sim.set("moderation", settings.moderation);
    }

    /// One clock in which these events happen and these lines are cleared, a bit each.
    pub fn step(&mut self, happened: u64, clear: u64) {
        self.sim.set("happened", happened);
        self.sim.set("clear", clear);
        self.sim.cycle();
        self.sim.set("happened", 0_u64);
        self.sim.set("clear", 0_u64);
    }

    /// Messages since the last time: the line, and the cycle in which it was taken.
    pub fn messages(&self) -> Vec<(u64, u64)> {
        let items = self.sink.receive_all();
        items.iter().map(|item| (item.values[0], item.cycle)).collect()
    }
}
