//! Random transfers against the reference models.

use spinneret_models::{PspinHostmemDma, PspinHostmemDmaBoard, PspinHostmemDmaSmall};
use spinneret_sim::model::Model;
use spinneret_sim::seed::Seed;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::hostdma::{Setup, Totals, behaviours, run_round};

/// Transfers of the test of each configuration: together 20,000.
const REFERENCE: u64 = 8000;
const OTHERS: u64 = 6000;

fn random_transfers<M: Model>(run: &mut TestRun, transfers: u64) {
    let all = behaviours();
    let share = transfers.div_ceil(all.len() as u64);
    let mut totals = Totals::default();
    for (index, (_, behaviour)) in (0..).zip(all) {
        let mut sim = run.simulation::<M>();
        sim.set_seed(Seed(run.seed().0.wrapping_add(index)));
        totals += run_round(sim, behaviour, share);
    }
    let guarded = Setup::of::<M>().windows.is_some();
    for half in [totals.counters.writes, totals.counters.reads] {
        assert!(half.refused > 0 && half.stray_status > 0, "{totals}");
        assert!(half.dma_errors.iter().all(|errors| *errors > 0), "{totals}");
        assert_eq!(half.outside > 0, guarded, "{totals}");
    }
}

#[test]
fn random_transfers_of_the_reference_are_right() {
    run_test("random_transfers_of_the_reference_are_right", 1, |run| {
        random_transfers::<PspinHostmemDma>(run, REFERENCE);
    });
}

#[test]
fn random_transfers_of_a_board_are_right() {
    run_test("random_transfers_of_a_board_are_right", 2, |run| {
        random_transfers::<PspinHostmemDmaBoard>(run, OTHERS);
    });
}

#[test]
fn random_transfers_through_few_tags_are_right() {
    run_test("random_transfers_through_few_tags_are_right", 3, |run| {
        random_transfers::<PspinHostmemDmaSmall>(run, OTHERS);
    });
}
