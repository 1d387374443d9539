//! The host DMA, from the cluster to host memory and back.

use crate::figures::{Cell, Figures, gbps};
use anyhow::{Context, Result};
use spinneret_sim::prelude::*;
use spinneret_tb::hostdma::{Latencies, Rates, latencies, rates};

/// Bytes of a burst and clocks of latency, with the bytes a clock of the public design.
const LOADS: [(u64, u64, f64); 6] = [
    (64, 0, 5.8),
    (512, 0, 28.4),
    (4096, 0, 55.4),
    (64, 100, 0.58),
    (512, 100, 4.3),
    (4096, 100, 23.5),
];

/// Clocks from AW to B of a write of 64 bytes that is alone, in the public design without latency.
const THEIR_WRITE: (u64, u64, u64) = (64, 0, 10);

struct Row {
    bytes: u64,
    latency: u64,
    rates: Rates,
    alone: Latencies,
    reference: f64,
    reference_write: Option<u64>,
}

/// Measures all sizes and latencies; the figures get that name.
pub(crate) fn run<M: Model>(name: &'static str) -> Result<Figures> {
    let (mut rows, mut cycles) = (Vec::new(), 0);
    let sim = || Simulation::new(M::with_seed(1)).context("the model cannot be simulated");
    for (bytes, latency, reference) in LOADS {
        let (rates, spent) = rates(sim()?, bytes, latency);
        let (alone, spent_alone) = latencies(sim()?, bytes, latency);
        cycles += spent + spent_alone;
        let (their_bytes, their_latency, write) = THEIR_WRITE;
        let row = Row {
            bytes,
            latency,
            rates,
            alone,
            reference,
            reference_write: ((their_bytes, their_latency) == (bytes, latency)).then_some(write),
        };
        rows.push(row.cells());
    }
    Ok(Figures::new(name, None, EXPLANATION, rows, cycles))
}

const EXPLANATION: &str = "\
data 512 bit, cluster always ready; reference: the public design, one transfer in flight, writes or reads
latency: clocks until the model of Corundum's DMA begins to move bytes, one line of the RAM a clock
bytes a cycle: writes and reads at the same time, between two answers of bursts back to back
AW to B, AR to last R: cycles of a burst that is alone; Gb/s at 250 MHz";

impl Row {
    fn cells(&self) -> Vec<Cell> {
        let Rates { writes, reads } = self.rates;
        let tenth = |figure: f64| format!("{figure:.1}");
        let whole = |bytes_a_cycle: f64| tenth(gbps(1, 1.0 / bytes_a_cycle));
        vec![
            Cell::plain("bytes", "bytes", self.bytes),
            Cell::plain("latency", "latency_cycles", self.latency),
            Cell::new(
                "written a cycle",
                tenth(writes),
                "written_bytes_per_cycle",
                writes,
            ),
            Cell::new("read a cycle", tenth(reads), "read_bytes_per_cycle", reads),
            Cell::plain("reference", "reference_bytes_per_cycle", self.reference),
            Cell::text("ratio", format!("{:.1}x", writes.min(reads) / self.reference)),
            Cell::text("Gb/s written", whole(writes)),
            Cell::text("Gb/s read", whole(reads)),
            Cell::plain("AW to B", "write_cycles", self.alone.write),
            Cell::optional("reference", "reference_write_cycles", self.reference_write),
            Cell::plain("AR to last R", "read_cycles", self.alone.read),
        ]
    }
}
