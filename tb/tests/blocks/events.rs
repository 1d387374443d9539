//! `SpinneretEvents`: each line of its contract, and random events against its reference model.

use spinneret_models::{SpinneretEvents, SpinneretEventsSmall};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{case, each, with};
use spinneret_tb::events::{EventsBench, Settings};

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
fn a_line_tells_once_until_it_is_cleared() {
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
fn what_happened_before_it_was_enabled_is_told_then() {
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
fn messages_of_a_line_keep_their_distance() {
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
            // A message is chosen behind the clocks of rest, and is at the output one later; six lines share it.
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
fn a_slow_host_hears_of_every_line_in_turn() {
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
