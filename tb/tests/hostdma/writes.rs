//! Writes of every shape that AXI allows.

use crate::support::{BASE, burst, open, slow, strobed, test_each};
use rand::{Rng, RngExt};
use spinneret_sim::axi::{Response, WriteRequest};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::TestRun;
use spinneret_tb::hostdma::Behaviour;

/// Beats of every size from every lane, 1 to 3 of them and as many as a burst may have.
fn beats_of_every_size_from_every_address<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Behaviour::default());
    let mut rng = run.rng("data");
    let bus = bench.setup.beat_bytes;
    let mut page = BASE;
    for size in (0..=bus.ilog2()).map(|power| 1 << power) {
        for offset in 0..bus {
            for beats in [1, 2, 3, (4096 / size).min(256)] {
                let fits = (offset / size + beats) * size <= 4096;
                if !fits || (beats > 3 && offset % 7 != 0) {
                    continue;
                }
                let burst = burst(offset % 16, page + offset, beats, size);
                let data = (0..beats).map(|number| {
                    let mut bytes = vec![0; bus as usize];
                    rng.fill_bytes(&mut bytes);
                    (bytes, burst.lanes(number, bus))
                });
                bench.write(WriteRequest::new(burst, data));
                page += 4096;
            }
        }
        bench.wait_for_at_most([4, 0]);
    }
    bench.settle();
    bench.finish();
}

/// Every number of beats that one page can hold, aligned and not.
fn every_number_of_beats<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, slow());
    let bus = bench.setup.beat_bytes;
    for beats in 1..=(4096 / bus).min(256) {
        for first in [0, bus - 1] {
            let bytes: Vec<u8> = (0..beats * bus - first)
                .map(|index| (index * 3 + beats) as u8)
                .collect();
            let address = BASE + 4096 * (2 * beats + first % 2) + first;
            bench.write(WriteRequest::bytes(beats % 16, address, &bytes, bus as usize));
        }
        bench.wait_for_at_most([20, 0]);
    }
    bench.settle();
    bench.finish();
}

/// Bursts that end with their page, and with memory.
fn the_last_bytes_of_a_page_and_of_memory<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Behaviour::default());
    let bus = bench.setup.beat_bytes as usize;
    for page in [BASE + 4096, 4096, 0u64] {
        bench.settle();
        // Page 0 is where memory starts again, so the burst before it is the last of all.
        bench.open_windows(page.wrapping_sub(4096));
        for len in [1u64, 2, 63, 64, 65, 4095, 4096] {
            let bytes: Vec<u8> = (0..len).map(|index| (index + len) as u8).collect();
            bench.write(WriteRequest::bytes(1, page.wrapping_sub(len), &bytes, bus));
        }
    }
    bench.settle();
    assert_eq!(bench.counters().writes.outside, 0);
    bench.finish();
}

/// Of bursts to one place the last counts, however statuses overtake each other.
fn the_last_write_to_a_place_counts<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, slow());
    let bus = bench.setup.beat_bytes;
    let all = u128::MAX >> (128 - bus);
    for number in 0..300 {
        bench.write(strobed(bus, BASE, &[all, all >> (number % bus)], number));
    }
    bench.settle();
    bench.finish();
}

/// What was written is read back, byte by byte.
fn what_was_written_is_read<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, slow());
    let mut rng = run.rng("ranges");
    let bus = bench.setup.beat_bytes as usize;
    for _ in 0..40 {
        for _ in 0..4 {
            let offset = rng.random_range(0..4000);
            let mut bytes = vec![0; rng.random_range(1..=4096 - offset) as usize];
            rng.fill_bytes(&mut bytes);
            bench.write(WriteRequest::bytes(2, BASE + offset, &bytes, bus));
        }
        bench.settle();
        bench.read(spinneret_sim::axi::ReadRequest::bytes(3, BASE, 4096, bus));
        bench.settle();
        let read = bench.last_read.as_ref();
        assert_eq!(read.map(|read| read.response()), Some(Response::Okay));
    }
    bench.finish();
}

/// Exclusive accesses are done as others, and never answered with EXOKAY.
fn exclusive_accesses_are_ordinary<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Behaviour::default());
    let bus = bench.setup.beat_bytes as usize;
    bench.write(WriteRequest::bytes(1, BASE, &[1, 2, 3, 4], bus).exclusive());
    bench.settle();
    bench.read(spinneret_sim::axi::ReadRequest::bytes(1, BASE, 4, bus).exclusive());
    bench.settle();
    assert_eq!(bench.last_write.map(|done| done.response), Some(Response::Okay));
    assert_eq!(
        bench.last_read.as_ref().map(|done| done.response()),
        Some(Response::Okay)
    );
    bench.finish();
}

test_each!(
    beats_of_every_size_from_every_address,
    every_number_of_beats,
    the_last_bytes_of_a_page_and_of_memory,
    the_last_write_to_a_place_counts,
    what_was_written_is_read,
    exclusive_accesses_are_ordinary
);
