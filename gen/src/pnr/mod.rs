//! Maximum clock frequency of generated blocks, by place and route.
//!
//! LUT levels, which [`crate::synth`] counts, hide long nets and carry chains. [`nextpnr`] places and routes a block for an
//! ECP5, whose open tools know its delays, [`report`] shows what came of it, and [`cli`] is the command. The method and its
//! limits are described in `docs/results/synthesis.md`.

pub mod nextpnr;

use self::nextpnr::{Nextpnr, Placed};
use crate::error::failed;
use crate::report::{number, print, table, tell};
use crate::synth::open_folder;
use crate::workspace::{self, Workspace};
use anyhow::Context as _;
use clap::Parser;
use spinneret_table::{Cell, Row};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Synthesises generated blocks for an ECP5-85, places and routes each separately, and prints its clock and slowest path.
///
/// It takes half a minute to some minutes a block. docs/results/synthesis.md describes the method.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pnr",
    version,
    after_help = "Exit codes: 0 done, 1 slower than --least-mhz, 2 refused"
)]
pub struct Arguments {
    /// Blocks to place and route [default: all blocks of the directory]
    #[arg(value_name = "BLOCK")]
    blocks: Vec<String>,

    /// Output directory of gen-verilog [default: gen/verilog/reference]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Program of nextpnr for ECP5
    #[arg(long, value_name = "PROGRAM", default_value = "nextpnr-ecp5")]
    nextpnr: PathBuf,

    /// Seed of the placement
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u32,

    /// Number of seeds, from --seed on; the table shows the median run
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    seeds: u32,

    /// Print the slowest path of each block, net by net
    #[arg(long)]
    paths: bool,

    /// Required frequency in MHz: exit with 1 if a block is slower with any seed
    #[arg(long, value_name = "MHZ")]
    least_mhz: Option<f64>,

    /// Put the figures into docs/results/synthesis.md
    #[arg(long)]
    record: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Result of a run without errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every block is fast enough, or there is no requirement.
    Done,
    /// A block is slower than `--least-mhz`.
    TooSlow,
}

/// Places and routes, and prints the result to standard output; progress goes to standard error.
///
/// # Errors
/// Unknown folders and blocks, missing or failing tools, and reports that cannot be read.
pub fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let folder = open_folder(arguments.dir.as_deref())?;
    let nextpnr = Nextpnr {
        program: arguments.nextpnr.clone(),
        seeds: arguments.seed..=arguments.seed.saturating_add(arguments.seeds - 1),
    };
    let mut all = Vec::new();
    for block in folder.select(&arguments.blocks)? {
        tell(format_args!("placing and routing {block} ... "));
        let start = Instant::now();
        let placed = nextpnr.place(&folder, block)?;
        let seconds = start.elapsed().as_secs_f64();
        tell(format_args!("{} in {seconds:.0} s\n", clock_text(&placed)));
        if arguments.record {
            let workspace = Workspace::find()?;
            let page = workspace.root().join("docs/results/synthesis.md");
            record(&page, &workspace.show(&page), &placed)?;
        }
        all.push(placed);
    }
    print(&if arguments.json {
        serde_json::to_string_pretty(&all)?
    } else {
        text(&all, arguments.paths)
    })?;
    Ok(judge(&all, arguments.least_mhz))
}

fn judge(all: &[Placed], least: Option<f64>) -> Outcome {
    let slowest = all
        .iter()
        .flat_map(|placed| placed.runs.iter().copied())
        .reduce(f64::min);
    match (slowest, least) {
        (Some(slowest), Some(least)) if slowest < least => Outcome::TooSlow,
        _ => Outcome::Done,
    }
}

const BEGIN: &str = "<!-- clocks: begin; written by `./dev pnr --record` -->";
const END: &str = "<!-- clocks: end -->";

/// Headings of the table; times are in ns.
const HEADINGS: [&str; 9] = [
    "block",
    "MHz",
    "all runs",
    "logic",
    "nets",
    "LUT",
    "FF",
    "RAM",
    "slowest path",
];

/// The clock of a block in words.
fn clock_text(placed: &Placed) -> String {
    placed
        .mhz()
        .map_or("no registers".to_owned(), |mhz| format!("{mhz:.0} MHz"))
}

/// A table for people.
fn text(all: &[Placed], with_paths: bool) -> String {
    let mut table = table(HEADINGS);
    for placed in all {
        let [numbers @ .., path] = cells(placed);
        let mut row = vec![Cell::new(&placed.block)];
        row.extend(numbers.map(|cell| number(Some(cell))));
        row.push(Cell::new(path));
        table.add_row(Row::from(row));
    }
    let mut text = format!(
        "{table}\nECP5-85, speed grade 8; of several runs the one in the middle. Logic and nets are ns on its slowest path.\n"
    );
    for placed in all.iter().filter(|_| with_paths) {
        for clock in &placed.clocks {
            let _ = writeln!(
                text,
                "\n{} ({}): {}",
                placed.block,
                clock.clock,
                clock.nets.join(" -> ")
            );
        }
    }
    text
}

/// The cells of a row, without the block's name; empty where there is nothing.
fn cells(placed: &Placed) -> [String; 8] {
    let used = |kind| placed.used.get(kind).map(u32::to_string).unwrap_or_default();
    let slowest = placed.slowest();
    let ns =
        |of: fn(&nextpnr::Clock) -> f64| slowest.map_or(String::new(), |clock| format!("{:.1}", of(clock)));
    [
        slowest.map_or(String::new(), |clock| format!("{:.0}", clock.mhz)),
        runs(placed),
        ns(|clock| clock.logic_ns),
        ns(|clock| clock.routing_ns),
        used("TRELLIS_COMB"),
        used("TRELLIS_FF"),
        used("DP16KD"),
        slowest.map_or(String::new(), |clock| format!("{} -> {}", clock.from, clock.to)),
    ]
}

/// The slowest and the fastest run, and how many there were.
fn runs(placed: &Placed) -> String {
    match placed.runs.as_slice() {
        [slowest, .., fastest] => format!("{slowest:.0} to {fastest:.0}, {} seeds", placed.runs.len()),
        _ => String::new(),
    }
}

/// Puts the figures of a block into the table of a page; rows of other blocks stay as they are.
///
/// # Errors
/// The page cannot be read or written, or lacks the marks around the table.
fn record(path: &Path, shown: &str, placed: &Placed) -> anyhow::Result<()> {
    let old = fs::read_to_string(path).map_err(failed("read", shown))?;
    let new = update(&old, placed).with_context(|| workspace::no_marks(shown, [BEGIN, END]))?;
    workspace::replace(path, &new).map_err(failed("write", shown))
}

fn update(page: &str, placed: &Placed) -> Option<String> {
    let (_, rest) = page.split_once(BEGIN)?;
    let (rows, _) = rest.split_once(END)?;
    let start = format!("| `{}` |", placed.block);
    let mut rows: Vec<String> = rows
        .lines()
        .filter(|line| line.starts_with("| `") && !line.starts_with(&start))
        .map(str::to_owned)
        .collect();
    let [numbers @ .., path] = cells(placed);
    let path = if path.is_empty() {
        path
    } else {
        format!("`{path}`")
    };
    rows.push(format!("{start} {} | {path} |", numbers.join(" | ")));
    rows.sort();
    let head = format!(
        "| {} |\n|---|{}---|\n",
        HEADINGS.join(" | "),
        "---:|".repeat(HEADINGS.len() - 2)
    );
    let body: String = rows.into_iter().map(|row| row + "\n").collect();
    workspace::between(page, [BEGIN, END], &(head + &body))
}

#[cfg(test)]
mod tests {
    use super::nextpnr::Clock;
    use super::*;

    fn placed(block: &str, mhz: f64) -> Placed {
        Placed {
            block: block.to_owned(),
            runs: vec![mhz],
            used: [("TRELLIS_FF".to_owned(), 3)].into(),
            clocks: vec![Clock {
                clock: "clk".to_owned(),
                mhz,
                logic_ns: 2.0,
                routing_ns: 6.04,
                from: "a".to_owned(),
                to: "b".to_owned(),
                nets: vec!["a".to_owned(), "c".to_owned()],
            }],
        }
    }

    #[test]
    fn rows_of_other_blocks_stay() {
        let page = format!("x\n{BEGIN}\n{END}\ny\n");
        let page = update(&page, &placed("two", 99.6)).unwrap();
        let page = update(&page, &placed("one", 150.0)).unwrap();
        let several = Placed {
            runs: vec![99.0, 101.0, 103.0],
            ..placed("two", 101.0)
        };
        let page = update(&page, &several).unwrap();
        let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(
            rows,
            [
                "| `one` | 150 |  | 2.0 | 6.0 |  | 3 |  | `a -> b` |",
                "| `two` | 101 | 99 to 103, 3 seeds | 2.0 | 6.0 |  | 3 |  | `a -> b` |"
            ]
        );
        assert!(page.starts_with("x\n") && page.ends_with("y\n"));
        assert_eq!(update("no marks", &placed("one", 1.0)), None);
    }

    #[test]
    fn prints_paths_on_request() {
        let text = |paths| text(&[placed("one", 150.0)], paths);
        assert!(text(true).contains("one (clk): a -> c"));
        assert!(!text(false).contains("one (clk)"));
    }
}
