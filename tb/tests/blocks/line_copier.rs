//! `line_copier`: random copies against a plain copy of bytes, and each line of its contract.

use spinneret_hdl::hpu::cluster::{LONGEST, READ_CLOCKS};
use spinneret_models::LineCopier;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::cluster::lines::{Lines, Memories};
use std::ops::Range;

/// Memories of the test, with nothing before and after them.
const PLACES: [Range<u32>; 2] = [0x1000_0000..0x1000_2000, 0x1c00_0000..0x1c00_2000];

/// A copy that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Done {
    tag: u64,
    failed: bool,
}

struct Bench {
    sim: Simulation<LineCopier>,
    source: ChannelSource,
    lines: Lines,
    /// Contents that the memories must have, and the ends that must come.
    memories: Memories,
    expected: Vec<Done>,
    /// The ends that have come, each with its clock.
    done: Vec<(Done, u64)>,
    rng: ChaCha8Rng,
    asked: u64,
}

impl Finish for Bench {
    fn finish(mut self) {
        self.settle();
        assert_eq!(self.sim.get("read_valid") + self.sim.get("write_valid"), 0);
    }
}

impl Bench {
    fn new(run: &mut TestRun) -> Self {
        let mut rng = run.rng("copies");
        let memories = Memories::random(&PLACES, &mut rng);
        let mut sim = run.simulation::<LineCopier>();
        let fields = ["source", "destination", "bytes", "tag"];
        let source = sim.channel_source("copy", &fields, Pause::Never);
        let lines = Lines::attach(&mut sim, memories.clone());
        sim.reset();
        Self {
            sim,
            source,
            lines,
            memories,
            expected: Vec::new(),
            done: Vec::new(),
            rng,
            asked: 0,
        }
    }

    fn clock(&mut self) {
        self.sim.cycle();
        if self.sim.get("copy_done") == 1 {
            let done = Done {
                tag: self.sim.get("copy_done_tag"),
                failed: self.sim.get("copy_done_failed") == 1,
            };
            self.done.push((done, self.sim.cycle_count()));
        }
    }

    /// Asks for a copy.
    fn copy(&mut self, source: u32, destination: u32, bytes: u32) {
        let tag = self.asked % 64;
        self.asked += 1;
        self.source
            .send(&[source.into(), destination.into(), bytes.into(), tag]);
        let is_done = bytes <= 1 << LONGEST && self.memories.copy(source, destination, bytes);
        self.expected.push(Done {
            tag,
            failed: !is_done,
        });
    }

    /// Waits for the ends of all copies, and compares everything; the clocks of the ends.
    fn settle(&mut self) -> Vec<u64> {
        while self.done.len() < self.expected.len() {
            self.clock();
        }
        (0..40).for_each(|_| self.clock());
        let (done, clocks): (Vec<Done>, Vec<u64>) = self.done.drain(..).unzip();
        let expected = std::mem::take(&mut self.expected);
        assert_eq!(done, expected);
        let are_equal = *self.lines.memories() == self.memories;
        assert!(
            are_equal,
            "seed {}: other bytes than those of a plain copy",
            self.sim.seed()
        );
        clocks
    }

    /// Clocks from a copy that is offered to its end.
    fn clocks(&mut self, source: u32, destination: u32, bytes: u32) -> u64 {
        let start = self.sim.cycle_count();
        self.copy(source, destination, bytes);
        self.settle()[0] - start
    }
}

fn check(test: impl Fn(&mut Bench)) {
    case(0x0001_c0b1, Bench::new, test);
}

#[test]
fn random_copies_are_plain_copies() {
    check(|bench| {
        let mut failed = 0;
        for round in 0..60 {
            bench.lines.set_ready([100, 70, 30][round % 3]);
            let pause = [Pause::Never, Pause::Random { percent: 60 }][round / 3 % 2].clone();
            bench.source.set_pause(pause);
            // A copy reads what no copy of its round writes.
            let (from, to) = (PLACES[round % 2].clone(), PLACES[(round + 1) % 2].clone());
            for _ in 0..24 {
                let longest = [1, 64, 130, 1600][bench.rng.random_range(0..4)];
                let bytes = bench.rng.random_range(0..=longest);
                let mut place = |place: &Range<u32>| match bench.rng.random_range(0..12) {
                    0 => place.start - bench.rng.random_range(0..200),
                    1 => place.end - bench.rng.random_range(0..200),
                    _ => bench.rng.random_range(place.start..place.end - bytes),
                };
                let (source, destination) = (place(&from), place(&to));
                bench.copy(source, destination, bytes);
            }
            failed += bench.expected.iter().filter(|done| done.failed).count();
            bench.settle();
        }
        assert!(failed > 40, "{failed} failed");
    });
}

#[test]
fn every_alignment_is_copied() {
    check(|bench| {
        for source in 0..64 {
            for destination in 0..64 {
                let bytes = bench.rng.random_range(1..200);
                bench.copy(
                    PLACES[0].start + source,
                    PLACES[1].start + 64 * (destination % 7) + destination,
                    bytes,
                );
            }
            bench.settle();
        }
    });
}

#[test]
fn one_line_is_copied_in_a_clock() {
    check(|bench| {
        let [from, to] = [PLACES[0].start, PLACES[1].start];
        let latency = READ_CLOCKS as u64 + 7;
        assert_eq!(bench.clocks(from, to, 64), latency);
        assert_eq!(bench.clocks(from, to, 1500), latency + 23);
        // Lines that lie differently need a step more.
        assert_eq!(bench.clocks(from + 40, to, 1500), latency + 24);
        assert_eq!(bench.clocks(from, to + 40, 1500), latency + 24);
        // Copies that follow each other.
        for number in 0..4 {
            bench.copy(from + 1536 * number, to + 1536 * number, 1500);
        }
        let clocks = bench.settle();
        assert!(
            clocks.windows(2).all(|pair| pair[1] - pair[0] == 25),
            "{clocks:?}"
        );
    });
}

#[test]
fn copies_of_nothing_and_of_too_much_end_at_once() {
    check(|bench| {
        let [from, to] = [PLACES[0].start, PLACES[1].start];
        for bytes in [0, (1 << LONGEST) + 1, u32::MAX, 64] {
            assert!(bench.clocks(from, to, bytes) <= READ_CLOCKS as u64 + 7);
        }
        // Without memory: nothing is read or written.
        bench.copy(0, 0, 0);
        assert!(!bench.expected[0].failed);
        bench.settle();
    });
}

#[test]
fn the_longest_copy_is_one_of_a_mebibyte() {
    check(|bench| {
        // The end of its source has no memory.
        bench.copy(PLACES[0].start + 1, PLACES[1].start, 1 << LONGEST);
        bench.copy(PLACES[0].start, PLACES[1].start + 5, 100);
        bench.settle();
    });
}

#[test]
fn the_rest_is_skipped_after_a_failure() {
    check(|bench| {
        let [from, to] = PLACES;
        // A write that fails at first, but would not later; and a read.
        bench.copy(from.start, to.start - 32, 1000);
        bench.copy(from.start - 32, to.start, 1000);
        bench.copy(from.end - 500, to.start, 1000);
        bench.copy(from.start, to.end - 500, 1000);
        assert!(bench.expected.iter().all(|done| done.failed));
        bench.copy(from.start, to.start, 1000);
        bench.settle();
    });
}

#[test]
fn a_destination_may_overlap_its_source_from_below() {
    check(|bench| {
        bench.lines.set_ready(60);
        for distance in [1, 5, 63, 64, 65, 300] {
            bench.copy(PLACES[0].start + 7 + distance, PLACES[0].start + 7, 2000);
            bench.settle();
        }
    });
}

#[test]
fn reset_forgets_all_copies() {
    check(|bench| {
        for clocks in 0..30 {
            bench.copy(PLACES[0].start + 3, PLACES[1].start, 700);
            bench.copy(PLACES[0].start, PLACES[1].start + 9, 700);
            (0..clocks).for_each(|_| bench.sim.cycle());
            bench.sim.reset();
            bench.source.clear();
            bench.expected.clear();
            bench.memories = bench.lines.memories().clone();
            bench.copy(PLACES[0].start + 1, PLACES[1].start + 1800, 100);
            bench.settle();
        }
    });
}
