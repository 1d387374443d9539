//! How fast the path has to be.

use spinneret_sim::models::PspinEgressDatapath;
use spinneret_sim::test_run::run_test;
use spinneret_tb::egress::{Behaviour, EgressBench, Place, measure};

#[test]
fn sends_a_line_of_memory_a_clock_whatever_the_latency() {
    run_test("sends_a_line_of_memory_a_clock_whatever_the_latency", 1, |run| {
        for latency in [1, 10, 40] {
            let mut bench: EgressBench<PspinEgressDatapath> =
                EgressBench::new(run.simulation(), Behaviour::after(latency));
            for size in [1, 64, 65, 128, 256, 512, 1024, 1500, 1514, 4096, 9600] {
                for place in [
                    Place::Offset(0),
                    Place::Offset(1),
                    Place::Offset(32),
                    Place::Offset(63),
                    Place::Everywhere,
                ] {
                    let rate = measure(&mut bench, size, place);
                    println!("{size} {place:?} {latency} {rate:?}");
                    assert!(
                        rate.per_frame <= rate.lines,
                        "{size} bytes, {place:?}, lines after {latency}: {rate:?}"
                    );
                }
            }
            bench.finish();
        }
    });
}
