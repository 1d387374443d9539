//! The host DMA, from the cluster to host memory and back.

use crate::figures::{Figures, gbps, table};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;
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
        rows.push(Row {
            bytes,
            latency,
            rates,
            alone,
            reference,
            reference_write: ((their_bytes, their_latency) == (bytes, latency)).then_some(write),
        });
    }
    Ok(Figures {
        name,
        table: table(&HEADINGS, HEADINGS.len(), rows.iter().map(Row::text)),
        explanation: EXPLANATION.to_owned(),
        rows: rows.iter().map(Row::json).collect(),
        cycles,
    })
}

const HEADINGS: [&str; 11] = [
    "bytes",
    "latency",
    "written a cycle",
    "read a cycle",
    "reference",
    "ratio",
    "Gb/s written",
    "Gb/s read",
    "AW to B",
    "reference",
    "AR to last R",
];

const EXPLANATION: &str = "\
data 512 bit, cluster always ready; reference: the public design, one transfer in flight, writes or reads
latency: clocks until the model of Corundum's DMA begins to move bytes, one line of the RAM a clock
bytes a cycle: writes and reads at the same time, between two answers of bursts back to back
AW to B, AR to last R: cycles of a burst that is alone; Gb/s at 250 MHz";

impl Row {
    fn text(&self) -> Vec<String> {
        let Rates { writes, reads } = self.rates;
        let whole = |bytes_a_cycle| format!("{:.1}", gbps(1, 1.0 / bytes_a_cycle));
        vec![
            self.bytes.to_string(),
            self.latency.to_string(),
            format!("{writes:.1}"),
            format!("{reads:.1}"),
            self.reference.to_string(),
            format!("{:.1}x", writes.min(reads) / self.reference),
            whole(writes),
            whole(reads),
            self.alone.write.to_string(),
            self.reference_write
                .map_or_else(String::new, |cycles| cycles.to_string()),
            self.alone.read.to_string(),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "bytes": self.bytes,
            "latency_cycles": self.latency,
            "written_bytes_per_cycle": self.rates.writes,
            "read_bytes_per_cycle": self.rates.reads,
            "reference_bytes_per_cycle": self.reference,
            "write_cycles": self.alone.write,
            "reference_write_cycles": self.reference_write,
            "read_cycles": self.alone.read,
        })
    }
}
