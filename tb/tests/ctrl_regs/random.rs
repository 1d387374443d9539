//! Random accesses against the contract.

use spinneret_models::{PspinCtrlRegs, PspinCtrlRegsBoard, PspinCtrlRegsOdd};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::regs::{Totals, behaviours, run_round};

/// Accesses to each model: together 210,000.
const ACCESSES: u64 = 70_000;

fn random_accesses<M: Model>(run: &mut TestRun) {
    let all = behaviours();
    let share = ACCESSES / all.len() as u64;
    let mut totals = Totals::default();
    for (_, behaviour) in all {
        totals += run_round(run.simulation::<M>(), behaviour, share);
    }
    assert_eq!(totals.accesses(), ACCESSES);
    // Each kind of answer was seen often.
    for (what, count) in [
        ("written", totals.written),
        ("read", totals.read),
        ("refused", totals.refused),
        ("printed", totals.printed),
    ] {
        assert!(count > ACCESSES / 50, "{what}: {count} only");
    }
    assert!(totals.resets > 10 && totals.forgotten > 10, "{totals:?}");
}

#[test]
fn random_accesses_to_the_drop_in() {
    run_test("regs_random", 1, random_accesses::<PspinCtrlRegs>);
}

#[test]
fn random_accesses_to_all_registers() {
    run_test("regs_random_board", 1, random_accesses::<PspinCtrlRegsBoard>);
}

#[test]
fn random_accesses_with_other_counts_and_wider_addresses() {
    run_test("regs_random_odd", 1, random_accesses::<PspinCtrlRegsOdd>);
}
