//! Every byte with a strobe is written, and no other.

use crate::support::{BASE, between, open, strobed};
use spinneret_sim::model::Model;
use spinneret_sim::models::{PspinHostmemDma, PspinHostmemDmaBoard};
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::hostdma::Behaviour;

/// One beat for each pair of a first and a last lane; where the first is above the last, the lanes between them are
/// left out.
fn one_beat<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Behaviour::default());
    let lanes = bench.setup.beat_bytes as u32;
    for low in 0..lanes {
        for high in 0..lanes {
            let number = u64::from(low * lanes + high);
            let strobes = between(low, high, lanes);
            let address = BASE + number * bench.setup.beat_bytes;
            let request = strobed(bench.setup.beat_bytes, address, &[strobes], number);
            bench.write(request);
        }
    }
    bench.settle();
    bench.finish();
}

#[test]
fn one_beat_with_every_first_and_last_lane() {
    run_test("one_beat_with_every_first_and_last_lane", 1, |run| {
        one_beat::<PspinHostmemDma>(run);
        one_beat::<PspinHostmemDmaBoard>(run);
    });
}
