//! Random programs in lockstep: tests run a few, soaks any number.

use super::{Coverage, Layout, Lockstep, Pipeline, Setup, random_program};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::prelude::*;
use std::ops::AddAssign;

/// Sums over rounds.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Instructions that retired or trapped, each as on its hart.
    pub instructions: u64,
    /// Those that trapped, by cause.
    pub traps: [u64; 32],
    /// Clocks.
    pub clocks: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.clocks += other.clocks;
        for (sum, count) in self.traps.iter_mut().zip(other.traps) {
            *sum += count;
        }
    }
}

/// Instructions of a thread in a round: later ones are more often those of endless loops.
pub const ROUND: u64 = 2000;

/// Runs a random program on all threads until that many instructions are done, with a reset after half of them.
///
/// # Panics
/// At the first difference between the pipeline and a hart.
pub fn run_round<M: Pipeline>(
    sim: Simulation<M>,
    mut rng: ChaCha8Rng,
    instructions: u64,
    mut coverage: Option<&mut Coverage>,
) -> Totals {
    let setup = Setup {
        program: random_program(&mut rng, Layout::default()),
        busy: [0, 20, 60][rng.random_range(0..3)],
        stops: rng.random_range(0..3),
        ..Setup::default()
    };
    let mut bench = Lockstep::new(sim, setup, rng);
    for end in [instructions / 2, instructions] {
        bench.reset();
        if let Some(coverage) = &mut coverage {
            coverage.begin(M::THREADS);
        }
        while bench.instructions() < end {
            let report = bench.clock();
            if let (Some(report), Some(coverage)) = (report, &mut coverage) {
                coverage.add(&report);
            }
        }
    }
    bench.finish()
}
