//! How the card reports to the host: `SpinneretEvents`, each line of its contract and random events against its reference
//! model; and `statistics_reporter`, whose increments add up to the counters.

use spinneret_models::{SpinneretEvents, SpinneretEventsSmall, StatisticsReporter};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, Parameters, case, each, with};
use spinneret_tb::reference::{self, Pins, Reference};
use std::ops::Range;

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
struct Settings {
    /// Lines that send messages, a bit each.
    enable: u64,
    /// Clocks between two messages of a line.
    moderation: u64,
}

/// The block with a sink and its reference model.
#[derive(Debug)]
struct EventsBench<M: Model> {
    /// The simulation.
    sim: Simulation<M>,
    /// Messages.
    sink: ChannelSink,
    /// A bit for each line.
    all: u64,
}

impl<M: Model> Finish for EventsBench<M> {}

impl<M: Model> EventsBench<M> {
    /// Resets the block, with these pauses of the sink; nothing happens, and no line is enabled.
    fn new(mut sim: Simulation<M>, pause: Pause) -> Self {
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
    fn apply(&mut self, settings: Settings) {
        self.sim.set("enable", settings.enable);
        self.sim.set("moderation", settings.moderation);
    }

    /// One clock in which these events happen and these lines are cleared, a bit each.
    fn step(&mut self, happened: u64, clear: u64) {
        self.sim.set("happened", happened);
        self.sim.set("clear", clear);
        self.sim.cycle();
        self.sim.set("happened", 0_u64);
        self.sim.set("clear", 0_u64);
    }

    /// Messages since the last time: the line, and the cycle in which it was taken.
    fn messages(&self) -> Vec<(u64, u64)> {
        let items = self.sink.receive_all();
        items.iter().map(|item| (item.values[0], item.cycle)).collect()
    }
}

/// A bench with a sink that is always ready, whose lines are all disabled.
fn disabled<M: Model>(run: &mut TestRun) -> EventsBench<M> {
    EventsBench::new(run.simulation::<M>(), Pause::Never)
}

/// A bench whose lines are all enabled.
fn enabled<M: Model>(run: &mut TestRun, moderation: u64) -> EventsBench<M> {
    let mut tb = disabled(run);
    let enable = tb.all;
    tb.apply(Settings { enable, moderation });
    tb
}

fn random_events<M: Model>(run: &mut TestRun, pause: Pause) {
    let mut rng = run.rng("events");
    let mut tb = EventsBench::new(run.simulation::<M>(), pause);
    for _ in 0..400 {
        if rng.random_ratio(1, 20) {
            tb.sim.reset();
        }
        tb.apply(Settings {
            enable: rng.random_range(0..=tb.all),
            moderation: rng.random_range(0..8),
        });
        let (events, clears) = (rng.random_range(0..100), rng.random_range(0..100));
        for _ in 0..rng.random_range(1..60) {
            let mut bits = |percent| {
                let bit = |bits, _| bits << 1 | u64::from(rng.random_range(0..100) < percent);
                (0..tb.all.count_ones()).fold(0, bit)
            };
            let (happened, clear) = (bits(events), bits(clears));
            tb.step(happened, clear);
        }
    }
    assert!(tb.sink.total() > 500, "{} messages", tb.sink.total());
    tb.step(0, tb.all);
    tb.sim.run(100);
    tb.messages();
}

#[test]
fn random_events_become_the_messages_of_the_contract() {
    let pauses = [
        Pause::Never,
        Pause::Random { percent: 50 },
        Pause::Bursty { busy: 3, idle: 20 },
    ];
    each(0x0001_eee1, pauses, |run, pause| {
        random_events::<SpinneretEvents>(run, pause.clone());
        random_events::<SpinneretEventsSmall>(run, pause);
    });
}

#[test]
fn a_message_leaves_two_clocks_after_its_event() {
    case(1, with(enabled::<SpinneretEvents>, 0), |tb| {
        let start = tb.sim.cycle_count();
        tb.step(0b10_0001, 0);
        tb.sim.run(10);
        assert_eq!(tb.messages(), [(0, start + 2), (5, start + 3)]);
    });
}

#[test]
fn line_sends_one_message_until_cleared() {
    case(1, with(enabled::<SpinneretEvents>, 0), |tb| {
        (0..20).for_each(|_| tb.step(0b100, 0));
        assert_eq!(tb.messages().len(), 1);
        // An event in the clock in which its line is cleared is one more.
        tb.step(0b100, 0b100);
        tb.sim.run(10);
        assert_eq!(tb.messages().len(), 1);
        tb.step(0, 0b100);
        tb.sim.run(10);
        assert_eq!(tb.messages(), []);
    });
}

#[test]
fn pending_event_is_sent_when_its_line_is_enabled() {
    case(1, disabled::<SpinneretEvents>, |tb| {
        tb.step(0b1010, 0);
        tb.sim.run(10);
        assert_eq!(tb.messages(), []);
        let enable = |enable| Settings {
            enable,
            moderation: 0,
        };
        tb.apply(enable(0b0010));
        tb.sim.run(10);
        tb.apply(enable(0));
        tb.sim.run(10);
        tb.apply(enable(0b1010));
        tb.sim.run(10);
        let lines: Vec<u64> = tb.messages().into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [1, 3, 1], "a line that is enabled again tells again");
    });
}

#[test]
fn messages_of_a_line_are_moderated() {
    each(1, [0, 1, 7, 1000], |run, moderation| {
        let mut tb = enabled::<SpinneretEvents>(run, moderation);
        let end = tb.sim.cycle_count() + 10 * (moderation + 4);
        while tb.sim.cycle_count() < end {
            tb.step(0b11_1111, 0b11_1111);
        }
        let messages = tb.messages();
        for line in 0..6 {
            let of_line = messages.iter().filter(|message| message.0 == line);
            let cycles: Vec<u64> = of_line.map(|message| message.1).collect();
            assert!(cycles.len() > 5, "line {line}: {cycles:?}");
            let distances = cycles.windows(2).map(|pair| pair[1] - pair[0]);
            // A message is chosen after the clocks of rest, and is at the output one later; six lines share it.
            let most = (moderation + 2).max(6);
            assert!(
                distances
                    .into_iter()
                    .all(|clocks| (moderation + 1..=most).contains(&clocks))
            );
        }
        tb.step(0, 0b11_1111);
        tb.sim.run(2 * moderation + 20);
        tb.messages();
    });
}

#[test]
fn slow_host_gets_messages_of_all_lines_in_turn() {
    case(1, with(enabled::<SpinneretEventsSmall>, 0), |tb| {
        let one_in_ten = (0..10).map(|clock| clock > 0).collect();
        tb.sink.set_pause(Pause::Cycle(one_in_ten));
        (0..400).for_each(|_| tb.step(0b1111, 0b1111));
        let lines: Vec<u64> = tb.messages().into_iter().map(|(line, _)| line).collect();
        assert!(lines.len() > 30);
        assert!(
            lines.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 4),
            "{lines:?}"
        );
        tb.sink.set_pause(Pause::Never);
        tb.step(0, 0b1111);
        tb.sim.run(20);
        tb.messages();
    });
}

/// The model's parameters.
const COUNTERS: usize = 19;
const LEVELS: Range<usize> = 13..17;
const FIRST: u64 = 2048;
/// Clocks per inspected counter, if nothing is reported.
const LOOK: u64 = 8;
/// Largest increment.
const LARGEST: u64 = (1 << 24) - 1;

/// The reporter with counters that the test changes, and what it has reported of each.
struct Bench {
    sim: Simulation<StatisticsReporter>,
    counters: [u32; COUNTERS],
    reported: [u64; COUNTERS],
    /// An increment that was offered and not taken, which has to stay.
    waiting: Option<(u64, u64)>,
}

impl Finish for Bench {}

impl Bench {
    fn new(run: &mut TestRun) -> Self {
        let mut bench = Self {
            sim: run.simulation(),
            counters: [0; COUNTERS],
            reported: [0; COUNTERS],
            waiting: None,
        };
        bench.sim.reset();
        bench
    }

    /// One clock.
    fn step(&mut self, ready: bool) {
        let bytes: Vec<u8> = self
            .counters
            .iter()
            .flat_map(|count| count.to_le_bytes())
            .collect();
        self.sim.set_bytes("counters", &bytes);
        self.sim.set("m_axis_stat_tready", ready);
        if self.sim.get("m_axis_stat_tvalid") == 1 {
            let offer = (self.sim.get("m_axis_stat_tid"), self.sim.get("m_axis_stat_tdata"));
            assert!(
                self.waiting.is_none_or(|waiting| waiting == offer),
                "it changed: {offer:?}"
            );
            assert!((1..=LARGEST).contains(&offer.1), "{offer:?}");
            self.waiting = (!ready).then_some(offer);
            if ready {
                self.reported[(offer.0 - FIRST) as usize] += offer.1;
            }
        } else {
            assert!(self.waiting.is_none(), "an increment was withdrawn");
        }
        self.sim.cycle();
    }

    /// Clocks in which all counters are inspected as often as the largest growth needs.
    fn settle(&mut self) {
        for _ in 0..2 * (COUNTERS as u64 * (LOOK + 1)) {
            self.step(true);
        }
    }

    fn expect(&self, expected: &[u64; COUNTERS]) {
        let mut expected = *expected;
        expected[LEVELS].fill(0);
        assert_eq!(self.reported, expected);
    }
}

#[test]
fn every_increment_is_reported_once() {
    run_test(20, |run| {
        let mut rng = run.rng("growth");
        let mut bench = Bench::new(run);
        let stalls = rng.random_range(0..100);
        let mut total = [0; COUNTERS];
        for _ in 0..20_000 {
            for (count, total) in bench.counters.iter_mut().zip(&mut total) {
                if rng.random_ratio(1, 10) {
                    let growth = rng.random_range(1..5);
                    *count = count.wrapping_add(growth);
                    *total += u64::from(growth);
                }
            }
            bench.step(rng.random_range(0..100) >= stalls);
        }
        bench.settle();
        bench.expect(&total);
    });
}

#[test]
fn large_increment_is_split() {
    run_test(1, |run| {
        let mut bench = Bench::new(run);
        bench.counters[3] = 5 << 24;
        for _ in 0..6 {
            bench.settle();
        }
        let mut total = [0; COUNTERS];
        total[3] = 5 << 24;
        bench.expect(&total);
        // Up to the end of its range a counter goes on.
        bench.counters[3] = u32::MAX;
        for _ in 0..260 {
            bench.settle();
        }
        total[3] = u32::MAX.into();
        bench.expect(&total);
        // Behind it, it wraps.
        bench.counters[3] = 14;
        bench.settle();
        total[3] += 15;
        bench.expect(&total);
    });
}

#[test]
fn levels_are_not_reported() {
    run_test(1, |run| {
        let mut bench = Bench::new(run);
        for level in [100, 3, 50] {
            bench.counters[LEVELS].fill(level);
            bench.settle();
        }
        bench.expect(&[0; COUNTERS]);
    });
}

#[test]
fn poll_of_a_counter_takes_eight_clocks() {
    case(1, Bench::new, |bench| {
        bench.settle();
        let mut cycles = Vec::new();
        for _ in 0..3 {
            let before = bench.reported[0];
            bench.counters[0] += 1;
            let start = bench.sim.cycle_count();
            while bench.reported[0] == before {
                bench.step(true);
            }
            cycles.push(bench.sim.cycle_count() - start);
            // The next look at this counter begins exactly one round later.
            bench.counters[0] += 1;
            let start = bench.sim.cycle_count();
            while bench.reported[0] == before + 1 {
                bench.step(true);
            }
            assert_eq!(bench.sim.cycle_count() - start, COUNTERS as u64 * LOOK);
        }
        // A round, and the clock in which the test sees it.
        assert!(
            cycles.iter().all(|cycles| *cycles <= COUNTERS as u64 * LOOK + 1),
            "{cycles:?}"
        );
    });
}
