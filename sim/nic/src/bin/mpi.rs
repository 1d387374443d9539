//! `./dev bench mpi`: what is promised of messages of MPI's datatypes on two simulated NICs, and what was measured.

use anyhow::{Context as _, Result};
use clap::Parser;
use serde_json::json;
use spinneret_nic::experiments::{Point, Promise, TIMES, promises};
use spinneret_nic::mpi::Prices;
use spinneret_table::{figures, result_row, say};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Holds messages of MPI's datatypes to their bars, in simulated time: throughput, and how much a host computes
/// meanwhile.
#[derive(Debug, Parser)]
#[command(name = "bench mpi")]
struct Arguments {
    /// Elements of 110592 B of a message; the paper's are 2, 4, ... 20, which take an hour
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [2, 4])]
    elements: Vec<u64>,
    /// Where the figures go as JSON
    #[arg(long, value_name = "FILE", default_value = "target/bench/mpi.json")]
    json: PathBuf,
}

fn main() -> ExitCode {
    spinneret_table::failed(work())
}

/// Whether all promises are kept.
fn work() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let (points, promises) = promises(&arguments.elements, |point| eprintln!("{point}"))?;
    show(&promises);
    say(format_args!(
        "All of it is simulated: NICs at 250 MHz, clusters at 40 MHz. A look of the host takes {:?}, a word that it \
         writes {:?}, one that it reads {:?}; prices times {}: so much more. The host that sends takes no time.",
        Prices::STATED.look,
        Prices::STATED.written,
        Prices::STATED.read,
        TIMES[1]
    ));
    write(&arguments.json, &points, &promises)?;
    let missed = promises.iter().filter(|promise| !promise.is_kept()).count();
    match missed {
        0 => Ok(ExitCode::SUCCESS),
        _ => {
            eprintln!("bench mpi: {missed} of {} bars are missed", promises.len());
            Ok(ExitCode::FAILURE)
        }
    }
}

fn show(promises: &[Promise]) {
    let mut table = figures(["simulated", "bar", "lowest", "", "at", ""], &[0, 3, 4, 5]);
    for promise in promises {
        let digits = if promise.unit.is_empty() { 3 } else { 2 };
        let cells = [
            promise.what.clone(),
            promise.bar.to_string(),
            format!("{:.digits$}", promise.found),
            promise.unit.to_owned(),
            promise.place.clone(),
            if promise.is_kept() { "kept" } else { "MISSED" }.to_owned(),
        ];
        table.add_row(result_row(cells, promise.is_kept()));
    }
    println!("{table}");
}

fn write(path: &Path, points: &[Point], promises: &[Promise]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let kept: Vec<bool> = promises.iter().map(Promise::is_kept).collect();
    let figures = json!({ "promises": promises, "kept": kept, "points": points });
    std::fs::write(path, format!("{figures:#}\n"))
        .with_context(|| format!("{} cannot be written", path.display()))?;
    say(format_args!("figures: {}", path.display()));
    Ok(())
}
