//! `./dev bench nic`: how fast one NIC is simulated on one core of this machine, with as much traffic as it takes.

use anyhow::{Context as _, Result};
use clap::Parser;
use serde_json::json;
use spinneret_nic::laptop::{MIXES, Speed, under_load};
use spinneret_table::say;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Measures how many clocks of the core are simulated in a second, with frames of several sizes for `icmp_ping`.
#[derive(Debug, Parser)]
#[command(name = "bench nic")]
struct Arguments {
    /// Clocks of the core in each run
    #[arg(long, default_value_t = 200_000)]
    clocks: u64,
    /// Runs of each kind of traffic, of which the median counts
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Where the figures go as JSON
    #[arg(long, value_name = "FILE", default_value = "target/bench/nic.json")]
    json: PathBuf,
}

fn main() -> ExitCode {
    spinneret_table::failed(work().map(|()| ExitCode::SUCCESS))
}

fn work() -> Result<()> {
    let arguments = Arguments::parse();
    let machine = machine();
    let mut table = spinneret_table::figures(
        [
            "frames, back to back",
            "clocks/s",
            "least",
            "most",
            "clocks/s of the processor",
            "MIPS of the HPUs",
        ],
        &[0],
    );
    let mut figures = serde_json::Map::new();
    for (name, mix) in MIXES {
        let mut speeds = under_load(mix, arguments.clocks, arguments.runs.max(1))?;
        speeds.sort_by(|left, right| left.clocks.total_cmp(&right.clocks));
        let median = speeds[speeds.len() / 2];
        let [least, most] =
            [speeds.first(), speeds.last()].map(|speed| speed.map_or(0.0, |speed| speed.clocks));
        table.add_row([
            (*name).to_owned(),
            format!("{:.0}", median.clocks),
            format!("{least:.0}"),
            format!("{most:.0}"),
            format!("{:.0}", median.clocks / median.share.max(f64::MIN_POSITIVE)),
            format!("{:.2}", median.instructions / 1e6),
        ]);
        let runs: Vec<f64> = speeds.iter().map(|speed: &Speed| speed.clocks).collect();
        figures.insert(
            (*name).to_owned(),
            json!({ "median": median.clocks, "runs": runs, "share": median.share, "instructions": median.instructions }),
        );
    }
    println!("{table}");
    say(format_args!(
        "Simulated clocks of the core a second, on one core of {machine}: median of {} runs of {} clocks; no time is left out. What \
         others take of that core does not count in the second column from the right.",
        arguments.runs.max(1),
        arguments.clocks
    ));
    let folder = arguments.json.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let figures = json!({ "machine": machine, "clocks": arguments.clocks, "speed": figures });
    std::fs::write(&arguments.json, format!("{figures:#}\n"))
        .with_context(|| format!("{} cannot be written", arguments.json.display()))
}

/// The processor and how many of its cores there are, as Linux tells them.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("an unknown processor", |model| {
        model.trim_start_matches([' ', '\t', ':'])
    });
    format!("{model} with {cores} cores")
}
