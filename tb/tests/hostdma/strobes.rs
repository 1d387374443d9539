//! Every byte with a strobe is written, and no other.

use crate::support::{BASE, between, open, strobed, test_each};
use rand::RngExt;
use spinneret_sim::model::Model;
use spinneret_sim::test_run::TestRun;
use spinneret_tb::hostdma::Behaviour;

/// Writes the beats with these strobes, each burst at an address of its own.
fn write_all<M: Model>(run: &mut TestRun, bursts: impl IntoIterator<Item = Vec<u128>>) {
    let mut bench = open::<M>(run, Behaviour::default());
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
    spinneret_tb::hostdma::Setup::of::<M>().beat_bytes as u32
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

/// Every pair in the first beat, the other way round in the second: holes in one of them or both.
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
fn single_lanes_are_told_apart<M: Model>(run: &mut TestRun) {
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

test_each!(
    one_beat_from_every_lane_to_every_lane,
    two_beats_from_every_lane_to_every_lane,
    two_beats_with_holes,
    beats_without_strobes_write_nothing,
    single_lanes_are_told_apart,
    long_bursts_with_random_strobes
);
