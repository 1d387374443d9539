//! `./dev fuzz`: fuzzes all targets or some.

use anyhow::{Context as _, Result};
use clap::Parser;
use spinneret_fuzz::engine::{Figures, Plan, drive, run_input};
use spinneret_fuzz::targets::{ALL, Entry};
use spinneret_sim::seed::Seed;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Interval of progress messages.
const PROGRESS: Duration = Duration::from_millis(500);

/// Fuzzes everything that reads untrusted input
#[derive(Debug, Parser)]
struct Arguments {
    /// Targets to fuzz [default: all]
    #[arg(value_name = "TARGET", value_parser = targets())]
    targets: Vec<String>,
    /// Pieces of input for each target [default: the target's number for a full run]
    #[arg(long)]
    pieces: Option<u64>,
    /// Time limit for each target in seconds
    #[arg(long)]
    seconds: Option<u64>,
    /// Seed of all inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the first case
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Run this one input instead of generated ones
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pieces", "seconds", "first"])]
    input: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

fn targets() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(
        ALL.iter()
            .map(|entry| clap::builder::PossibleValue::new(entry.name).help(entry.about)),
    )
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let is_chosen = |entry: &&Entry| {
        arguments.targets.is_empty() || arguments.targets.iter().any(|name| name == entry.name)
    };
    let chosen = ALL.iter().filter(is_chosen);
    let mut all = Vec::new();
    for entry in chosen {
        if let Some(path) = &arguments.input {
            let input = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            let mut target = entry.make()?;
            let counts =
                run_input(&mut *target, &input).map_err(|why| anyhow::anyhow!("{}: {why}", entry.name))?;
            println!(
                "{}: {} {}, {} understood",
                entry.name,
                counts.pieces,
                target.unit(),
                counts.understood
            );
            continue;
        }
        all.push(fuzz(entry, arguments)?);
    }
    match arguments.json {
        true => println!("{}", serde_json::to_string_pretty(&all)?),
        false if !all.is_empty() => println!("{}", table(&all, arguments.seed)),
        false => {}
    }
    Ok(())
}

/// Fuzzes a target and shows the progress.
fn fuzz(entry: &Entry, arguments: &Arguments) -> Result<Figures> {
    let plan = Plan {
        seed: Seed(arguments.seed),
        first: arguments.first,
        pieces: arguments.pieces.unwrap_or(entry.pieces),
        time: arguments.seconds.map(Duration::from_secs),
        folder: PathBuf::from("target/fuzz"),
    };
    let is_terminal = std::io::stderr().is_terminal();
    let mut shown = Instant::now();
    let mut target = entry.make()?;
    let figures = drive(entry.name, &mut *target, &plan, |figures| {
        if is_terminal && shown.elapsed() >= PROGRESS {
            shown = Instant::now();
            eprint!(
                "\r{}: {} of {} {}, {:.0} s ",
                entry.name, figures.pieces, plan.pieces, figures.what, figures.seconds
            );
            let _ = std::io::stderr().flush();
        }
    });
    if is_terminal {
        eprint!("\r\x1b[K");
    }
    figures
}

fn table(all: &[Figures], seed: u64) -> String {
    let headings = [
        "target",
        "pieces",
        "",
        "understood",
        "inputs",
        "s",
        "slowest ms",
        "growth KiB",
    ];
    let mut table = spinneret_table::figures(headings, &[0, 2]);
    for figures in all {
        table.add_row([
            figures.target.clone(),
            figures.pieces.to_string(),
            figures.what.to_owned(),
            format!(
                "{:.0} %",
                100.0 * figures.understood as f64 / figures.pieces.max(1) as f64
            ),
            figures.cases.to_string(),
            format!("{:.0}", figures.seconds),
            format!("{:.0}", figures.slowest_ms),
            (figures.growth_bytes >> 10).to_string(),
        ]);
    }
    format!("{table}\nno panic, no hang, every check passed; seed {seed}")
}
