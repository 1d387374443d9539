//! `./dev bench laptop`: how fast the NIC on a laptop is, and what it does.

use anyhow::{Context as _, Result};
use clap::Parser;
use serde_json::{Value, json};
use spinneret_nic::laptop::{
    Load, PAPER_ICMP, PAPER_UDP, RoundTrip, Speed, full_load, icarus, idle, ping_pong, plot, round_trips,
    traffic,
};
use spinneret_table::{figures, say};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Packets of the paper's Figure 1.
const PINGS: u32 = 32;
/// Runs of which the median counts.
const RUNS: usize = 5;
/// Clocks of the core in each measurement of speed.
const CLOCKS: u64 = 200_000;
/// Clocks that pass while time is left out.
const SKIPPED_CLOCKS: u64 = 1_000_000_000;
/// Clocks that Icarus gets.
const ICARUS_CLOCKS: u64 = 2_000;

/// Measures the NIC on a laptop: pings, speed of the simulation, round trips, full load.
#[derive(Debug, Parser)]
#[command(name = "bench laptop")]
struct Arguments {
    /// Packets at full load
    #[arg(long, default_value_t = 100_000)]
    packets: u64,
    /// Verilog of `spinneret_app`, for the comparison with Icarus: a folder that gen-verilog wrote
    #[arg(long, value_name = "DIR")]
    verilog: Option<PathBuf>,
    /// Where the figures go as JSON
    #[arg(long, value_name = "FILE", default_value = "target/bench/laptop.json")]
    json: PathBuf,
    /// Where the plot of round trips goes
    #[arg(
        long,
        value_name = "FILE",
        default_value = "target/bench/laptop-round-trips.svg"
    )]
    plot: PathBuf,
}

fn main() -> ExitCode {
    spinneret_table::failed(work().map(|()| ExitCode::SUCCESS))
}

fn work() -> Result<()> {
    let arguments = Arguments::parse();
    let pings = figure_1()?;
    let speeds = speeds(arguments.verilog.as_deref())?;
    let (icmp, udp) = (round_trips("icmp_ping", "icmp")?, round_trips("udp_ping", "udp")?);
    show_round_trips(&icmp, &udp);
    let load = full_load(arguments.packets)?;
    show_load(&load);
    for file in [&arguments.json, &arguments.plot] {
        let folder = file.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    plot(&arguments.plot, &icmp, &udp)
        .with_context(|| format!("{} cannot be drawn", arguments.plot.display()))?;
    let figures = json!({
        "ping_pong_seconds": pings.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
        "speed": speeds,
        "icmp": trips(&icmp),
        "udp": trips(&udp),
        "load": {
            "sent": load.sent, "answered": load.answered,
            "dropped": load.dropped.iter().map(|(cause, count)| json!({ "cause": cause, "packets": count })).collect::<Vec<_>>(),
            "microseconds": load.microseconds, "clocks": load.clocks, "seconds": load.wall.as_secs_f64(),
            "memory": load.memory,
        },
    });
    std::fs::write(&arguments.json, format!("{figures:#}\n"))
        .with_context(|| format!("{} cannot be written", arguments.json.display()))?;
    say(format_args!(
        "figures: {}, round trips: {}",
        arguments.json.display(),
        arguments.plot.display()
    ));
    Ok(())
}

/// The ping-pong of the paper's Figure 1, start-up included.
fn figure_1() -> Result<Vec<Duration>> {
    let mut pings = (0..RUNS)
        .map(|_| ping_pong(PINGS))
        .collect::<Result<Vec<_>, _>>()?;
    pings.sort_unstable();
    say(format_args!(
        "{PINGS} pings, start-up included: {:.0} ms (median of {RUNS}, {:.0} to {:.0})",
        millis(pings[RUNS / 2]),
        millis(pings[0]),
        millis(pings[RUNS - 1])
    ));
    Ok(pings)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Clocks and instructions a second, and Icarus beside it.
fn speeds(verilog: Option<&Path>) -> Result<Value> {
    let mut table = figures(
        [
            "simulation",
            "simulated clocks/s",
            "clocks that pass/s",
            "MIPS of the HPUs",
        ],
        &[0],
    );
    let mut figures = serde_json::Map::new();
    let mut row = |name: &str, speed: Speed| {
        let rate = |value: f64| format!("{value:.0}");
        table.add_row([
            name.to_owned(),
            rate(speed.clocks),
            rate(speed.passed),
            format!("{:.2}", speed.instructions / 1e6),
        ]);
        figures.insert(
            name.to_owned(),
            json!({ "clocks": speed.clocks, "passed": speed.passed, "instructions": speed.instructions }),
        );
    };
    row("packets of 1442 bytes, full rate", traffic(CLOCKS)?);
    row("idle, every clock", idle(CLOCKS, false)?);
    row("idle, time left out", idle(SKIPPED_CLOCKS, true)?);
    if let Some(folder) = verilog {
        row(
            "Icarus, the same hardware, unmatched packets",
            icarus(folder, ICARUS_CLOCKS)?,
        );
    }
    println!("{}", table);
    Ok(Value::Object(figures))
}

fn show_round_trips(icmp: &[RoundTrip], udp: &[RoundTrip]) {
    let mut table = figures(
        [
            "payload",
            "ICMP, us",
            "paper",
            "clocks of the handler",
            "UDP, us",
            "clocks of the handler",
        ],
        &[0],
    );
    for (icmp, udp) in icmp.iter().zip(udp) {
        let paper = PAPER_ICMP.iter().find(|(payload, _)| *payload == icmp.payload);
        table.add_row([
            icmp.payload.to_string(),
            format!("{:.1}", icmp.microseconds),
            paper
                .map(|(_, median)| format!("{median:.0}"))
                .unwrap_or_default(),
            icmp.cycles.to_string(),
            format!("{:.1}", udp.microseconds),
            udp.cycles.to_string(),
        ]);
    }
    println!("{}", table);
    say(format_args!(
        "Round trips are those of the NIC, from its first input to its last output; the paper's contain a client, its NIC and \
         a cable. UDP took {} to {} us there.",
        PAPER_UDP[0], PAPER_UDP[1]
    ));
}

fn show_load(load: &Load) {
    let dropped: Vec<String> = load
        .dropped
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(cause, count)| format!("{count} {cause}"))
        .collect();
    say(format_args!(
        "{} packets of 60 to 1500 bytes for udp_ping at full rate: {} answered, all rightly, dropped: {}; {:.0} us in {:.1} s, \
         {} thousand clocks; memory {} to {} MB",
        load.sent,
        load.answered,
        dropped.join(", "),
        load.microseconds,
        load.wall.as_secs_f64(),
        load.clocks / 1000,
        load.memory[0] >> 20,
        load.memory[1] >> 20
    ));
}

fn trips(trips: &[RoundTrip]) -> Vec<Value> {
    let one = |trip: &RoundTrip| json!({ "payload": trip.payload, "microseconds": trip.microseconds, "cycles": trip.cycles });
    trips.iter().map(one).collect()
}
