//! The experiments as pictures, with the paper's values beside ours.

mod figure10;
mod figure9;
mod mark;

pub use figure9::draw_figure9;
pub use figure10::draw_figure10;

use super::ExperimentError;
use super::figure7::{Mode, PAPER_7, Protocol, RoundTrip};
use super::figure8::{PAPER_BEST_GBPS, PAPER_WINDOW_1_GBPS, Throughput};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

/// Size of a picture in points.
const SIZE: (u32, u32) = (960, 460);
/// A colour for each line.
const COLORS: [RGBColor; 6] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
    RGBColor(23, 190, 207),
];

type Drawing<'d> = DrawingArea<SVGBackend<'d>, Shift>;

/// Draws round trips over payload, one picture beside the other for both protocols.
///
/// # Errors
/// If the file cannot be written.
pub fn draw_figure7(path: &Path, trips: &[RoundTrip]) -> Result<(), ExperimentError> {
    draw(path, SIZE, |area| {
        let [icmp, udp] = &area.split_evenly((1, 2))[..] else {
            return Ok(());
        };
        round_trips(icmp, Protocol::Icmp, trips)?;
        round_trips(udp, Protocol::Udp, trips)
    })
}

/// Draws throughput over the size of the file, a line for each window.
///
/// # Errors
/// If the file cannot be written.
pub fn draw_figure8(path: &Path, points: &[Throughput]) -> Result<(), ExperimentError> {
    draw(path, SIZE, |area| throughput(area, points))
}

fn draw(
    path: &Path,
    size: (u32, u32),
    picture: impl FnOnce(&Drawing<'_>) -> Result<(), Box<dyn Error>>,
) -> Result<(), ExperimentError> {
    let paint = || -> Result<(), Box<dyn Error>> {
        let area = SVGBackend::new(path, size).into_drawing_area();
        area.fill(&WHITE)?;
        picture(&area)?;
        Ok(area.present()?)
    };
    paint().map_err(|error| ExperimentError::Draw(path.display().to_string(), error.to_string()))
}

fn round_trips(area: &Drawing<'_>, protocol: Protocol, trips: &[RoundTrip]) -> Result<(), Box<dyn Error>> {
    let trips: Vec<&RoundTrip> = trips.iter().filter(|trip| trip.protocol == protocol).collect();
    let paper = PAPER_7.iter().filter(|(of, ..)| *of == protocol);
    let highest = trips.iter().map(|trip| trip.total());
    let highest = highest
        .chain(paper.clone().map(|(.., [_, high])| *high))
        .fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{} ping-pong", protocol.name()), ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .build_cartesian_2d(0.0..1450.0, 0.0..highest * 1.35)?;
    chart
        .configure_mesh()
        .x_desc("payload, bytes")
        .y_desc("round trip, us")
        .draw()?;
    for (mode, color) in Mode::ALL.into_iter().zip(COLORS) {
        let points = trips.iter().filter(|trip| trip.mode == mode);
        let points: Vec<(f64, f64)> = points.map(|trip| (trip.payload as f64, trip.total())).collect();
        if !points.is_empty() {
            chart
                .draw_series(LineSeries::new(points, color.stroke_width(2)))?
                .label(format!("{}, here", mode.name()))
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
        }
        let values = paper.clone().filter(|(_, of, ..)| *of == mode);
        let dots: Vec<(f64, f64)> = values
            .clone()
            .filter_map(|(.., payload, [value, _])| payload.map(|payload| (payload as f64, *value)))
            .collect();
        if !dots.is_empty() {
            chart
                .draw_series(dots.iter().map(|dot| Circle::new(*dot, 4, color.filled())))?
                .label(format!("{}, paper", mode.name()))
                .legend(move |(x, y)| Circle::new((x + 10, y), 4, color.filled()));
        }
        for (.., [low, high]) in values.filter(|(_, _, payload, _)| payload.is_none()) {
            chart
                .draw_series([Rectangle::new(
                    [(0.0, *low), (1450.0, *high)],
                    color.mix(0.18).filled(),
                )])?
                .label(format!("{}, paper: range over payloads", mode.name()))
                .legend(move |(x, y)| {
                    Rectangle::new([(x, y - 4), (x + 20, y + 4)], color.mix(0.18).filled())
                });
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font(("sans-serif", 11))
        .border_style(BLACK.mix(0.3))
        .background_style(WHITE.mix(0.85))
        .draw()?;
    Ok(())
}

fn throughput(area: &Drawing<'_>, points: &[Throughput]) -> Result<(), Box<dyn Error>> {
    let mut windows: Vec<u16> = points.iter().map(|point| point.window).collect();
    windows.sort_unstable();
    windows.dedup();
    let highest = points
        .iter()
        .map(|point| point.done.gbps())
        .fold(PAPER_BEST_GBPS, f64::max);
    let largest = points.iter().map(|point| point.done.bytes).max().unwrap_or(1) as f64;
    let mut chart = ChartBuilder::on(area)
        .caption("Files over SLMP, handlers at 40 MHz", ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .build_cartesian_2d((8e3..largest * 1.25).log_scale(), 0.0..highest * 1.1)?;
    chart
        .configure_mesh()
        .x_desc("size of the file, bytes")
        .y_desc("throughput, Gb/s")
        .x_label_formatter(&|bytes| format!("{bytes:.0}"))
        .draw()?;
    for (window, color) in windows.into_iter().zip(COLORS) {
        let line = points.iter().filter(|point| point.window == window);
        let line: Vec<(f64, f64)> = line
            .map(|point| (point.done.bytes as f64, point.done.gbps()))
            .collect();
        chart.draw_series(line.iter().map(|point| Circle::new(*point, 3, color.filled())))?;
        chart
            .draw_series(LineSeries::new(line, color.stroke_width(2)))?
            .label(format!("window {window}"))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
    }
    for (value, label) in [
        (PAPER_BEST_GBPS, "paper, best median"),
        (PAPER_WINDOW_1_GBPS, "paper, window 1"),
    ] {
        let ends = [(8e3, value), (largest * 1.25, value)];
        chart
            .draw_series(DashedLineSeries::new(ends, 6, 4, BLACK.mix(0.7).stroke_width(1)))?
            .label(format!("{label}: {value}"))
            .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], BLACK.mix(0.7)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font(("sans-serif", 12))
        .border_style(BLACK.mix(0.3))
        .background_style(WHITE.mix(0.85))
        .draw()?;
    Ok(())
}
