//! Tables and JSON.

use crate::support::{counters, make_up};
use spinneret_nic::nic::NicConfig;
use spinneret_nic::report::{End, HandlerCounter, Options, Recorder, Summary};
use std::time::Duration;

fn end() -> End {
    End {
        wall: Duration::from_millis(1500),
        simulated_ps: 2_500_000_000,
        simulated_clocks: 300_000,
        cluster_clocks_alone: 40_000,
        instructions: 4_500_000,
        hpu_busy: (0..16).map(|hpu| 30_000 + hpu * 1000).collect(),
        cut_short: 0,
        refused_commands: 0,
        left: 0,
        resets: 0,
        has_restarted: false,
        is_idle: true,
        handler_counters: vec![HandlerCounter {
            index: 3,
            count: 6,
            sum: 61,
        }],
    }
}

fn summary(packets: u64) -> Summary {
    let mut recorder = Recorder::new(Options::silent(), None, &NicConfig::default()).unwrap();
    make_up(&mut recorder, packets);
    recorder.counters(&counters(packets));
    recorder.finish(&end(), None).summary
}

#[test]
fn the_tables_are_these() {
    insta::assert_snapshot!(summary(1000).to_string());
}

#[test]
fn the_json_is_this() {
    let json = summary(1000).to_json().unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(parsed.is_object());
    insta::assert_snapshot!(json);
}

#[test]
fn nothing_gives_a_summary_too() {
    let recorder = Recorder::new(Options::silent(), None, &NicConfig::default()).unwrap();
    let finished = recorder.finish(&End::default(), None);
    assert!(finished.failures.is_empty());
    insta::assert_snapshot!(finished.summary.to_string());
    finished.summary.to_json().unwrap();
}

#[test]
fn sums_that_do_not_add_up_are_named() {
    let mut recorder = Recorder::new(Options::silent(), None, &NicConfig::default()).unwrap();
    make_up(&mut recorder, 100);
    let mut counters = counters(100);
    counters[2].1 -= 3;
    counters[4].1 += 2;
    recorder.counters(&counters);
    let unbalanced = recorder.finish(&end(), None).summary.unbalanced;
    assert_eq!(
        unbalanced,
        [
            "to handlers is 90, ingress.hers is 87",
            "done with is 90, ingress.hers is 87",
            "ingress.hers and dropped frames is 89, ingress.matched is 90"
        ]
    );
}

/// A reset takes what is inside, so less comes out than went in; more never does.
#[test]
fn what_resets_took_is_counted_and_adds_up() {
    let summary = |hers| {
        let mut recorder = Recorder::new(Options::silent(), None, &NicConfig::default()).unwrap();
        make_up(&mut recorder, 100);
        let mut counters = counters(100);
        counters[2].1 = hers;
        recorder.counters(&counters);
        let end = End { resets: 2, ..end() };
        recorder.finish(&end, None).summary
    };
    let missing = summary(90);
    assert_eq!(missing.unbalanced, Vec::<String>::new());
    assert_eq!((missing.resets, missing.dropped_by_resets), (2, 0));
    let too_many = summary(88).unbalanced;
    assert_eq!(
        too_many,
        [
            "to handlers is 90, ingress.hers is 88",
            "done with is 90, ingress.hers is 88"
        ]
    );
}

#[test]
fn counters_that_have_wrapped_add_up() {
    let mut recorder = Recorder::new(Options::silent(), None, &NicConfig::default()).unwrap();
    make_up(&mut recorder, 10);
    recorder.counters(&[("ingress.hers".to_owned(), (1 << 32) + 9)]);
    assert!(recorder.finish(&end(), None).summary.unbalanced.is_empty());
}

#[test]
fn figures_since_a_moment_leave_out_what_was_before() {
    let run = end().since(&End {
        wall: Duration::from_millis(500),
        simulated_ps: 500_000_000,
        hpu_busy: vec![30_000; 16],
        ..End::default()
    });
    assert_eq!(run.wall, Duration::from_secs(1));
    assert_eq!(run.simulated_ps, 2_000_000_000);
    assert_eq!(run.hpu_busy[..3], [0, 1000, 2000]);
}
