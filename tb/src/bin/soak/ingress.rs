//! The whole ingress path.

use crate::rounds::Rounds;
use anyhow::Result;
use spinneret_sim::model::Model;
use spinneret_sim::models::PspinIngressDatapath;
use spinneret_sim::seed::Seed;
use spinneret_sim::simulation::Simulation;
use spinneret_tb::ingress::{Cause, Totals, behaviours, run_round};

/// Frames between two changes of behaviour, each with a new simulation.
const FRAMES_PER_ROUND: u64 = 5000;

/// Runs all rounds and prints what became of the frames.
pub(crate) fn run(rounds: Rounds) -> Result<()> {
    let behaviours = behaviours();
    let totals: Totals = rounds.run(FRAMES_PER_ROUND, |seed: Seed, round, frames| {
        let design = PspinIngressDatapath::with_seed(seed.0);
        let mut sim = Simulation::new(design).unwrap_or_else(|error| panic!("{error}"));
        sim.set_seed(seed);
        let (_, behaviour) = &behaviours[(round % behaviours.len() as u64) as usize];
        run_round(sim, behaviour.clone(), frames)
    })?;
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
