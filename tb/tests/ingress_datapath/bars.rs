//! How fast the path has to be, in the reference configuration and in that of boards.

use spinneret_models::{PspinIngressDatapath, PspinIngressDatapathBoard};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::ingress::{Load, marked, measure};

/// Bytes, and beats of 64 bytes.
const SIZES: [(usize, u64); 8] = [
    (64, 1),
    (65, 2),
    (128, 2),
    (256, 4),
    (512, 8),
    (1024, 16),
    (1500, 24),
    (1514, 24),
];

/// One beat a clock, whatever the latency of responses.
fn check_throughput<M: Model>(run: &mut TestRun) {
    for response in [1, 10, 30] {
        let mut bench = marked(run.simulation::<M>(), response);
        for (size, beats) in SIZES {
            for load in Load::ALL {
                let path = measure(&mut bench, size, load);
                assert!(
                    path.per_packet <= beats as f64,
                    "{} with {size} bytes, {}, responses after {response}: {} cycles",
                    M::NAME,
                    load.name(),
                    path.per_packet
                );
            }
        }
        bench.finish();
    }
}

/// From the first beat to its HER 10 cycles, and the beats if there are more than one.
fn check_latency<M: Model>(run: &mut TestRun) {
    let mut bench = marked(run.simulation::<M>(), 1);
    for (size, beats) in SIZES {
        let bar = if size <= 64 { 10 } else { 10 + beats };
        let latency = measure(&mut bench, size, Load::Matched).latency;
        assert!(
            latency <= bar,
            "{} with {size} bytes: {latency} cycles, not {bar}",
            M::NAME
        );
    }
    bench.finish();
}

#[test]
fn carries_one_beat_a_clock_whatever_the_response_latency() {
    let name = "carries_one_beat_a_clock_whatever_the_response_latency";
    run_test(name, 1, |run| {
        check_throughput::<PspinIngressDatapath>(run);
        check_throughput::<PspinIngressDatapathBoard>(run);
    });
}

#[test]
fn a_her_comes_ten_cycles_and_its_beats_after_the_first_beat() {
    let name = "a_her_comes_ten_cycles_and_its_beats_after_the_first_beat";
    run_test(name, 1, |run| {
        check_latency::<PspinIngressDatapath>(run);
        check_latency::<PspinIngressDatapathBoard>(run);
    });
}
