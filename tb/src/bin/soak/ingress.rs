//! The whole ingress path.

use crate::rounds::Rounds;
use anyhow::Result;
use spinneret_models::{
    PspinIngressDatapath, PspinIngressDatapathBoard, PspinIngressDatapathSmall, PspinIngressDatapathStall,
};
use spinneret_sim::model::Model;
use spinneret_sim::seed::Seed;
use spinneret_sim::simulation::Simulation;
use spinneret_tb::ingress::{Cause, Setup, Totals, behaviours, run_round};

/// Frames between two changes of behaviour, each with a new simulation.
const FRAMES_PER_ROUND: u64 = 5000;

/// Runs all rounds and prints what became of the frames.
pub(crate) fn run(rounds: Rounds) -> Result<()> {
    let totals = rounds.run(FRAMES_PER_ROUND, run_one)?;
    println!(
        "{} frames in {} cycles, none lost:",
        totals.packets(),
        totals.cycles
    );
    let line = |what: &str, count: u64| println!("{count:>12}  {what}");
    line("unmatched, came out untouched", totals.bypassed);
    line("matched, in memory with their HER", totals.delivered);
    for cause in Cause::ALL {
        line(&format!("dropped: {}", cause.name()), totals.drops[cause]);
    }
    line("wrong frees, refused", totals.refused);
    Ok(())
}

/// Every second round is one of the reference configuration; the others take turns.
fn run_one(seed: Seed, round: u64, frames: u64) -> Totals {
    match round % 6 {
        1 => run_with::<PspinIngressDatapathBoard>(seed, round / 6, frames),
        3 => run_with::<PspinIngressDatapathSmall>(seed, round / 6, frames),
        5 => run_with::<PspinIngressDatapathStall>(seed, round / 6, frames),
        _ => run_with::<PspinIngressDatapath>(seed, round / 2, frames),
    }
}

/// A round of a configuration; its behaviours take turns.
fn run_with<M: Model>(seed: Seed, turn: u64, frames: u64) -> Totals {
    let mut sim = Simulation::new(M::with_seed(seed.0)).unwrap_or_else(|error| panic!("{error}"));
    sim.set_seed(seed);
    let mut behaviours = behaviours(&Setup::of::<M>());
    let turn = (turn % behaviours.len() as u64) as usize;
    let (_, behaviour) = behaviours.swap_remove(turn);
    run_round(sim, behaviour, frames)
}
