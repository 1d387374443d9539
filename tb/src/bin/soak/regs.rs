//! Random accesses to the control registers.

use crate::rounds::Rounds;
use anyhow::Result;
use spinneret_models::{PspinCtrlRegs, PspinCtrlRegsBoard, PspinCtrlRegsOdd};
use spinneret_sim::model::Model;
use spinneret_sim::seed::Seed;
use spinneret_sim::simulation::Simulation;
use spinneret_tb::regs::{Totals, behaviours, run_round};

/// Accesses between two changes of behaviour, each with a new simulation.
const ACCESSES_PER_ROUND: u64 = 20_000;

/// Runs all rounds and prints what became of the accesses.
pub(crate) fn run(rounds: Rounds) -> Result<()> {
    let totals = rounds.run(ACCESSES_PER_ROUND, run_one)?;
    println!(
        "{} accesses in {} cycles, every output right in every cycle:",
        totals.accesses(),
        totals.cycles
    );
    for (what, count) in [
        ("written", totals.written),
        ("read", totals.read),
        ("refused", totals.refused),
        ("forgotten by a reset", totals.forgotten),
        ("words of standard output", totals.printed),
        ("resets", totals.resets),
    ] {
        println!("{count:>12}  {what}");
    }
    Ok(())
}

/// The models take turns.
fn run_one(seed: Seed, round: u64, accesses: u64) -> Totals {
    match round % 3 {
        0 => run_with::<PspinCtrlRegs>(seed, round / 3, accesses),
        1 => run_with::<PspinCtrlRegsBoard>(seed, round / 3, accesses),
        _ => run_with::<PspinCtrlRegsOdd>(seed, round / 3, accesses),
    }
}

/// A round of a model; its behaviours take turns.
fn run_with<M: Model>(seed: Seed, turn: u64, accesses: u64) -> Totals {
    let mut sim = Simulation::new(M::with_seed(seed.0)).unwrap_or_else(|error| panic!("{error}"));
    sim.set_seed(seed);
    let mut behaviours = behaviours();
    let turn = (turn % behaviours.len() as u64) as usize;
    let (_, behaviour) = behaviours.swap_remove(turn);
    run_round(sim, behaviour, accesses)
}
