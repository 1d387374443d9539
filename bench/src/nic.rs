//! `./dev bench nic`: how fast one NIC is simulated on one core, with as much traffic as it takes.

use crate::harness::start;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};
use spinneret_nic::net::Recipe;
use spinneret_nic::nic::{Nic, NicConfig};
use spinneret_table::bench::{Bars, Spread, cells, machine};
use spinneret_table::{figures, say};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Frames that wait at the NIC's input, so that it never runs dry.
pub(crate) const WAITING: usize = 32;
/// Frames created before the clock runs, and sent repeatedly.
const FRAMES: u32 = 1024;
/// Clocks of the core before those that count: caches are warm, and the NIC is full.
const WARM_UP: u64 = 20_000;

/// Traffic, by name and description: frames back to back, without the check sequence.
const MIXES: &[(&str, &str)] = &[
    ("64 bytes", "icmp,size=64"),
    ("512 bytes", "icmp,size=512"),
    ("1500 bytes", "icmp,size=1500"),
    ("60 to 1500 bytes", "icmp,size=60..1500"),
];

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Clocks of the core in each run
    #[arg(long, default_value_t = 200_000)]
    clocks: u64,
    /// Runs of each kind of traffic; the median counts
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// Another build of this program, run in turn with this one: prints the ratio of their speeds with its spread
    ///
    /// Each run of one build is compared with the run of the other build next to it, with the same traffic. Speeds of two
    /// builds are only comparable within such a command, because the speed of a machine drifts.
    #[arg(long, value_name = "PROGRAM")]
    baseline: Option<PathBuf>,
}

/// Figures of a second of wall-clock time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Speed {
    /// Simulated clocks of the core.
    pub(crate) clocks: f64,
    /// Clocks of the core, including those that were skipped.
    pub(crate) passed: f64,
    /// Instructions of all HPUs.
    pub(crate) instructions: f64,
    /// Fraction of the second in which this thread ran on a processor; 0 if unknown.
    #[serde(skip)]
    pub(crate) share: f64,
}

pub(crate) fn run(arguments: &Arguments, _: &mut Bars) -> Result<Value> {
    let Arguments {
        clocks,
        runs,
        baseline,
    } = arguments;
    if let Some(baseline) = baseline {
        return compare(baseline, *clocks, *runs);
    }
    let headings = [
        "frames, back to back",
        "clocks/s",
        "least",
        "most",
        "clocks/s of the processor",
        "MIPS of the HPUs",
    ];
    let mut table = figures(headings, &[0]);
    let mut speed = Map::new();
    for (name, mix) in MIXES {
        let mut speeds = under_load(mix, *clocks, (*runs).into())?;
        speeds.sort_by(|left, right| left.clocks.total_cmp(&right.clocks));
        let median = speeds[speeds.len() / 2];
        let runs: Spread = speeds.iter().map(|speed| speed.clocks).collect();
        let own = median.clocks / median.share.max(f64::MIN_POSITIVE);
        let mut row = vec![(*name).to_owned()];
        row.extend(cells(runs.range(), 0));
        row.extend([format!("{own:.0}"), format!("{:.2}", median.instructions / 1e6)]);
        table.add_row(row);
        let figures = json!({
            "median": median.clocks, "runs": runs.values(), "share": median.share, "instructions": median.instructions
        });
        speed.insert((*name).to_owned(), figures);
    }
    println!("{table}");
    say(format_args!(
        "Simulated clocks of the core in a second, on one core: median of {runs} runs of {clocks} clocks; no time is \
         skipped. Time that other programs take from that core does not count in the second column from the right."
    ));
    Ok(json!({ "machine": machine(), "clocks": clocks, "speed": speed }))
}

/// Compares this program with another build of it. In each round both run once, one after the other.
///
/// # Errors
/// If one of them fails, or the other is no such program.
fn compare(baseline: &Path, clocks: u64, rounds: u16) -> Result<Value> {
    let own = std::env::current_exe()?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("speed.json");
    let mut speeds = Vec::new();
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        // Each build is the first in every other round, so that a drift of the machine's speed favours neither.
        let measure = |program| speeds_of(program, clocks, &file);
        let (own, other) = match round % 2 {
            0 => {
                let other = measure(baseline)?;
                (measure(&own)?, other)
            }
            _ => (measure(&own)?, measure(baseline)?),
        };
        speeds.push([own, other]);
    }
    let headings = [
        "frames, back to back",
        "clocks/s",
        "of the baseline",
        "ratio",
        "least",
        "most",
    ];
    let mut table = figures(headings, &[0]);
    let mut ratios = Map::new();
    for (place, (name, _)) in MIXES.iter().enumerate() {
        let of = |build: usize| -> Spread { speeds.iter().map(|round| round[build][place]).collect() };
        let ratio: Spread = speeds
            .iter()
            .map(|[own, other]| own[place] / other[place])
            .collect();
        let (own, other) = (of(0), of(1));
        let mut row = vec![(*name).to_owned()];
        row.extend(cells([own.median(), other.median()], 0));
        row.extend(cells(ratio.range(), 3));
        table.add_row(row);
        let figures = json!({
            "ratio": ratio.median(), "ratios": ratio.values(), "runs": own.values(), "baseline_runs": other.values()
        });
        ratios.insert((*name).to_owned(), figures);
    }
    println!("{table}");
    say(format_args!(
        "Simulated clocks of the core in a second, in {rounds} rounds of {clocks} clocks each. The ratio is that of this \
         program to {} in the same round: median, least and most; above 1, this program is faster.",
        baseline.display()
    ));
    let baseline = baseline.display().to_string();
    Ok(json!({ "machine": machine(), "clocks": clocks, "baseline": baseline, "speed": ratios }))
}

/// Runs a build of this program once, and returns its speeds by [`MIXES`].
fn speeds_of(program: &Path, clocks: u64, file: &Path) -> Result<Vec<f64>> {
    let output = Command::new(program)
        .args(["nic", "--runs", "1", "--clocks", &clocks.to_string(), "--json"])
        .arg(file)
        .output()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "{} failed: {}",
        program.display(),
        errors.trim()
    );
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // If the next build writes nothing, this file must not be read as its result.
    let _ = std::fs::remove_file(file);
    let figures: Value = serde_json::from_str(&text).unwrap_or_default();
    let speeds = MIXES
        .iter()
        .map(|(name, _)| figures["speed"][name]["median"].as_f64());
    speeds.collect::<Option<_>>().with_context(|| {
        let program = program.display();
        format!("{program} wrote no speeds: it must be a build of spinneret-bench")
    })
}

/// Measures several runs of `clocks` core clocks each, with frames for `icmp_ping` as fast as the NIC takes them. No
/// time is skipped.
///
/// # Errors
/// If the NIC fails.
pub(crate) fn under_load(mix: &str, clocks: u64, runs: usize) -> Result<Vec<Speed>> {
    let config = NicConfig {
        skips: false,
        ..NicConfig::default()
    };
    let mut nic = start("icmp_ping", config)?;
    let recipe: Recipe = mix.parse()?;
    let frames: Vec<Vec<u8>> = (0..FRAMES).map(|number| recipe.frame(number)).collect();
    let mut next = frames.iter().cycle();
    let mut run = |clocks| {
        measure(&mut nic, clocks, |nic| {
            while nic.receiving() < WAITING
                && let Some(frame) = next.next()
            {
                nic.receive(frame.clone());
            }
            nic.step(u64::MAX)?;
            while nic.take_wire().is_some() {}
            nic.take_events();
            Ok(())
        })
    };
    run(WARM_UP)?;
    (0..runs).map(|_| run(clocks)).collect()
}

/// Measures an idle NIC for `clocks` core clocks; `skips` enables skipping of time.
///
/// # Errors
/// If the NIC fails.
pub(crate) fn idle(clocks: u64, skips: bool) -> Result<Speed> {
    let config = NicConfig {
        skips,
        ..NicConfig::default()
    };
    let mut nic = start("icmp_ping", config)?;
    measure(&mut nic, clocks, |nic| {
        let step = nic.config().core_ps * 1000;
        Ok(nic.run_until(nic.now_ps() + step)?)
    })
}

/// Steps the NIC until this many core clocks have passed.
fn measure(nic: &mut Nic, clocks: u64, mut step: impl FnMut(&mut Nic) -> Result<()>) -> Result<Speed> {
    let state = |nic: &Nic| [nic.simulated_clocks(), nic.now_ps(), nic.cluster().instructions()];
    let (begun, had, before) = (Instant::now(), processor_seconds(), state(nic));
    let end = before[1] + clocks * nic.config().core_ps;
    while nic.now_ps() < end {
        step(nic)?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let had = processor_seconds() - had;
    let after = state(nic);
    let rate = |place: usize| (after[place] - before[place]) as f64 / seconds;
    Ok(Speed {
        clocks: rate(0),
        passed: rate(1) / nic.config().core_ps as f64,
        instructions: rate(2),
        share: had / seconds,
    })
}

/// Returns the processor time of this thread, from Linux (`proc_pid_schedstat`, in nanoseconds).
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text
        .split_whitespace()
        .next()
        .and_then(|text| text.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}
