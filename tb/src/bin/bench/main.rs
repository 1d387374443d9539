//! `./dev bench NAME`: counts cycles in the simulation of a block.

mod blocks;
mod hpu;
mod paths;
mod tenants;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use serde_json::{Map, Value, json};
use spinneret_models::{
    MqnicAppBlock, MqnicAppBlockW64, MqnicAppBlockW128, MqnicAppBlockW256, PspinEgressDatapath,
    PspinEgressDatapathBoard, PspinHostmemDma, PspinHostmemDmaBoard, PspinIngressDatapath,
    PspinIngressDatapathBoard, PspinPktMatch, PspinPktMatchIp,
};
use spinneret_sim::prelude::*;
use spinneret_table::{Table, say};
use spinneret_tb::app::{
    AppBench, Clocks, Crossing, Work, measure_latency, measure_rate, measure_work, prepare_work,
};
use spinneret_tb::bench::Finish;
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
    /// The measurement to run.
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
    /// Handlers on the pipeline of 4 and 8 threads.
    Hpu,
    /// Shares of HPU time of contexts, in spinneret's own clusters.
    Tenants,
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
            (Self::Ingress, Configuration::Reference) => {
                paths::ingress::<PspinIngressDatapath>("ingress", &paths::NARROW_INGRESS)
            }
            (Self::Ingress, Configuration::Board) => {
                paths::ingress::<PspinIngressDatapathBoard>("ingress-board", &[])
            }
            (Self::Egress, Configuration::Reference) => {
                paths::egress::<PspinEgressDatapath>("egress", &paths::NARROW_EGRESS)
            }
            (Self::Egress, Configuration::Board) => {
                paths::egress::<PspinEgressDatapathBoard>("egress-board", &[])
            }
            (Self::Hostdma, Configuration::Reference) => blocks::hostdma::<PspinHostmemDma>("hostdma"),
            (Self::Hostdma, Configuration::Board) => blocks::hostdma::<PspinHostmemDmaBoard>("hostdma-board"),
            (Self::Limiter, _) => blocks::limiter(),
            (Self::App, _) => app("app"),
            (Self::Hpu, _) => hpu::handlers(),
            (Self::Tenants, _) => tenants::shares(),
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
        let document = json!({ "bench": self.name, "rows": self.rows });
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

/// Frame sizes in bytes of what passes: one beat, two and 24.
const PASSING: [usize; 3] = [64, 65, 1500];
/// Packet sizes in bytes of what goes to the cluster.
const MATCHED: [usize; 2] = [64, 1500];
/// Clocks until Corundum's DMA begins to move bytes: at once, and as far away as host memory is.
const DMA_CLOCKS: [u64; 2] = [0, 112];

/// A line of the table; what was not measured, or has no meaning, is empty.
#[derive(Default)]
struct AppRow {
    path: &'static str,
    /// Bits of a beat.
    data: usize,
    size: Option<usize>,
    cluster_mhz: Option<f64>,
    dma_clocks: Option<u64>,
    latency: Option<u64>,
    /// Cycles a packet, and the bytes that are moved for each.
    rate: Option<(f64, u64)>,
}

/// Measures everything; the figures get that name.
fn app(name: &'static str) -> Result<Figures> {
    let mut all = AppRows::default();
    // Passing frames do not depend on the cluster's clock.
    all.measure::<MqnicAppBlock>(Clocks::BOARD, &Crossing::ALL, &Work::ALL)?;
    all.measure::<MqnicAppBlock>(Clocks::EQUAL, &[], &Work::ALL)?;
    let (passing, works) = ([Crossing::Packet, Crossing::Frame], [Work::Take, Work::Send]);
    all.measure::<MqnicAppBlockW256>(Clocks::EQUAL, &passing, &works)?;
    all.measure::<MqnicAppBlockW128>(Clocks::EQUAL, &passing, &works)?;
    all.measure::<MqnicAppBlockW64>(Clocks::EQUAL, &passing, &works)?;
    let rows = all.rows.iter().map(AppRow::cells).collect();
    Ok(Figures::new(name, Some(0), APP_EXPLANATION, rows, all.cycles))
}

/// Rows of the table, and the cycles that were simulated.
#[derive(Default)]
struct AppRows {
    rows: Vec<AppRow>,
    cycles: u64,
}

impl AppRows {
    /// Measures a model.
    fn measure<M: Model>(&mut self, clocks: Clocks, passing: &[Crossing], works: &[Work]) -> Result<()> {
        let sim = Simulation::with_domains(M::with_seed(1), &clocks.domains());
        let sim = sim.context("the model cannot be simulated")?;
        let frames = sim.dut.instance().find("s_axis_if_rx_0_tdata");
        let data = frames.context("the model has no frames from the wire")?.width();
        let mut bench = prepare_work(sim, clocks);
        let passing = passing.iter().flat_map(|crossing| pass(&mut bench, *crossing));
        let mut rows: Vec<_> = passing.collect();
        rows.extend(works.iter().flat_map(|work| working(&mut bench, *work)));
        self.rows
            .extend(rows.into_iter().map(|row| AppRow { data, ..row }));
        self.cycles += bench.now();
        bench.finish();
        Ok(())
    }
}

const APP_EXPLANATION: &str = "\
cycles of the core's clock, 250 MHz; nobody pauses
first in to first out: from the cycle that takes the first beat to the one that gives it, nothing else under way
cycles a packet: back to back; of matched packets from HER to HER, with the wire never idle: those are dropped that
find no room. The cluster is the stand-in, which does one packet after the other: these are its figures, not PsPIN's
DMA latency: clocks until the model of Corundum's DMA begins to move bytes, one line of the RAM a clock";

/// Passing frames of all sizes.
fn pass<M: Model>(bench: &mut AppBench<M>, crossing: Crossing) -> Vec<AppRow> {
    let path = crossing.name();
    let Some(flow) = crossing.flow() else {
        return vec![AppRow {
            path,
            latency: Some(measure_latency(bench, crossing, 0)),
            ..AppRow::default()
        }];
    };
    let row = |size| AppRow {
        path,
        size: Some(size),
        latency: Some(measure_latency(bench, crossing, size)),
        rate: Some((measure_rate(bench, flow, size), size as u64)),
        ..AppRow::default()
    };
    PASSING.map(row).into()
}

/// Work for the cluster, with packets of all sizes and DMAs near and far.
fn working<M: Model>(bench: &mut AppBench<M>, work: Work) -> Vec<AppRow> {
    let far: &[u64] = if work.is_host() {
        &DMA_CLOCKS
    } else {
        &DMA_CLOCKS[..1]
    };
    // The packet is only what starts a read.
    let sizes = if work == Work::Read {
        &MATCHED[..1]
    } else {
        &MATCHED
    };
    let all = sizes
        .iter()
        .flat_map(|size| far.iter().map(|clocks| (*size, *clocks)));
    let row = |(size, clocks)| AppRow {
        path: work.name(),
        size: Some(size),
        cluster_mhz: Some(1e6 / bench.clocks.cluster_ps as f64),
        dma_clocks: work.is_host().then_some(clocks),
        rate: Some((measure_work(bench, work, size, clocks), work.bytes(size))),
        ..AppRow::default()
    };
    all.map(row).collect()
}

impl AppRow {
    fn cells(&self) -> Vec<Cell> {
        let figure = |heading, key, digits: usize, of: fn(f64, u64) -> f64| {
            let figure = self.rate.map(|(cycles, bytes)| of(cycles, bytes));
            let text = figure.map_or_else(String::new, |figure| format!("{figure:.digits$}"));
            Cell::new(heading, text, key, figure)
        };
        vec![
            Cell::plain("path", "path", self.path),
            Cell::optional("bits a beat", "data_width", Some(self.data)),
            Cell::optional("bytes", "bytes", self.size),
            Cell::optional("cluster MHz", "cluster_mhz", self.cluster_mhz),
            Cell::optional("DMA latency", "dma_latency_cycles", self.dma_clocks),
            Cell::optional("first in to first out", "latency_cycles", self.latency),
            figure("cycles a packet", "cycles_per_packet", 2, |cycles, _| cycles),
            figure("packets a cycle", "packets_per_cycle", 4, |cycles, _| {
                1.0 / cycles
            }),
            figure("bytes a cycle", "bytes_per_cycle", 2, |cycles, bytes| {
                bytes as f64 / cycles
            }),
            figure("Gb/s", "gbps_at_250_mhz", 1, |cycles, bytes| {
                gbps(bytes as usize, cycles)
            }),
        ]
    }
}
