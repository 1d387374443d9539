//! Figure 10: throughput and overlap of messages of MPI's datatypes, over their length and over how many there are.

use super::mark::{Mark, Shape, Style};
use super::{COLORS, Drawing, draw};
use crate::experiments::{
    ELEMENTS, ExperimentError, MESSAGES, PAPER_LENGTHS, PAPER_MESSAGES, Point, Spec, of_paper,
};
use crate::mpi::{PaperType, Trial};
use plotters::coord::ranged1d::{Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use std::error::Error;
use std::ops::Range;
use std::path::Path;

/// Size of the picture in points, and of its legend below.
const SIZE: (u32, u32) = (960, 800);
const LEGEND: u32 = 130;
/// Throughput that is drawn, in Gb/s.
const GBPS: Range<f64> = 0.04..30.0;
/// R from where on the axis begins, unless something is below.
const RATIO: f64 = 0.9;
/// Of the paper's values.
const PAPER: RGBColor = RGBColor(70, 70, 70);

/// Points of a series, and how they are drawn.
type Series = (Style, Vec<(f64, f64)>);

/// What stands on the horizontal axis.
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

    fn axis(self) -> (&'static str, Range<f64>) {
        match self {
            Self::Length => ("length of each of 16 messages, kB", 0.0..2350.0),
            Self::Messages => ("messages of 2212 kB at once", 0.0..17.0),
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
                    .map(|paper| spec(MESSAGES, paper.bytes / crate::experiments::ELEMENT_BYTES))
                    .collect()
            }
            Self::Messages => PAPER_MESSAGES
                .iter()
                .map(|(messages, _)| spec(*messages, ELEMENTS))
                .collect(),
        }
    }
}

/// Draws throughput above and R below, over both sweeps.
///
/// # Errors
/// If the file cannot be written.
pub fn draw_figure10(path: &Path, points: &[Point]) -> Result<(), ExperimentError> {
    draw(path, SIZE, |area| {
        let (panels, below) = area.split_vertically(SIZE.1 - LEGEND);
        let panels = panels.split_evenly((2, 2));
        for (number, sweep) in [Sweep::Length, Sweep::Messages].into_iter().enumerate() {
            throughput(&panels[number], sweep, points)?;
            overlap(&panels[2 + number], sweep, points)?;
        }
        legend(&below)
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
        color: PAPER,
        is_full: kind == PaperType::Simple,
        line: None,
        is_dashed: false,
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

/// A series of ours for each type and window.
fn of_ours(
    sweep: Sweep,
    points: &[Point],
    style: impl Fn(Style) -> Style,
    value: impl Fn(&Point) -> Option<f64>,
) -> Vec<Series> {
    let mut windows: Vec<u16> = points.iter().map(|point| point.spec.window).collect();
    windows.sort_unstable();
    windows.dedup();
    let all = windows
        .into_iter()
        .flat_map(|window| PaperType::ALL.map(|kind| (kind, window)));
    all.map(|(kind, window)| {
        let own = points.iter().filter(|point| {
            let spec = &point.spec;
            spec.kind == kind && spec.window == window && sweep.has(spec)
        });
        let mut own: Vec<(f64, f64)> = own
            .filter_map(|point| Some((sweep.place(&point.spec), value(point)?)))
            .collect();
        own.sort_by(|left, right| left.0.total_cmp(&right.0));
        (style(ours(kind, window)), own)
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
        (style(kind), values.collect())
    };
    PaperType::ALL.map(of).to_vec()
}

fn throughput(area: &Drawing<'_>, sweep: Sweep, points: &[Point]) -> Result<(), Box<dyn Error>> {
    let gbps = |point: &Point| Some(point.done.alone.gbps());
    let meanwhile = |point: &Point| {
        let elapsed = point.done.trials.first()?.elapsed.as_secs_f64();
        Some(point.done.alone.bytes as f64 * 8.0 / elapsed / 1e9)
    };
    let series = [
        of_theirs(sweep, |kind| theirs(kind, Shape::Diamond), 2),
        of_theirs(sweep, |kind| computing(theirs(kind, Shape::Cross)), 1),
        of_theirs(sweep, |kind| theirs(kind, Shape::Square), 0),
        of_ours(sweep, points, |style| style, gbps),
        of_ours(sweep, points, computing, meanwhile),
    ];
    let (x_desc, x) = sweep.axis();
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d(x, GBPS.log_scale())?;
    chart
        .configure_mesh()
        .max_light_lines(1)
        .x_desc(x_desc)
        .y_desc("throughput, Gb/s")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|gbps| format!("{gbps}"))
        .draw()?;
    draw_series(&mut chart, &series.concat())
}

fn overlap(area: &Drawing<'_>, sweep: Sweep, points: &[Point]) -> Result<(), Box<dyn Error>> {
    let ratio = |number: usize| move |point: &Point| point.done.trials.get(number).map(Trial::ratio);
    let series = [
        of_ours(sweep, points, dear, ratio(1)),
        of_theirs(sweep, |kind| theirs(kind, Shape::Square), 3),
        of_ours(sweep, points, |style| style, ratio(0)),
    ]
    .concat();
    let lowest = points
        .iter()
        .flat_map(|point| &point.done.trials)
        .map(Trial::ratio)
        .fold(RATIO, f64::min);
    let lowest = (lowest * 50.0).floor() / 50.0;
    let (x_desc, x) = sweep.axis();
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d(x, lowest..1.004)?;
    chart
        .configure_mesh()
        .max_light_lines(1)
        .x_desc(x_desc)
        .y_desc("overlap ratio R")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|ratio| format!("{ratio:.2}"))
        .draw()?;
    draw_series(&mut chart, &series)
}

fn draw_series<Y: Ranged<ValueType = f64> + ValueFormatter<f64>>(
    chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<RangedCoordf64, Y>>,
    series: &[Series],
) -> Result<(), Box<dyn Error>> {
    for (style, points) in series {
        let points = points.iter().copied();
        match style.line {
            Some(width) if style.is_dashed => {
                let line = DashedLineSeries::new(points.clone(), 7, 4, style.color.stroke_width(width));
                chart.draw_series(line)?;
            }
            Some(width) => {
                chart.draw_series(LineSeries::new(points.clone(), style.color.stroke_width(width)))?;
            }
            None => {}
        }
        chart.draw_series(points.map(|at| Mark { at, style: *style }))?;
    }
    Ok(())
}

/// Two columns below the panels, so that nothing is covered.
fn legend(area: &Drawing<'_>) -> Result<(), Box<dyn Error>> {
    use PaperType::{Complex, Simple};
    let entries = [
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
    let font = ("sans-serif", 13).into_font();
    for (number, (style, text)) in entries.into_iter().enumerate() {
        let (column, row) = (number as i32 / 5, number as i32 % 5);
        let (x, y) = (70 + 450 * column, 16 + 22 * row);
        let ends = [(x, y), (x + 32, y)];
        if let Some(width) = style.line {
            let line = style.color.stroke_width(width);
            match style.is_dashed {
                true => area.draw(&DashedPathElement::new(ends, 7, 4, line))?,
                false => area.draw(&PathElement::new(ends, line))?,
            }
        }
        area.draw(&Mark {
            at: (x + 16, y),
            style,
        })?;
        area.draw(&Text::new(text, (x + 42, y - 6), font.clone()))?;
    }
    Ok(())
}
