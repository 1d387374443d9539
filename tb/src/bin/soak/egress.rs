//! The egress path.

use crate::rounds::Rounds;
use anyhow::Result;
use spinneret_models::{PspinEgressDatapath, PspinEgressDatapathBoard, PspinEgressDatapathSmall};
use spinneret_sim::model::Model;
use spinneret_sim::seed::Seed;
use spinneret_sim::simulation::Simulation;
use spinneret_tb::egress::{Totals, behaviours, run_round};

/// Commands between two changes of behaviour, each with a new simulation.
const COMMANDS_PER_ROUND: u64 = 5000;

/// Runs all rounds and prints what became of the commands.
pub(crate) fn run(rounds: Rounds) -> Result<()> {
    let Totals { outcome, cycles } = rounds.run(COMMANDS_PER_ROUND, run_one)?;
    println!(
        "{} commands in {cycles} cycles, each answered once and in order:",
        outcome.commands()
    );
    let line = |what: &str, count: u64| println!("{count:>12}  {what}");
    line("sent as a frame, byte by byte as in memory", outcome.sent);
    line("not sent, as a line could not be read", outcome.read_errors);
    line("refused", outcome.refused);
    Ok(())
}

/// Every second round is one of the reference configuration; the others take turns.
fn run_one(seed: Seed, round: u64, commands: u64) -> Totals {
    match round % 4 {
        1 => run_with::<PspinEgressDatapathBoard>(seed, round / 4, commands),
        3 => run_with::<PspinEgressDatapathSmall>(seed, round / 4, commands),
        _ => run_with::<PspinEgressDatapath>(seed, round / 2, commands),
    }
}

/// A round of a configuration; its behaviours take turns.
fn run_with<M: Model>(seed: Seed, turn: u64, commands: u64) -> Totals {
    let mut sim = Simulation::new(M::with_seed(seed.0)).unwrap_or_else(|error| panic!("{error}"));
    sim.set_seed(seed);
    let mut behaviours = behaviours();
    let turn = (turn % behaviours.len() as u64) as usize;
    let (_, behaviour) = behaviours.swap_remove(turn);
    run_round(sim, behaviour, commands)
}
