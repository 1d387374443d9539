//! The rate limiter.

use crate::figures::{Cell, Figures, gbps};
use anyhow::{Context, Result};
use spinneret_models::SpinneretRateLimiter;
use spinneret_sim::model::Model as _;
use spinneret_sim::prelude::*;
use spinneret_tb::rate_limiter::{LimiterBench, Settings};

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
            let mut bench = LimiterBench::new(sim, never, settings);
            let start = bench.sim.cycle_count();
            (0..FRAMES).for_each(|_| bench.source.send(Frame::new(vec![7; size])));
            bench.drain();
            let received = bench.sink.receive_all();
            let (first, last) = (&received[0], &received[FRAMES - 1]);
            let row = Row {
                size,
                rate,
                per_frame: (last.first_cycle - first.first_cycle) as f64 / (FRAMES - 1) as f64,
                latency: first.first_cycle - start,
            };
            rows.push(row.cells());
            cycles += bench.sim.cycle_count();
            bench.sim.finish();
        }
    }
    let explanation =
        format!("data 512 bit, {FRAMES} frames a row wait, the output is ready, burst {BURST} bytes");
    Ok(Figures::new("limiter", Some(0), explanation, rows, cycles))
}

impl Row {
    fn cells(&self) -> Vec<Cell> {
        let set = self.rate.map(|rate| gbps(rate as usize, 1024.0));
        let set = set.map_or_else(String::new, |set| format!("{set:.1}"));
        let rate = self
            .rate
            .map_or_else(|| "not enforced".to_owned(), |rate| rate.to_string());
        let reached = gbps(self.size, self.per_frame);
        let per_frame = self.per_frame;
        vec![
            Cell::new("bytes in 1024 clocks", rate, "bytes_in_1024_clocks", self.rate),
            Cell::text("Gb/s that is set", set),
            Cell::plain("bytes a frame", "bytes", self.size),
            Cell::new(
                "cycles a frame",
                format!("{per_frame:.2}"),
                "cycles_per_frame",
                per_frame,
            ),
            Cell::new(
                "Gb/s at 250 MHz",
                format!("{reached:.2}"),
                "gbps_at_250_mhz",
                reached,
            ),
            Cell::plain("first in to first out", "latency_cycles", self.latency),
        ]
    }
}
