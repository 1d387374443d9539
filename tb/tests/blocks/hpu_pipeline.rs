//! The pipeline and the simulator's harts in lockstep, on random programs.

use spinneret_models::{HpuPipeline4, HpuPipeline8, HpuPipeline16};
use spinneret_sim::prelude::*;
use spinneret_tb::hpu::{Layout, Lockstep, random_program};

fn random<M: Model>(run: &mut TestRun, threads: usize, memory_clocks: usize, busy: u32, stops: u32) {
    let layout = Layout {
        nonsense: 2,
        misaligned: 10,
    };
    let program = random_program(&mut run.rng("program"), layout);
    let mut bench = Lockstep::<M>::new(run, threads, memory_clocks, &program, busy);
    bench.stops = stops;
    bench.run(20_000);
    println!(
        "{} instructions in {} clocks, traps by cause {:?}",
        bench.retired,
        bench.clocks(),
        bench.traps
    );
    bench.finish();
}

#[test]
fn eight_threads_are_right() {
    for seed in 0..12 {
        run_named(&format!("eight_threads_{seed}"), seed, |run| {
            random::<HpuPipeline8>(run, 8, 1, 20, 1)
        });
    }
}

#[test]
fn four_threads_are_right() {
    for seed in 0..12 {
        run_named(&format!("four_threads_{seed}"), seed, |run| {
            random::<HpuPipeline4>(run, 4, 1, 20, 1)
        });
    }
}

#[test]
fn sixteen_threads_are_right() {
    for seed in 0..12 {
        run_named(&format!("sixteen_threads_{seed}"), seed, |run| {
            random::<HpuPipeline16>(run, 16, 2, 20, 1)
        });
    }
}
