//! Everything at once, with random clocks and pauses, and resets of the cluster in between.

use spinneret_sim::test_run::run_test;
use spinneret_tb::app::{Clocks, Totals, run_round};

#[test]
fn everything_at_once_is_accounted_for() {
    run_test("app_random", 1, |run| {
        let mut rng = run.rng("clocks");
        let mut totals = Totals::default();
        for _ in 0..8 {
            let clocks = Clocks::random(&mut rng);
            let sim = run.simulation_with(&clocks.domains());
            totals += run_round(sim, clocks, 600);
        }
        println!("seed {}: {totals}", run.seed());
        assert!(
            totals.hers > 500 && totals.frames > 300 && totals.resets > 2,
            "{totals}"
        );
    });
}
