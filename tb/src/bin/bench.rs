//! `./dev bench NAME`: counts cycles in the simulation of a block.

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Value, json};
use spinneret_sim::model::Model;
use spinneret_sim::models::PspinPktMatch;
use spinneret_sim::reference::matcher::MatcherParams;
use spinneret_sim::simulation::Simulation;
use spinneret_tb::measure::{Cycles, Traffic, marked, measure};
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

/// Counts the clock cycles of a block in simulation.
///
/// Cycles are exact and the same on every machine; only the time that the simulation takes is not.
#[derive(Parser, Debug)]
#[command(name = "bench")]
struct Arguments {
    /// What to measure.
    name: Bench,
    /// Where to write the figures as JSON.
    #[arg(long, default_value = "target/bench/match.json")]
    json: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Bench {
    /// The matching engine.
    Match,
}

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

fn main() -> Result<()> {
    let Arguments {
        name: Bench::Match,
        json,
    } = Arguments::parse();
    let start = Instant::now();
    let (rows, cycles) = run_match()?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", table(&rows));
    println!(
        "data 512 bit, all outputs ready, {FRAMES} frames a row; reference: the public design's matcher"
    );
    println!(
        "{cycles} cycles in {seconds:.2} s ({:.0} thousand cycles a second)",
        cycles as f64 / seconds / 1000.0
    );
    write(&json, &rows)
}

struct Row {
    size: usize,
    traffic: Traffic,
    cycles: Cycles,
    reference: Option<f64>,
}

impl Row {
    /// Throughput at 250 MHz in Gb/s, frame bytes only.
    fn gbps(&self) -> f64 {
        self.size as f64 * 8.0 / self.cycles.per_frame * 0.25
    }
}

/// The rows, and the cycles that were simulated for them.
fn run_match() -> Result<(Vec<Row>, u64)> {
    let (mut rows, mut simulated) = (Vec::new(), 0);
    for traffic in Traffic::ALL {
        let sim = Simulation::new(PspinPktMatch::with_seed(1)).context("the model cannot be simulated")?;
        let mut bench = marked(sim, &MatcherParams::REFERENCE);
        for (size, reference) in SIZES {
            let cycles = measure(&mut bench, size, traffic, FRAMES);
            let reference = match traffic {
                Traffic::Unmatched => reference.map(|(unmatched, _)| unmatched),
                Traffic::Matched => reference.map(|(_, matched)| matched),
                Traffic::Alternating => None,
            };
            rows.push(Row {
                size,
                traffic,
                cycles,
                reference,
            });
        }
        simulated += bench.sim.cycle_count();
        bench.finish();
    }
    Ok((rows, simulated))
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header([
        "bytes",
        "frames",
        "cycles a frame",
        "reference",
        "ratio",
        "Gb/s at 250 MHz",
        "first in to first out",
        "last out to metadata",
    ]);
    for row in rows {
        let reference = row
            .reference
            .map_or_else(String::new, |cycles| format!("{cycles:.2}"));
        let ratio = row.reference.map_or_else(String::new, |cycles| {
            format!("{:.1}x", cycles / row.cycles.per_frame)
        });
        table.add_row([
            row.size.to_string(),
            row.traffic.name().to_owned(),
            format!("{:.2}", row.cycles.per_frame),
            reference,
            ratio,
            format!("{:.1}", row.gbps()),
            row.cycles.latency.to_string(),
            row.cycles
                .meta_after_last
                .map_or_else(String::new, |cycles| cycles.to_string()),
        ]);
    }
    for column in [0, 2, 3, 4, 5, 6, 7] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn write(path: &PathBuf, rows: &[Row]) -> Result<()> {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "bytes": row.size,
                "frames": row.traffic.name(),
                "cycles_per_frame": row.cycles.per_frame,
                "reference_cycles_per_frame": row.reference,
                "gbps_at_250_mhz": row.gbps(),
                "latency_cycles": row.cycles.latency,
                "meta_after_last_cycles": row.cycles.meta_after_last,
            })
        })
        .collect();
    let text =
        serde_json::to_string_pretty(&json!({ "bench": "match", "data_width_bits": 512, "rows": rows }))?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))?;
    println!("figures: {}", path.display());
    Ok(())
}
