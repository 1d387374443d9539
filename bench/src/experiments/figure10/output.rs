//! Figure 10 as a table.

use super::{
    ELEMENT_BYTES, ELEMENTS, MESSAGES, PAPER_LENGTHS, PAPER_MESSAGES, Point, Spec, TIMES, Unpacking,
};
use crate::experiments::{csv as sheet, modelled};
use crate::harness;
use anyhow::Result;
use spinneret_nic::mpi::{PaperType, Trial};
use spinneret_nic::picture::{Area, Axis, COLORS, Painted, Panel, Series, Shape, Style, legend};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// Columns of a point with one set of prices.
const COLUMNS: [&str; 26] = [
    "type",
    "window",
    "messages",
    "bytes",
    "prices_times",
    "transfer_us",
    "gbps",
    "gbps_computing",
    "dimension",
    "multiplications",
    "slowdown",
    "elapsed_us",
    "t_mm_us",
    "t_poll_us",
    "overlap_ratio",
    "elapsed_by_transfer",
    "availability",
    "looks",
    "words_seen",
    "words_written",
    "words_read",
    "frames_sent",
    "paper_gbps",
    "paper_gbps_computing",
    "paper_host_gbps",
    "paper_overlap_ratio",
];
/// Columns of each measured MPI.
const UNPACK_COLUMNS: [&str; 2] = ["unpack_measured_us", "availability_with_unpack"];

/// The paper's figures of a point: throughput without and with computation, of MPICH on its hosts, and R.
pub(super) fn of_paper(spec: &Spec) -> [Option<f64>; 4] {
    let kind = usize::from(spec.kind == PaperType::Complex);
    let length = PAPER_LENGTHS.iter().find(|paper| paper.bytes == spec.bytes());
    if let Some(paper) = length.filter(|_| spec.messages == MESSAGES) {
        return paper.medians[kind].map(Some);
    }
    let messages = PAPER_MESSAGES
        .iter()
        .find(|(messages, _)| *messages == spec.messages);
    let reference = messages.filter(|_| spec.elements == ELEMENTS);
    [reference.map(|(_, medians)| medians[kind]), None, None, None]
}

/// Returns the header, and a row for each point and set of prices; simulated and measured figures have different
/// columns.
pub(super) fn csv(points: &[Point], unpackings: &[Unpacking]) -> String {
    let mut header: Vec<String> = COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    for unpacking in unpackings {
        let name = short_name(&unpacking.library);
        header.extend(UNPACK_COLUMNS.iter().map(|column| format!("{name}_{column}")));
    }
    let rows = points.iter().flat_map(|point| {
        let trials = TIMES.iter().zip(&point.done.trials);
        trials.map(|(times, trial)| row(point, *times, trial, unpackings))
    });
    sheet(&header, &Vec::from_iter(rows))
}

fn row(point: &Point, times: u32, trial: &Trial, unpackings: &[Unpacking]) -> Vec<String> {
    let (spec, alone, acts) = (&point.spec, &point.done.alone, &trial.acts);
    let bytes = alone.bytes as f64 * 8.0 / 1e3;
    let mut row = vec![
        spec.kind.name().to_owned(),
        spec.window.to_string(),
        spec.messages.to_string(),
        spec.bytes().to_string(),
        times.to_string(),
        micros(alone.time),
        format!("{:.3}", alone.gbps()),
        format!("{:.3}", bytes / (trial.elapsed.as_secs_f64() * 1e6)),
        trial.dimension.to_string(),
        trial.multiplications.to_string(),
        format!("{:.3}", trial.slowdown),
        micros(trial.elapsed),
        micros(trial.computed),
        micros(trial.polling()),
        format!("{:.4}", trial.ratio()),
        format!("{:.4}", trial.elapsed.as_secs_f64() / alone.time.as_secs_f64()),
        format!("{:.4}", trial.availability(alone, Duration::ZERO)),
        acts.looks.to_string(),
        acts.words_seen.to_string(),
        acts.words_written.to_string(),
        acts.words_read.to_string(),
        acts.frames.to_string(),
    ];
    row.extend(of_paper(spec).map(|value| value.map(|value| value.to_string()).unwrap_or_default()));
    for unpacking in unpackings {
        let time = unpacking.of(spec);
        row.push(time.map(micros).unwrap_or_default());
        let availability = time.map(|time| format!("{:.4}", trial.availability(alone, time)));
        row.push(availability.unwrap_or_default());
    }
    row
}

fn micros(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e6)
}

/// A name for columns.
fn short_name(library: &str) -> &'static str {
    match library.contains("MPICH") {
        true => "mpich",
        false => "openmpi",
    }
}

/// Size of the picture in points, and of its legend below.
const SIZE: (u32, u32) = (960, 800);
const LEGEND: u32 = 130;
/// Throughput axis, in Gb/s.
const GBPS: Range<f64> = 0.04..30.0;
/// The legend is below all panels.
const UNNAMED: &str = "";
/// Lower end of the axis for R, unless a point is below.
const RATIO: f64 = 0.9;

/// The horizontal axis.
#[derive(Clone, Copy)]
enum Sweep {
    Length,
    Messages,
}

impl Sweep {
    fn has(self, spec: &Spec) -> bool {
        match self {
            Self::Length => spec.messages == MESSAGES,
            Self::Messages => spec.elements == ELEMENTS,
        }
    }

    fn place(self, spec: &Spec) -> f64 {
        match self {
            Self::Length => spec.bytes() as f64 / 1e3,
            Self::Messages => spec.messages as f64,
        }
    }

    fn axis(self) -> Axis {
        match self {
            Self::Length => Axis::linear("length of each of 16 messages, kB", 0.0..2350.0),
            Self::Messages => Axis::linear("messages of 2212 kB at once", 0.0..17.0),
        }
    }

    /// The paper's points.
    fn paper(self, kind: PaperType) -> Vec<Spec> {
        let spec = |messages, elements| Spec {
            kind,
            window: 1,
            messages,
            elements,
        };
        match self {
            Self::Length => {
                let lengths = PAPER_LENGTHS.iter();
                lengths
                    .map(|paper| spec(MESSAGES, paper.bytes / ELEMENT_BYTES))
                    .collect()
            }
            Self::Messages => PAPER_MESSAGES
                .iter()
                .map(|(messages, _)| spec(*messages, ELEMENTS))
                .collect(),
        }
    }
}

/// A point of another table that is drawn as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    spec: Spec,
    gbps: f64,
    ratio: f64,
}

impl Drawn {
    /// From a row of the table with the stated prices of the host.
    pub(super) fn read(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |name| {
            let at = COLUMNS.iter().position(|column| *column == name)?;
            cells.get(at).copied()
        };
        let kind = PaperType::ALL
            .into_iter()
            .find(|kind| cell("type") == Some(kind.name()))?;
        let spec = Spec {
            kind,
            window: cell("window")?.parse().ok()?,
            messages: cell("messages")?.parse().ok()?,
            elements: cell("bytes")?.parse::<u64>().ok()? / ELEMENT_BYTES,
        };
        (cell("prices_times")? == "1").then_some(())?;
        Some(Self {
            spec,
            gbps: cell("gbps")?.parse().ok()?,
            ratio: cell("overlap_ratio")?.parse().ok()?,
        })
    }
}

/// Draws throughput above and R below, over both sweeps, with the points of the model if these are not.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn draw(path: &Path, points: &[Point], model: &[Drawn]) -> Result<()> {
    harness::draw(path, SIZE, |area| {
        let (panels, below) = area.split_vertically(SIZE.1 - LEGEND);
        let panels = panels.split_evenly((2, 2));
        for (number, sweep) in [Sweep::Length, Sweep::Messages].into_iter().enumerate() {
            throughput(sweep, points, model).draw(&panels[number])?;
            overlap(sweep, points, model).draw(&panels[2 + number])?;
        }
        names(&below, !model.is_empty())
    })
}

/// Ours: simple is full, complex is hollow; window 1 are circles and lines, wider ones triangles and dashes.
fn ours(kind: PaperType, window: u16) -> Style {
    Style {
        shape: Some(if window == 1 {
            Shape::Circle
        } else {
            Shape::Triangle
        }),
        color: COLORS[usize::from(kind == PaperType::Complex)],
        is_full: kind == PaperType::Simple,
        line: Some(2),
        is_dashed: window != 1,
    }
}

/// The paper's: no lines.
fn theirs(kind: PaperType, shape: Shape) -> Style {
    Style {
        shape: Some(shape),
        is_full: kind == PaperType::Simple,
        ..Style::published(shape)
    }
}

/// Like another one, with crosses.
fn computing(style: Style) -> Style {
    Style {
        shape: Some(Shape::Cross),
        line: None,
        ..style
    }
}

/// Like another one, thin and without forms.
fn dear(style: Style) -> Style {
    Style {
        shape: None,
        line: Some(1),
        ..style
    }
}

/// Another colour for the points of the model.
fn of_model(kind: PaperType) -> Style {
    let style = ours(kind, 1);
    modelled(Style {
        color: COLORS[2 + usize::from(kind == PaperType::Complex)],
        ..style
    })
}

/// The model's series for each type and window.
fn series_of_model(sweep: Sweep, model: &[Drawn], value: impl Fn(&Drawn) -> f64) -> Vec<Series> {
    let place = |drawn: &Drawn| Some((sweep.place(&drawn.spec), value(drawn)));
    series(sweep, model, |drawn| drawn.spec, |kind, _| of_model(kind), place)
}

/// A measured series for each type and window.
fn of_ours(
    sweep: Sweep,
    points: &[Point],
    style: impl Fn(Style) -> Style,
    value: impl Fn(&Point) -> Option<f64>,
) -> Vec<Series> {
    let place = |point: &Point| Some((sweep.place(&point.spec), value(point)?));
    let style = |kind, window| style(ours(kind, window));
    series(sweep, points, |point| point.spec, style, place)
}

/// A series for each type and window of some points.
fn series<P>(
    sweep: Sweep,
    points: &[P],
    spec: impl Fn(&P) -> Spec,
    style: impl Fn(PaperType, u16) -> Style,
    place: impl Fn(&P) -> Option<(f64, f64)>,
) -> Vec<Series> {
    let mut windows: Vec<u16> = points.iter().map(|point| spec(point).window).collect();
    windows.sort_unstable();
    windows.dedup();
    let all = windows
        .into_iter()
        .flat_map(|window| PaperType::ALL.map(|kind| (kind, window)));
    all.map(|(kind, window)| {
        let own = points.iter().filter(|point| {
            let spec = spec(point);
            spec.kind == kind && spec.window == window && sweep.has(&spec)
        });
        let mut own: Vec<(f64, f64)> = own.filter_map(&place).collect();
        own.sort_by(|left, right| left.0.total_cmp(&right.0));
        Series::new(UNNAMED, style(kind, window), own)
    })
    .collect()
}

/// A series of the paper's for each type, of one of its columns.
fn of_theirs(sweep: Sweep, style: impl Fn(PaperType) -> Style, column: usize) -> Vec<Series> {
    let of = |kind: PaperType| {
        let specs = sweep.paper(kind);
        let values = specs
            .iter()
            .filter_map(|spec| Some((sweep.place(spec), of_paper(spec)[column]?)));
        Series::new(UNNAMED, style(kind), values.collect())
    };
    PaperType::ALL.map(of).to_vec()
}

fn throughput(sweep: Sweep, points: &[Point], model: &[Drawn]) -> Panel {
    let gbps = |point: &Point| Some(point.done.alone.gbps());
    let meanwhile = |point: &Point| {
        let elapsed = point.done.trials.first()?.elapsed.as_secs_f64();
        Some(point.done.alone.bytes as f64 * 8.0 / elapsed / 1e9)
    };
    let series = [
        of_theirs(sweep, |kind| theirs(kind, Shape::Diamond), 2),
        of_theirs(sweep, |kind| computing(theirs(kind, Shape::Cross)), 1),
        of_theirs(sweep, |kind| theirs(kind, Shape::Square), 0),
        series_of_model(sweep, model, |drawn| drawn.gbps),
        of_ours(sweep, points, |style| style, gbps),
        of_ours(sweep, points, computing, meanwhile),
    ];
    Panel {
        title: String::new(),
        x: sweep.axis(),
        y: Axis::log("throughput, Gb/s", GBPS),
        series: series.concat(),
    }
}

fn overlap(sweep: Sweep, points: &[Point], model: &[Drawn]) -> Panel {
    let ratio = |number: usize| move |point: &Point| point.done.trials.get(number).map(Trial::ratio);
    let series = [
        of_ours(sweep, points, dear, ratio(1)),
        of_theirs(sweep, |kind| theirs(kind, Shape::Square), 3),
        series_of_model(sweep, model, |drawn| drawn.ratio),
        of_ours(sweep, points, |style| style, ratio(0)),
    ];
    let lowest = points
        .iter()
        .flat_map(|point| &point.done.trials)
        .map(Trial::ratio)
        .fold(RATIO, f64::min);
    let lowest = (lowest * 50.0).floor() / 50.0;
    Panel {
        title: String::new(),
        x: sweep.axis(),
        y: Axis::linear("overlap ratio R", lowest..1.004),
        series: series.concat(),
    }
}

/// Below the panels, for all of them.
fn names(area: &Area<'_>, has_model: bool) -> Painted {
    use PaperType::{Complex, Simple};
    let mut entries = vec![
        (ours(Simple, 1), "simple, window 1: here, simulated"),
        (ours(Complex, 1), "complex, window 1: here, simulated"),
        (ours(Simple, 16), "simple, window 16: here, simulated"),
        (ours(Complex, 16), "complex, window 16: here, simulated"),
        (
            computing(ours(Simple, 1)),
            "crosses: while the host computes, here and in the paper",
        ),
        (
            theirs(Simple, Shape::Square),
            "simple, window 1: paper, measured; its sender sleeps",
        ),
        (
            theirs(Complex, Shape::Square),
            "complex, window 1: paper, measured; its sender sleeps",
        ),
        (
            theirs(Simple, Shape::Diamond),
            "simple: MPICH on the paper's hosts, measured",
        ),
        (
            theirs(Complex, Shape::Diamond),
            "complex: MPICH on the paper's hosts, measured",
        ),
        (
            dear(ours(Simple, 1)),
            "thin: what the host does takes ten times as long",
        ),
    ];
    if has_model {
        entries.extend([
            (of_model(Simple), "simple: model at 40 MHz, windows 1 and 16"),
            (of_model(Complex), "complex: model at 40 MHz, windows 1 and 16"),
        ]);
    }
    legend(area, &entries)
}
