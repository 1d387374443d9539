//! Queues, drops and latencies over time, as a picture.

use anyhow::{Context as _, Result, anyhow};
use plotters::prelude::*;
use spinneret_fabric::Report;
use spinneret_sim::capture::whole_file::WholeFile;
use std::io::Write as _;
use std::path::Path;

/// Width and height of the picture.
const SIZE: (u32, u32) = (900, 900);

/// Colours that are told apart by most eyes, and on paper (Okabe and Ito, without the yellow).
const COLORS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(136, 136, 136),
];

/// A curve: the name of a port, and its points.
type Curve = (String, Vec<(f64, f64)>);

/// Draws the queues of all ports of switches that ever had something in them, the drops, and latencies.
///
/// # Errors
/// If there is nothing to draw, or the file cannot be written.
pub(super) fn draw(file: &Path, report: &Report) -> Result<()> {
    let mut picture = String::new();
    let (queues, drops) = curves(report);
    let latencies = latencies(report);
    let range = range([&queues, &drops, &latencies]);
    {
        let area = SVGBackend::with_string(&mut picture, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|error| anyhow!("{error}"))?;
        let thirds = area.split_evenly((3, 1));
        chart(&thirds[0], "Bytes in the queues of ports", "KiB", &queues, range)?;
        chart(
            &thirds[1],
            "Frames that found a queue full",
            "frames",
            &drops,
            range,
        )?;
        chart(
            &thirds[2],
            "From NIC to NIC, mean of a sample",
            "us",
            &latencies,
            range,
        )?;
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

/// Mean latencies of the frames that came to each NIC.
fn latencies(report: &Report) -> Vec<Curve> {
    let nics = report.nics.iter().enumerate().filter(|(_, nic)| nic.received > 0);
    let curves = nics.map(|(number, nic)| {
        let points = report.samples.iter().filter_map(|sample| {
            let came = sample
                .nics
                .iter()
                .find(|came| came.nic == number && came.frames > 0)?;
            let mean_ps = came.latency_ps as f64 / came.frames as f64;
            Some((sample.at_ps as f64 / 1e6, mean_ps / 1e6))
        });
        (format!("to {}", nic.name), points.collect())
    });
    curves.collect()
}

/// From shortly before something happens to the end.
fn range(all: [&Vec<Curve>; 3]) -> (f64, f64) {
    let points = || all.into_iter().flatten().flat_map(|(_, points)| points);
    let right = points().map(|(x, _)| *x).fold(1.0, f64::max);
    let active = points().filter(|(_, y)| *y > 0.0).map(|(x, _)| *x);
    let left = active.fold(right, f64::min);
    (if left < right { left * 0.98 } else { 0.0 }, right)
}

fn chart<'a>(
    area: &DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
    title: &str,
    unit: &str,
    curves: &[Curve],
    (left, right): (f64, f64),
) -> Result<()> {
    let points = || curves.iter().flat_map(|(_, points)| points);
    let top = points().map(|(_, y)| *y).fold(1.0, f64::max) * 1.1;
    let failed = |error: DrawingAreaErrorKind<_>| anyhow!("the plot cannot be drawn: {error}");
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(60)
        .margin_right(180)
        .build_cartesian_2d(left..right, 0.0..top)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_desc("simulated time in us")
        .y_desc(unit)
        .light_line_style(WHITE)
        .draw()
        .map_err(failed)?;
    for (place, (name, points)) in curves.iter().enumerate() {
        let color = &COLORS[place % COLORS.len()];
        chart
            .draw_series(LineSeries::new(
                points.iter().copied().filter(|(x, _)| *x >= left),
                color.stroke_width(2),
            ))
            .map_err(failed)?;
        // The name stands beside the picture, where it covers nothing.
        let y = 40 + 18 * place as i32;
        area.draw(&Text::new(
            name.clone(),
            (SIZE.0 as i32 - 160, y),
            ("sans-serif", 13).into_font().color(color),
        ))
        .map_err(failed)?;
    }
    Ok(())
}
