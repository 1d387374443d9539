//! `AsyncFifo` and `BusSync`: resets of both sides and of one.

use crate::clocks::{Clocks, FIXED};
use crate::fifo::{Bench, bench};
use rand::RngExt;
use rand::seq::IndexedRandom;
use spinneret_models as models;
use spinneret_sim::channel::Pause;
use spinneret_sim::model::Model;
use spinneret_sim::test_run::{TestRun, run_test};

const SOME: Pause = Pause::Random { percent: 30 };

/// Resets that overlap long enough, in any order, in the middle of traffic: what was inside is gone, and all
/// that comes afterwards is there.
fn together<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("resets");
    let mut lost = 0;
    for _ in 0..12 {
        let clocks = Clocks::random(&mut rng);
        let mut bench: Bench<M> = bench(run, clocks, SOME, SOME);
        for round in 0..4 {
            let base = 1000 * round;
            bench.send(base..base + 200);
            bench.sim.run_edges("s_clk", rng.random_range(1..150));
            let order = |rng: &mut _| *[["s_clk", "m_clk"], ["m_clk", "s_clk"]].choose(rng).expect("two");
            let [first, second] = order(&mut rng);
            bench.sim.set_reset(first, true);
            bench.sim.run_edges(second, rng.random_range(1..20));
            bench.sim.set_reset(second, true);
            bench.sim.run_edges("s_clk", 16);
            bench.sim.run_edges("m_clk", 16);
            let before = bench.received();
            assert!(
                before.is_sorted() && before.iter().all(|number| *number >= base),
                "{clocks:?}"
            );
            lost += bench.source.counts().beats - bench.sink.total();
            bench.source.clear();
            // What comes in before the other side is out of its reset is not lost.
            bench.send(base + 500..base + 520);
            let [first, second] = order(&mut rng);
            bench.sim.set_reset(first, false);
            bench.sim.run_edges(first, rng.random_range(1..20));
            bench.sim.set_reset(second, false);
            bench.settle();
            assert!(
                bench.received().into_iter().eq(base + 500..base + 520),
                "{clocks:?}"
            );
        }
        bench.sim.finish();
    }
    assert!(lost > 20, "resets found {lost} elements inside");
}

#[test]
fn a_reset_of_both_sides_empties_it() {
    run_test("a_reset_of_both_sides_empties_it", 1, |run| {
        together::<models::AsyncFifo>(run);
        together::<models::AsyncFifo4>(run);
        together::<models::BusSync>(run);
    });
}

/// Resets of one side, one after the other: nothing is made up, and nothing is lost but what was in the output
/// register.
fn alone<M: Model>(run: &mut TestRun, side: &str) {
    let mut rng = run.rng("resets");
    for _ in 0..12 {
        let clocks = Clocks::random(&mut rng);
        let mut bench: Bench<M> = bench(run, clocks, SOME, SOME);
        bench.send(0..400);
        let mut at_output = 0;
        for _ in 0..8 {
            bench.sim.run_edges(side, rng.random_range(1..60));
            at_output += u64::from(side == "m_clk" && bench.has("m_valid"));
            bench.sim.set_reset(side, true);
            bench.sim.run_edges(side, rng.random_range(2..30));
            bench.sim.set_reset(side, false);
        }
        bench.settle();
        let received = bench.received();
        assert!(received.is_sorted_by(|a, b| a < b), "{clocks:?}");
        assert_eq!(received.len() as u64 + at_output, 400, "{clocks:?}");
        bench.sim.finish();
    }
}

#[test]
fn a_side_alone_in_reset_stops_and_goes_on() {
    run_test("a_side_alone_in_reset_stops_and_goes_on", 1, |run| {
        for side in ["s_clk", "m_clk"] {
            alone::<models::AsyncFifo>(run, side);
            alone::<models::BusSync>(run, side);
        }
    });
}

#[test]
fn neither_takes_nor_gives_in_reset() {
    run_test("neither_takes_nor_gives_in_reset", 1, |run| {
        for clocks in FIXED {
            let mut bench: Bench<models::AsyncFifo> = bench(run, clocks, Pause::Never, Pause::AlwaysAfter(0));
            bench.send(0..8);
            bench.settle();
            assert!(bench.has("m_valid") && bench.has("s_ready"));
            bench.sim.set_reset("s_clk", true);
            bench.sim.run_edges("s_clk", 1);
            assert!(!bench.has("s_ready") && bench.has("m_valid"));
            bench.sim.set_reset("s_clk", false);
            assert!(!bench.has("s_ready"));
            bench.sim.run_edges("s_clk", 1);
            assert!(bench.has("s_ready"), "{clocks:?}");
            // Each side has to have heard of the end of one reset before the next.
            bench.sim.run_edges("s_clk", 8);
            bench.sim.run_edges("m_clk", 8);
            bench.sim.set_reset("m_clk", true);
            bench.sim.run_edges("m_clk", 1);
            assert!(bench.has("s_ready") && !bench.has("m_valid"));
            bench.sim.set_reset("m_clk", false);
            bench.sink.set_pause(Pause::Never);
            bench.settle();
            assert!(
                bench.received().into_iter().eq(1..8),
                "the first was in the output register"
            );
            bench.sim.finish();
        }
    });
}
