//! The pipeline and the simulator's harts: random and directed programs.

use spinneret_models::{HpuPipeline4, HpuPipeline8, HpuPipeline16};
use spinneret_sim::prelude::*;
use spinneret_tb::hpu::{Coverage, Pipeline, ROUND, Totals, run_round};

/// Runs a test on the pipelines with 4, 8 and 16 threads.
macro_rules! every_pipeline {
    ($seed:literal, $test:ident) => {
        run_named(concat!(stringify!($test), "_4"), $seed, $test::<HpuPipeline4>);
        run_named(concat!(stringify!($test), "_8"), $seed, $test::<HpuPipeline8>);
        run_named(concat!(stringify!($test), "_16"), $seed, $test::<HpuPipeline16>);
    };
}

mod atomics;
mod slots;
mod traps;

/// Instructions for each number of threads, at least and at most.
const INSTRUCTIONS: [u64; 2] = [100_000, 1_000_000];

/// Every instruction is reached in each mode, and all that can trap do; so is every forwarded operand.
fn random<M: Pipeline>(run: &mut TestRun) {
    let (mut coverage, mut totals) = (Coverage::default(), Totals::default());
    let [least, most] = INSTRUCTIONS;
    let mut missing = coverage.missing();
    while totals.instructions < least || (!missing.is_empty() && totals.instructions < most) {
        let name = format!("program at {}", totals.instructions);
        let round = ROUND * M::THREADS as u64;
        totals += run_round(run.simulation::<M>(), run.rng(&name), round, Some(&mut coverage));
        missing = coverage.missing();
    }
    println!("{totals:?}");
    assert_eq!(missing, [""; 0], "never reached");
}

#[test]
fn four_threads_are_right() {
    run_test(4, random::<HpuPipeline4>);
}

#[test]
fn eight_threads_are_right() {
    run_test(8, random::<HpuPipeline8>);
}

#[test]
fn sixteen_threads_are_right() {
    run_test(16, random::<HpuPipeline16>);
}
