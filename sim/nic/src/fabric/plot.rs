//! Queues and drops over time, as a picture.

use anyhow::{Context as _, Result, anyhow};
use plotters::prelude::*;
use spinneret_fabric::Report;
use spinneret_sim::capture::whole_file::WholeFile;
use std::io::Write as _;
use std::path::Path;

/// Width and height of the picture.
const SIZE: (u32, u32) = (900, 640);

/// A curve: the name of a port, and its points.
type Curve = (String, Vec<(f64, f64)>);

/// Draws the queues of all ports of switches that ever had something in them, and the drops.
///
/// # Errors
/// If there is nothing to draw, or the file cannot be written.
pub(super) fn draw(file: &Path, report: &Report) -> Result<()> {
    let mut picture = String::new();
    let (queues, drops) = curves(report);
    {
        let area = SVGBackend::with_string(&mut picture, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|error| anyhow!("{error}"))?;
        let halves = area.split_evenly((2, 1));
        chart(&halves[0], "Bytes in the queues of ports", "KiB", &queues)?;
        chart(&halves[1], "Frames that found a queue full", "frames", &drops)?;
        area.present().map_err(|error| anyhow!("{error}"))?;
    }
    let unwritten = || format!("the plot {} cannot be written", file.display());
    let mut whole = WholeFile::create(file).with_context(unwritten)?;
    whole.write_all(picture.as_bytes()).with_context(unwritten)?;
    whole.finish().with_context(unwritten)
}

fn curves(report: &Report) -> (Vec<Curve>, Vec<Curve>) {
    let (mut queues, mut drops) = (Vec::new(), Vec::new());
    for (place, cable) in report.cables.iter().enumerate() {
        let name = format!("{} to {}", cable.from, cable.to);
        let at = |value: fn(&spinneret_fabric::PortReport) -> f64| -> Vec<(f64, f64)> {
            let points = report.samples.iter().filter_map(|sample| {
                let port = sample.ports.iter().find(|port| port.cable == place)?;
                Some((sample.at_ps as f64 / 1e6, value(port)))
            });
            points.collect()
        };
        let queue = at(|port| port.queued_bytes as f64 / 1024.0);
        if queue.iter().any(|(_, bytes)| *bytes > 2.0) {
            queues.push((name.clone(), queue));
        }
        let dropped = at(|port| port.queue_full as f64);
        if dropped.last().is_some_and(|(_, frames)| *frames > 0.0) {
            drops.push((name, dropped));
        }
    }
    (queues, drops)
}

fn chart<'a>(
    area: &DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
    title: &str,
    unit: &str,
    curves: &[Curve],
) -> Result<()> {
    let points = || curves.iter().flat_map(|(_, points)| points);
    let right = points().map(|(x, _)| *x).fold(1.0, f64::max);
    let top = points().map(|(_, y)| *y).fold(1.0, f64::max) * 1.1;
    let failed = |error: DrawingAreaErrorKind<_>| anyhow!("the plot cannot be drawn: {error}");
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(60)
        .right_y_label_area_size(170)
        .build_cartesian_2d(0.0..right, 0.0..top)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_desc("simulated time in us")
        .y_desc(unit)
        .light_line_style(WHITE)
        .draw()
        .map_err(failed)?;
    for (place, (name, points)) in curves.iter().enumerate() {
        let color = Palette99::pick(place).stroke_width(2);
        chart
            .draw_series(LineSeries::new(points.iter().copied(), color))
            .map_err(failed)?;
        // The name stands beside the picture, where it covers nothing.
        let y = 40 + 18 * place as i32;
        area.draw(&Text::new(
            name.clone(),
            (SIZE.0 as i32 - 160, y),
            ("sans-serif", 13).into_font().color(&Palette99::pick(place)),
        ))
        .map_err(failed)?;
    }
    Ok(())
}
