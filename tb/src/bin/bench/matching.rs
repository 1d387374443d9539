//! The matching engine.

use crate::figures::{Cell, Figures, reference, throughput};
use anyhow::{Context, Result};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::Finish;
use spinneret_tb::pkt_match::{Cycles, Traffic, marked, measure};

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
        let mut row = |(size, reference): (_, Option<(_, _)>)| Row {
            size,
            traffic,
            cycles: measure(&mut bench, size, traffic, FRAMES),
            reference: match traffic {
                Traffic::Unmatched => reference.map(|(unmatched, _)| unmatched),
                Traffic::Matched => reference.map(|(_, matched)| matched),
                Traffic::Alternating => None,
            },
        };
        rows.extend(SIZES.map(|size| row(size).cells()));
        cycles += bench.sim.cycle_count();
        bench.finish();
    }
    let explanation = format!(
        "data 512 bit, all outputs ready, {FRAMES} frames a row; reference: the public design's matcher"
    );
    Ok(Figures::new(name, Some(1), explanation, rows, cycles))
}

impl Row {
    fn cells(&self) -> Vec<Cell> {
        let Cycles {
            per_frame,
            latency,
            meta_after_last,
        } = self.cycles;
        let [theirs, ratio] = reference("reference_cycles_per_frame", self.reference, per_frame);
        vec![
            Cell::plain("bytes", "bytes", self.size),
            Cell::plain("frames", "frames", self.traffic.name()),
            Cell::new(
                "cycles a frame",
                format!("{per_frame:.2}"),
                "cycles_per_frame",
                per_frame,
            ),
            theirs,
            ratio,
            throughput(self.size, per_frame),
            Cell::plain("first in to first out", "latency_cycles", latency),
            Cell::optional("last out to metadata", "meta_after_last_cycles", meta_after_last),
        ]
    }
}
