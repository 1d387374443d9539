//! The application block, with everything at once and resets of the cluster.

use crate::rounds::Rounds;
use anyhow::Result;
use spinneret_models::MqnicAppBlock;
use spinneret_sim::model::Model;
use spinneret_sim::seed::Seed;
use spinneret_sim::simulation::Simulation;
use spinneret_tb::app::{Clocks, Totals, run_round};

/// Packets between two changes of clocks and behaviour, each with a new simulation.
const PACKETS_PER_ROUND: u64 = 1000;

/// Runs all rounds and prints what became of the packets.
pub(crate) fn run(rounds: Rounds) -> Result<()> {
    let totals = rounds.run(PACKETS_PER_ROUND, run_one)?;
    println!(
        "{} packets of interface 0 in {} core cycles; all rounds ended empty, and all sums were exact:",
        totals.bypassed + totals.matched,
        totals.clocks
    );
    for (what, count) in [
        ("unmatched, at the host untouched", totals.bypassed),
        ("matched", totals.matched),
        ("of those: HERs that the cluster took", totals.hers),
        ("of those: dropped and counted", totals.dropped),
        ("frames of the cluster on the wire", totals.frames),
        ("resets of the cluster in full traffic", totals.resets),
    ] {
        println!("{count:>12}  {what}");
    }
    Ok(())
}

/// A round with a cluster's clock of its own.
fn run_one(seed: Seed, _round: u64, packets: u64) -> Totals {
    let clocks = Clocks::random(&mut seed.rng("clocks"));
    let sim = Simulation::with_domains(MqnicAppBlock::with_seed(seed.0), &clocks.domains());
    let mut sim = sim.unwrap_or_else(|error| panic!("{error}"));
    sim.set_seed(seed);
    run_round(sim, clocks, packets)
}
