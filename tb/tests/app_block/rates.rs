//! How fast packets reach the stand-in and what it does with them goes: figures that must not grow worse.

use spinneret_sim::test_run::run_test;
use spinneret_tb::app::{Clocks, Work, measure_work, prepare_work};

/// Of so many HERs one more or less may be counted, and phases differ.
const TOLERANCE: f64 = 1.005;

/// What is done, bytes of a packet, and core clocks a packet with the cluster at 40 MHz and at 250.
const RATES: [(Work, usize, [f64; 2]); 7] = [
    (Work::Take, 64, [37.5, 6.0]),
    (Work::Take, 1500, [375.0, 60.0]),
    (Work::Send, 64, [125.0, 30.0]),
    (Work::Send, 1500, [375.0, 60.0]),
    (Work::Write, 64, [100.0, 27.0]),
    (Work::Write, 1500, [537.2, 106.5]),
    (Work::Read, 64, [87.6, 30.0]),
];

#[test]
fn hers_and_host_memory_keep_their_rates() {
    run_test("app_work", 1, |run| {
        for (which, clocks) in [Clocks::BOARD, Clocks::EQUAL].into_iter().enumerate() {
            let sim = run.simulation_with(&clocks.domains());
            let mut bench = prepare_work(sim, clocks);
            for (work, size, most) in RATES {
                let found = measure_work(&mut bench, work, size, 0);
                assert!(
                    found <= most[which] * TOLERANCE,
                    "{work:?}, {size} bytes, cluster {clocks}: {found} clocks a packet"
                );
            }
            bench.finish();
        }
    });
}
