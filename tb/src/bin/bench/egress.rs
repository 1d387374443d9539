//! The egress path, from the command to the wire.

use crate::figures::{Cell, Figures, reference, throughput};
use anyhow::{Context, Result};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::Finish;
use spinneret_tb::egress::{Behaviour, EgressBench, Place, Rate, measure};

/// Frame sizes in bytes.
const SIZES: [u64; 8] = [64, 65, 128, 256, 512, 1024, 1500, 9600];

/// Cycles from a read to its first line.
const LATENCIES: [u64; 3] = [1, 10, 40];

/// Sizes that are measured from every place of a line.
const EVERYWHERE: [u64; 2] = [64, 1500];

/// The public design: bytes, cycles from a read to its first line, cycles a frame from the start of a line. It does not
/// send other frames right.
const REFERENCE: [(u64, u64, f64); 9] = [
    (64, 1, 3.0),
    (128, 1, 3.5),
    (256, 1, 5.0),
    (512, 1, 9.0),
    (1024, 1, 17.0),
    (1500, 1, 25.0),
    (64, 10, 7.5),
    (64, 40, 22.4),
    (1500, 40, 33.9),
];

struct Row {
    size: u64,
    place: String,
    latency: u64,
    rate: Rate,
    reference: Option<f64>,
}

/// Measures all sizes with all latencies; the figures get that name.
pub(crate) fn run<M: Model>(name: &'static str) -> Result<Figures> {
    let (mut rows, mut cycles) = (Vec::new(), 0);
    for latency in LATENCIES {
        let sim = Simulation::new(M::with_seed(1)).context("the model cannot be simulated")?;
        let mut bench = EgressBench::new(sim, Behaviour::after(latency));
        for size in SIZES {
            rows.push(Row::aligned(&mut bench, size, latency));
            if EVERYWHERE.contains(&size) {
                rows.extend(Row::everywhere(&mut bench, size, latency));
            }
        }
        cycles += bench.sim.cycle_count();
        bench.finish();
    }
    let rows = rows.iter().map(Row::cells).collect();
    Ok(Figures::new(name, Some(1), EXPLANATION, rows, cycles))
}

const EXPLANATION: &str = "\
data 512 bit, memory and wire always ready; reference: the public design's egress path
cycles a frame: from the end of one frame to that of a later one, back to back, divided by their number
lines of memory: those that a frame lies in; the bus reads one a clock, so no path takes fewer cycles
command to answer, to first beat: from the cycle that takes the command, empty path";

impl Row {
    /// Frames from the start of a line.
    fn aligned<M: Model>(bench: &mut EgressBench<M>, size: u64, latency: u64) -> Self {
        let known = REFERENCE.iter();
        let known = known.filter(|(bytes, after, _)| (*bytes, *after) == (size, latency));
        Self {
            size,
            place: "0".to_owned(),
            latency,
            rate: measure(bench, size, Place::Offset(0)),
            reference: known.map(|(_, _, cycles)| *cycles).next(),
        }
    }

    /// Frames from each other place of a line: those places together that give the same rate.
    fn everywhere<M: Model>(bench: &mut EgressBench<M>, size: u64, latency: u64) -> Vec<Self> {
        let mut rows: Vec<(u64, Self)> = Vec::new();
        for offset in 1..bench.setup.beat {
            let rate = measure(bench, size, Place::Offset(offset));
            if let Some((first, last)) = rows.last_mut()
                && last.rate == rate
            {
                last.place = format!("{first} to {offset}");
                continue;
            }
            let row = Self {
                size,
                place: offset.to_string(),
                latency,
                rate,
                reference: None,
            };
            rows.push((offset, row));
        }
        rows.into_iter().map(|(_, row)| row).collect()
    }

    fn cells(&self) -> Vec<Cell> {
        let Rate {
            per_frame,
            lines,
            latency,
            answer,
        } = self.rate;
        let [theirs, ratio] = reference("reference_cycles_per_frame", self.reference, per_frame);
        vec![
            Cell::plain("bytes", "bytes", self.size),
            Cell::plain("place in the line", "place", self.place.clone()),
            Cell::plain("lines after", "read_latency_cycles", self.latency),
            Cell::new(
                "cycles a frame",
                format!("{per_frame:.2}"),
                "cycles_per_frame",
                per_frame,
            ),
            Cell::new("lines of memory", format!("{lines:.0}"), "lines_per_frame", lines),
            theirs,
            ratio,
            throughput(self.size as usize, per_frame),
            Cell::plain("command to answer", "answer_cycles", answer),
            Cell::plain("command to first beat", "first_beat_cycles", latency),
        ]
    }
}
