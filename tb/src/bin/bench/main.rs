//! `./dev bench NAME`: counts cycles in the simulation of a block.

mod app;
mod blocks;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use serde_json::{Map, Value, json};
use spinneret_models::{
    PspinEgressDatapath, PspinEgressDatapathBoard, PspinHostmemDma, PspinHostmemDmaBoard,
    PspinIngressDatapath, PspinIngressDatapathBoard, PspinPktMatch, PspinPktMatchIp,
};
use spinneret_table::{Table, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Counts the clock cycles of a block in simulation.
///
/// Cycles are exact and the same on every machine; only the time that the simulation takes is not.
#[derive(Parser, Debug)]
#[command(name = "bench")]
struct Arguments {
    /// What to measure.
    name: Bench,
    /// With which parameter values the block is generated.
    #[arg(long, value_enum, default_value_t = Configuration::Reference)]
    config: Configuration,
    /// Where to write the figures as JSON [default: target/bench/NAME.json, or NAME-board.json].
    #[arg(long)]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Bench {
    /// The matching engine.
    Match,
    /// The whole ingress path.
    Ingress,
    /// The whole egress path.
    Egress,
    /// The host DMA.
    Hostdma,
    /// The rate limiter, which boards have no other values for.
    Limiter,
    /// The application block, which is always as boards need it.
    App,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Configuration {
    /// As in the public design.
    Reference,
    /// As boards need it.
    Board,
}

impl Bench {
    fn run(self, config: Configuration) -> Result<Figures> {
        match (self, config) {
            (Self::Match, Configuration::Reference) => blocks::matching::<PspinPktMatch>("match"),
            (Self::Match, Configuration::Board) => blocks::matching::<PspinPktMatchIp>("match-board"),
            (Self::Ingress, Configuration::Reference) => blocks::ingress::<PspinIngressDatapath>("ingress"),
            (Self::Ingress, Configuration::Board) => {
                blocks::ingress::<PspinIngressDatapathBoard>("ingress-board")
            }
            (Self::Egress, Configuration::Reference) => blocks::egress::<PspinEgressDatapath>("egress"),
            (Self::Egress, Configuration::Board) => {
                blocks::egress::<PspinEgressDatapathBoard>("egress-board")
            }
            (Self::Hostdma, Configuration::Reference) => blocks::hostdma::<PspinHostmemDma>("hostdma"),
            (Self::Hostdma, Configuration::Board) => blocks::hostdma::<PspinHostmemDmaBoard>("hostdma-board"),
            (Self::Limiter, _) => blocks::limiter(),
            (Self::App, _) => app::run("app"),
        }
    }
}

fn main() -> ExitCode {
    spinneret_table::failed(work().map(|()| ExitCode::SUCCESS))
}

fn work() -> Result<()> {
    let Arguments { name, config, json } = Arguments::parse();
    let start = Instant::now();
    let figures = name.run(config)?;
    let seconds = start.elapsed().as_secs_f64();
    say(&figures.table);
    say(&figures.explanation);
    say(format_args!(
        "{} cycles in {seconds:.2} s ({:.0} thousand cycles a second)",
        figures.cycles,
        figures.cycles as f64 / seconds / 1000.0
    ));
    let default = || PathBuf::from(format!("target/bench/{}.json", figures.name));
    figures.write(&json.unwrap_or_else(default))
}

/// Results of a bench.
struct Figures {
    /// Name of the bench.
    name: &'static str,
    /// The rows for people.
    table: Table,
    /// Explanation printed below the table.
    explanation: String,
    /// The rows for programs.
    rows: Vec<Value>,
    /// Cycles that were simulated.
    cycles: u64,
}

impl Figures {
    /// Writes the rows for programs.
    fn write(&self, path: &Path) -> Result<()> {
        let document = json!({ "bench": self.name, "data_width_bits": 512, "rows": self.rows });
        let text = serde_json::to_string_pretty(&document)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))?;
        println!("figures: {}", path.display());
        Ok(())
    }
}

/// A column of one row: its heading and text for people, its key and value for programs.
struct Cell {
    heading: &'static str,
    text: String,
    figure: Option<(&'static str, Value)>,
}

impl Cell {
    /// A column for both.
    fn new(heading: &'static str, text: impl ToString, key: &'static str, value: impl Into<Value>) -> Self {
        Self {
            heading,
            text: text.to_string(),
            figure: Some((key, value.into())),
        }
    }

    /// A column for both with the same value.
    fn plain<T: ToString + Into<Value>>(heading: &'static str, key: &'static str, value: T) -> Self {
        Self::optional(heading, key, Some(value))
    }

    /// The same with a value that may be missing: empty and null.
    fn optional<T: ToString + Into<Value>>(
        heading: &'static str,
        key: &'static str,
        value: Option<T>,
    ) -> Self {
        let text = value.as_ref().map_or_else(String::new, T::to_string);
        Self::new(heading, text, key, value.map_or(Value::Null, T::into))
    }

    /// A column for people only.
    fn text(heading: &'static str, text: impl ToString) -> Self {
        let (text, figure) = (text.to_string(), None);
        Self {
            heading,
            text,
            figure,
        }
    }
}

impl Figures {
    /// Figures of rows that have the same columns, in which all but that one stand to the right.
    fn new(
        name: &'static str,
        left: Option<usize>,
        explanation: impl Into<String>,
        rows: Vec<Vec<Cell>>,
        cycles: u64,
    ) -> Self {
        let headings = rows.first().into_iter().flatten().map(|cell| cell.heading);
        let left: Vec<usize> = left.into_iter().collect();
        let mut table = spinneret_table::figures(headings, &left);
        table.add_rows(rows.iter().map(|row| row.iter().map(|cell| cell.text.clone())));
        let json = |row: Vec<Cell>| -> Value {
            let figures = row.into_iter().filter_map(|cell| cell.figure);
            let figures: Map<_, _> = figures.map(|(key, value)| (key.to_owned(), value)).collect();
            figures.into()
        };
        Self {
            name,
            table,
            explanation: explanation.into(),
            rows: rows.into_iter().map(json).collect(),
            cycles,
        }
    }
}

/// Throughput at 250 MHz in Gb/s, frame bytes only.
fn gbps(bytes: usize, cycles: f64) -> f64 {
    bytes as f64 * 8.0 / cycles * 0.25
}

/// A figure of the public design, if there is one, and how many times better ours is.
fn reference(key: &'static str, theirs: Option<f64>, ours: f64) -> [Cell; 2] {
    let ratio = theirs.map_or_else(String::new, |theirs| format!("{:.1}x", theirs / ours));
    [
        Cell::optional("reference", key, theirs),
        Cell::text("ratio", ratio),
    ]
}

/// Throughput of frames at 250 MHz.
fn throughput(bytes: usize, cycles: f64) -> Cell {
    let gbps = gbps(bytes, cycles);
    Cell::new("Gb/s at 250 MHz", format!("{gbps:.1}"), "gbps_at_250_mhz", gbps)
}
