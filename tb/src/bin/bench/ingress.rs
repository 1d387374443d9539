//! The whole ingress path, from the wire to the cluster.

use crate::figures::{Figures, gbps, reference, table};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;
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
            rows.extend(SIZES.map(|(size, reference)| Row {
                size,
                load,
                response,
                path: measure(&mut bench, size, load),
                // The public design was measured with matched frames, and a memory that answers quickly.
                reference: reference.filter(|_| load == Load::Matched && response == 1),
            }));
            cycles += bench.sim.cycle_count();
            bench.finish();
        }
    }
    Ok(Figures {
        name,
        table: table(&HEADINGS, 1, rows.iter().map(Row::text)),
        explanation: EXPLANATION.to_owned(),
        rows: rows.iter().map(Row::json).collect(),
        cycles,
    })
}

const HEADINGS: [&str; 10] = [
    "bytes",
    "frames",
    "response after",
    "cycles a frame",
    "reference",
    "ratio",
    "Gb/s at 250 MHz",
    "first beat to HER",
    "reference",
    "ratio",
];

const EXPLANATION: &str = "\
data 512 bit, cluster and NIC always ready, slots freed at once; reference: the public design's ingress path
cycles a frame: from one HER to the HER of a later frame, back to back, divided by all frames between them
first beat to HER: from the cycle that takes the first beat to the cycle in which the HER is valid, empty path";

impl Row {
    fn text(&self) -> Vec<String> {
        let Path { per_packet, latency } = self.path;
        let [their_cycles, faster] = reference(self.reference.map(|(cycles, _)| cycles), per_packet);
        let [their_latency, sooner] = reference(self.reference.map(|(_, latency)| latency), latency as f64);
        vec![
            self.size.to_string(),
            self.load.name().to_owned(),
            self.response.to_string(),
            format!("{per_packet:.2}"),
            their_cycles,
            faster,
            format!("{:.1}", gbps(self.size, per_packet)),
            latency.to_string(),
            their_latency,
            sooner,
        ]
    }

    fn json(&self) -> Value {
        json!({
            "bytes": self.size,
            "frames": self.load.name(),
            "response_cycles": self.response,
            "cycles_per_frame": self.path.per_packet,
            "reference_cycles_per_frame": self.reference.map(|(cycles, _)| cycles),
            "gbps_at_250_mhz": gbps(self.size, self.path.per_packet),
            "latency_cycles": self.path.latency,
            "reference_latency_cycles": self.reference.map(|(_, latency)| latency),
        })
    }
}
