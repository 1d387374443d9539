//! `./dev experiments`: the paper's Figures 7 to 10.

use anyhow::{Context as _, Result, anyhow};
use clap::{Parser, ValueEnum};
use spinneret_nic::experiments::{
    ELEMENT_BYTES, ELEMENTS, FaultRun, Point, RoundTrip, Spec, Stack, Throughput, Unpacking, draw_figure7,
    draw_figure8, draw_figure9, draw_figure10, figure7_csv, figure9, figure10_csv, points, read_figure7,
    round_trips, unpack_everywhere, unpack_with, with_faults, without_faults,
};
use spinneret_nic::mpi::PaperType;
use spinneret_nic::transfer::Transferred;
use spinneret_slmp::memory::Cause;
use spinneret_table::figures;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// Reproduces the paper's experiments on simulated NICs.
#[derive(Debug, Parser)]
#[command(name = "experiments")]
struct Arguments {
    /// Which of them
    #[arg(value_enum)]
    only: Option<Which>,
    /// Largest file of Figure 8 in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 10_000_000)]
    largest: usize,
    /// Where results go
    #[arg(long, value_name = "DIR", default_value = "docs/results")]
    out: PathBuf,
    /// Draw Figure 7 from the table that is there: the host's part of it is of a quiet machine
    #[arg(long)]
    redraw: bool,
    /// Figure 10 with every third length, and 1, 4 and 16 messages
    #[arg(long)]
    quick: bool,
    /// Windows of Figure 10
    #[arg(long, value_name = "SEGMENTS", value_delimiter = ',', default_values_t = [1, 16])]
    windows: Vec<u16>,
    /// Points of Figure 10: those that are in this file are taken, and others are added to it
    #[arg(long, value_name = "FILE", default_value = "target/experiments/figure10.json")]
    points: PathBuf,
    /// The compiler of the MPI that is measured
    #[arg(long, value_name = "MPICC", default_value = "mpicc")]
    mpicc: PathBuf,
}

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Round trips of ICMP and UDP
    Figure7,
    /// Files over SLMP, with all windows
    Figure8,
    /// A file over SLMP on bad cables
    Faults,
    /// The types of Figure 10
    Figure9,
    /// Messages of MPI's datatypes, and computation meanwhile; takes an hour, and has to be named
    Figure10,
    /// What MPI takes to unpack on this machine, as JSON
    Unpack,
}

fn main() -> ExitCode {
    spinneret_table::failed(work().map(|()| ExitCode::SUCCESS))
}

fn work() -> Result<()> {
    let arguments = Arguments::parse();
    std::fs::create_dir_all(&arguments.out)
        .with_context(|| format!("{} cannot be made", arguments.out.display()))?;
    let wants = |which| arguments.only.is_none_or(|only| only == which);
    if arguments.only == Some(Which::Unpack) {
        println!("{}", serde_json::to_string(&unpack_with(&arguments.mpicc)?)?);
        return Ok(());
    }
    if wants(Which::Figure7) {
        figure7(&arguments.out, !arguments.redraw)?;
    }
    if wants(Which::Figure8) {
        figure8(&arguments.out, arguments.largest)?;
    }
    if wants(Which::Faults) {
        faults(&arguments.out, arguments.largest)?;
    }
    if wants(Which::Figure9) {
        figure_9(&arguments.out)?;
    }
    if arguments.only == Some(Which::Figure10) {
        figure_10(&arguments)?;
    }
    Ok(())
}

fn figure7(out: &Path, anew: bool) -> Result<()> {
    let file = out.join("figure7.csv");
    let trips = if anew {
        measure_figure7()?
    } else {
        let text = std::fs::read_to_string(&file);
        let text = text.with_context(|| format!("{} cannot be read", file.display()))?;
        read_figure7(&text).map_err(|line| anyhow!("{}:{line}: no round trip", file.display()))?
    };
    let mut table = figures(
        [
            "protocol",
            "who answers",
            "payload",
            "NIC, us",
            "Linux, us",
            "together, us",
        ],
        &[],
    );
    for trip in &trips {
        table.add_row([
            trip.protocol.name().to_owned(),
            trip.mode.name().to_owned(),
            trip.payload.to_string(),
            format!("{:.1}", trip.simulated),
            format!("{:.1}", trip.measured),
            format!("{:.1}", trip.total()),
        ]);
    }
    println!("{table}");
    write(&file, &figure7_csv(&trips))?;
    Ok(draw_figure7(&out.join("figure7.svg"), &trips)?)
}

fn measure_figure7() -> Result<Vec<RoundTrip>> {
    let stack = match Stack::open() {
        Ok(stack) => Some(stack),
        Err(error) => {
            eprintln!("without the host's round trips, for which Linux's network stack is measured: {error}");
            None
        }
    };
    Ok(round_trips(stack.as_ref(), |trip| {
        let (protocol, mode) = (trip.protocol.name(), trip.mode.name());
        eprintln!("{protocol} {mode} {} bytes: {:.1} us", trip.payload, trip.total());
    })?)
}

/// Columns of a transfer, in tables and files.
const TRANSFER: [&str; 9] = [
    "bytes",
    "time_us",
    "gbps",
    "segments",
    "sent_again",
    "lost_on_cable",
    "dropped_by_nic",
    "duplicates",
    "hpu_load",
];

fn transfer(done: &Transferred) -> [String; 9] {
    let lost: u64 = done.cables.iter().map(|cable| cable.lost).sum();
    let dropped: u32 = done
        .counters
        .iter()
        .filter(|(name, _)| name.starts_with("ingress.dropped_"))
        .map(|(_, count)| count)
        .sum();
    [
        done.bytes.to_string(),
        format!("{:.1}", done.time.as_secs_f64() * 1e6),
        format!("{:.3}", done.gbps()),
        done.sender.segments.to_string(),
        done.sender.retransmissions.to_string(),
        lost.to_string(),
        dropped.to_string(),
        done.segments.of(Cause::Duplicate).to_string(),
        format!("{:.2}", done.hpu_load),
    ]
}

fn figure8(out: &Path, largest: usize) -> Result<()> {
    let points = without_faults(largest, |Throughput { window, done }| {
        eprintln!("{} bytes, window {window}: {:.2} Gb/s", done.bytes, done.gbps());
    })?;
    let rows = points
        .iter()
        .map(|point| (vec![point.window.to_string()], &point.done));
    show(&out.join("figure8.csv"), &["window"], rows)?;
    Ok(draw_figure8(&out.join("figure8.svg"), &points)?)
}

fn faults(out: &Path, bytes: usize) -> Result<()> {
    let runs = with_faults(bytes, |FaultRun { faults, done }| {
        eprintln!(
            "{} bytes, {} % loss: {:.2} Gb/s",
            done.bytes,
            faults.loss * 100.0,
            done.gbps()
        );
    })?;
    let percent = |share: f64| format!("{}", share * 100.0);
    let rows = runs.iter().map(|FaultRun { faults, done }| {
        let faults = [faults.loss, faults.duplication, faults.reordering];
        (faults.map(percent).to_vec(), done)
    });
    show(
        &out.join("slmp-faults.csv"),
        &["loss_percent", "duplication_percent", "reordering_percent"],
        rows,
    )
}

/// Prints transfers as a table and writes them to a file, each behind what it was made with.
fn show<'d>(
    path: &Path,
    names: &[&str],
    rows: impl Iterator<Item = (Vec<String>, &'d Transferred)>,
) -> Result<()> {
    let header = [names, &TRANSFER].concat();
    let mut table = figures(header.iter().copied(), &[]);
    let mut csv = header.join(",") + "\n";
    for (first, done) in rows {
        let row = [first, transfer(done).to_vec()].concat();
        csv += &(row.join(",") + "\n");
        table.add_row(row);
    }
    println!("{table}");
    write(path, &csv)
}

fn figure_9(out: &Path) -> Result<()> {
    let header = ["type", "constructor", "size_bytes", "extent_bytes"];
    let mut table = figures(header, &[]);
    let mut csv = header.join(",") + "\n";
    for row in figure9() {
        // Constructors have commas.
        let [kind, constructor, size, extent] = &row;
        csv += &format!("{kind},\"{constructor}\",{size},{extent}\n");
        table.add_row(row);
    }
    println!("{table}");
    write(&out.join("figure9.csv"), &csv)?;
    Ok(draw_figure9(&out.join("figure9.svg"))?)
}

/// Points are written as they come, so that what was measured stays if the rest is not waited for.
fn figure_10(arguments: &Arguments) -> Result<()> {
    let path = &arguments.points;
    let known = read_points(path)?;
    let wanted: Vec<Spec> = arguments
        .windows
        .iter()
        .rev()
        .flat_map(|&window| Spec::all(window, arguments.quick))
        .filter(|spec| known.iter().all(|point| point.spec != *spec))
        .collect();
    let all = Mutex::new(known);
    points(&wanted, |point| {
        eprintln!("{point}");
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(point.clone());
        if let Err(error) = write_points(path, &all) {
            eprintln!("{error:#}");
        }
    })?;
    let mut points = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    points.sort_by_key(|Point { spec, .. }| (spec.kind.name(), spec.window, spec.messages, spec.elements));
    let unpackings = unpack_everywhere(&std::env::current_exe()?, |compiler, why| {
        eprintln!("without what the MPI of {compiler} takes to unpack here: {why}");
    });
    for unpacking in &unpackings {
        show_unpacking(unpacking);
    }
    let csv = figure10_csv(&points, &unpackings);
    write(&arguments.out.join("figure10.csv"), &csv)?;
    Ok(draw_figure10(&arguments.out.join("figure10.svg"), &points)?)
}

/// The rates at which an MPI unpacks here.
fn show_unpacking(unpacking: &Unpacking) {
    let mut table = figures(["bytes", "simple, GB/s", "complex, GB/s"], &[]);
    let rate = |kind, elements| unpacking.rate(kind, elements).map(|rate| format!("{rate:.1}"));
    for elements in (2..=ELEMENTS).step_by(2) {
        let mut row = vec![(elements * ELEMENT_BYTES).to_string()];
        row.extend(PaperType::ALL.map(|kind| rate(kind, elements).unwrap_or_default()));
        table.add_row(row);
    }
    println!(
        "MPI_Unpack of {}, measured on this machine:\n{table}",
        unpacking.library
    );
}

fn read_points(path: &Path) -> Result<Vec<Point>> {
    match std::fs::read(path) {
        Ok(text) => serde_json::from_slice(&text)
            .with_context(|| format!("{} does not hold points of Figure 10; remove it", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

fn write_points(path: &Path, points: &[Point]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    std::fs::write(path, serde_json::to_string_pretty(points)?)
        .with_context(|| format!("{} cannot be written", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    eprintln!("{}", path.display());
    Ok(())
}
