//! Latency and throughput of accesses.

use super::bench::Bench;
use spinneret_regmap::me;
use spinneret_sim::axil::{LiteRead, LiteWrite};
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;

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
    let measured = Measured {
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
    };
    bench.finish();
    measured
}
