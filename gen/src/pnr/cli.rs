//! The `pnr` command, which `./dev pnr` runs.

use super::nextpnr::{Nextpnr, Placed};
use super::report;
use crate::synth::cli::open_folder;
use crate::terminal::{print, tell};
use crate::workspace::Workspace;
use clap::Parser;
use std::path::PathBuf;
use std::time::Instant;

/// Synthesises generated blocks for an ECP5-85, places and routes each by itself, and prints its clock and slowest path.
///
/// It takes half a minute to some minutes a block. docs/synthesis.md describes the method.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pnr",
    version,
    after_help = "Exit codes: 0 done, 1 slower than --least-mhz, 2 refused"
)]
pub struct Arguments {
    /// Blocks to place and route [default: all of the folder]
    #[arg(value_name = "BLOCK")]
    blocks: Vec<String>,

    /// Folder that gen-verilog wrote [default: gen/verilog/reference]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// nextpnr for ECP5
    #[arg(long, value_name = "PROGRAM", default_value = "nextpnr-ecp5")]
    nextpnr: PathBuf,

    /// Where placement starts from
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u32,

    /// Place so many times, from --seed on; the table shows the run in the middle
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    seeds: u32,

    /// Show the slowest path of each block, net by net
    #[arg(long)]
    paths: bool,

    /// Exit with 1 if a block is slower with any seed
    #[arg(long, value_name = "MHZ")]
    least_mhz: Option<f64>,

    /// Put the figures into docs/synthesis.md
    #[arg(long)]
    record: bool,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// How a run that was not refused ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every block is fast enough, or nobody asked.
    Done,
    /// A block is slower than `--least-mhz`.
    TooSlow,
}

/// Places and routes, and tells on standard output; progress goes to standard error.
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
        tell(format_args!("{} in {seconds:.0} s\n", report::clock(&placed)));
        if arguments.record {
            let workspace = Workspace::find()?;
            let page = workspace.root().join("docs/synthesis.md");
            report::record(&page, &workspace.show(&page), &placed)?;
        }
        all.push(placed);
    }
    print(&if arguments.json {
        serde_json::to_string_pretty(&all)?
    } else {
        report::text(&all, arguments.paths)
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
