//! How fast the host DMA has to be, in the reference configuration and in that of boards.

use spinneret_models::{PspinHostmemDma, PspinHostmemDmaBoard};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::hostdma::{latencies, rates};

/// Bytes of a burst, clocks of latency, and bytes a clock each way at least, while both go at the same time. Without
/// latency that is a beat a clock, from burst to burst too.
const RATES: [(u64, u64, f64); 6] = [
    (64, 0, 60.0),
    (512, 0, 60.0),
    (4096, 0, 60.0),
    (64, 100, 20.0),
    (512, 100, 60.0),
    (4096, 100, 60.0),
];

/// Clocks from AW to B of a write of 64 bytes that is alone, and from AR to R of such a read, as the contract says.
const WRITE_CYCLES: u64 = 7;
const READ_CYCLES: u64 = 13;

fn check<M: Model>(run: &mut TestRun) {
    for (bytes, latency, bar) in RATES {
        let (rates, _) = rates(run.simulation::<M>(), bytes, latency);
        let worst = rates.writes.min(rates.reads);
        assert!(
            worst >= bar,
            "{} with {bytes} bytes, latency {latency}: {rates:?}",
            M::NAME
        );
    }
    let (alone, _) = latencies(run.simulation::<M>(), 64, 0);
    assert_eq!(
        (alone.write, alone.read),
        (WRITE_CYCLES, READ_CYCLES),
        "{}",
        M::NAME
    );
}

#[test]
fn carries_bursts_at_the_rate_that_was_promised() {
    run_test("carries_bursts_at_the_rate_that_was_promised", 1, |run| {
        check::<PspinHostmemDma>(run);
        check::<PspinHostmemDmaBoard>(run);
    });
}
