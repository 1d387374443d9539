//! Table 1 of the paper "Introducing Molly": Game of Life on grids of ranks, with tiles of one size.
//!
//! One, two and four ranks are measured under MPI. Larger grids are computed: a rank's instances and messages are those of the
//! plan, an instance takes the time that it takes one rank here, and a message adds what it adds between two processes here.
//! So the network has no contention, and messages of a step follow one another.

use super::show;
use crate::harness::draw;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use spinneret_nic::picture::{Axis, COLORS, Panel, Series, Shape, Style};
use spinneret_table::bench::Spread;
use std::path::Path;
use std::process::Command;

/// Cells of a tile in each dimension, and times of a run.
const TILE: u64 = 128;
const STEPS: u64 = 100;
/// Runs of each measurement.
const RUNS: usize = 5;
/// The program.
const LIFE: &str = "life5";
/// Grids that are measured: rows and columns of ranks.
const MEASURED: [(u64, u64); 3] = [(1, 1), (2, 1), (2, 2)];
/// Grids of the paper with one tile of that size a rank, and their millions of updates a second: on one rank a node, except for the
/// last two, which have 64.
const PAPER: [(u64, f64); 7] = [
    (2, 7.0),
    (4, 26.1),
    (8, 104.8),
    (16, 418.9),
    (32, 1577.2),
    (64, 4064.6),
    (128, 16168.6),
];
const COLUMNS: [&str; 7] = [
    "grid",
    "field",
    "messages_a_step",
    "seconds",
    "million_updates_per_s",
    "paper",
    "from",
];
const SIZE: (u32, u32) = (900, 480);

/// The command `molly`.
struct Molly<'a>(&'a Path);

/// Work of a rank in the middle.
struct Work {
    instances: f64,
    messages: f64,
}

impl Molly<'_> {
    fn arguments(what: &str, (rows, columns): (u64, u64), steps: u64) -> [String; 9] {
        let given = [
            what,
            LIFE,
            "--json",
            "--size",
            &format!("{}x{}", rows * TILE, columns * TILE),
            "--geometry",
            &format!("{rows}x{columns}"),
            "--steps",
            &steps.to_string(),
        ];
        given.map(str::to_owned)
    }

    fn json(mut command: Command) -> Result<Value> {
        let output = command
            .output()
            .with_context(|| format!("{command:?} does not start"))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{command:?}: {errors}");
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Seconds of a run.
    fn seconds(&self, grid: (u64, u64)) -> Result<f64> {
        let one = || {
            let mut run = Command::new("mpirun");
            run.args(["--oversubscribe", "-n", &(grid.0 * grid.1).to_string()]);
            run.arg(self.0)
                .args(Self::arguments("run", grid, STEPS))
                .args(["--repeat", "3"]);
            run.env("OMPI_ALLOW_RUN_AS_ROOT", "1")
                .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            Self::json(run)?["seconds"]
                .as_f64()
                .context("molly prints no time")
        };
        let all = (0..RUNS).map(|_| one()).collect::<Result<Vec<f64>>>()?;
        Ok(Spread::from_iter(all).median())
    }

    /// Work of a step, of a plan for two.
    fn work(&self, grid: (u64, u64)) -> Result<Work> {
        const PLANNED: u64 = 2;
        let mut plan = Command::new(self.0);
        plan.args(Self::arguments("plan", grid, PLANNED));
        let plan = Self::json(plan)?;
        let instances = plan["overlap"]["instances"]
            .as_f64()
            .context("a plan has instances")?;
        // Some messages of the first step are sent before the loop begins.
        let halos = plan["halos"].as_array().context("a plan has halos")?;
        let in_loop = |halo: &&Value| {
            halo["when"]
                .as_str()
                .is_some_and(|when| when.starts_with("each turn"))
        };
        let senders = halos
            .iter()
            .filter(in_loop)
            .filter_map(|halo| halo["from"].as_array());
        Ok(Work {
            instances: instances / PLANNED as f64,
            messages: senders.map(|from| from.len() as f64).sum(),
        })
    }
}

/// A row of the table.
struct Row {
    grid: (u64, u64),
    messages: f64,
    seconds: f64,
    is_measured: bool,
}

impl Row {
    fn ranks(&self) -> u64 {
        self.grid.0 * self.grid.1
    }

    /// Millions of updates of cells a second.
    fn rate(&self) -> f64 {
        (self.ranks() * TILE * TILE * STEPS) as f64 / self.seconds / 1e6
    }

    fn cells(&self) -> Vec<String> {
        let (rows, columns) = self.grid;
        let paper = PAPER.iter().find(|(side, _)| self.grid == (*side, *side));
        vec![
            format!("{rows}x{columns}"),
            format!("{}x{}", rows * TILE, columns * TILE),
            format!("{}", self.messages),
            format!("{:.6}", self.seconds),
            format!("{:.1}", self.rate()),
            paper.map_or_else(String::new, |(_, rate)| rate.to_string()),
            if self.is_measured { "measured" } else { "computed" }.to_owned(),
        ]
    }
}

/// Measures and computes the table, and draws it.
pub(super) fn run(out: &Path) -> Result<()> {
    let program = std::env::current_exe()?.with_file_name("molly");
    let molly = Molly(&program);
    let mut rows = Vec::new();
    for grid in MEASURED {
        let Work { messages, .. } = molly.work(grid)?;
        let seconds = molly.seconds(grid)?;
        rows.push(Row {
            grid,
            messages,
            seconds,
            is_measured: true,
        });
    }
    let instance = rows[0].seconds / STEPS as f64 / molly.work(MEASURED[0])?.instances;
    let two = molly.work(MEASURED[1])?;
    ensure!(two.messages > 0.0, "two ranks send no messages in a step");
    let added = rows[1].seconds / STEPS as f64 - two.instances * instance;
    let message = added.max(0.0) / two.messages;
    eprintln!(
        "an instance takes {:.3} ns, a message {:.3} us",
        instance * 1e9,
        message * 1e6
    );
    for (side, _) in &PAPER[1..] {
        let grid = (*side, *side);
        let Work { instances, messages } = molly.work(grid)?;
        let seconds = STEPS as f64 * (instances * instance + messages * message);
        eprintln!("{side}x{side} planned");
        rows.push(Row {
            grid,
            messages,
            seconds,
            is_measured: false,
        });
    }
    let cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
    show(&out.join("molly-table1.csv"), &COLUMNS, &cells)?;
    draw(&out.join("molly-table1.svg"), SIZE, |area| {
        panel(&rows).draw(area)
    })
}

fn panel(rows: &[Row]) -> Panel {
    let line = |is_measured: bool| {
        let some = rows.iter().filter(|row| row.is_measured == is_measured);
        some.map(|row| (row.ranks() as f64, row.rate())).collect()
    };
    let published = PAPER.map(|(side, rate)| ((side * side) as f64, rate));
    let highest = rows.iter().map(Row::rate).fold(0.0, f64::max);
    Panel {
        title: "Game of Life, 128 x 128 cells a rank".to_owned(),
        x: Axis::log("ranks", 0.8..2e4),
        y: Axis::log("million updates a second", 1.0..highest * 2.0),
        series: vec![
            Series::new(
                "measured here",
                Style::line(COLORS[0]).with(Shape::Circle),
                line(true),
            ),
            Series::new(
                "computed by the plan",
                Style::dashed(COLORS[1]).with(Shape::Square),
                line(false),
            ),
            Series::new(
                "paper, Blue Gene/Q",
                Style::published(Shape::Triangle),
                published.to_vec(),
            ),
        ],
    }
}
