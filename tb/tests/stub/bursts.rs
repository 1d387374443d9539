//! Bursts at the three slaves.

use crate::support::{bad_burst, behaviour, burst, write};
use rand::RngExt;
use spinneret_models::{PspinWrapBench, PspinWrapBenchSmall};
use spinneret_sim::axi::{Burst, BurstKind, WriteRequest};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::stub::{Behaviour, StubBench};

fn traffic<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("traffic");
    let behaviour = behaviour(&mut rng);
    let mut bench = StubBench::new(run.simulation::<M>(), behaviour);
    for round in 0..60 {
        // Each master writes to a region of its own, then everybody reads everything.
        for master in 0..3 {
            for _ in 0..rng.random_range(1..6) {
                let burst = match rng.random_range(0..5) {
                    0 => bad_burst(&mut rng, &bench),
                    _ => burst(&mut rng, &bench, master as u64),
                };
                let request = write(&mut rng, burst);
                bench.write(master, request);
            }
        }
        bench.settle();
        for master in 0..3 {
            for _ in 0..rng.random_range(1..8) {
                let burst = match rng.random_range(0..5) {
                    0 => bad_burst(&mut rng, &bench),
                    _ => {
                        let region = rng.random_range(0..3);
                        burst(&mut rng, &bench, region)
                    }
                };
                bench.read(master, burst);
            }
        }
        bench.settle();
        if round % 20 == 19 {
            let request = write(&mut rng, burst(&mut run.rng("more"), &bench, 0));
            bench.write(0, request);
            bench.run(rng.random_range(0..20));
            bench.reset();
        }
    }
    bench.finish();
}

#[test]
fn random_bursts_write_and_read_the_memory() {
    for seed in 1..=4 {
        run_test(&format!("stub_bursts_{seed}"), seed, traffic::<PspinWrapBench>);
        run_test(
            &format!("stub_bursts_small_{seed}"),
            seed,
            traffic::<PspinWrapBenchSmall>,
        );
    }
}

#[test]
fn one_line_is_written_and_one_read_in_a_clock() {
    run_test("stub_rate", 1, |run| {
        let mut bench = StubBench::new(run.simulation::<PspinWrapBench>(), Behaviour::default());
        let page = |master: u64| Burst {
            id: 0,
            address: 0x1c00_0000 + 4096 * master,
            beats: 64,
            size: 64,
            kind: BurstKind::Incrementing,
        };
        for master in 0..3 {
            let bytes = vec![master as u8; 4096];
            bench.write(
                master,
                WriteRequest::bytes(0, page(master as u64).address, &bytes, 64),
            );
        }
        let start = bench.sim.cycle_count();
        bench.settle();
        let cycles = bench.sim.cycle_count() - start;
        assert!(
            (192..=200).contains(&cycles),
            "{cycles} clocks for 192 lines of three masters"
        );
        for master in 0..3 {
            bench.read(master, page(master as u64));
        }
        let start = bench.sim.cycle_count();
        bench.settle();
        let cycles = bench.sim.cycle_count() - start;
        assert!(
            (192..=200).contains(&cycles),
            "{cycles} clocks for 192 lines of three masters"
        );
        bench.finish();
    });
}
