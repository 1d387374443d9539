//! The matching engine, in turn as in the reference and as in the board configuration.

use crate::rounds::Rounds;
use anyhow::Result;
use rand::RngExt;
use spinneret_models::{PspinPktMatch, PspinPktMatchIp};
use spinneret_sim::model::Model;
use spinneret_sim::seed::Seed;
use spinneret_sim::simulation::Simulation;
use spinneret_tb::ip_frames::random_ip_frame;
use spinneret_tb::parameters::Parameters;
use spinneret_tb::pkt_match::{Counts, MatchBench, Pauses, random_frame, random_rules};
use std::ops::AddAssign;

/// Frames between two changes of the rules.
const FRAMES_PER_TABLE: u64 = 100;
/// Tables between two changes of the pauses, each with a new simulation.
const TABLES_PER_ROUND: u64 = 50;

/// Frames of all rounds.
#[derive(Default)]
struct Total(Counts);

impl AddAssign for Total {
    fn add_assign(&mut self, Self(other): Self) {
        self.0.bypassed += other.bypassed;
        self.0.matched += other.matched;
    }
}

/// Runs all rounds and prints what was seen.
pub(crate) fn run(rounds: Rounds) -> Result<()> {
    let Total(counts) = rounds.run(FRAMES_PER_TABLE * TABLES_PER_ROUND, run_round)?;
    println!(
        "{} frames agree: {} matched, {} unmatched, nothing lost",
        counts.bypassed + counts.matched,
        counts.matched,
        counts.bypassed
    );
    Ok(())
}

fn run_round(seed: Seed, round: u64, frames: u64) -> Total {
    match round % 2 {
        0 => run_model::<PspinPktMatch>(seed, round / 2, frames),
        _ => run_model::<PspinPktMatchIp>(seed, round / 2, frames),
    }
}

fn run_model<M: Model>(seed: Seed, round: u64, frames: u64) -> Total {
    let params = Parameters::of::<M>().matcher();
    let mut rng = seed.rng("traffic");
    let pauses = match round % 4 {
        0 => Pauses::default(),
        1 => Pauses::bursty(),
        _ => Pauses::random(rng.random_range(1..80)),
    };
    let mut sim = Simulation::new(M::with_seed(seed.0)).unwrap_or_else(|error| panic!("{error}"));
    sim.set_seed(seed);
    let mut bench = MatchBench::new(sim, pauses);
    let mut total = Total::default();
    let mut left = frames;
    while left > 0 {
        bench.load(Some(&random_rules(&mut rng, &params)));
        let batch = left.min(FRAMES_PER_TABLE);
        for _ in 0..batch {
            // Without headers no rule relative to the payload matches.
            let frame = if params.ip_relative && rng.random_ratio(3, 4) {
                random_ip_frame(&mut rng, 97)
            } else {
                random_frame(&mut rng, 16)
            };
            bench.send(frame);
        }
        total += Total(bench.settle());
        left -= batch;
    }
    bench.finish();
    total
}
