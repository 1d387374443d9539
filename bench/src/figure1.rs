//! The paper's Figure 1: the time of a ping-pong of 32 packets, on the FPGA and in simulations.

use crate::harness::{alone, draw, exchange, start};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use spinneret_nic::net::Recipe;
use spinneret_nic::nic::{Backend, NicConfig};
use spinneret_nic::picture::{Axis, COLORS, Panel, Series, Shape, Style};
use spinneret_table::bench::Spread;
use spinneret_table::{figures, say};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Packets of the figure.
const PINGS: u32 = 32;
/// Requests: 56 bytes of payload, as `ping` sends them.
const REQUEST: &str = "icmp,size=98";
/// Runs; the median counts.
const RUNS: usize = 5;
/// The paper's round trip of such a request on the FPGA in seconds: between its 27 us for 16 bytes and 44 us for 416 (Figure 7).
const PAPER_SECONDS: f64 = 28.7e-6;
/// How many times longer cycle-accurate simulation takes there: four orders of magnitude.
const PAPER_RATIO: f64 = 1e4;
/// Size of the picture in points.
const SIZE: (u32, u32) = (800, 480);

/// A ping-pong.
struct PingPong {
    name: String,
    style: Style,
    /// Seconds from the start of the program until each packet has been answered, the start-up first.
    seconds: Vec<f64>,
    /// The range of the whole in several runs.
    spread: Option<Spread>,
}

impl PingPong {
    fn total(&self) -> f64 {
        self.seconds.last().copied().unwrap_or_default()
    }
}

/// A ping-pong, each request after the reply before: seconds and clocks of the core until each reply, start-up included.
fn ping_pong(config: NicConfig) -> Result<(Vec<f64>, Vec<u64>)> {
    let begun = Instant::now();
    let core_ps = config.core_ps;
    let mut nic = start("icmp_ping", config)?;
    let recipe: Recipe = REQUEST.parse()?;
    let mut times = vec![(begun.elapsed().as_secs_f64(), nic.now_ps() / core_ps)];
    for number in 0..PINGS {
        exchange(&mut nic, &recipe.frame(number), alone)?;
        times.push((begun.elapsed().as_secs_f64(), nic.now_ps() / core_ps));
    }
    Ok(times.into_iter().unzip())
}

fn simulated(name: &str, color: usize, config: &NicConfig) -> Result<(PingPong, Vec<u64>)> {
    // The first run builds what is not there yet.
    let (_, clocks) = ping_pong(config.clone())?;
    let mut runs = (0..RUNS)
        .map(|_| Ok(ping_pong(config.clone())?.0))
        .collect::<Result<Vec<_>>>()?;
    runs.sort_by(|one, other| one.last().unwrap_or(&0.0).total_cmp(other.last().unwrap_or(&0.0)));
    let spread = runs
        .iter()
        .filter_map(|seconds| seconds.last().copied())
        .collect();
    let ping_pong = PingPong {
        name: name.to_owned(),
        style: Style::line(COLORS[color]),
        seconds: runs.swap_remove(RUNS / 2),
        spread: Some(spread),
    };
    Ok((ping_pong, clocks))
}

/// The ping-pong in all simulations: prints the times and draws them. `icarus` has its clocks a second, and `public` the file that
/// `./dev interop --step ping-pong` writes.
///
/// # Errors
/// If a simulation fails, or a file is damaged.
pub(crate) fn run(icarus: Option<f64>, public: &Path, plot: &Path) -> Result<Value> {
    let (model, clocks) = simulated("spinneret, model of the PULP cluster", 0, &NicConfig::default())?;
    let (own, _) = simulated(
        "spinneret, own clusters in RTL",
        1,
        &NicConfig::with(Backend::Rtl),
    )?;
    let even = |trip: f64| (0..=PINGS).map(|number| trip * f64::from(number)).collect();
    let fixed = |name: &str, style, seconds| PingPong {
        name: name.to_owned(),
        style,
        seconds,
        spread: None,
    };
    let mut all = vec![model, own];
    if let Some(rate) = icarus {
        let seconds = clocks.iter().map(|clocks| *clocks as f64 / rate).collect();
        let name = "Icarus, the NIC without clusters, by its clocks a second";
        all.push(fixed(name, Style::line(COLORS[2]), seconds));
    }
    if public.is_file() {
        let broken = || {
            format!(
                "{}: no result of `./dev interop --step ping-pong`",
                public.display()
            )
        };
        let told: Value =
            serde_json::from_str(&fs::read_to_string(public).with_context(broken)?).with_context(broken)?;
        let seconds = told["seconds"].as_array().with_context(broken)?;
        let seconds = seconds.iter().filter_map(Value::as_f64).collect();
        all.push(fixed(
            "PULP cluster of FPsPIN in Verilator",
            Style::line(COLORS[3]),
            seconds,
        ));
    }
    let fpga = Style::published(Shape::Circle);
    all.push(fixed(
        "FPGA, by the paper's round trips",
        fpga,
        even(PAPER_SECONDS),
    ));
    let slow = Style::published(Shape::Square);
    let name = "cycle-accurate simulation, 10,000 times the FPGA in the paper";
    all.push(fixed(name, slow, even(PAPER_SECONDS * PAPER_RATIO)));
    show(&all);
    draw(plot, SIZE, |area| panel(&all).draw(area))?;
    say(format_args!("plot of the ping-pong: {}", plot.display()));
    let rows = all
        .iter()
        .map(|one| json!({ "name": one.name, "seconds": one.seconds }));
    Ok(rows.collect())
}

fn show(all: &[PingPong]) {
    let mut table = figures(
        [
            &format!("ping-pong of {PINGS} packets"),
            "seconds",
            "least",
            "most",
        ],
        &[0],
    );
    for one in all {
        let [least, most] = one
            .spread
            .as_ref()
            .map_or([String::new(), String::new()], |spread| {
                let [_, least, most] = spread.range();
                [least, most].map(|seconds| format!("{seconds:.3}"))
            });
        table.add_row([one.name.clone(), format!("{:.4}", one.total()), least, most]);
    }
    println!("{table}");
    say(format_args!(
        "Simulations with start-up, on this machine: medians of {RUNS} runs, Icarus and the PULP cluster excepted."
    ));
}

/// A time in a suitable unit.
fn time(seconds: f64) -> String {
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let fits = units.into_iter().rev().find(|(_, unit)| seconds >= 0.999 * unit);
    let (name, unit) = fits.unwrap_or(units[0]);
    format!("{:.0} {name}", seconds / unit)
}

/// Time over packets.
fn panel(all: &[PingPong]) -> Panel {
    let series = all.iter().map(|one| {
        let points = one.seconds.iter().enumerate().skip(1);
        Series::new(
            &one.name,
            one.style,
            points.map(|(number, time)| (number as f64, *time)).collect(),
        )
    });
    let highest = all.iter().map(PingPong::total).fold(1.0, f64::max);
    Panel {
        title: format!("A ping-pong of {PINGS} packets"),
        x: Axis::linear("packets", 0.0..f64::from(PINGS) + 1.0),
        y: Axis::log("time", PAPER_SECONDS / 2.0..highest * 10.0).with_words(time),
        series: series.collect(),
    }
}
