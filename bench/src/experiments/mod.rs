//! `./dev experiments`: the paper's experiments, on simulated NICs, as tables, CSV and pictures.

mod figure10;
mod figure7;
mod figure8;
mod figure9;
mod iperf;
mod stack;
mod table1;

pub use figure7::{Mode, RoundTrip, csv as figure7_csv, read as read_figure7};
pub use stack::Protocol;

pub(crate) use figure10::{MESSAGES, Point, Spec, TIMES, points};

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde::de::DeserializeOwned;
use spinneret_nic::nic::{Backend, NicConfig};
use spinneret_nic::picture::Style;
use spinneret_table::bench::write;
use spinneret_table::figures;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The only experiment to make
    #[arg(value_enum)]
    only: Option<Which>,
    /// Largest file of Figure 8 in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 10_000_000)]
    largest: usize,
    /// Clusters of the simulated NICs; of `rtl` results have that name, and pictures show those of `model` as well
    #[arg(long = "cluster", value_enum, value_name = "NAME", default_value_t)]
    backend: Backend,
    /// Folder for results
    #[arg(long, value_name = "DIR", default_value = "docs/results")]
    out: PathBuf,
    /// Draw Figures 7 and 8 from the tables in that folder
    #[arg(long)]
    redraw: bool,
    #[command(flatten)]
    figure10: figure10::Figure10,
}

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Round trips of ICMP and UDP
    Figure7,
    /// Files over SLMP, with all windows
    Figure8,
    /// Throughput of this machine's network stack, which Figure 8 shows as well; has to be named
    Iperf3,
    /// A file over SLMP on bad cables
    Faults,
    /// The types of Figure 10
    Figure9,
    /// Messages of MPI's datatypes, and computation meanwhile
    Figure10,
    /// Game of Life on grids of ranks, Table 1 of the paper of Molly; starts `molly` under MPI, and has to be named
    Table1,
    /// Time that MPI takes to unpack on this machine, as JSON
    Unpack,
}

/// Runs the requested experiments.
///
/// # Errors
/// If one of them fails.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { out, largest, .. } = arguments;
    let clusters = Clusters(arguments.backend);
    let all = [
        Which::Figure7,
        Which::Figure8,
        Which::Faults,
        Which::Figure9,
        Which::Figure10,
    ];
    let only = arguments.only.as_ref().map(std::slice::from_ref);
    for which in only.unwrap_or(&all) {
        match which {
            Which::Figure7 => figure7::run(out, clusters, arguments.redraw)?,
            Which::Figure8 => figure8::throughput(out, clusters, *largest, arguments.redraw)?,
            Which::Iperf3 => figure8::iperf3(out)?,
            Which::Faults => figure8::faults(out, clusters, *largest)?,
            Which::Figure9 => figure9::run(out)?,
            Which::Figure10 => figure10::run(out, clusters, &arguments.figure10)?,
            Which::Table1 => table1::run(out)?,
            Which::Unpack => figure10::unpack(&arguments.figure10)?,
        }
    }
    Ok(())
}

/// The clusters of an experiment: PsPIN's as a model at 40 MHz, or spinneret's own as hardware at the NIC's clock.
#[derive(Clone, Copy, Debug)]
struct Clusters(Backend);

impl Clusters {
    /// The NIC with them.
    fn config(self) -> NicConfig {
        NicConfig::with(self.0)
    }

    /// The name of a result: `figure7.csv`, or `figure7-rtl.csv`.
    fn file(self, name: &str, extension: &str) -> String {
        match self.0 {
            Backend::Model => format!("{name}.{extension}"),
            Backend::Own => format!("{name}-own-model.{extension}"),
            Backend::Rtl => format!("{name}-rtl.{extension}"),
        }
    }

    /// Their name in titles and legends.
    fn name(self) -> &'static str {
        match self.0 {
            Backend::Model => "model at 40 MHz",
            Backend::Own => "model of own clusters at 250 MHz",
            Backend::Rtl => "own clusters at 250 MHz",
        }
    }

    /// The rows of the model's table without its header, to draw them as well; none if these are those of the model.
    ///
    /// # Errors
    /// If there is a table that cannot be read.
    fn rows_of_model(self, out: &Path, name: &str) -> Result<Vec<String>> {
        let path = out.join(Self(Backend::Model).file(name, "csv"));
        if self.0 == Backend::Model {
            return Ok(Vec::new());
        }
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(text.lines().skip(1).map(str::to_owned).collect()),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                eprintln!("without the model's curves, as there is no {}", path.display());
                Ok(Vec::new())
            }
            Err(error) => Err(anyhow!("cannot read {}: {error}", path.display())),
        }
    }
}

/// A thin dashed line without marks: the model, in pictures of the hardware.
fn modelled(style: Style) -> Style {
    Style {
        shape: None,
        line: Some(1),
        is_dashed: true,
        ..style
    }
}

/// Finished points in a file of `target/experiments`, with which an interrupted run continues.
struct Known<P> {
    path: PathBuf,
    points: Mutex<Vec<P>>,
}

impl<P: Clone + Serialize + DeserializeOwned> Known<P> {
    /// Reads them; there may be no file yet.
    fn read(name: &str) -> Result<Self> {
        let path = Path::new("target/experiments").join(name);
        let points = match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .with_context(|| format!("{} does not hold points; remove it", path.display()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let points = Mutex::new(points);
        Ok(Self { path, points })
    }

    fn all(&self) -> Vec<P> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Saves one more.
    fn add(&self, point: P) -> Result<()> {
        let mut points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        points.push(point);
        write(&self.path, &serde_json::to_string_pretty(&*points)?)
    }

    /// Removes the file: the next run measures all points again.
    fn remove(self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Prints a table and writes it to a file as CSV.
fn show(path: &Path, columns: &[&str], rows: &[Vec<String>]) -> Result<()> {
    let mut table = figures(columns.iter().copied(), &[]);
    table.add_rows(rows);
    println!("{table}");
    save(path, &csv(columns, rows))
}

/// A table as CSV.
fn csv(columns: &[impl AsRef<str>], rows: &[Vec<String>]) -> String {
    let quoted = |cell: &String| match cell.contains([',', '(']) {
        true => format!("\"{cell}\""),
        false => cell.clone(),
    };
    let columns: Vec<&str> = columns.iter().map(AsRef::as_ref).collect();
    let mut text = columns.join(",") + "\n";
    for row in rows {
        let row: Vec<String> = row.iter().map(quoted).collect();
        text += &(row.join(",") + "\n");
    }
    text
}

/// Writes a file and prints its path.
fn save(path: &Path, text: &str) -> Result<()> {
    write(path, text)?;
    eprintln!("{}", path.display());
    Ok(())
}

/// Runs independent simulations on all processors; results have the order of `all`. The last ones start first,
/// because lists end with the longest. After a failure nothing new starts.
///
/// # Errors
/// The first failure in the order of the list.
pub(crate) fn in_parallel<W: Sync, R: Send>(
    all: &[W],
    work: impl Fn(&W) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let left = AtomicUsize::new(all.len());
    let results: Mutex<Vec<(usize, Result<R>)>> = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(all.len()) {
            scope.spawn(|| {
                let next =
                    || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
                while let Ok(left_before) = next() {
                    let place = left_before - 1;
                    let result = work(&all[place]);
                    if result.is_err() {
                        left.store(0, Ordering::Relaxed);
                    }
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.push((place, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}
