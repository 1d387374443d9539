//! Figure 8: files over SLMP.

use super::draw;
use crate::experiments::ExperimentError;
use crate::experiments::figure8::{PAPER_BEST_GBPS, PAPER_WINDOW_1_GBPS, Throughput};
use crate::picture::{Axis, COLORS, Panel, Series, Shape, Style, bytes};
use std::path::Path;

/// Size of the picture in points.
const SIZE: (u32, u32) = (960, 520);
/// From where on sizes are drawn, in bytes.
const SMALLEST: f64 = 8e3;

/// One for each window, from the narrowest on, in print too.
const SHAPES: [Shape; 5] = [
    Shape::Circle,
    Shape::Square,
    Shape::Triangle,
    Shape::Diamond,
    Shape::Tip,
];

/// Draws throughput over the size of the file, a line for each window.
///
/// # Errors
/// If the file cannot be written.
pub fn draw_figure8(path: &Path, points: &[Throughput]) -> Result<(), ExperimentError> {
    draw(path, SIZE, |area| panel(points).draw(area))
}

fn panel(points: &[Throughput]) -> Panel {
    let mut windows: Vec<u16> = points.iter().map(|point| point.window).collect();
    windows.sort_unstable();
    windows.dedup();
    let gbps = points.iter().map(|point| point.done.gbps());
    let highest = gbps.fold(PAPER_BEST_GBPS, f64::max);
    let bytes_of = points.iter().map(|point| point.done.bytes);
    let largest = bytes_of.max().unwrap_or(1) as f64 * 1.25;
    let styles = COLORS.into_iter().zip(SHAPES.into_iter().cycle());
    let ours = windows.into_iter().zip(styles).map(|(window, (color, shape))| {
        let line = points.iter().filter(|point| point.window == window);
        Series {
            name: format!("window {window}"),
            style: Style::line(color).with(shape),
            points: line
                .map(|point| (point.done.bytes as f64, point.done.gbps()))
                .collect(),
            band: None,
        }
    });
    let paper = [
        (PAPER_BEST_GBPS, "paper, best median", SHAPES[4]),
        (PAPER_WINDOW_1_GBPS, "paper, window 1", SHAPES[0]),
    ];
    let theirs = paper.map(|(value, name, shape)| Series {
        name: format!("{name}: {value}"),
        style: Style::published_line(shape),
        points: vec![(SMALLEST, value), (largest, value)],
        band: None,
    });
    Panel {
        title: "Files over SLMP, handlers at 40 MHz".to_owned(),
        x: Axis::log("size of the file", SMALLEST..largest).with_words(bytes),
        y: Axis::linear("throughput, Gb/s", 0.0..highest * 1.08),
        series: ours.chain(theirs).collect(),
    }
}
