//! Round trips as a picture.

use super::{BenchError, PAPER_ICMP, RoundTrip};
use crate::picture::{Axis, COLORS, Panel, Series, Shape, Style, save};
use std::path::Path;

/// Size of the picture in points.
const SIZE: (u32, u32) = (800, 480);

/// Draws round trips over payload, with the paper's medians.
///
/// # Errors
/// If the file cannot be written.
pub fn plot(path: &Path, icmp: &[RoundTrip], udp: &[RoundTrip]) -> Result<(), BenchError> {
    save(path, SIZE, |area| panel(icmp, udp).draw(area))
        .map_err(|error| BenchError::Wrong(format!("{} cannot be written: {error}", path.display())))
}

fn panel(icmp: &[RoundTrip], udp: &[RoundTrip]) -> Panel {
    let curve = |trips: &[RoundTrip]| -> Vec<(f64, f64)> {
        trips
            .iter()
            .map(|trip| (trip.payload as f64, trip.microseconds))
            .collect()
    };
    let paper: Vec<(f64, f64)> = PAPER_ICMP
        .iter()
        .map(|(payload, median)| (*payload as f64, *median))
        .collect();
    let series = [
        (
            "ICMP, simulated, NIC only",
            Style::line(COLORS[0]).with(Shape::Circle),
            curve(icmp),
        ),
        (
            "UDP, simulated, NIC only",
            Style::line(COLORS[1]).with(Shape::Square),
            curve(udp),
        ),
        (
            "ICMP, medians of the paper, with client and cable",
            Style::published(Shape::Circle),
            paper,
        ),
    ]
    .map(|(name, style, points)| Series {
        name: name.to_owned(),
        style,
        points,
        band: None,
    });
    let all = series.iter().flat_map(|series| &series.points);
    let highest = all.map(|(_, time)| *time).fold(0.0, f64::max);
    Panel {
        title: "Round trip through the NIC, handlers at 40 MHz".to_owned(),
        x: Axis::linear("payload, bytes", 0.0..1450.0),
        y: Axis::linear("round trip, us", 0.0..highest * 1.08),
        series: series.to_vec(),
    }
}
