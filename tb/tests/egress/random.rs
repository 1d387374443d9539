//! Random commands under every behaviour of the bus models, in every configuration.

use spinneret_models::{PspinEgressDatapath, PspinEgressDatapathBoard, PspinEgressDatapathSmall};
use spinneret_sim::model::Model;
use spinneret_sim::seed::Seed;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::egress::{Totals, behaviours, run_round};

/// Commands of a test.
const COMMANDS: u64 = 14_000;

fn random_commands<M: Model>(run: &mut TestRun) {
    let behaviours = behaviours();
    let share = COMMANDS.div_ceil(behaviours.len() as u64);
    let mut totals = Totals::default();
    for (index, (_, behaviour)) in behaviours.into_iter().enumerate() {
        let mut sim = run.simulation::<M>();
        sim.set_seed(Seed(run.seed().0.wrapping_add(index as u64)));
        totals += run_round(sim, behaviour, share);
    }
    let outcome = totals.outcome;
    assert!(
        outcome.sent > COMMANDS / 2 && outcome.read_errors > COMMANDS / 20 && outcome.refused > COMMANDS / 50,
        "{totals:?}"
    );
}

#[test]
fn random_commands_in_the_reference_configuration() {
    run_test("random_commands_in_the_reference_configuration", 1, |run| {
        random_commands::<PspinEgressDatapath>(run);
    });
}

#[test]
fn random_commands_with_narrow_beats_and_small_queues() {
    run_test("random_commands_with_narrow_beats_and_small_queues", 2, |run| {
        random_commands::<PspinEgressDatapathSmall>(run);
    });
}

#[test]
fn random_commands_on_a_board() {
    run_test("random_commands_on_a_board", 3, |run| {
        random_commands::<PspinEgressDatapathBoard>(run);
    });
}
