//! `LevelSync` and `ResetSync`: two registers, and what they make of changes at any time.

use rand::RngExt;
use spinneret_models::{LevelSync, ResetSync};
use spinneret_sim::model::Model;
use spinneret_sim::simulation::{ClockDomain, Simulation};
use spinneret_sim::test_run::{TestRun, run_test};

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
    sim.finish();
}

#[test]
fn levels_come_after_two_edges() {
    run_test("levels_come_after_two_edges", 1, |run| {
        follows::<LevelSync>(run, ["d", "q"], 16);
        follows::<ResetSync>(run, ["rst_async", "rst"], 2);
    });
}

#[test]
fn a_reset_is_active_at_power_up() {
    run_test("a_reset_is_active_at_power_up", 1, |run| {
        let mut sim: Simulation<ResetSync> = run.simulation_with(&[ClockDomain::new("clk", 4000)]);
        sim.dut.set("rst_async", 0_u8).expect("an input");
        sim.dut.eval();
        let rst = |sim: &Simulation<ResetSync>| sim.dut.get("rst").expect("an output") == 1_u8.into();
        assert!(rst(&sim));
        sim.cycle();
        assert!(rst(&sim));
        sim.cycle();
        assert!(!rst(&sim));
        sim.finish();
    });
}
