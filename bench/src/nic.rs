//! `./dev bench nic`: how fast one NIC is simulated on one core, with as much traffic as it takes.

use crate::echo::start;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};
use spinneret_nic::net::Recipe;
use spinneret_nic::nic::{Nic, NicConfig};
use spinneret_table::bench::{Bars, Spread, cells, machine};
use spinneret_table::{figures, say};
use std::time::Instant;

/// Frames that wait at the NIC's input, so that it never runs dry.
pub(crate) const WAITING: usize = 32;
/// Frames that are made before the clock runs, and sent again and again.
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
    /// Fraction of the second in which this thread had a processor; 0 if the system does not tell.
    #[serde(skip)]
    pub(crate) share: f64,
}

pub(crate) fn run(arguments: &Arguments, _: &mut Bars) -> Result<Value> {
    let Arguments { clocks, runs } = arguments;
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

/// Measures several runs, each of so many clocks of the core, with frames for `icmp_ping` as fast as the NIC takes them. No
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

/// Measures a NIC without any packet for so many clocks of the core; `skips` says whether time is skipped.
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

/// Lets so many clocks of the core pass, step by step.
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

/// Time for which this thread has had a processor, from Linux (`proc_pid_schedstat`, in nanoseconds).
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text
        .split_whitespace()
        .next()
        .and_then(|text| text.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}
