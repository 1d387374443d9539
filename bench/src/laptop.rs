//! `./dev bench laptop`: simulation speed of a NIC, and its round trips.

use crate::figure1;
use crate::harness::{HEADERS, alone, draw, exchange, memory_bytes, settle, start};
use crate::nic::{Speed, WAITING, idle, under_load};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};
use spinneret_cluster::Event;
use spinneret_nic::net::{MIN_FRAME_BYTES, Recipe};
use spinneret_nic::nic::{Nic, NicConfig};
use spinneret_nic::picture::{Axis, COLORS, Panel, Series, Shape, Style};
use spinneret_regmap::{egress, ingress};
use spinneret_table::bench::Bars;
use spinneret_table::{figures, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Clocks of the core in each measurement of speed.
const CLOCKS: u64 = 200_000;
/// Clocks that pass while time is skipped.
const SKIPPED_CLOCKS: u64 = 1_000_000_000;
/// The row of Icarus.
const ICARUS: &str = "Icarus, the same hardware, unmatched packets";
/// Clocks that Icarus simulates.
const ICARUS_CLOCKS: u64 = 2_000;
/// Both clocks, a reset, and packets that match nothing, one after the other.
const BENCH: &str = include_str!("icarus.v");
/// Clocks of the shorter of two runs; its time is the fixed cost.
const SHORT: u64 = 100;
/// The paper's medians in microseconds: payload and round trip of ICMP, answered on the NIC.
const PAPER_ICMP: [(usize, f64); 4] = [(16, 27.0), (416, 44.0), (816, 59.0), (1216, 76.0)];
/// Its range of round trips of UDP.
const PAPER_UDP: [f64; 2] = [29.0, 45.0];
/// Size of the picture in points.
const SIZE: (u32, u32) = (800, 480);

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Packets at full load
    #[arg(long, default_value_t = 100_000)]
    packets: u64,
    /// Verilog of `spinneret_app` for the comparison with Icarus: a folder that gen-verilog wrote
    #[arg(long, value_name = "DIR")]
    verilog: Option<PathBuf>,
    /// File for the plot of round trips
    #[arg(
        long,
        value_name = "FILE",
        default_value = "target/bench/laptop-round-trips.svg"
    )]
    plot: PathBuf,
    /// File for the plot of the paper's Figure 1
    #[arg(long, value_name = "FILE", default_value = "target/bench/figure1.svg")]
    figure1: PathBuf,
    /// Times of FPsPIN's cluster for it, which `./dev interop --fpspin-dir DIR --step ping-pong` writes
    #[arg(long, value_name = "FILE", default_value = "target/bench/ping-pong.json")]
    public: PathBuf,
}

/// The round trip of one payload.
#[derive(Clone, Copy, Debug, Serialize)]
struct RoundTrip {
    /// Bytes of payload.
    payload: usize,
    /// Time from the first beat into the NIC to the last one out of it.
    microseconds: f64,
    /// Clocks of the handler.
    cycles: u64,
}

pub(crate) fn run(arguments: &Arguments, _: &mut Bars) -> Result<Value> {
    let speed = speeds(arguments.verilog.as_deref())?;
    let icarus = speed.get(ICARUS).and_then(|speed| speed["clocks"].as_f64());
    let pings = figure1::run(icarus, &arguments.public, &arguments.figure1)?;
    let (icmp, udp) = (round_trips("icmp_ping", "icmp")?, round_trips("udp_ping", "udp")?);
    show_round_trips(&icmp, &udp);
    let load = full_load(arguments.packets)?;
    load.show();
    draw(&arguments.plot, SIZE, |area| panel(&icmp, &udp).draw(area))?;
    say(format_args!("plot of round trips: {}", arguments.plot.display()));
    Ok(json!({ "figure1": pings, "speed": speed, "icmp": icmp, "udp": udp, "load": load }))
}

/// Clocks and instructions a second, also of Icarus.
fn speeds(verilog: Option<&Path>) -> Result<Map<String, Value>> {
    let headings = [
        "simulation",
        "simulated clocks/s",
        "clocks that pass/s",
        "MIPS of the HPUs",
    ];
    let mut table = figures(headings, &[0]);
    let mut speeds = Map::new();
    let mut row = |name: &str, speed: Speed| {
        table.add_row([
            name.to_owned(),
            format!("{:.0}", speed.clocks),
            format!("{:.0}", speed.passed),
            format!("{:.2}", speed.instructions / 1e6),
        ]);
        speeds.insert(name.to_owned(), json!(speed));
    };
    for speed in under_load("icmp,size=1442", CLOCKS, 1)? {
        row("packets of 1442 bytes, full rate", speed);
    }
    row("idle, every clock", idle(CLOCKS, false)?);
    row("idle, time left out", idle(SKIPPED_CLOCKS, true)?);
    if let Some(folder) = verilog {
        let speed = icarus(folder, ICARUS_CLOCKS)?;
        row(ICARUS, speed);
    }
    println!("{table}");
    Ok(speeds)
}

/// Round trips of an example's handlers for payloads from 16 to 1400 bytes.
fn round_trips(example: &str, protocol: &str) -> Result<Vec<RoundTrip>> {
    let mut nic = start(example, NicConfig::default())?;
    let mut payloads: Vec<usize> = (16..=1400).step_by(100).chain([56, 1400]).collect();
    payloads.sort_unstable();
    let mut trip = |payload: usize| {
        // 16 bytes are 18 on the wire, where no frame is shorter.
        let size = (HEADERS + payload).max(MIN_FRAME_BYTES);
        let recipe: Recipe = format!("{protocol},size={size}").parse()?;
        // The first one warms up the instruction cache.
        exchange(&mut nic, &recipe.frame(0), alone)?;
        settle(&mut nic)?;
        let took_ps = exchange(&mut nic, &recipe.frame(1), alone)?;
        let cycles = settle(&mut nic)?.into_iter().find_map(|event| match event {
            Event::Finished(run) => Some(run.ended - run.begun),
            _ => None,
        });
        Ok(RoundTrip {
            payload,
            microseconds: took_ps as f64 / 1e6,
            cycles: cycles.context("a handler did not end")?,
        })
    };
    payloads.into_iter().map(&mut trip).collect()
}

fn show_round_trips(icmp: &[RoundTrip], udp: &[RoundTrip]) {
    let headings = [
        "payload",
        "ICMP, us",
        "paper",
        "clocks of the handler",
        "UDP, us",
        "clocks of the handler",
    ];
    let mut table = figures(headings, &[0]);
    for (icmp, udp) in icmp.iter().zip(udp) {
        let paper = PAPER_ICMP.iter().find(|(payload, _)| *payload == icmp.payload);
        table.add_row([
            icmp.payload.to_string(),
            format!("{:.1}", icmp.microseconds),
            paper.map_or_else(String::new, |(_, median)| format!("{median:.0}")),
            icmp.cycles.to_string(),
            format!("{:.1}", udp.microseconds),
            udp.cycles.to_string(),
        ]);
    }
    println!("{table}");
    say(format_args!(
        "Round trips are those of the NIC, from its first input to its last output; the paper's contain a client, its NIC \
         and a cable. UDP took {} to {} us there.",
        PAPER_UDP[0], PAPER_UDP[1]
    ));
}

/// Round trips over payload, with the paper's medians.
fn panel(icmp: &[RoundTrip], udp: &[RoundTrip]) -> Panel {
    let curve = |trips: &[RoundTrip]| -> Vec<(f64, f64)> {
        let points = trips.iter().map(|trip| (trip.payload as f64, trip.microseconds));
        points.collect()
    };
    let paper = PAPER_ICMP
        .iter()
        .map(|(payload, median)| (*payload as f64, *median));
    let series = [
        (
            "ICMP, simulated, NIC only",
            Style::line(COLORS[0]).with(Shape::Circle),
            curve(icmp),
        ),
        (
            "UDP, simulated, NIC only",
            Style::line(COLORS[1]).with(Shape::Square),
            curve(udp),
        ),
        (
            "ICMP, medians of the paper, with client and cable",
            Style::published(Shape::Circle),
            paper.collect(),
        ),
    ];
    let series = series.map(|(name, style, points)| Series::new(name, style, points));
    let all = series.iter().flat_map(|series| &series.points);
    let highest = all.map(|(_, time)| *time).fold(0.0, f64::max);
    Panel {
        title: "Round trip through the NIC, handlers at 40 MHz".to_owned(),
        x: Axis::linear("payload, bytes", 0.0..1450.0),
        y: Axis::linear("round trip, us", 0.0..highest * 1.08),
        series: series.to_vec(),
    }
}

/// Clocks a second of Icarus with the text of `spinneret_app` in a folder.
///
/// # Errors
/// If it is not installed, or does not understand the text.
fn icarus(folder: &Path, clocks: u64) -> Result<Speed> {
    let work = tempfile::tempdir()?;
    let (bench, program) = (work.path().join("bench.v"), work.path().join("bench.vvp"));
    fs::write(&bench, BENCH)?;
    let copy = |file: PathBuf| -> Result<PathBuf> {
        // Icarus 11 can hang on always_comb; to it, this is the same.
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let copy = work.path().join(file.file_name().unwrap_or_default());
        fs::write(&copy, text.replace("always_comb", "always @*"))?;
        Ok(copy)
    };
    let sources = fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .flatten()
        .map(|file| file.path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "sv"))
        .map(copy)
        .collect::<Result<Vec<_>>>()?;
    checked(
        Command::new("iverilog")
            .args(["-g2012", "-o"])
            .arg(&program)
            .arg(&bench)
            .args(sources),
    )?;
    let time = |clocks: u64| -> Result<f64> {
        let begun = Instant::now();
        checked(
            Command::new("vvp")
                .arg("-n")
                .arg(&program)
                .arg(format!("+clocks={clocks}")),
        )?;
        Ok(begun.elapsed().as_secs_f64())
    };
    let (short, long) = (time(SHORT)?, time(SHORT + clocks)?);
    let rate = clocks as f64 / (long - short).max(1e-9);
    Ok(Speed {
        clocks: rate,
        passed: rate,
        ..Speed::default()
    })
}

fn checked(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot start {name}; `./dev setup` installs it"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} failed: {errors}");
    Ok(())
}

/// Longest that packets are on their way after the last one was sent.
const DRAIN_PS: u64 = 1_000_000_000_000;

/// Results of packets at full load.
#[derive(Clone, Debug, Default, Serialize)]
struct Load {
    sent: u64,
    /// Packets with a right answer.
    answered: u64,
    dropped: Vec<Drop>,
    /// Simulated time.
    microseconds: f64,
    /// Simulated clocks of the core.
    clocks: u64,
    /// Wall-clock time.
    seconds: f64,
    /// Memory of this process after a tenth of the packets and at the end, in bytes.
    memory: [u64; 2],
}

/// Packets that the hardware dropped for the same cause.
#[derive(Clone, Debug, Serialize)]
struct Drop {
    cause: &'static str,
    packets: u64,
}

/// Sends packets of mixed sizes through `udp_ping` as fast as the NIC takes them, and checks every reply.
///
/// # Errors
/// If an answer is wrong, or counts do not add up.
fn full_load(count: u64) -> Result<Load> {
    let begun = Instant::now();
    let mut nic = start("udp_ping", NicConfig::default())?;
    let recipe: Recipe = format!("udp,size=60..1500,count={count}").parse()?;
    let (start_ps, start_clocks) = (nic.now_ps(), nic.simulated_clocks());
    let memory = || memory_bytes(std::process::id(), "VmRSS");
    let mut load = Load::default();
    while load.sent < count {
        while load.sent < count && nic.receiving() < WAITING {
            nic.receive(recipe.frame(load.sent as u32));
            load.sent += 1;
            if load.sent == count / 10 {
                load.memory[0] = memory()?;
            }
        }
        nic.step(u64::MAX)?;
        load.check(&mut nic, &recipe)?;
    }
    let end = nic.now_ps() + DRAIN_PS;
    while !nic.is_idle() {
        ensure!(nic.now_ps() <= end, "packets stay on their way");
        nic.step(end)?;
        load.check(&mut nic, &recipe)?;
    }
    load.memory[1] = memory()?;
    load.microseconds = (nic.now_ps() - start_ps) as f64 / 1e6;
    load.clocks = nic.simulated_clocks() - start_clocks;
    load.seconds = begun.elapsed().as_secs_f64();
    load.compare(&mut nic)?;
    Ok(load)
}

impl Load {
    /// Collects and checks replies.
    fn check(&mut self, nic: &mut Nic, recipe: &Recipe) -> Result<()> {
        nic.take_events();
        while let Some(out) = nic.take_wire() {
            recipe
                .check_reply(&out.bytes)
                .with_context(|| format!("answer {}", self.answered))?;
            self.answered += 1;
        }
        Ok(())
    }

    /// Compares the results with the counters of the hardware.
    fn compare(&mut self, nic: &mut Nic) -> Result<()> {
        let mut get = |register: Option<u32>| -> Result<u64> {
            Ok(nic.get(register.context("a counter has no register")?)?.into())
        };
        for (cause, register) in ingress::drops() {
            let words: Result<Vec<u64>> = register.words().map(|word| get(Some(word.offset()))).collect();
            let packets = words?.iter().sum();
            self.dropped.push(Drop { cause, packets });
        }
        let dropped: u64 = self.dropped.iter().map(|drop| drop.packets).sum();
        let hers = get(ingress::offset("hers"))?;
        let sums = [self.sent, get(ingress::offset("matched"))?, hers + dropped];
        let frames = [self.answered, get(egress::offset("frames"))?, hers];
        ensure!(
            sums.iter().all(|sum| *sum == self.sent) && frames.iter().all(|sum| *sum == self.answered),
            "the sums do not add up: sent, matched, HERs and drops {sums:?}; answered, frames, HERs {frames:?}"
        );
        Ok(())
    }

    /// Prints it.
    fn show(&self) {
        let dropped = self.dropped.iter().filter(|drop| drop.packets > 0);
        let dropped: Vec<String> = dropped
            .map(|drop| format!("{} {}", drop.packets, drop.cause))
            .collect();
        say(format_args!(
            "{} packets of 60 to 1500 bytes for udp_ping at full rate: {} answered, all rightly, dropped: {}; {:.0} us in \
             {:.1} s, {} thousand clocks; memory {} to {} MB",
            self.sent,
            self.answered,
            dropped.join(", "),
            self.microseconds,
            self.seconds,
            self.clocks / 1000,
            self.memory[0] >> 20,
            self.memory[1] >> 20
        ));
    }
}
