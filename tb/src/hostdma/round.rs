//! Rounds of random traffic, as tests and soaks run them.

use super::behaviour::Behaviour;
use super::bench::HostDmaBench;
use super::counters::{Counters, HalfCounters};
use super::traffic::Traffic;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;
use std::fmt;
use std::ops::AddAssign;

/// Transfers between two comparisons of everything, after which the windows change, and which of them counts.
const BATCH: u64 = 200;
/// Most transfers of each kind that wait in the cluster.
const WAITING: usize = 100;

/// What became of all transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bursts that were answered, by kind of answer, and statuses.
    pub counters: Counters,
    /// Descriptors, of writes and of reads.
    pub descriptors: [u64; 2],
    /// Clock cycles that were simulated.
    pub cycles: u64,
}

impl Totals {
    /// All transfers.
    pub fn transfers(&self) -> u64 {
        self.counters.writes.bursts + self.counters.reads.bursts
    }
}

impl AddAssign for HalfCounters {
    fn add_assign(&mut self, other: Self) {
        self.bursts += other.bursts;
        self.refused += other.refused;
        self.outside += other.outside;
        self.stray_status += other.stray_status;
        for (errors, others) in self.dma_errors.iter_mut().zip(other.dma_errors) {
            *errors += others;
        }
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.writes += other.writes;
        self.reads += other.reads;
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.counters += other.counters;
        for (descriptors, others) in self.descriptors.iter_mut().zip(other.descriptors) {
            *descriptors += others;
        }
        self.cycles += other.cycles;
    }
}

/// `5 writes: 1 refused, 0 outside, 2 failed descriptors, 0 strays; 3 reads: ...`.
impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = |name: &str, half: &HalfCounters| {
            format!(
                "{} {name}: {} refused, {} outside, {} failed descriptors, {} strays",
                half.bursts,
                half.refused,
                half.outside,
                half.dma_errors.iter().sum::<u64>(),
                half.stray_status
            )
        };
        let Counters { writes, reads } = &self.counters;
        write!(f, "{}; {}", half("writes", writes), half("reads", reads))
    }
}

/// Random transfers through a host DMA, with new windows now and then and at times a reset in the middle.
///
/// At the end all tags and all lines of the rings are in use at once.
///
/// # Panics
/// At the first byte, response or counter that is wrong, and if a tag or a line is lost.
pub fn run_round<M: Model>(sim: Simulation<M>, behaviour: Behaviour, transfers: u64) -> Totals {
    let mut rng = sim.rng("transfers");
    let mut bench = HostDmaBench::new(sim, behaviour);
    let mut traffic = Traffic::new(bench.setup, bench.sim.rng("traffic"));
    let mut totals = Totals::default();
    let mut left = transfers;
    while left > 0 {
        let windows = traffic.windows();
        bench.set_windows(&windows);
        bench.set_by_context(rng.random());
        let batch = left.min(BATCH);
        send(&mut bench, &mut traffic, &mut rng, batch);
        bench.settle();
        left -= batch;
        if rng.random_ratio(1, 10) {
            totals.counters += bench.counters();
            reset_in_traffic(&mut bench, &mut traffic, &mut rng);
        }
    }
    totals.counters += bench.counters();
    totals.descriptors = bench.descriptors;
    totals.cycles = bench.sim.cycle_count();
    // What atomic operations load counts as a read of its own.
    assert!(totals.transfers() >= transfers, "{totals}");
    bench.finish();
    totals
}

/// Sends that many writes and reads.
fn send<M: Model>(bench: &mut HostDmaBench<M>, traffic: &mut Traffic, rng: &mut ChaCha8Rng, count: u64) {
    for _ in 0..count {
        bench.wait_for_at_most([WAITING, WAITING]);
        if rng.random_bool(0.5) {
            bench.write(traffic.write());
        } else {
            bench.read(traffic.read());
        }
    }
}

/// Some transfers, and a reset in the middle of them; they are not in the totals.
fn reset_in_traffic<M: Model>(bench: &mut HostDmaBench<M>, traffic: &mut Traffic, rng: &mut ChaCha8Rng) {
    send(bench, traffic, rng, 60);
    bench.run(rng.random_range(1..300));
    if bench.setup.drain && rng.random_ratio(3, 4) {
        bench.reset_alone();
    } else {
        bench.reset();
    }
}
