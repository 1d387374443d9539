//! Round trips as a picture.

use super::{BenchError, PAPER_ICMP, RoundTrip};
use plotters::prelude::*;
use std::path::Path;

/// Size of the picture in points.
const SIZE: (u32, u32) = (800, 480);

/// Draws round trips over payload, with the paper's medians.
///
/// # Errors
/// If the file cannot be written.
pub fn plot(path: &Path, icmp: &[RoundTrip], udp: &[RoundTrip]) -> Result<(), BenchError> {
    draw(path, icmp, udp).map_err(|error| BenchError::Wrong(error.to_string()))
}

fn draw(path: &Path, icmp: &[RoundTrip], udp: &[RoundTrip]) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let highest = icmp.iter().chain(udp).map(|trip| trip.microseconds);
    let highest = highest
        .chain(PAPER_ICMP.iter().map(|(_, median)| *median))
        .fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(&root)
        .caption(
            "Round trip through the NIC, handlers at 40 MHz",
            ("sans-serif", 18),
        )
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..1450.0, 0.0..highest * 1.1)?;
    chart
        .configure_mesh()
        .x_desc("payload in bytes")
        .y_desc("time in microseconds")
        .draw()?;
    let curve = |trips: &[RoundTrip]| -> Vec<(f64, f64)> {
        trips
            .iter()
            .map(|trip| (trip.payload as f64, trip.microseconds))
            .collect()
    };
    for (name, points, color) in [("ICMP", curve(icmp), BLUE), ("UDP", curve(udp), GREEN)] {
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))?
            .label(format!("{name}, simulated, NIC only"))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
    }
    let paper = PAPER_ICMP
        .iter()
        .map(|(payload, median)| (*payload as f64, *median));
    chart
        .draw_series(paper.map(|point| Circle::new(point, 4, RED.filled())))?
        .label("ICMP, medians of the paper, with client and cable")
        .legend(|(x, y)| Circle::new((x + 10, y), 4, RED.filled()));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK.mix(0.3))
        .background_style(WHITE.mix(0.8))
        .draw()?;
    root.present()?;
    Ok(())
}
