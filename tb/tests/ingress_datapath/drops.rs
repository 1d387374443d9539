//! Matched packets that are dropped: whole, and counted by one cause.

use crate::{
    Bench, for_ruleset, four_rulesets, marked, marked_with, marked_without_frees, matched, one, unmatched,
};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::ingress::{Cause, Class, Contexts, MARK, Packet, Stimulus};

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

/// The slot after that of the last HER: free slots are given out in the order in which they came back.
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
    case(1, marked, |bench| {
        bench.slave.set_faults(Faults::Random { percent: 20 });
        for number in 0..500 {
            bench.send(matched([64, 1500, 300][number as usize % 3], number));
        }
        let outcome = bench.settle();
        assert!(outcome.drops[Cause::WriteError] > 50, "{}", outcome.drops);
        assert_eq!(outcome.hers + outcome.drops[Cause::WriteError], 500);
    });
}

/// A path without contexts for packets that ruleset 0 matches, and with one for ruleset 1.
fn without_context(run: &mut TestRun) -> Bench {
    let mut bench = Bench::new(run.simulation(), Stimulus::default());
    bench.load_rules(Some(&four_rulesets()));
    let contexts = Contexts::random(&mut run.rng("contexts"), [false, true, false, false]);
    bench.load_contexts(&contexts);
    bench
}

#[test]
fn the_first_cause_counts() {
    case(1, without_context, |bench| {
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
    });
}

#[test]
fn without_slots_every_cause_is_no_slot() {
    case(1, marked_without_frees, |bench| {
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
    });
}

#[test]
fn overload_comes_before_all_other_causes() {
    case(1, marked_without_frees, |bench| {
        for number in 0..256 {
            bench.send(matched(1500, number));
        }
        assert_eq!(bench.settle().hers, 256);
        // The queue before the DMA fills with small packets, then there is neither room nor a slot.
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
    });
}

fn slow_cluster(run: &mut TestRun) -> Bench {
    marked_with(
        run,
        Stimulus {
            uncongested: false,
            her: Pause::Random { percent: 75 },
            ..Stimulus::default()
        },
    )
}

#[test]
fn nothing_is_lost_when_the_cluster_takes_one_her_in_four() {
    case(1, slow_cluster, |bench| {
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
        bench.set_uncongested(true);
        for number in 0..500 {
            bench.send(matched(64, number));
        }
        assert_eq!(bench.settle().hers, 500);
    });
}

#[test]
fn dropped_packets_and_their_slots_leave_room_for_later_ones() {
    run_test(1, |run| {
        let slave = SlaveConfig {
            latency: Latency { least: 1, most: 30 },
            ..SlaveConfig::default()
        };
        let stimulus = Stimulus {
            slave,
            ..Stimulus::default()
        };
        let mut bench = marked_with(run, stimulus);
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

/// `tkeep` values of a beat, with whether it is the last of its frame; all of them are impossible.
const IMPOSSIBLE: [(bool, u64); 10] = [
    (false, 0),
    (false, 1),
    (false, u64::MAX >> 1),
    (false, u64::MAX << 1),
    (false, 0xffff_0000_ffff_ffff),
    (true, 2),
    (true, 0xf0),
    (true, 1 << 63),
    (true, u64::MAX << 1),
    (true, 0xffff_0000_ffff_ffff),
];

#[test]
fn frames_of_1_byte_to_16_kib_pass_or_are_dropped_for_their_size() {
    case(1, marked, |bench| {
        let (mut delivered, mut oversize, mut bypassed) = (0, 0, 0);
        for size in (1..=1600)
            .step_by(7)
            .chain((1600..=16384).step_by(1231))
            .chain([16384])
        {
            bench.send(matched(size, size as u64));
            bench.send(unmatched(size, size as u64));
            bypassed += 1 + u64::from(size < 4);
            delivered += u64::from((4..=1536).contains(&size));
            oversize += u64::from(size > 1536);
        }
        let outcome = bench.settle();
        assert_eq!(
            (outcome.hers, outcome.drops[Cause::Oversize], outcome.bypassed),
            (delivered, oversize, bypassed)
        );
        assert_eq!(outcome.drops.sum(), oversize);
    });
}

#[test]
fn only_bytes_behind_a_beat_that_is_not_full_are_a_gap() {
    case(1, marked, |bench| {
        for size in [4, 63, 65, 100, 127, 129, 1500, 1535] {
            bench.send(matched(size, 1).with_null_last());
            bench.send(unmatched(size, 2).with_null_last());
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.bypassed, outcome.drops.sum()), (8, 8, 0));
        // One byte in the last beat makes the same frame bad.
        for beats in [2, 3, 24] {
            let short = matched(64 * beats, 3).with_keep(beats - 2, 0xffff);
            bench.send(short);
        }
        assert_eq!(bench.settle().drops[Cause::BadFrame], 3);
    });
}

#[test]
fn impossible_tkeep_drops_matched_frames_and_nothing_else() {
    case(1, marked, |bench| {
        let mut bad = 0;
        for beats in [2, 3, 24, 26] {
            for (last, keep) in IMPOSSIBLE {
                let beat = if last { beats - 1 } else { beats - 2 };
                // The rule needs the first word.
                let keep = if beat == 0 { keep | 0xf } else { keep };
                let packet = matched(64 * beats, 1).with_keep(beat, keep);
                bad += u64::from(packet.is_bad());
                bench.send(packet);
                bench.send(matched(100, 2));
            }
        }
        let outcome = bench.settle();
        let drops = &outcome.drops;
        assert_eq!(
            (outcome.hers + drops[Cause::BadFrame], drops.sum()),
            (80, bad),
            "{drops}"
        );
    });
}

#[test]
fn a_hole_counts_wherever_it_is_and_whatever_follows() {
    case(1, marked, |bench| {
        // With a last beat without bytes nothing but the hole itself says that the frame is bad.
        for beats in [1, 2, 3, 24, 25, 26, 30] {
            for beat in 0..beats {
                let keep = 0xffff_0000_ffff_ffff;
                bench.send(matched(64 * beats, 1).with_keep(beat, keep).with_null_last());
                bench.send(matched(100, 2));
            }
        }
        let outcome = bench.settle();
        let drops = &outcome.drops;
        assert_eq!(
            (outcome.hers, drops[Cause::BadFrame], drops.sum()),
            (111, 111, 111),
            "{drops}"
        );
    });
}

#[test]
fn a_bad_first_beat_drops_the_frame() {
    case(1, marked, |bench| {
        for keep in [0xf, 0x1f, 0xff0f, u64::MAX >> 1, u64::MAX - 0x10] {
            for beats in [2, 3, 25] {
                bench.send(matched(64 * beats, 1).with_keep(0, keep));
            }
        }
        // A frame of one beat with a hole.
        bench.send(matched(64, 1).with_keep(0, 0xff0f));
        assert_eq!(bench.settle().drops[Cause::BadFrame], 16);
    });
}

#[test]
fn bad_unmatched_frames_pass_untouched() {
    run_test(1, |run| {
        for nic in [Pause::Never, Pause::Random { percent: 50 }] {
            let stimulus = Stimulus {
                nic,
                ..Stimulus::default()
            };
            let mut bench = marked_with(run, stimulus);
            for size in [1, 64, 65, 1500, 9600] {
                bench.send(unmatched(size, 1).marked_bad());
            }
            for beats in [1, 2, 3, 26] {
                for (last, keep) in IMPOSSIBLE {
                    let beat = if last { beats - 1 } else { 0 };
                    bench.send(unmatched(64 * beats, 2).with_keep(beat, keep));
                    bench.send(unmatched(64, 3));
                }
            }
            assert_eq!(bench.settle().bypassed, 85);
            bench.finish();
        }
    });
}

#[test]
fn tuser_counts_in_the_last_beat_only() {
    case(1, marked, |bench| {
        for size in [65, 129, 1500] {
            for (early_user, user) in [(0xffff, 0xfffe), (1, 0), (0, 0xfffe)] {
                bench.send(Packet {
                    early_user,
                    user,
                    ..matched(size, 1)
                });
            }
        }
        assert_eq!(bench.settle().hers, 9);
    });
}

#[test]
fn bytes_behind_the_end_do_not_match() {
    case(1, marked, |bench| {
        for size in 1..4 {
            bench.send(matched(64, 1));
            // Too short for the rule's word; the lanes after it are random.
            bench.send(Packet::new(64, vec![MARK; size]));
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.bypassed), (3, 3));
    });
}
