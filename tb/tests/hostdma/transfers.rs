//! Writes and reads of every shape, and atomic operations.

use crate::{BASE, between, burst, open, slow, strobed};
use spinneret_models::{PspinHostmemDma, PspinHostmemDmaBoard, PspinHostmemDmaSmall};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case, with};
use spinneret_tb::hostdma::{Setup, Stimulus, Totals, run_round, stimuli};

/// Beats of every size from every lane, 1 to 3 of them and as many as a burst may have, written and read.
fn beats_of_every_size_from_every_address<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Stimulus::default());
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
                let address = burst.address + 4096;
                bench.read(ReadRequest::new(Burst { address, ..burst }));
                page += 2 * 4096;
            }
        }
        bench.wait_for_at_most([4, 4]);
    }
    bench.settle();
    bench.finish();
}

/// Every number of beats that one page can hold, aligned and not; so the end of either ring comes at each place.
fn every_number_of_beats<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, slow());
    let bus = bench.setup.beat_bytes;
    for beats in 1..=(4096 / bus).min(256) {
        for first in [0, 1, bus - 1] {
            let bytes: Vec<u8> = (0..beats * bus - first)
                .map(|index| (index * 3 + beats) as u8)
                .collect();
            let address = BASE + 4096 * 8 * beats + first;
            let write = address + 4096 * (1 + first % 4);
            bench.write(WriteRequest::bytes(beats % 16, write, &bytes, bus as usize));
            bench.read(ReadRequest::bytes(beats % 16, address, bytes.len(), bus as usize));
        }
        bench.wait_for_at_most([20, 20]);
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
    let mut bench = open::<M>(run, Stimulus::default());
    let bus = bench.setup.beat_bytes as usize;
    for page in [BASE + 4096, 4096, 0u64] {
        bench.settle();
        // Page 0 is where memory starts again, so the burst before it is the last of all.
        bench.open_windows(page.wrapping_sub(4096));
        for len in [1u64, 2, 63, 64, 65, 4095, 4096] {
            let bytes: Vec<u8> = (0..len).map(|index| (index + len) as u8).collect();
            bench.write(WriteRequest::bytes(1, page.wrapping_sub(len), &bytes, bus));
        }
        bench.settle();
        for len in [1u64, 2, 63, 64, 65, 4095, 4096] {
            bench.read(ReadRequest::bytes(1, page.wrapping_sub(len), len as usize, bus));
        }
    }
    bench.settle();
    let counted = bench.counters();
    assert_eq!((counted.writes.outside, counted.reads.outside), (0, 0));
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

/// Reads back the written bytes.
fn written_bytes_are_read_back<M: Model>(run: &mut TestRun) {
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
        bench.read(ReadRequest::bytes(3, BASE, 4096, bus));
        bench.settle();
        let read = bench.last_read.as_ref();
        assert_eq!(read.map(|read| read.response()), Some(Response::Okay));
    }
    bench.finish();
}

/// Exclusive accesses are done as others, and never answered with EXOKAY.
fn exclusive_accesses_are_ordinary<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Stimulus::default());
    let bus = bench.setup.beat_bytes as usize;
    bench.write(WriteRequest::bytes(1, BASE, &[1, 2, 3, 4], bus).exclusive());
    bench.settle();
    bench.read(ReadRequest::bytes(1, BASE, 4, bus).exclusive());
    bench.settle();
    assert_eq!(bench.last_write.map(|done| done.response), Some(Response::Okay));
    assert_eq!(
        bench.last_read.as_ref().map(|done| done.response()),
        Some(Response::Okay)
    );
    bench.finish();
}

/// Writes the beats with these strobes, each burst at an address of its own.
fn write_all<M: Model>(run: &mut TestRun, bursts: impl IntoIterator<Item = Vec<u128>>) {
    let mut bench = open::<M>(run, Stimulus::default());
    let mut address = BASE;
    for (number, strobes) in (0..).zip(bursts) {
        let bytes = strobes.len() as u64 * bench.setup.beat_bytes;
        // The next page, if this one has no room for the burst.
        if address % 4096 + bytes > 4096 {
            address = address / 4096 * 4096 + 4096;
        }
        bench.write(strobed(bench.setup.beat_bytes, address, &strobes, number));
        address += bytes;
        bench.wait_for_at_most([50, 0]);
    }
    bench.settle();
    assert!(bench.counters().writes.bursts > 0);
    bench.finish();
}

fn lanes<M: Model>() -> u32 {
    Setup::of::<M>().beat_bytes as u32
}

/// All pairs of a lane with a lane.
fn pairs(lanes: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..lanes).flat_map(move |low| (0..lanes).map(move |high| (low, high)))
}

/// From every lane to every lane; where the first is above the last, the lanes between them are left out.
fn one_beat_from_every_lane_to_every_lane<M: Model>(run: &mut TestRun) {
    let width = lanes::<M>();
    write_all::<M>(
        run,
        pairs(width).map(|(low, high)| vec![between(low, high, width)]),
    );
}

/// From every lane of the first beat to every lane of the second.
fn two_beats_from_every_lane_to_every_lane<M: Model>(run: &mut TestRun) {
    let width = lanes::<M>();
    let beats = |(low, high)| vec![between(low, width - 1, width), between(0, high, width)];
    write_all::<M>(run, pairs(width).map(beats));
}

/// Every pair in the first beat, and reversed in the second: holes in one of them or both.
fn two_beats_with_holes<M: Model>(run: &mut TestRun) {
    let width = lanes::<M>();
    let beats = |(low, high)| vec![between(low, high, width), between(high, low, width)];
    write_all::<M>(run, pairs(width).map(beats));
}

/// Beats without strobes first, last, in the middle, and everywhere.
fn beats_without_strobes_write_nothing<M: Model>(run: &mut TestRun) {
    let width = lanes::<M>();
    let all = between(0, width - 1, width);
    let bursts = (0u32..6).flat_map(|beats| {
        (0..1u32 << (beats + 1)).map(move |which| {
            let strobes = |beat| if which >> beat & 1 == 1 { all } else { 0 };
            (0..=beats).map(strobes).collect()
        })
    });
    write_all::<M>(run, bursts);
}

/// A hole of one lane, a byte alone, every second byte.
fn single_lanes_are_distinguished<M: Model>(run: &mut TestRun) {
    let width = lanes::<M>();
    let all = between(0, width - 1, width);
    let single = (0..width).flat_map(|lane| [vec![1 << lane], vec![all & !(1 << lane)]]);
    let chequered = [0x5555, 0xaaaa, 0x3333, 0xcccc].map(|word: u128| {
        let strobes = (0..8).fold(0, |all, _| all << 16 | word) & all;
        vec![strobes; 3]
    });
    write_all::<M>(run, single.chain(chequered));
}

/// From 3 to 256 beats with random strobes, of which many are full.
fn long_bursts_with_random_strobes<M: Model>(run: &mut TestRun) {
    let width = lanes::<M>();
    let most = 4096 / u64::from(width);
    let mut rng = run.rng("strobes");
    let all = between(0, width - 1, width);
    let bursts: Vec<Vec<u128>> = (3..=256)
        .map(|beats: u64| {
            let beats = 3 + (beats - 3) % (most - 2);
            let mut strobes = |_| match rng.random_range(0..8) {
                0 => rng.random::<u128>() & all,
                1 => 0,
                2 => all << rng.random_range(0..width) & all,
                3 => all >> rng.random_range(0..width),
                _ => all,
            };
            (0..beats).map(&mut strobes).collect()
        })
        .collect();
    write_all::<M>(run, bursts);
}

#[test]
fn every_atomic_operation_is_refused_with_the_beats_it_wants() {
    case(1, with(open::<PspinHostmemDmaBoard>, slow()), |bench| {
        let bus = bench.setup.beat_bytes;
        for atop in 1..64 {
            for beats in [1, 2, 3, 4, 16] {
                let request = strobed(bus, BASE, &vec![u128::MAX >> (128 - bus); beats], atop);
                // A comparison of three beats is none that AXI has, and is answered all the same.
                bench.write(request.atomic(atop as u8).illegal());
                // Others around it are not disturbed.
                bench.write(WriteRequest::bytes(
                    40,
                    BASE + 4096,
                    &[atop as u8; 8],
                    bus as usize,
                ));
                bench.read(ReadRequest::bytes(41, BASE + 8192, 100, bus as usize));
            }
            bench.wait_for_at_most([30, 30]);
        }
        bench.settle();
        let counters = bench.counters();
        assert_eq!(counters.writes.refused, 63 * 5);
        assert_eq!(bench.descriptors[0], 63 * 5);
    });
}

#[test]
fn an_atomic_operation_alone_is_answered() {
    case(1, with(open::<PspinHostmemDmaBoard>, slow()), |bench| {
        let bus = bench.setup.beat_bytes as usize;
        for atop in [0b01_0000, 0b10_0000, 0b11_0000, 0b11_0001] {
            bench.write(WriteRequest::bytes(7, BASE, &[1; 8], bus).atomic(atop));
            bench.settle();
            assert_eq!(
                bench.last_write.map(|done| done.response),
                Some(Response::SlaveError)
            );
        }
        assert_eq!(bench.counters().reads.refused, 3);
    });
}

/// Transfers of the test of each configuration: together 20,000.
const REFERENCE: u64 = 8000;
const OTHERS: u64 = 6000;

fn random_transfers<M: Model>(run: &mut TestRun, transfers: u64) {
    let all = stimuli();
    let share = transfers.div_ceil(all.len() as u64);
    let mut totals = Totals::default();
    for (index, (_, stimulus)) in (0..).zip(all) {
        let mut sim = run.simulation::<M>();
        sim.set_seed(Seed(run.seed().0.wrapping_add(index)));
        totals += run_round(sim, stimulus, share);
    }
    let guarded = Setup::of::<M>().windows.is_some();
    for half in [totals.counters.writes, totals.counters.reads] {
        assert!(half.refused > 0 && half.stray_status > 0, "{totals}");
        assert!(half.dma_errors.iter().all(|errors| *errors > 0), "{totals}");
        assert_eq!(half.outside > 0, guarded, "{totals}");
    }
}

#[test]
fn random_transfers_of_the_reference_are_right() {
    run_test(1, |run| {
        random_transfers::<PspinHostmemDma>(run, REFERENCE);
    });
}

#[test]
fn random_transfers_of_a_board_are_right() {
    run_test(2, |run| {
        random_transfers::<PspinHostmemDmaBoard>(run, OTHERS);
    });
}

#[test]
fn random_transfers_through_few_tags_are_right() {
    run_test(3, |run| {
        random_transfers::<PspinHostmemDmaSmall>(run, OTHERS);
    });
}

test_each!(
    reads_come_back_in_order,
    beats_of_every_size_from_every_address,
    every_number_of_beats,
    the_last_bytes_of_a_page_and_of_memory,
    the_last_write_to_a_place_counts,
    written_bytes_are_read_back,
    exclusive_accesses_are_ordinary,
    one_beat_from_every_lane_to_every_lane,
    two_beats_from_every_lane_to_every_lane,
    two_beats_with_holes,
    beats_without_strobes_write_nothing,
    single_lanes_are_distinguished,
    long_bursts_with_random_strobes
);
