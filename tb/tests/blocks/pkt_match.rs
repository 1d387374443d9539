//! The matching engine against its reference model, and each line of its contract.

use spinneret_models::{
    PspinPktMatch, PspinPktMatchW64, PspinPktMatchW128, PspinPktMatchW256, PspinPktMatchW1024,
};
use spinneret_packets::reference::matcher::{MatchResult, RuleTable};
use spinneret_regmap::matching::Rule;
use spinneret_rules::MatcherParams;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, Parameters, case, with};
use spinneret_tb::pkt_match::{
    Counts, MatchBench, Pauses, Traffic, marked, measure, one_rule, random_frame, random_rules,
};

const REFERENCE: MatcherParams = MatcherParams::REFERENCE;

fn bench<M: Model>(run: &mut TestRun, pauses: Pauses) -> MatchBench<M> {
    MatchBench::new(run.simulation(), pauses)
}

fn marked_engine(run: &mut TestRun) -> MatchBench<PspinPktMatch> {
    marked(run.simulation())
}

/// A table whose ruleset 0 is one rule.
fn single(rule: Rule) -> RuleTable {
    one_rule(&REFERENCE, rule)
}

fn is_matched(result: MatchResult) -> bool {
    result != MatchResult::Bypass
}

/// Random frames under random rules, with other pauses after 2000 frames.
fn random_traffic<M: Model>(run: &mut TestRun, frames: u64) {
    let user_bits = Parameters::of::<M>().get("user_width") as u32;
    let mut rng = run.rng("traffic");
    let mut total = Counts::default();
    let pauses = [Pauses::default(), Pauses::random(30), Pauses::bursty()];
    for (number, pauses) in (0..frames.div_ceil(2000)).zip(pauses.into_iter().cycle()) {
        let mut bench = bench::<M>(run, pauses);
        let count = (frames - 2000 * number).min(2000);
        total += bench.random(&mut rng, count, |rng| random_frame(rng, user_bits));
        bench.finish();
    }
    let Counts { matched, bypassed } = total;
    assert_eq!(matched + bypassed, frames);
    assert!(
        matched.min(bypassed) > frames / 10,
        "{matched} of {frames} matched"
    );
}

/// Tests of random traffic: name, model, seed, frames.
macro_rules! random_packets {
    ($($name:ident: $model:ident, $seed:literal, $frames:literal;)*) => { $(
        #[test]
        fn $name() {
            run_test($seed, |run| random_traffic::<$model>(run, $frames));
        }
    )* };
}

random_packets! {
    random_packets_reference: PspinPktMatch, 1, 100_000;
    random_packets_64_bit: PspinPktMatchW64, 2, 4_000;
    random_packets_128_bit: PspinPktMatchW128, 3, 6_000;
    random_packets_256_bit: PspinPktMatchW256, 4, 6_000;
    random_packets_1024_bit: PspinPktMatchW1024, 5, 6_000;
}

#[test]
fn takes_one_beat_a_clock_for_every_size() {
    run_test(1, |run| {
        for traffic in Traffic::ALL {
            let mut bench = marked(run.simulation::<PspinPktMatch>());
            for size in 60..=1514 {
                let cycles = measure(&mut bench, size, traffic, 8);
                assert_eq!(
                    cycles.per_frame,
                    size.div_ceil(64) as f64,
                    "{size} bytes, {}",
                    traffic.name()
                );
                assert!(
                    cycles.latency <= 6,
                    "{size} bytes: first beat after {}",
                    cycles.latency
                );
                if let Some(after) = cycles.meta_after_last {
                    assert!(
                        after <= 2,
                        "{size} bytes: metadata {after} cycles after the last beat"
                    );
                }
            }
            bench.finish();
        }
    });
}

#[test]
fn takes_one_beat_a_clock_without_buffered_frames() {
    // Sixteen beats are inspected and no frame is buffered, so the buffer holds little more than those.
    run_test(1, |run| {
        for traffic in Traffic::ALL {
            let mut bench = marked(run.simulation::<PspinPktMatchW128>());
            for size in (16..=600).step_by(8).chain([1500, 9000]) {
                let cycles = measure(&mut bench, size, traffic, 40);
                let beats = size.div_ceil(16) as f64;
                assert_eq!(cycles.per_frame, beats, "{size} bytes, {}", traffic.name());
            }
            bench.finish();
        }
    });
}

#[test]
fn first_beat_leaves_five_clocks_after_the_beat_that_decides() {
    case(1, marked_engine, |bench| {
        let latency = |size, bench: &mut _| measure(bench, size, Traffic::Matched, 2).latency;
        assert_eq!(latency(64, bench), 5);
        assert_eq!(latency(128, bench), 6);
        assert_eq!(latency(9000, bench), 6);
    });
}

#[test]
fn metadata_follows_within_two_clocks_when_the_last_beat_comes_late() {
    run_test(1, |run| {
        for gap in 0..12 {
            let mut pattern = vec![true; gap];
            pattern.push(false);
            let pauses = Pauses {
                input: Pause::Cycle(pattern),
                ..Pauses::default()
            };
            let mut bench = bench::<PspinPktMatch>(run, pauses);
            bench.load(Some(&single(Rule::ALWAYS)));
            for size in [64, 65, 128, 129, 192, 300, 1500] {
                bench.source.send(Frame::new(vec![1; size]));
                bench.sim.run(600);
                let frame = bench.pspin.receive().unwrap();
                let meta = bench.meta.receive().unwrap();
                let limit = frame.last_cycle + 2;
                assert!(
                    meta.cycle <= limit,
                    "{size} bytes, gaps of {gap}: {} after {limit}",
                    meta.cycle
                );
            }
            bench.finish();
        }
    });
}

#[test]
fn words_beyond_the_frame_never_match() {
    case(1, with(bench::<PspinPktMatch>, Pauses::default()), |bench| {
        // The source fills lanes without tkeep with random bytes, so leftover data would match at times.
        for (idx, sizes) in [(0, 1..=8), (15, 58..=66), (16, 64..=72), (31, 120..=130)] {
            bench.load(Some(&single(Rule::equal(idx, 0, 0))));
            for size in sizes {
                let matched = is_matched(bench.send(Frame::new(vec![0xff; size])));
                assert_eq!(
                    matched,
                    size >= 4 * idx as usize + 4,
                    "word {idx} of {size} bytes"
                );
            }
            bench.settle();
        }
    });
}

#[test]
fn words_beyond_the_inspected_beats_never_match() {
    case(1, with(bench::<PspinPktMatch>, Pauses::default()), |bench| {
        for idx in [32, 33, 47, 48, 64, 1 << 16, 1 << 31, u32::MAX] {
            bench.load(Some(&single(Rule::equal(idx, 0, 0))));
            assert!(!is_matched(bench.send(Frame::new(vec![0; 1500]))));
            bench.settle();
        }
        bench.load(Some(&single(Rule::equal(31, 0, 0))));
        assert!(is_matched(bench.send(Frame::new(vec![0; 1500]))));
    });
}

#[test]
fn ranges_compare_in_network_order() {
    case(1, with(bench::<PspinPktMatch>, Pauses::default()), |bench| {
        bench.load(Some(&single(Rule::udp_destination_port(1000, 2000))));
        for (port, expected) in [
            (999_u16, false),
            (1000, true),
            (1023, true),
            (1024, true),
            (2000, true),
            (2001, false),
        ] {
            let mut bytes = vec![0; 64];
            bytes[36..38].copy_from_slice(&port.to_be_bytes());
            assert_eq!(is_matched(bench.send(Frame::new(bytes))), expected, "port {port}");
        }
    });
}

#[test]
fn length_is_exact_and_message_id_needs_byte_47() {
    case(1, with(bench::<PspinPktMatch>, Pauses::default()), |bench| {
        bench.load(Some(&single(Rule::ALWAYS)));
        for size in (4..200).chain([1513, 1514, 9000, 16384]) {
            let bytes: Vec<u8> = (0..size).map(|byte| byte as u8 | 0x80).collect();
            let MatchResult::Matched {
                message_id,
                size: length,
                ..
            } = bench.send(Frame::new(bytes.clone()))
            else {
                panic!("{size} bytes do not match")
            };
            assert_eq!(length as usize, size);
            assert_eq!(message_id != 0, size >= 48, "{size} bytes");
            bench.send(Frame::new(bytes).with_null_last());
        }
    });
}

#[test]
fn frames_without_bytes_go_to_the_nic() {
    case(1, with(bench::<PspinPktMatch>, Pauses::random(20)), |bench| {
        bench.load(Some(&single(Rule::ALWAYS)));
        for size in [0, 64, 0, 0, 65, 3, 0] {
            assert_eq!(is_matched(bench.send(Frame::new(vec![1; size]))), size >= 4);
        }
    });
}

#[test]
fn metadata_that_is_not_taken_stops_the_input_and_loses_nothing() {
    case(1, with(bench::<PspinPktMatch>, Pauses::default()), |bench| {
        bench.load(Some(&single(Rule::ALWAYS)));
        bench.meta.set_pause(Pause::AlwaysAfter(0));
        for _ in 0..500 {
            bench.send(Frame::new([1; 64]));
        }
        bench.sim.run(2000);
        assert!(bench.source.waiting() > 400, "the input must stop");
        bench.meta.set_pause(Pause::Never);
    });
}

#[test]
fn an_output_that_stalls_holds_back_the_frames_behind_it_and_loses_nothing() {
    run_test(1, |run| {
        for size in [60, 64, 65, 128, 1500] {
            let mut bench = bench::<PspinPktMatch>(
                run,
                Pauses {
                    nic: Pause::AlwaysAfter(0),
                    ..Pauses::default()
                },
            );
            bench.load(Some(&single(Rule::equal(0, 0xff00_0000, 0x0100_0000))));
            for number in 0..600_usize {
                bench.send(Frame::new(vec![(number % 2) as u8; size]));
            }
            bench.sim.run(4000);
            assert!(bench.source.waiting() > 400, "{size} bytes: the input must stop");
            assert!(
                bench.pspin.waiting() <= 1,
                "{size} bytes: a frame overtook the one that waits"
            );
            bench.nic.set_pause(Pause::Never);
            bench.finish();
        }
    });
}

#[test]
fn after_a_reset_nothing_comes_out_and_the_next_beat_begins_a_frame() {
    run_test(1, |run| {
        let mut rng = run.rng("resets");
        for _ in 0..100 {
            let mut bench = bench::<PspinPktMatch>(run, Pauses::random(30));
            bench.load(Some(&random_rules(&mut rng, &REFERENCE)));
            for _ in 0..rng.random_range(1..30) {
                bench.source.send(random_frame(&mut rng, 16));
            }
            // The source does not send again what the reset cut off, so that the last frame is all it has left.
            bench.source.send(Frame::new([1; 9000]));
            while bench.source.waiting() > 1 {
                bench.sim.cycle();
            }
            bench.sim.cycle();
            while !bench.source.monitor().is_valid() {
                bench.sim.cycle();
            }
            bench.sim.run(rng.random_range(0..200));
            bench.sim.reset();
            assert!(bench.source.is_idle());
            let before = (bench.nic.receive_all().len(), bench.pspin.receive_all().len());
            bench.meta.receive_all();
            bench.sim.run(100);
            let late = (bench.nic.waiting(), bench.pspin.waiting(), bench.meta.waiting());
            assert_eq!(late, (0, 0, 0), "frames came out of the reset, after {before:?}");
            bench.load(Some(&random_rules(&mut rng, &REFERENCE)));
            for _ in 0..20 {
                bench.send(random_frame(&mut rng, 16));
            }
            bench.finish();
        }
    });
}

/// Rules on a word of the last beat, with frames of one and of two beats.
const LAST_BEAT: [(u32, usize); 2] = [(0, 64), (20, 128)];

/// Sends a frame of which one beat comes in six cycles, under a rule that it matches; returns in the cycle in
/// which the design has its first beat.
fn begin_frame(run: &mut TestRun, idx: u32, size: usize) -> MatchBench<PspinPktMatch> {
    let pattern = vec![false, true, true, true, true, true];
    let mut bench = bench::<PspinPktMatch>(
        run,
        Pauses {
            input: Pause::Cycle(pattern),
            ..Pauses::default()
        },
    );
    bench.load(Some(&single(Rule::equal(idx, 0, 0))));
    bench.send(Frame::new(vec![1; size]));
    while bench.source.monitor().counts().beats == 0 {
        bench.sim.cycle();
    }
    bench
}

/// The next frame must not match any more.
fn expect_bypass(mut bench: MatchBench<PspinPktMatch>, size: usize) {
    bench.sim.run(8);
    bench.source.send(Frame::new(vec![1; size]));
    bench.sim.run(100);
    assert_eq!(bench.nic.receive_all().len(), 1);
}

#[test]
fn a_frame_sees_the_rules_of_its_first_beat() {
    run_test(1, |run| {
        for (idx, size) in LAST_BEAT {
            for cycle in 0..20 {
                let mut bench = begin_frame(run, idx, size);
                bench.sim.run(cycle);
                bench.drive_rules(&single(Rule::NEVER));
                assert_eq!(
                    bench.settle().matched,
                    1,
                    "{size} bytes, new rules after {cycle} cycles"
                );
                expect_bypass(bench, size);
            }
        }
    });
}

#[test]
fn a_frame_that_has_begun_keeps_its_rules_when_they_are_withdrawn() {
    run_test(1, |run| {
        for (idx, size) in LAST_BEAT {
            for cycle in 0..20 {
                let mut bench = begin_frame(run, idx, size);
                bench.sim.run(cycle);
                bench.drive_valid(false);
                assert_eq!(
                    bench.settle().matched,
                    1,
                    "{size} bytes, match_valid fell after {cycle} cycles"
                );
                expect_bypass(bench, size);
            }
        }
    });
}

#[test]
fn nothing_matches_without_rules() {
    case(1, with(bench::<PspinPktMatch>, Pauses::default()), |bench| {
        bench.drive_rules(&single(Rule::ALWAYS));
        assert_eq!(bench.send(Frame::new([0; 64])), MatchResult::Bypass);
        bench.settle();
        bench.load(Some(&single(Rule::ALWAYS)));
        assert_ne!(bench.send(Frame::new([0; 64])), MatchResult::Bypass);
        bench.settle();
        bench.load(None);
        assert_eq!(bench.send(Frame::new([0; 64])), MatchResult::Bypass);
    });
}

#[test]
fn rules_take_effect_between_frames_under_full_load() {
    run_test(1, |run| {
        let mut bench = bench::<PspinPktMatch>(run, Pauses::default());
        bench.drive_rules(&single(Rule::NEVER));
        bench.drive_valid(true);
        bench.sim.run(8);
        for _ in 0..400 {
            bench.source.send(Frame::new([1; 200]));
        }
        bench.sim.run(200);
        bench.drive_valid(false);
        bench.sim.run(100);
        bench.drive_rules(&single(Rule::ALWAYS));
        bench.drive_valid(true);
        while !bench.source.is_idle() {
            bench.sim.cycle();
        }
        bench.sim.run(200);
        let (bypassed, matched) = (bench.nic.receive_all(), bench.pspin.receive_all());
        assert_eq!(
            (bypassed.len() + matched.len(), matched.len()),
            (400, bench.meta.receive_all().len())
        );
        assert!(
            matched.len() > 300,
            "new rules must not wait for an idle input: {} matched",
            matched.len()
        );
        // No frame of the old rules comes after one of the new.
        let last_old = bypassed.last().map_or(0, |frame| frame.first_cycle);
        assert!(matched.iter().all(|frame| frame.first_cycle > last_old));
    });
}
/// Runs until the source has `left` frames that are not sent completely.
fn run_until_left(bench: &mut MatchBench<PspinPktMatch>, left: usize) {
    while bench.source.waiting() > left {
        bench.sim.cycle();
    }
}

#[test]
fn rules_that_are_replaced_within_one_frame_take_effect_behind_it() {
    run_test(1, |run| {
        let mut bench = bench::<PspinPktMatch>(run, Pauses::default());
        bench.load(Some(&single(Rule::NEVER)));
        for _ in 0..20 {
            bench.source.send(Frame::new([1; 1500]));
        }
        run_until_left(&mut bench, 15);
        bench.sim.run(4);
        // Software that is fast withdraws the rules for less than the 24 cycles of a frame.
        bench.drive_valid(false);
        bench.sim.run(3);
        bench.drive_rules(&single(Rule::ALWAYS));
        bench.drive_valid(true);
        run_until_left(&mut bench, 0);
        bench.sim.run(100);
        let (bypassed, matched) = (bench.nic.receive_all().len(), bench.pspin.receive_all().len());
        assert_eq!(bypassed + matched, 20);
        assert!(
            matched >= 13,
            "new rules must not wait for an idle input: {matched} of 20 matched"
        );
        assert_eq!(bench.meta.receive_all().len(), matched);
    });
}
