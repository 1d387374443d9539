//! Figure 10: messages of MPI's datatypes that land in place, and how much the host computes meanwhile.

mod output;
mod product;

use super::{Clusters, in_parallel, save};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use spinneret_mpi::Layout;
use spinneret_mpi_sys::{Library, Mpi};
use spinneret_nic::mpi::{Exchange, HostLatencies, Multiplication, Overlapped, PaperType, overlap};
use spinneret_nic::nic::{Backend, NicConfig};
use spinneret_table::bench::write;
use spinneret_table::figures;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of an element of either type.
const ELEMENT_BYTES: u64 = 110_592;
/// Messages of the sweep over lengths.
pub(crate) const MESSAGES: usize = 16;
/// Elements of the sweep over messages.
const ELEMENTS: u64 = 20;
/// How many times as high prices of the host are, in the order of trials.
pub(crate) const TIMES: [u32; 2] = [1, 10];

/// Arguments of Figure 10.
#[derive(Debug, Args)]
pub(super) struct Figure10 {
    /// Figure 10 with all lengths and numbers of messages, which takes an hour; otherwise with every third length, and
    /// 1, 4 and 16 messages
    #[arg(long)]
    all: bool,
    /// Windows of Figure 10
    #[arg(long, value_name = "SEGMENTS", value_delimiter = ',', default_values_t = [1, 16])]
    windows: Vec<u16>,
    /// Points of Figure 10: those in this file are taken, and others are added to it [default:
    /// target/experiments/figure10.json, or figure10-rtl.json]
    #[arg(long, value_name = "FILE")]
    points: Option<PathBuf>,
    /// Compiler of the MPI to measure
    #[arg(long, value_name = "MPICC", default_value = "mpicc")]
    mpicc: PathBuf,
}

/// The paper's medians of 20 runs and 16 messages, from the CSV files of its artefact: Gb/s without and with
/// computation, Gb/s of MPICH on the same hosts, and R. A sleeping sender limits the first two: it waits at least 100
/// us for each segment.
#[derive(Clone, Copy, Debug)]
struct Paper {
    /// Of a message.
    bytes: u64,
    /// Of the simple and the complex type.
    medians: [[f64; 4]; 2],
}

/// For each length.
const PAPER_LENGTHS: [Paper; 10] = [
    paper(2, [[1.114, 0.885, 6.56, 0.939], [0.759, 0.629, 3.94, 0.990]]),
    paper(4, [[1.148, 0.928, 8.64, 0.983], [0.782, 0.639, 3.69, 0.999]]),
    paper(6, [[1.153, 0.978, 7.86, 0.995], [0.782, 0.650, 4.18, 0.999]]),
    paper(8, [[1.152, 0.983, 7.36, 0.981], [0.775, 0.655, 3.91, 0.993]]),
    paper(10, [[1.156, 0.982, 7.43, 0.985], [0.788, 0.645, 4.12, 0.999]]),
    paper(12, [[1.157, 0.977, 7.52, 0.999], [0.789, 0.628, 3.90, 0.995]]),
    paper(14, [[1.159, 1.007, 7.40, 0.999], [0.785, 0.640, 4.35, 0.993]]),
    paper(16, [[1.160, 1.019, 8.21, 0.999], [0.790, 0.639, 3.89, 0.995]]),
    paper(18, [[1.159, 1.015, 9.68, 0.999], [0.786, 0.646, 4.43, 0.994]]),
    paper(20, [[1.153, 0.994, 9.25, 0.993], [0.789, 0.656, 4.47, 0.995]]),
];

/// For messages of 20 elements, without computation: how many, and Gb/s of the simple and the complex type.
const PAPER_MESSAGES: [(usize, [f64; 2]); 5] = [
    (1, [0.074, 0.052]),
    (2, [0.146, 0.102]),
    (4, [0.290, 0.203]),
    (8, [0.578, 0.405]),
    (16, [1.152, 0.789]),
];

const fn paper(elements: u64, medians: [[f64; 4]; 2]) -> Paper {
    Paper {
        bytes: elements * ELEMENT_BYTES,
        medians,
    }
}

/// A case to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// The type.
    pub(crate) kind: PaperType,
    /// Most segments of a message in flight.
    pub(crate) window: u16,
    /// Messages at once.
    pub(crate) messages: usize,
    /// Elements of each.
    pub(crate) elements: u64,
}

impl Spec {
    /// Bytes of a message.
    pub(crate) fn bytes(&self) -> u64 {
        self.elements * ELEMENT_BYTES
    }

    /// The points of both sweeps for a window: all, or every third length and number of messages.
    fn sweeps(window: u16, all: bool) -> Vec<Self> {
        let lengths = (1..=10).map(|half| (MESSAGES, 2 * half));
        let messages = [1, 2, 4, 8].map(|messages| (messages, ELEMENTS));
        let wanted = |&(messages, elements): &(usize, u64)| match messages {
            MESSAGES => elements % 6 == 2,
            fewer => [1, 4].contains(&fewer),
        };
        let points = messages.into_iter().chain(lengths);
        let points = points.filter(|point| all || wanted(point));
        let of = |(messages, elements)| {
            PaperType::ALL.map(|kind| Self {
                kind,
                window,
                messages,
                elements,
            })
        };
        points.flat_map(of).collect()
    }

    /// The exchange, once with a shorter message before.
    fn exchange(&self, nic: &NicConfig) -> Result<Exchange> {
        Ok(Exchange {
            nic: nic.clone(),
            window: self.window,
            warm_up: Some(self.kind.layout(1)?),
            // Points run side by side.
            threads: 1,
            ..Exchange::of(vec![self.kind.layout(self.elements)?; self.messages])
        })
    }
}

/// A point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    /// A measured case.
    pub(crate) spec: Spec,
    /// Results; trials are those of [`TIMES`].
    pub(crate) done: Overlapped,
}

/// For progress.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { spec, done } = self;
        let Spec {
            kind,
            window,
            messages,
            ..
        } = spec;
        write!(
            f,
            "{messages} x {} B of {}, window {window}: ",
            spec.bytes(),
            kind.name()
        )?;
        write!(f, "{:.2} Gb/s simulated", done.alone.gbps())?;
        for (times, trial) in TIMES.iter().zip(&done.trials) {
            write!(f, ", R {:.4} with prices times {times}", trial.ratio())?;
        }
        Ok(())
    }
}

/// Measures points, with a host that multiplies matrices meanwhile.
///
/// # Errors
/// If a message does not arrive as it was sent.
pub(crate) fn points(
    nic: &NicConfig,
    multiplication: &Multiplication,
    specs: &[Spec],
    done: impl Fn(&Point) + Sync,
) -> Result<Vec<Point>> {
    let prices = TIMES.map(|times| HostLatencies::STATED.times(times));
    in_parallel(specs, |spec| {
        let point = Point {
            spec: *spec,
            done: overlap(&spec.exchange(nic)?, multiplication, &prices)?,
        };
        done(&point);
        Ok(point)
    })
}

/// The contents of a file of points.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    /// As it was measured before the first point.
    multiplication: Multiplication,
    points: Vec<Point>,
}

/// Measures the points that the file of points lacks, writes all of them as CSV, and draws them.
pub(super) fn run(out: &Path, clusters: Clusters, arguments: &Figure10) -> Result<()> {
    let usual = || Path::new("target/experiments").join(clusters.file("figure10", "json"));
    let path = &arguments.points.clone().unwrap_or_else(usual);
    let known = match read(path)? {
        Some(known) => known,
        None => Record {
            multiplication: product::measure(&out.join("figure10-product.csv"))?,
            points: Vec::new(),
        },
    };
    let multiplication = known.multiplication.clone();
    let wanted: Vec<Spec> = arguments
        .windows
        .iter()
        .rev()
        .flat_map(|&window| Spec::sweeps(window, arguments.all))
        .filter(|spec| known.points.iter().all(|point| point.spec != *spec))
        .collect();
    let all = Mutex::new(known);
    points(&clusters.config(), &multiplication, &wanted, |point| {
        eprintln!("{point}");
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.points.push(point.clone());
        // Points are saved at once, so that they survive an interrupted run.
        let text = serde_json::to_string_pretty(&*all).map_err(Into::into);
        if let Err(error) = text.and_then(|text| write(path, &text)) {
            eprintln!("{error:#}");
        }
    })?;
    let mut points = all.into_inner().unwrap_or_else(PoisonError::into_inner).points;
    points.sort_by_key(|Point { spec, .. }| (spec.kind.name(), spec.window, spec.messages, spec.elements));
    // Unpacking does not depend on the clusters, so it is measured with the model only.
    let unpackings = match clusters.0 {
        Backend::Rtl | Backend::Own => Vec::new(),
        Backend::Model => measure_all_mpis(|compiler, why| {
            eprintln!("without what the MPI of {compiler} takes to unpack here: {why}");
        })?,
    };
    for unpacking in &unpackings {
        show_unpacking(unpacking);
    }
    let file = |extension| out.join(clusters.file("figure10", extension));
    save(&file("csv"), &output::csv(&points, &unpackings))?;
    let model = clusters.rows_of_model(out, "figure10")?;
    let model: Vec<_> = model
        .iter()
        .filter_map(|line| output::Drawn::read(line))
        .collect();
    output::draw(&file("svg"), &points, &model)
}

/// Prints the unpacking times of this process's MPI as JSON.
pub(super) fn unpack(arguments: &Figure10) -> Result<()> {
    println!(
        "{}",
        serde_json::to_string(&measure_unpacking(&arguments.mpicc)?)?
    );
    Ok(())
}

/// Prints the unpacking rates of an MPI.
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

fn read(path: &Path) -> Result<Option<Record>> {
    match std::fs::read(path) {
        Ok(text) => serde_json::from_slice(&text)
            .with_context(|| format!("{} does not hold points of Figure 10; remove it", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Passes; the best counts, because other programs disturb the others.
const PASSES: usize = 100;
/// Compilers of the MPIs to measure.
const COMPILERS: [&str; 2] = ["mpicc.openmpi", "mpicc.mpich"];

/// Unpacking times of an MPI.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Unpacking {
    /// Name of the library.
    library: String,
    /// For each type and length: the time of one message, if 16 are unpacked one after the other.
    times: Vec<(PaperType, u64, Duration)>,
}

impl Unpacking {
    /// All messages of a point, one after the other on one core.
    fn of(&self, spec: &Spec) -> Option<Duration> {
        let is_it = |(kind, elements, _): &&(PaperType, u64, Duration)| {
            *kind == spec.kind && *elements == spec.elements
        };
        let (.., time) = self.times.iter().find(is_it)?;
        Some(*time * spec.messages as u32)
    }

    /// Bytes that it unpacks a second, in GB/s, for messages of a length.
    fn rate(&self, kind: PaperType, elements: u64) -> Option<f64> {
        let spec = Spec {
            kind,
            window: 1,
            messages: 1,
            elements,
        };
        Some(spec.bytes() as f64 / self.of(&spec)?.as_secs_f64() / 1e9)
    }
}

/// Measures in this process, which can start one MPI only.
///
/// # Errors
/// If there is no such MPI, or it fails.
fn measure_unpacking(compiler: &Path) -> Result<Unpacking> {
    let mpi = Mpi::init_with(&Library::with(compiler, None)?)?;
    let mut times = Vec::new();
    for kind in PaperType::ALL {
        let tree = kind.datatype(&mpi)?.contents()?;
        ensure!(
            Layout::of(&tree, 1)? == kind.layout(1)?,
            "the {} type of this MPI is another one than ours",
            kind.name()
        );
        for elements in (2..=20).step_by(2) {
            times.push((kind, elements, unpack_time(&mpi, kind, elements)?));
        }
    }
    Ok(Unpacking {
        library: mpi.version()?.library,
        times,
    })
}

/// Messages are in separate memory, as the NIC writes them.
fn unpack_time(mpi: &Mpi, kind: PaperType, elements: u64) -> Result<Duration> {
    let datatype = kind.datatype(mpi)?;
    let bounds = datatype.bounds()?;
    let count = elements as usize;
    let packed = vec![vec![7; bounds.size as usize * count]; MESSAGES];
    let mut memory = vec![vec![0; bounds.extent as usize * count]; MESSAGES];
    let mut best = Duration::MAX;
    for _ in 0..PASSES {
        let begun = Instant::now();
        for (packed, memory) in packed.iter().zip(&mut memory) {
            datatype.unpack(packed, &mut 0, memory, 0, count)?;
        }
        best = best.min(begun.elapsed());
    }
    Ok(best / MESSAGES as u32)
}

/// Measures all MPIs of this machine, each in its own process. Reports those that are missing.
fn measure_all_mpis(missing: impl Fn(&str, String)) -> Result<Vec<Unpacking>> {
    let program = std::env::current_exe()?;
    let measure = |compiler: &str| -> Result<Unpacking> {
        let output = Command::new(&program)
            .args(["experiments", "unpack", "--mpicc", compiler])
            .output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "{}",
            errors.lines().next().unwrap_or_default()
        );
        serde_json::from_slice(&output.stdout).context("its figures cannot be read")
    };
    let mut found = Vec::new();
    for compiler in COMPILERS {
        match measure(compiler) {
            Ok(unpacking) => found.push(unpacking),
            Err(error) => missing(compiler, format!("{error:#}")),
        }
    }
    Ok(found)
}
