//! The matching engine.

use crate::figures::{Figures, gbps, reference, table};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;
use spinneret_tb::measure::{Cycles, Traffic, marked, measure};

/// Frames of each measurement.
const FRAMES: usize = 64;

/// Frame sizes in bytes, with the cycles a frame that the public design takes: unmatched, matched.
const SIZES: [(usize, Option<(f64, f64)>); 11] = [
    (60, None),
    (64, Some((4.0, 5.0))),
    (65, None),
    (128, None),
    (256, None),
    (512, None),
    (1024, None),
    (1500, Some((28.0, 29.0))),
    (1514, None),
    (4096, None),
    (9000, None),
];

struct Row {
    size: usize,
    traffic: Traffic,
    cycles: Cycles,
    reference: Option<f64>,
}

/// Measures all sizes in all kinds of traffic; the figures get that name.
pub(crate) fn run<M: Model>(name: &'static str) -> Result<Figures> {
    let (mut rows, mut cycles) = (Vec::new(), 0);
    for traffic in Traffic::ALL {
        let sim = Simulation::new(M::with_seed(1)).context("the model cannot be simulated")?;
        let mut bench = marked(sim);
        rows.extend(SIZES.map(|(size, reference)| Row {
            size,
            traffic,
            cycles: measure(&mut bench, size, traffic, FRAMES),
            reference: match traffic {
                Traffic::Unmatched => reference.map(|(unmatched, _)| unmatched),
                Traffic::Matched => reference.map(|(_, matched)| matched),
                Traffic::Alternating => None,
            },
        }));
        cycles += bench.sim.cycle_count();
        bench.finish();
    }
    Ok(Figures {
        name,
        table: table(&HEADINGS, 1, rows.iter().map(Row::text)),
        explanation: format!(
            "data 512 bit, all outputs ready, {FRAMES} frames a row; reference: the public design's matcher"
        ),
        rows: rows.iter().map(Row::json).collect(),
        cycles,
    })
}

const HEADINGS: [&str; 8] = [
    "bytes",
    "frames",
    "cycles a frame",
    "reference",
    "ratio",
    "Gb/s at 250 MHz",
    "first in to first out",
    "last out to metadata",
];

impl Row {
    fn text(&self) -> Vec<String> {
        let Cycles {
            per_frame,
            latency,
            meta_after_last,
        } = self.cycles;
        let [theirs, ratio] = reference(self.reference, per_frame);
        vec![
            self.size.to_string(),
            self.traffic.name().to_owned(),
            format!("{per_frame:.2}"),
            theirs,
            ratio,
            format!("{:.1}", gbps(self.size, per_frame)),
            latency.to_string(),
            meta_after_last.map_or_else(String::new, |cycles| cycles.to_string()),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "bytes": self.size,
            "frames": self.traffic.name(),
            "cycles_per_frame": self.cycles.per_frame,
            "reference_cycles_per_frame": self.reference,
            "gbps_at_250_mhz": gbps(self.size, self.cycles.per_frame),
            "latency_cycles": self.cycles.latency,
            "meta_after_last_cycles": self.cycles.meta_after_last,
        })
    }
}
