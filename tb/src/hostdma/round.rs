//! Rounds of random traffic, and cycles of bursts.

use super::bench::HostDmaBench;
use super::config::Behaviour;
use super::counters::{Counters, HalfCounters};
use super::traffic::Traffic;
use crate::bench::Finish;
use spinneret_sim::prelude::*;
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

/// Where the writes of a measurement go.
const ADDRESS: u64 = 0x4000_0000;
/// How far behind them the reads come from.
const READS_BEHIND: u64 = 0x4000_0000;
/// Bytes that are moved each way before counting starts: twice what a ring holds.
const WARM_UP: u64 = 2 * 16384;
/// Bytes each way that are counted, at least.
const COUNTED: u64 = 256 * 1024;
/// Fewest bursts that are counted.
const BURSTS: u64 = 1000;

/// Bytes a clock, with writes and reads at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Of writes.
    pub writes: f64,
    /// Of reads.
    pub reads: f64,
}

/// Clocks that a burst takes which is alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// From the transfer of AW to that of B, for a write.
    pub write: u64,
    /// From the transfer of AR to that of the last R, for a read.
    pub read: u64,
}

/// A host DMA with a DMA of that latency; nobody pauses, and all windows are open.
fn bench<M: Model>(sim: Simulation<M>, latency: u64) -> HostDmaBench<M> {
    let mut bench = HostDmaBench::new(sim, Behaviour::latency(latency));
    bench.open_windows(ADDRESS);
    bench
}

/// Counts the bytes a clock of bursts of that many bytes, which is a power of two, with a DMA of that latency; the
/// clocks that were simulated come with it.
///
/// # Panics
/// If a burst is lost or changed.
pub fn rates<M: Model>(sim: Simulation<M>, bytes: u64, latency: u64) -> (Rates, u64) {
    let mut bench = bench(sim, latency);
    let warm_up = (WARM_UP / bytes).max(1);
    let counted = (COUNTED / bytes).max(BURSTS);
    let bus = bench.setup.beat_bytes as usize;
    let data: Vec<u8> = (0..bytes).map(|index| index as u8).collect();
    for number in 0..2 * warm_up + counted {
        let address = ADDRESS + number * bytes;
        bench.write(WriteRequest::bytes(number % 16, address, &data, bus));
        let address = address + READS_BEHIND;
        bench.read(ReadRequest::bytes(number % 16, address, bytes as usize, bus));
    }
    // From the answer before the first that counts to the last that does, while bursts of both kinds follow.
    let mut starts = [None; 2];
    let mut ends = [None; 2];
    while ends.contains(&None) {
        bench.cycle();
        let sent = (2 * warm_up + counted) as usize;
        for (half, left) in bench.under_way().into_iter().enumerate() {
            let answered = (sent - left) as u64;
            let cycle = bench.sim.cycle_count();
            if answered >= warm_up {
                starts[half].get_or_insert((answered, cycle));
            }
            if answered >= warm_up + counted {
                ends[half].get_or_insert((answered, cycle));
            }
        }
    }
    let rate = |half: usize| {
        let ((first, start), (last, end)) =
            (starts[half].unwrap_or_default(), ends[half].unwrap_or_default());
        ((last - first) * bytes) as f64 / (end - start) as f64
    };
    let rates = Rates {
        writes: rate(0),
        reads: rate(1),
    };
    bench.settle();
    let cycles = bench.sim.cycle_count();
    bench.finish();
    (rates, cycles)
}

/// Counts the clocks of a write and of a read of that many bytes, each alone; the clocks that were simulated come
/// with it.
///
/// # Panics
/// If one is lost or changed.
pub fn latencies<M: Model>(sim: Simulation<M>, bytes: u64, latency: u64) -> (Latencies, u64) {
    let mut bench = bench(sim, latency);
    let bus = bench.setup.beat_bytes as usize;
    let data: Vec<u8> = (0..bytes).map(|index| index as u8).collect();
    bench.write(WriteRequest::bytes(1, ADDRESS, &data, bus));
    bench.settle();
    bench.read(ReadRequest::bytes(1, ADDRESS, bytes as usize, bus));
    bench.settle();
    let write = bench
        .last_write
        .map(|done| done.response_cycle - done.address_cycle);
    let read = bench
        .last_read
        .as_ref()
        .map(|done| done.last_cycle - done.address_cycle);
    let latencies = Latencies {
        write: write.unwrap_or_default(),
        read: read.unwrap_or_default(),
    };
    let cycles = bench.sim.cycle_count();
    bench.finish();
    (latencies, cycles)
}
