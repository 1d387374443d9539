//! When new rules of the matching engine take effect, and when they do not.

use spinneret_models::PspinPktMatch;
use spinneret_packets::reference::matcher::{MatchResult, RuleTable};
use spinneret_regmap::matching::Rule;
use spinneret_rules::MatcherParams;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{case, with};
use spinneret_tb::pkt_match::{MatchBench, Pauses, one_rule};

const REFERENCE: MatcherParams = MatcherParams::REFERENCE;

fn bench(run: &mut TestRun, pauses: Pauses) -> MatchBench<PspinPktMatch> {
    MatchBench::new(run.simulation(), pauses)
}

/// A table whose ruleset 0 is one rule.
fn single(rule: Rule) -> RuleTable {
    one_rule(&REFERENCE, rule)
}

/// Rules on a word of the last beat, with frames of one and of two beats.
const LAST_BEAT: [(u32, usize); 2] = [(0, 64), (20, 128)];

/// Sends a frame of which one beat comes in six cycles, under a rule that it matches; returns in the cycle in
/// which the design has its first beat.
fn begin_frame(run: &mut TestRun, idx: u32, size: usize) -> MatchBench<PspinPktMatch> {
    let pattern = vec![false, true, true, true, true, true];
    let mut bench = bench(
        run,
        Pauses {
            input: Pause::Cycle(pattern),
            ..Pauses::default()
        },
    );
    bench.load(Some(&single(Rule {
        idx,
        mask: 0,
        start: 0,
        end: 0,
        relative: false,
    })));
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
    case(1, with(bench, Pauses::default()), |bench| {
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
        let mut bench = bench(run, Pauses::default());
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
        // No frame of the old rules comes behind one of the new.
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
        let mut bench = bench(run, Pauses::default());
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
