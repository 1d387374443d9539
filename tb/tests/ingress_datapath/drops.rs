//! Matched packets that are dropped: whole, and counted by one cause.

use crate::support::{
    Bench, for_ruleset, four_rulesets, marked, marked_with, marked_without_frees, matched, one,
};
use spinneret_sim::prelude::*;
use spinneret_tb::ingress::{Behaviour, Cause, Class, Contexts};

#[test]
fn one_refused_burst_drops_its_packet_alone() {
    run_test(1, |run| {
        for response in [Response::SlaveError, Response::DecodeError] {
            let mut bench = marked(run);
            let large = bench.setup.slots[Class::Large];
            // Any byte of any of the first slots may be the one that cannot be written.
            for offset in [0, 63, 64, 127, 640, 1472, 1499] {
                let slots = (0..8).map(|slot| large.address(slot) + offset);
                bench.slave.set_faults(Faults::Never);
                bench.send(matched(1500, 1));
                bench.settle();
                let next = next_slot(&bench);
                let faults = slots.chain([next + offset]).map(|at| (at..=at, response));
                bench.slave.set_faults(Faults::At(faults.collect()));
                bench.send(matched(1500, 2));
                let outcome = bench.settle();
                assert_eq!(
                    (outcome.hers, outcome.drops),
                    (0, one(Cause::WriteError)),
                    "byte {offset}"
                );
                bench.slave.set_faults(Faults::Never);
                bench.send(matched(1500, 3));
                assert_eq!(bench.settle().hers, 1);
            }
            bench.finish();
        }
    });
}

/// The slot behind that of the last HER: free slots are given out in the order in which they came back.
fn next_slot(bench: &Bench) -> u64 {
    let address = bench.last_her.as_ref().map_or(0, |item| item.values[2]);
    let large = bench.setup.slots[Class::Large];
    let next = address + large.bytes;
    if next == large.address(large.count) {
        large.base
    } else {
        next
    }
}

#[test]
fn random_errors_are_counted_one_by_one() {
    run_test(1, |run| {
        let mut bench = marked(run);
        bench.slave.set_faults(Faults::Random { percent: 20 });
        for number in 0..500 {
            bench.send(matched([64, 1500, 300][number as usize % 3], number));
        }
        let outcome = bench.settle();
        assert!(outcome.drops[Cause::WriteError] > 50, "{}", outcome.drops);
        assert_eq!(outcome.hers + outcome.drops[Cause::WriteError], 500);
        bench.finish();
    });
}

/// A path without contexts for packets that ruleset 0 matches, and with one for ruleset 1.
fn without_context(run: &mut TestRun) -> Bench {
    let mut bench = Bench::new(run.simulation(), Behaviour::default());
    bench.load_rules(Some(&four_rulesets()));
    let contexts = Contexts::random(&mut run.rng("contexts"), [false, true, false, false]);
    bench.load_contexts(&contexts);
    bench
}

#[test]
fn the_first_cause_counts() {
    run_test(1, |run| {
        let mut bench = without_context(run);
        let sound = |size| for_ruleset(0, size, 5);
        let with = |size| for_ruleset(1, size, 6);
        for (packet, fails, cause) in [
            (sound(100), false, Cause::NoContext),
            (sound(1600), false, Cause::Oversize),
            (with(1600), false, Cause::Oversize),
            (sound(100).marked_bad(), false, Cause::BadFrame),
            (sound(1600).marked_bad(), false, Cause::BadFrame),
            (with(9600).marked_bad(), false, Cause::BadFrame),
            (with(192).with_keep(1, 1), false, Cause::BadFrame),
            (sound(100), true, Cause::WriteError),
            (with(100), true, Cause::WriteError),
            (with(100).marked_bad(), true, Cause::WriteError),
            (sound(1600).marked_bad(), true, Cause::WriteError),
            (with(9600), true, Cause::WriteError),
        ] {
            let percent = if fails { 100 } else { 0 };
            bench.slave.set_faults(Faults::Random { percent });
            let bytes = packet.length();
            bench.send(packet);
            let outcome = bench.settle();
            assert_eq!((outcome.hers, outcome.drops), (0, one(cause)), "{bytes} bytes");
        }
        bench.finish();
    });
}

#[test]
fn without_slots_every_cause_is_no_slot() {
    run_test(1, |run| {
        let mut bench = marked_without_frees(run);
        for number in 0..256 {
            bench.send(matched(1500, number));
        }
        for number in 0..1024 {
            bench.send(matched(64, number));
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.drops.sum()), (1280, 0));
        bench.slave.set_faults(Faults::Random { percent: 100 });
        for packet in [
            matched(64, 1),
            matched(64, 2).marked_bad(),
            matched(1500, 3),
            matched(1600, 4),
            matched(9600, 5).marked_bad(),
        ] {
            bench.send(packet);
            assert_eq!(bench.settle().drops, one(Cause::NoSlot));
        }
        bench.slave.set_faults(Faults::Never);
        bench.finish();
    });
}

#[test]
fn overload_comes_before_all_other_causes() {
    run_test(1, |run| {
        let mut bench = marked_without_frees(run);
        for number in 0..256 {
            bench.send(matched(1500, number));
        }
        assert_eq!(bench.settle().hers, 256);
        // The queue in front of the DMA fills with small packets, then there is neither room nor a slot.
        bench
            .slave
            .set_pauses(Pause::AlwaysAfter(0), Pause::AlwaysAfter(0));
        for number in 0..900 {
            bench.send(matched(64, number));
        }
        while !bench.source.is_idle() {
            bench.cycle();
        }
        bench.run(32);
        let before = bench.counters().drops;
        assert!(before[Cause::Overload] > 0, "{before}");
        for packet in [
            matched(1500, 1),
            matched(1600, 2),
            matched(64, 3).marked_bad(),
            matched(9600, 4).marked_bad(),
        ] {
            bench.send(packet);
        }
        while !bench.source.is_idle() {
            bench.cycle();
        }
        bench.run(32);
        let mut after = before;
        after[Cause::Overload] += 4;
        assert_eq!(bench.counters().drops, after);
        bench.slave.set_pauses(Pause::Never, Pause::Never);
        let outcome = bench.settle();
        assert_eq!(outcome.drops, after);
        bench.finish();
    });
}

#[test]
fn nothing_is_lost_when_the_cluster_takes_one_her_in_four() {
    run_test(1, |run| {
        let mut bench = marked_with(
            run,
            Behaviour {
                calm: false,
                her: Pause::Random { percent: 75 },
                ..Behaviour::default()
            },
        );
        for number in 0..3000 {
            bench.send(matched(64, number));
        }
        let outcome = bench.settle();
        assert_eq!(
            outcome.hers + outcome.drops[Cause::Overload],
            3000,
            "{}",
            outcome.drops
        );
        // At an eighth of the rate nothing has to be dropped at all.
        bench.source.set_pause(Pause::Random { percent: 88 });
        bench.set_calm(true);
        for number in 0..500 {
            bench.send(matched(64, number));
        }
        assert_eq!(bench.settle().hers, 500);
        bench.finish();
    });
}

#[test]
fn dropped_packets_and_their_slots_leave_room_for_later_ones() {
    run_test(1, |run| {
        let slave = SlaveConfig {
            latency: Latency { least: 1, most: 30 },
            ..SlaveConfig::default()
        };
        let behaviour = Behaviour {
            slave,
            ..Behaviour::default()
        };
        let mut bench = marked_with(run, behaviour);
        // Many times as many as there are slots.
        for round in 0..3 {
            for number in 0..1500 {
                let size = [64, 1500, 2000][number as usize % 3];
                let packet = matched(size, number);
                bench.send(if number % 2 == 0 {
                    packet.marked_bad()
                } else {
                    packet
                });
            }
            let outcome = bench.settle();
            assert_eq!(
                (
                    outcome.hers,
                    outcome.drops[Cause::BadFrame],
                    outcome.drops[Cause::Oversize]
                ),
                (500, 750, 250),
                "round {round}"
            );
        }
        bench.finish();
    });
}
