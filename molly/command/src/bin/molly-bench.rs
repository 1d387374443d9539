//! `./dev bench molly`: molly against hand-written C, and planning times, checked against limits.

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, Parser, ValueEnum};
use molly::programs::{FLOPS, Links, Spinor};
use serde_json::{Value, json};
use spinneret_table::bench::{Bars, Figures, Spread};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Measures molly: all in one run, alternately, and medians of each.
#[derive(Debug, Parser)]
#[command(name = "bench molly")]
struct Line {
    #[command(flatten)]
    bench: Figures<Arguments>,
}

#[derive(Debug, Args)]
struct Arguments {
    /// The command that is measured
    #[arg(long, value_name = "FILE")]
    molly: PathBuf,
    /// Sizes, and steps of a run
    #[arg(long, value_name = "SIZE:STEPS", value_delimiter = ',', default_values_t = [
        "1024:1000".to_owned(), "4096:100".to_owned(), "16384:48".to_owned(),
    ])]
    sizes: Vec<String>,
    /// How often each is run
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    rounds: u64,
    /// Only these parts; all of them if none is named
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Measure Devito as well, by this Python, which has devito and mpi4py
    #[arg(long, value_name = "PYTHON")]
    devito: Option<PathBuf>,
}

/// Parts of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Speed,
    Dslash,
    Columns,
    Plans,
}

/// A figure and its bar.
#[derive(Debug)]
struct Figure {
    what: String,
    bar: f64,
    found: f64,
    is_least: bool,
    more: String,
}

fn main() -> ExitCode {
    spinneret_table::failed(Line::parse().bench.measure("molly", run))
}

impl Figure {
    fn is_kept(&self) -> bool {
        match self.is_least {
            true => self.found >= self.bar,
            false => self.found <= self.bar,
        }
    }
}

fn run(arguments: &Arguments, bars: &mut Bars) -> Result<Value> {
    let figures = measure(arguments)?;
    let mut table = spinneret_table::figures(["measured", "bar", "found", "", ""], &[0, 3, 4]);
    for figure in &figures {
        let sign = if figure.is_least { ">=" } else { "<=" };
        let cells = [
            figure.what.clone(),
            format!("{sign} {}", figure.bar),
            format!("{:.3}", figure.found),
            figure.more.clone(),
        ];
        table.add_row(bars.row(cells, figure.is_kept()));
    }
    println!("{table}");
    let json = |figure: &Figure| {
        let Figure {
            what,
            bar,
            found,
            more,
            ..
        } = figure;
        json!({ "what": what, "bar": bar, "found": found, "more": more })
    };
    Ok(figures.iter().map(json).collect())
}

fn measure(arguments: &Arguments) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let is_asked = |part: Part| arguments.only.is_empty() || arguments.only.contains(&part);
    let folder = tempfile::tempdir()?;
    if is_asked(Part::Speed) {
        let program = compile(folder.path(), "five")?;
        for size in &arguments.sizes {
            figures.extend(speeds(arguments, &program, size)?);
        }
    }
    if is_asked(Part::Dslash) {
        figures.push(lattice(arguments, &compile(folder.path(), "dslash")?)?);
    }
    if is_asked(Part::Columns) {
        figures.extend(columns(arguments, &compile(folder.path(), "columns")?)?);
    }
    if is_asked(Part::Plans) {
        figures.extend(plans(arguments)?);
    }
    Ok(figures)
}

/// The output of a command.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output();
    let output = output.with_context(|| format!("{command:?} does not start"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {errors}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The seconds that molly's JSON has under a name.
fn seconds(command: &mut Command, name: &str) -> Result<f64> {
    let said: Value = serde_json::from_str(&output(command)?)?;
    said[name].as_f64().context("molly says no time")
}

fn compile(folder: &Path, name: &str) -> Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("bench/{name}.c"));
    let program = folder.join(name);
    let mut compiler = Command::new("mpicc");
    compiler.args(["-O3", "-march=native", "-Wall", "-Werror", "-o"]);
    output(compiler.arg(&program).arg(source))?;
    Ok(program)
}

fn mpirun(program: &Path) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["-n", "2"]).arg(program).envs([
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("MOLLY_GEOMETRY", "2"),
    ]);
    command
}

/// The times that a program prints.
fn times(command: &mut Command) -> Result<Vec<f64>> {
    let said = output(command)?;
    let times: Vec<f64> = said
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    ensure!(!times.is_empty(), "{command:?} says no time");
    Ok(times)
}

/// Seconds of molly's run of `five`.
fn ours(arguments: &Arguments, size: &str, steps: &str, more: &[&str]) -> Result<f64> {
    let mut run = mpirun(&arguments.molly);
    let given = [
        "run", "five", "--json", "--repeat", "2", "--size", size, "--steps", steps,
    ];
    seconds(run.args(given).args(more), "seconds")
}

/// Sites of the lattice in each dimension, and updates of all sites.
const LATTICE: (&str, &str) = ("24", "4");

/// The operator of lattice QCD against C. The roofline is that of reading each site's links and spinors from memory.
fn lattice(arguments: &Arguments, program: &Path) -> Result<Figure> {
    let (size, steps) = LATTICE;
    let updates = size.parse::<f64>()?.powi(4) * steps.parse::<f64>()?;
    let (mut by_hand, mut found, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..arguments.rounds {
        let [seconds_of_c, _, bytes_a_second] = times(mpirun(program).args([size, steps, "1"]))?[..] else {
            bail!("{} prints other than three numbers", program.display());
        };
        by_hand.push(updates / seconds_of_c);
        rates.push(bytes_a_second);
        let mut run = mpirun(&arguments.molly);
        let given = [
            "run", "dslash", "--json", "--repeat", "2", "--size", size, "--steps", steps,
        ];
        found.push(updates / seconds(run.args(given), "seconds")?);
    }
    let [ours, c] = [found, by_hand].map(|rates| median(rates) * f64::from(FLOPS) / 1e9);
    let roofline = median(rates) * f64::from(FLOPS) / SITE_BYTES / 1e9;
    Ok(Figure {
        what: format!("Wilson's operator, {size}x{size}x{size}x{size}, 2 ranks: against C"),
        bar: 1.0,
        found: ours / c,
        is_least: true,
        more: format!("{ours:.2} and {c:.2} GFLOPS, memory allows {roofline:.1}"),
    })
}

/// Bytes of the links and spinors that a site reads.
const SITE_BYTES: f64 = (size_of::<Links>() + 8 * size_of::<Spinor>()) as f64;

/// Columns packed manually against MPI's vector type: the difference for an exchange, and for a step of molly's.
fn columns(arguments: &Arguments, program: &Path) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for size in ["1024", "4096", "8192"] {
        let (mut typed, mut by_hand) = (Vec::new(), Vec::new());
        for _ in 0..arguments.rounds {
            let mut run = mpirun(program);
            // As molly's own ranks have it.
            run.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
            let [first, second] = times(run.args([size, "400"]))?[..] else {
                bail!("{run:?} says other than two times");
            };
            typed.push(first);
            by_hand.push(second);
        }
        let (typed, by_hand) = (median(typed), median(by_hand));
        figures.push(Figure {
            what: format!("column of {size} f32 to and from another rank, by hand: against a vector type"),
            bar: 1.0,
            found: by_hand / typed,
            is_least: false,
            more: format!("{:.1} and {:.1} us", by_hand * 1e6, typed * 1e6),
        });
    }
    for (size, steps) in [("1024", "400"), ("4096", "30")] {
        let mut ways = [Vec::new(), Vec::new()];
        for _ in 0..arguments.rounds {
            for (way, times) in ["packed", "vector"].iter().zip(&mut ways) {
                times.push(ours(
                    arguments,
                    size,
                    steps,
                    &["--geometry", "1x2", "--columns", way],
                )?);
            }
        }
        let turns: f64 = steps.parse()?;
        let [packed, typed] = ways.map(|times| median(times) / turns);
        figures.push(Figure {
            what: format!("a step of 5 points, {size}x{size} on 1x2, packed: against a vector type"),
            bar: 1.0,
            found: packed / typed,
            is_least: false,
            more: format!("{:.1} and {:.1} us", packed * 1e6, typed * 1e6),
        });
    }
    Ok(figures)
}

/// Molly against C, and against Devito if it is there.
fn speeds(arguments: &Arguments, program: &Path, size: &str) -> Result<Vec<Figure>> {
    let wrong = || format!("--sizes: `{size}` is no SIZE:STEPS, such as 1024:1000");
    let (size, steps) = size.split_once(':').with_context(wrong)?;
    let points: f64 = size.parse().with_context(wrong)?;
    let turns: f64 = steps.parse().with_context(wrong)?;
    let updates = points * points * turns;
    let (mut by_hand, mut by_devito, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..arguments.rounds {
        by_hand.push(updates / times(mpirun(program).args([size, steps, "1"]))?[0]);
        if let Some(python) = &arguments.devito {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/five.py");
            by_devito.push(updates / times(mpirun(python).arg(script).args([size, steps, "1"]))?[0]);
        }
        found.push(updates / ours(arguments, size, steps, &[])?);
    }
    let ours = median(found);
    let mut figures = Vec::new();
    for (name, others) in [("C", by_hand), ("Devito", by_devito)] {
        if others.is_empty() {
            continue;
        }
        let other = median(others);
        figures.push(Figure {
            what: format!("5 points, f32, {size}x{size}, 2 ranks: against {name}"),
            bar: 1.0,
            found: ours / other,
            is_least: true,
            more: format!("{:.2} and {:.2} G points/s", ours / 1e9, other / 1e9),
        });
    }
    Ok(figures)
}

fn median(values: Vec<f64>) -> f64 {
    Spread::from_iter(values).median()
}

/// Times of plans: the least of some, as other work of the machine only adds to it.
fn plans(arguments: &Arguments) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (what, bar, given) in [
        ("2-D", 0.1, &["life5", "--size", "1024", "--geometry", "2x2"][..]),
        ("3-D", 0.1, &["heat", "--size", "256", "--geometry", "2x2x2"]),
        ("4-D", 1.0, &["dslash", "--size", "8", "--geometry", "2x2x2x2"]),
    ] {
        let mut least = f64::MAX;
        for _ in 0..arguments.rounds {
            let mut plan = Command::new(&arguments.molly);
            plan.args(["plan", "--json", "--steps", "100"]).args(given);
            least = least.min(seconds(&mut plan, "planning_s")?);
        }
        figures.push(Figure {
            what: format!("seconds to plan in {what}: {}", given[0]),
            bar,
            found: least,
            is_least: false,
            more: String::new(),
        });
    }
    let begun = Instant::now();
    let mut all = Command::new(&arguments.molly);
    all.args([
        "plan",
        "five",
        "--json",
        "--size",
        "16384",
        "--geometry",
        "128x128",
        "--steps",
        "2",
    ]);
    let said: Value = serde_json::from_str(&output(&mut all)?)?;
    let seconds = begun.elapsed().as_secs_f64();
    let channel = &said["channels"][1];
    let counts = (&channel["messages_per_chunk"], &channel["elements_per_chunk"]);
    ensure!(
        counts == (&json!(65024), &json!(8_322_056)),
        "16384 ranks send {counts:?}, and have to send 65024 messages of 8322056 elements"
    );
    figures.push(Figure {
        what: "seconds for the messages of 16384 ranks".to_owned(),
        bar: 10.0,
        found: seconds,
        is_least: false,
        more: "65024 messages, 8322056 elements".to_owned(),
    });
    Ok(figures)
}
