//! The rate limiter.

use crate::figures::{Figures, gbps, table};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use spinneret_models::SpinneretRateLimiter;
use spinneret_sim::model::Model as _;
use spinneret_sim::simulation::Simulation;
use spinneret_sim::stream::{Frame, Pause};
use spinneret_tb::rate_limiter::{LimiterBench, LimiterShape, Settings};

/// Frames of each measurement.
const FRAMES: usize = 64;
/// Frame sizes in bytes.
const SIZES: [usize; 4] = [64, 65, 1500, 9000];
/// Bytes in a period of 1024 clocks: nothing held, 100, 40, 10 and 1 Gb/s at 250 MHz.
const RATES: [Option<u64>; 5] = [None, Some(51_200), Some(20_480), Some(5_120), Some(512)];
/// Bytes that may be saved: two beats.
const BURST: u64 = 128;

struct Row {
    size: usize,
    rate: Option<u64>,
    per_frame: f64,
    latency: u64,
}

/// Measures all sizes at all rates.
pub(crate) fn run() -> Result<Figures> {
    let (mut rows, mut cycles) = (Vec::new(), 0);
    for rate in RATES {
        for size in SIZES {
            let sim = Simulation::new(SpinneretRateLimiter::with_seed(1));
            let mut sim = sim.context("the model cannot be simulated")?;
            sim.set_cycle_limit(10_000_000);
            let settings = Settings {
                enforce: rate.is_some(),
                rate: rate.unwrap_or(0),
                burst: BURST,
            };
            let never = (Pause::Never, Pause::Never);
            let mut bench = LimiterBench::new(sim, LimiterShape::REFERENCE, never, settings);
            let start = bench.sim.cycle_count();
            (0..FRAMES).for_each(|_| bench.source.send(Frame::new(vec![7; size])));
            bench.drain();
            let received = bench.sink.receive_all();
            let (first, last) = (&received[0], &received[FRAMES - 1]);
            rows.push(Row {
                size,
                rate,
                per_frame: (last.first_cycle - first.first_cycle) as f64 / (FRAMES - 1) as f64,
                latency: first.first_cycle - start,
            });
            cycles += bench.sim.cycle_count();
            bench.sim.finish();
        }
    }
    Ok(Figures {
        name: "limiter",
        table: table(&HEADINGS, 0, rows.iter().map(Row::text)),
        explanation: format!(
            "data 512 bit, {FRAMES} frames a row wait, the output is ready, burst {BURST} bytes"
        ),
        rows: rows.iter().map(Row::json).collect(),
        cycles,
    })
}

const HEADINGS: [&str; 6] = [
    "bytes in 1024 clocks",
    "Gb/s that is set",
    "bytes a frame",
    "cycles a frame",
    "Gb/s at 250 MHz",
    "first in to first out",
];

impl Row {
    fn text(&self) -> Vec<String> {
        let set = self.rate.map(|rate| gbps(rate as usize, 1024.0));
        vec![
            self.rate
                .map_or_else(|| "not enforced".to_owned(), |rate| rate.to_string()),
            set.map_or_else(String::new, |set| format!("{set:.1}")),
            self.size.to_string(),
            format!("{:.2}", self.per_frame),
            format!("{:.2}", gbps(self.size, self.per_frame)),
            self.latency.to_string(),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "bytes_in_1024_clocks": self.rate,
            "bytes": self.size,
            "cycles_per_frame": self.per_frame,
            "gbps_at_250_mhz": gbps(self.size, self.per_frame),
            "latency_cycles": self.latency,
        })
    }
}
