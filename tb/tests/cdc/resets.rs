//! Synchronisers of levels and of resets.

use crate::fifo::{Bench, bench};
use crate::{Clocks, FIXED};
use rand::seq::IndexedRandom;
use spinneret_models as models;
use spinneret_models::{LevelSync, ResetSync};
use spinneret_sim::prelude::*;
use spinneret_sim::simulation::ClockDomain;

spinneret_tb::each_model! {
    [models::AsyncFifo, models::AsyncFifo4, models::BusSync]:
        1 a_reset_of_both_sides_empties_it;
}

const SOME: Pause = Pause::Random { percent: 30 };

/// Resets that overlap long enough, in any order, in the middle of traffic: what was inside is gone, and all
/// that comes afterwards is there.
fn a_reset_of_both_sides_empties_it<M: Model>(run: &mut TestRun) {
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
    }
    assert!(lost > 20, "resets found {lost} elements inside");
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
    }
}

#[test]
fn a_side_alone_in_reset_stops_and_goes_on() {
    run_test(1, |run| {
        for side in ["s_clk", "m_clk"] {
            alone::<models::AsyncFifo>(run, side);
            alone::<models::BusSync>(run, side);
        }
    });
}

#[test]
fn neither_takes_nor_gives_in_reset() {
    run_test(1, |run| {
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
        }
    });
}

/// Drives random values and compares with the input two edges before.
fn follows<M: Model>(run: &mut TestRun, [input, output]: [&str; 2], values: u32) {
    let mut sim: Simulation<M> = run.simulation_with(&[ClockDomain::new("clk", 4000).with_jitter(100)]);
    let mut rng = run.rng("levels");
    let mut history = Vec::new();
    for edge in 0..300 {
        let value: u32 = rng.random_range(0..values);
        sim.dut
            .set(input, value)
            .unwrap_or_else(|error| panic!("{error}"));
        history.push(value);
        sim.cycle();
        if edge > 0 {
            let seen = sim.dut.get(output).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(seen, history[edge - 1].into(), "edge {edge}");
        }
    }
}

#[test]
fn levels_come_after_two_edges() {
    run_test(1, |run| {
        follows::<LevelSync>(run, ["d", "q"], 16);
        follows::<ResetSync>(run, ["rst_async", "rst"], 2);
    });
}

#[test]
fn a_reset_is_active_at_power_up() {
    run_test(1, |run| {
        let mut sim: Simulation<ResetSync> = run.simulation_with(&[ClockDomain::new("clk", 4000)]);
        sim.dut.set("rst_async", 0_u8).expect("an input");
        sim.dut.eval();
        let rst = |sim: &Simulation<ResetSync>| sim.dut.get("rst").expect("an output") == 1_u8.into();
        assert!(rst(&sim));
        sim.cycle();
        assert!(rst(&sim));
        sim.cycle();
        assert!(!rst(&sim));
    });
}
