//! The host DMA, with three sets of parameter values in turn.

use crate::rounds::Rounds;
use anyhow::Result;
use spinneret_models::{PspinHostmemDma, PspinHostmemDmaBoard, PspinHostmemDmaSmall};
use spinneret_sim::model::Model;
use spinneret_sim::seed::Seed;
use spinneret_sim::simulation::Simulation;
use spinneret_tb::hostdma::{HalfCounters, Totals, behaviours, run_round};

/// Transfers between two changes of behaviour, each with a new simulation.
const TRANSFERS_PER_ROUND: u64 = 5000;

/// Runs all rounds and prints what became of the transfers.
pub(crate) fn run(rounds: Rounds) -> Result<()> {
    let totals = rounds.run(TRANSFERS_PER_ROUND, run_one)?;
    println!(
        "{} transfers in {} cycles, every byte of host memory right, no tag and no line lost:",
        totals.transfers(),
        totals.cycles
    );
    let half = |name: &str, counters: &HalfCounters, descriptors: u64| {
        let line = |what: &str, count: u64| println!("{count:>12}  {name}: {what}");
        line("bursts", counters.bursts);
        line("descriptors, also of resets", descriptors);
        line("refused bursts", counters.refused);
        line("bursts outside of all windows", counters.outside);
        line("failed descriptors", counters.dma_errors.iter().sum());
        line("statuses that nobody waited for", counters.stray_status);
    };
    half("writes", &totals.counters.writes, totals.descriptors[0]);
    half("reads", &totals.counters.reads, totals.descriptors[1]);
    Ok(())
}

/// The models take turns.
fn run_one(seed: Seed, round: u64, transfers: u64) -> Totals {
    match round % 3 {
        0 => run_with::<PspinHostmemDma>(seed, round / 3, transfers),
        1 => run_with::<PspinHostmemDmaBoard>(seed, round / 3, transfers),
        _ => run_with::<PspinHostmemDmaSmall>(seed, round / 3, transfers),
    }
}

/// A round of a model; its behaviours take turns.
fn run_with<M: Model>(seed: Seed, turn: u64, transfers: u64) -> Totals {
    let mut sim = Simulation::new(M::with_seed(seed.0)).unwrap_or_else(|error| panic!("{error}"));
    sim.set_seed(seed);
    let mut behaviours = behaviours();
    let turn = (turn % behaviours.len() as u64) as usize;
    let (_, behaviour) = behaviours.swap_remove(turn);
    run_round(sim, behaviour, transfers)
}
