//! Figure 8 as a picture.

use crate::experiments::{Clusters, modelled};
use crate::harness;
use anyhow::Result;
use plotters::style::RGBColor;
use spinneret_nic::nic::Backend;
use spinneret_nic::picture::{Axis, Band, COLORS, Panel, Series, Shape, Style, bytes};
use std::path::Path;

/// Best median of the paper.
const PAPER_BEST_GBPS: f64 = 6.68;
/// Its throughput with a window of 1.
const PAPER_WINDOW_1_GBPS: f64 = 0.53;
/// Size of the picture in points.
const SIZE: (u32, u32) = (1200, 620);
/// Range of sizes of files in the picture, in bytes.
const DRAWN: [f64; 2] = [8e3, 3e7];
/// Lower end of the throughput axis, in Gb/s.
const LOWEST: f64 = 0.04;
/// Where points without success are listed: the lowest one, and the ratio to the next.
const LIST: [f64; 2] = [0.05, 1.4];
/// One for each window, from the narrowest on, in print too.
const SHAPES: [Shape; 5] = [
    Shape::Circle,
    Shape::Square,
    Shape::Triangle,
    Shape::Diamond,
    Shape::Tip,
];

/// A point of a table.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    window: u16,
    bytes: f64,
    senders: usize,
    retransmit: bool,
    /// Median, and the ends of its interval, if a transfer succeeded.
    gbps: Option<[f64; 3]>,
    failed: u32,
}

impl Drawn {
    /// From a row.
    pub(super) fn read(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.split(',').collect();
        let &[
            window,
            bytes,
            senders,
            retransmit,
            _,
            median,
            low,
            high,
            failed,
            ..,
        ] = cells.as_slice()
        else {
            return None;
        };
        let gbps = || Some([median.parse().ok()?, low.parse().ok()?, high.parse().ok()?]);
        Some(Self {
            window: window.parse().ok()?,
            bytes: bytes.parse().ok()?,
            senders: senders.parse().ok()?,
            retransmit: retransmit.parse().ok()?,
            gbps: gbps(),
            failed: failed.parse().ok()?,
        })
    }

    /// The window and the number of senders.
    fn name(&self) -> String {
        match self.senders {
            1 => format!("window {}", self.window),
            senders => format!("window {}, {senders} senders", self.window),
        }
    }
}

/// Draws throughput without retransmission on the left, and with it on the right.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn draw(
    path: &Path,
    own: &[Drawn],
    model: &[Drawn],
    baselines: &[(String, f64)],
    clusters: Clusters,
) -> Result<()> {
    let mut curves: Vec<&Drawn> = own.iter().collect();
    curves.sort_by_key(|point| (point.senders, point.window));
    curves.dedup_by_key(|point| (point.senders, point.window));
    harness::draw(path, SIZE, |area| {
        let halves = area.split_evenly((1, 2));
        for (half, retransmit) in halves.iter().zip([false, true]) {
            let styles = COLORS.into_iter().cycle().zip(SHAPES.into_iter().cycle());
            let lines = curves.iter().zip(styles).flat_map(|(curve, style)| {
                let is_on = |point: &&Drawn| {
                    (point.senders, point.window, point.retransmit)
                        == (curve.senders, curve.window, retransmit)
                };
                let points = |all: &[Drawn]| all.iter().filter(is_on).cloned().collect::<Vec<_>>();
                lines(&curve.name(), style, &points(own), &points(model))
            });
            let failures = failures(own.iter().filter(|point| point.retransmit == retransmit));
            let how = if retransmit { "with" } else { "without" };
            Panel {
                title: format!("SLMP {how} retransmission, {}", clusters.name()),
                x: Axis::log("size of the file", DRAWN[0]..DRAWN[1]).with_words(bytes),
                y: Axis::log("throughput, Gb/s", LOWEST..highest(own, model, baselines) * 1.3),
                series: lines
                    .chain(failures)
                    .chain(name_of_model(model))
                    .chain(levels(baselines))
                    .collect(),
            }
            .draw(half)?;
        }
        Ok(())
    })
}

fn highest(own: &[Drawn], model: &[Drawn], baselines: &[(String, f64)]) -> f64 {
    let points = own.iter().chain(model).filter_map(|point| point.gbps);
    let points = points.map(|[.., high]| high);
    let baselines = baselines.iter().map(|(_, gbps)| *gbps);
    points.chain(baselines).fold(PAPER_BEST_GBPS, f64::max)
}

/// The medians of a curve with their confidence intervals and numbers of failures, and the model's medians.
fn lines(name: &str, (color, shape): (RGBColor, Shape), own: &[Drawn], model: &[Drawn]) -> Vec<Series> {
    let end = |points: &[Drawn], at: usize| -> Vec<(f64, f64)> {
        let places = points
            .iter()
            .filter_map(|point| Some((point.bytes, point.gbps?[at])));
        places.collect()
    };
    let failed = |point: &Drawn| match point.failed {
        0 => String::new(),
        failed => format!("{failed} failed"),
    };
    let style = Style::line(color);
    let mut outline = end(own, 1);
    outline.extend(end(own, 2).into_iter().rev());
    let mut series = vec![Series {
        band: (!outline.is_empty()).then(|| Band {
            outline,
            color,
            name: String::new(),
        }),
        labels: own
            .iter()
            .filter(|point| point.gbps.is_some())
            .map(failed)
            .collect(),
        ..Series::new(name, style.with(shape), end(own, 0))
    }];
    series.push(Series::new("", modelled(style), end(model, 0)));
    series
}

/// The points without success, above each other at their sizes.
fn failures<'p>(points: impl Iterator<Item = &'p Drawn>) -> Option<Series> {
    let mut places: Vec<(f64, f64)> = Vec::new();
    let mut labels = Vec::new();
    for point in points.filter(|point| point.gbps.is_none()) {
        let below = places.iter().filter(|(bytes, _)| *bytes == point.bytes).count();
        places.push((point.bytes, LIST[0] * LIST[1].powi(below as i32)));
        labels.push(format!("{}: all {} failed", point.name(), point.failed));
    }
    let style = Style {
        shape: Some(Shape::Cross),
        line: None,
        ..Style::line(COLORS[6])
    };
    (!places.is_empty()).then(|| Series {
        labels,
        ..Series::new("none succeeded", style, places)
    })
}

/// One entry in the legend for all of the model's lines.
fn name_of_model(model: &[Drawn]) -> Option<Series> {
    let style = modelled(Style::line(COLORS[6]));
    let name = format!("the same, {}", Clusters(Backend::Model).name());
    (!model.is_empty()).then(|| Series::new(name, style, Vec::new()))
}

/// The paper's throughput and iperf3's, for all sizes.
fn levels(baselines: &[(String, f64)]) -> Vec<Series> {
    let level = |name: String, shape, gbps| {
        let ends = DRAWN.map(|bytes| (bytes, gbps));
        Series::new(
            format!("{name}: {gbps:.2}"),
            Style::published_line(shape),
            ends.to_vec(),
        )
    };
    let paper = [
        level("paper, best median".to_owned(), SHAPES[4], PAPER_BEST_GBPS),
        level("paper, window 1".to_owned(), SHAPES[0], PAPER_WINDOW_1_GBPS),
    ];
    let measured = baselines.iter().zip([SHAPES[1], SHAPES[2]]);
    let measured = measured.map(|((protocol, gbps), shape)| {
        level(
            format!("iperf3, {protocol}, on this machine's stack"),
            shape,
            *gbps,
        )
    });
    paper.into_iter().chain(measured).collect()
}
