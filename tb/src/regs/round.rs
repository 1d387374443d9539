//! Rounds of random accesses, and cycles of an access.

use super::bench::{Behaviour, Bench, Traffic};
use spinneret_regmap::{cl, me};
use spinneret_sim::prelude::*;
use std::ops::AddAssign;

/// Accesses that are queued together.
const BATCH: u64 = 40;

/// What became of the accesses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Writes that were answered with OKAY.
    pub written: u64,
    /// Reads that were answered with OKAY.
    pub read: u64,
    /// Accesses that were answered with an error.
    pub refused: u64,
    /// Accesses that a reset took away.
    pub forgotten: u64,
    /// Words of standard output that were read.
    pub printed: u64,
    /// Resets.
    pub resets: u64,
    /// Clocks.
    pub cycles: u64,
}

impl Totals {
    /// All accesses that were sent.
    pub fn accesses(&self) -> u64 {
        self.written + self.read + self.refused + self.forgotten
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.written += other.written;
        self.read += other.read;
        self.refused += other.refused;
        self.forgotten += other.forgotten;
        self.printed += other.printed;
        self.resets += other.resets;
        self.cycles += other.cycles;
    }
}

/// Sends that many random accesses through a block; every output is compared in every clock.
///
/// # Panics
/// If the block breaks its contract.
pub fn run_round<M: Model>(mut sim: Simulation<M>, behaviour: Behaviour, accesses: u64) -> Totals {
    sim.set_cycle_limit(u64::MAX);
    let mut rng = sim.rng("round");
    let Behaviour {
        master,
        activity,
        reset_percent,
    } = behaviour;
    let mut bench = Bench::with(sim, master, activity);
    let mut traffic = Traffic::new(&bench.layout, bench.sim.rng("traffic"));
    let mut totals = Totals::default();
    let mut left = accesses;
    while left > 0 {
        let batch = left.min(BATCH);
        left -= batch;
        for _ in 0..batch {
            traffic.access().send(&bench.master);
        }
        let resets = rng.random_range(0..100) < reset_percent;
        let until = if resets {
            rng.random_range(0..4 * batch)
        } else {
            u64::MAX
        };
        run_batch(&mut bench, until, &mut totals);
        totals.forgotten += batch - count(&mut bench, &mut totals);
    }
    totals.cycles = bench.sim.cycle_count();
    totals
}

/// Runs until everything is answered, or for so many clocks up to a reset.
fn run_batch<M: Model>(bench: &mut Bench<M>, until: u64, totals: &mut Totals) {
    for _ in 0..until {
        if bench.master.is_idle() {
            bench.sim.run(2);
            return;
        }
        bench.sim.cycle();
    }
    bench.master.clear();
    bench.sim.reset();
    totals.resets += 1;
    // What had been begun is sent again or forgotten; both are answered in the next batch.
    bench.master.clear();
    bench.settle();
}

/// Counts what was answered, and checks what standard output gave.
fn count<M: Model>(bench: &mut Bench<M>, totals: &mut Totals) -> u64 {
    let writes = bench.master.take_writes();
    let reads = bench.master.take_reads();
    let okay = |response: Response| u64::from(response == Response::Okay);
    let written: u64 = writes.iter().map(|done| okay(done.response)).sum();
    let read: u64 = reads.iter().map(|done| okay(done.response)).sum();
    let all = (writes.len() + reads.len()) as u64;
    let printed = bench.around.take_printed();
    let answers = reads
        .iter()
        .filter(|done| done.address & !3 == u64::from(cl::FIFO.offset))
        .filter(|done| done.data != u64::from(u32::MAX));
    let answers: Vec<u32> = answers.map(|done| done.data as u32).collect();
    // A reset forgets answers to reads whose word was taken, never the other way round.
    let mut taken = printed.iter();
    for answer in &answers {
        assert!(
            taken.any(|word| word == answer),
            "a read gave {answer:#x}, which was not taken, or out of order"
        );
    }
    totals.written += written;
    totals.read += read;
    totals.refused += all - written - read;
    totals.printed += answers.len() as u64;
    all
}

/// Accesses whose throughput is measured.
const MANY: u64 = 1000;

/// Clocks that accesses take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// From address and data of a write to its response.
    pub write_latency: u64,
    /// From the address of a read to its data.
    pub read_latency: u64,
    /// Clocks from the first to the last of 1001 responses to writes, while as many reads go on.
    pub writes: u64,
    /// The same of reads.
    pub reads: u64,
    /// All clocks of the simulation.
    pub cycles: u64,
}

/// Measures a block whose accesses never pause.
///
/// # Panics
/// If the block breaks its contract.
pub fn measure<M: Model>(sim: Simulation<M>) -> Measured {
    let mut bench = Bench::new(sim);
    let write_latency = bench.write(me::MASK.offset, 1).latency_cycles();
    let read_latency = bench.read(me::MASK.offset).latency_cycles();
    for number in 0..=MANY {
        let offset = u64::from(me::MASK.offset) + 4 * (number % 16);
        bench.master.write(LiteWrite::new(offset, number));
        bench.master.read(LiteRead::new(offset));
    }
    bench.settle();
    let span = |cycles: Vec<u64>| match (cycles.first(), cycles.last()) {
        (Some(first), Some(last)) => last - first,
        _ => 0,
    };
    Measured {
        write_latency,
        read_latency,
        writes: span(
            bench
                .master
                .take_writes()
                .iter()
                .map(|done| done.response_cycle)
                .collect(),
        ),
        reads: span(
            bench
                .master
                .take_reads()
                .iter()
                .map(|done| done.response_cycle)
                .collect(),
        ),
        cycles: bench.sim.cycle_count(),
    }
}
