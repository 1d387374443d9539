//! How fast the path has to be.

use spinneret_sim::models::PspinIngressDatapath;
use spinneret_sim::test_run::run_test;
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

#[test]
fn carries_one_beat_a_clock_whatever_the_response_latency() {
    run_test(
        "carries_one_beat_a_clock_whatever_the_response_latency",
        1,
        |run| {
            for response in [1, 10, 30] {
                let mut bench = marked(run.simulation::<PspinIngressDatapath>(), response);
                for (size, beats) in SIZES {
                    for load in Load::ALL {
                        let path = measure(&mut bench, size, load);
                        assert!(
                            path.per_packet <= beats as f64,
                            "{size} bytes, {}, responses after {response}: {} cycles",
                            load.name(),
                            path.per_packet
                        );
                    }
                }
                bench.finish();
            }
        },
    );
}

#[test]
fn a_her_comes_ten_cycles_and_its_beats_after_the_first_beat() {
    run_test(
        "a_her_comes_ten_cycles_and_its_beats_after_the_first_beat",
        1,
        |run| {
            let mut bench = marked(run.simulation::<PspinIngressDatapath>(), 1);
            for (size, beats) in SIZES {
                let bar = if size <= 64 { 10 } else { 10 + beats };
                let latency = measure(&mut bench, size, Load::Matched).latency;
                assert!(latency <= bar, "{size} bytes: {latency} cycles, not {bar}");
            }
            bench.finish();
        },
    );
}
