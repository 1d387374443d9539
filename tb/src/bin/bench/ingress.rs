//! The whole ingress path, from the wire to the cluster.

use crate::figures::{Cell, Figures, reference, throughput};
use anyhow::{Context, Result};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::Finish;
use spinneret_tb::ingress::{Load, Path, marked, measure};

/// Frame sizes in bytes, with the cycles of the public design: a matched frame, first beat to HER.
const SIZES: [(usize, Option<(f64, f64)>); 8] = [
    (64, Some((5.0, 15.0))),
    (65, None),
    (128, Some((7.0, 17.0))),
    (256, Some((9.0, 21.0))),
    (512, Some((13.0, 29.0))),
    (1024, Some((21.0, 45.0))),
    (1500, Some((29.0, 62.0))),
    (1514, None),
];

/// Cycles from the last beat of a burst to its response.
const RESPONSES: [u64; 3] = [1, 10, 30];

struct Row {
    size: usize,
    load: Load,
    response: u64,
    path: Path,
    reference: Option<(f64, f64)>,
}

/// Measures all sizes with all loads and response latencies; the figures get that name.
pub(crate) fn run<M: Model>(name: &'static str) -> Result<Figures> {
    let (mut rows, mut cycles) = (Vec::new(), 0);
    for load in Load::ALL {
        for response in RESPONSES {
            let sim = Simulation::new(M::with_seed(1)).context("the model cannot be simulated")?;
            let mut bench = marked(sim, response);
            let mut row = |(size, reference): (_, Option<_>)| Row {
                size,
                load,
                response,
                path: measure(&mut bench, size, load),
                // The public design was measured with matched frames, and a memory that answers quickly.
                reference: reference.filter(|_| load == Load::Matched && response == 1),
            };
            rows.extend(SIZES.map(|size| row(size).cells()));
            cycles += bench.sim.cycle_count();
            bench.finish();
        }
    }
    Ok(Figures::new(name, Some(1), EXPLANATION, rows, cycles))
}

const EXPLANATION: &str = "\
data 512 bit, cluster and NIC always ready, slots freed at once; reference: the public design's ingress path
cycles a frame: from one HER to the HER of a later frame, back to back, divided by all frames between them
first beat to HER: from the cycle that takes the first beat to the cycle in which the HER is valid, empty path";

impl Row {
    fn cells(&self) -> Vec<Cell> {
        let Path { per_packet, latency } = self.path;
        let (their_cycles, their_latency) = self.reference.unzip();
        let [their_cycles, faster] = reference("reference_cycles_per_frame", their_cycles, per_packet);
        let [their_latency, sooner] = reference("reference_latency_cycles", their_latency, latency as f64);
        vec![
            Cell::plain("bytes", "bytes", self.size),
            Cell::plain("frames", "frames", self.load.name()),
            Cell::plain("response after", "response_cycles", self.response),
            Cell::new(
                "cycles a frame",
                format!("{per_packet:.2}"),
                "cycles_per_frame",
                per_packet,
            ),
            their_cycles,
            faster,
            throughput(self.size, per_packet),
            Cell::plain("first beat to HER", "latency_cycles", latency),
            their_latency,
            sooner,
        ]
    }
}
