//! Reads of every shape that AXI allows.

use crate::support::{BASE, burst, open, slow, test_each};
use rand::RngExt;
use spinneret_sim::axi::ReadRequest;
use spinneret_sim::model::Model;
use spinneret_sim::test_run::TestRun;
use spinneret_tb::hostdma::Behaviour;

/// Beats of every size from every lane, 1 to 3 of them and as many as a burst may have.
fn beats_of_every_size_from_every_address<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Behaviour::default());
    let bus = bench.setup.beat_bytes;
    let mut page = BASE;
    for size in (0..=bus.ilog2()).map(|power| 1 << power) {
        for offset in 0..bus {
            for beats in [1, 2, 3, (4096 / size).min(256)] {
                let fits = (offset / size + beats) * size <= 4096;
                if fits && (beats <= 3 || offset % 7 == 0) {
                    bench.read(ReadRequest::new(burst(offset % 16, page + offset, beats, size)));
                    page += 4096;
                }
            }
        }
        bench.wait_for_at_most([0, 4]);
    }
    bench.settle();
    bench.finish();
}

/// Every number of beats that one page can hold, aligned and not; so the end of the ring comes at each place.
fn every_number_of_beats<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, slow());
    let bus = bench.setup.beat_bytes;
    for beats in 1..=(4096 / bus).min(256) {
        for first in [0, 1, bus - 1] {
            let bytes = (beats * bus - first) as usize;
            let address = BASE + 4096 * beats + first;
            bench.read(ReadRequest::bytes(beats % 16, address, bytes, bus as usize));
        }
        bench.wait_for_at_most([0, 20]);
    }
    bench.settle();
    assert!(
        bench.descriptors[1] > bench.counters().reads.bursts,
        "the ring ends"
    );
    bench.finish();
}

/// Bursts that end with their page, and with memory.
fn the_last_bytes_of_a_page_and_of_memory<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Behaviour::default());
    let bus = bench.setup.beat_bytes as usize;
    for page in [BASE + 4096, 4096, 0u64] {
        bench.settle();
        bench.open_windows(page.wrapping_sub(4096));
        for len in [1u64, 2, 63, 64, 65, 4095, 4096] {
            bench.read(ReadRequest::bytes(1, page.wrapping_sub(len), len as usize, bus));
        }
    }
    bench.settle();
    assert_eq!(bench.counters().reads.outside, 0);
    bench.finish();
}

/// Reads come back in the order in which they were sent, whatever their ids and however statuses overtake each
/// other.
fn reads_come_back_in_order<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, slow());
    let mut rng = run.rng("reads");
    let bus = bench.setup.beat_bytes as usize;
    for _ in 0..600 {
        let len = rng.random_range(1..=256);
        let address = BASE + 4096 * rng.random_range(0..8) + rng.random_range(0..3840);
        bench.read(ReadRequest::bytes(rng.random_range(0..16), address, len, bus));
    }
    bench.settle();
    bench.finish();
}

test_each!(
    beats_of_every_size_from_every_address,
    every_number_of_beats,
    the_last_bytes_of_a_page_and_of_memory,
    reads_come_back_in_order
);
