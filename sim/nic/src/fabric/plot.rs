//! Queues, drops and latencies over time, as a picture.

use crate::picture::{Area, Axis, COLORS, Painted, Panel, Series, Style, save};
use anyhow::{Result, anyhow};
use spinneret_fabric::Report;
use std::path::Path;

/// Width and height of the picture.
const SIZE: (u32, u32) = (900, 900);

/// A curve: the name of a port, and its points.
type Curve = (String, Vec<(f64, f64)>);

/// Draws the queues of all ports of switches that ever had something in them, the drops, and latencies.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn draw(file: &Path, report: &Report) -> Result<()> {
    let (queues, drops) = curves(report);
    let latencies = latencies(report);
    let range = range([&queues, &drops, &latencies]);
    save(file, SIZE, |area| {
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
        )
    })
    .map_err(|error| anyhow!("the plot {} cannot be written: {error}", file.display()))
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

fn chart(area: &Area<'_>, title: &str, unit: &str, curves: &[Curve], (left, right): (f64, f64)) -> Painted {
    let points = || curves.iter().flat_map(|(_, points)| points);
    let top = points().map(|(_, y)| *y).fold(1.0, f64::max) * 1.1;
    let series = curves.iter().enumerate().map(|(place, (name, points))| {
        let color = COLORS[place % COLORS.len()];
        // Once all colours are used, they come again with dashes.
        let style = match place / COLORS.len() % 2 {
            0 => Style::line(color),
            _ => Style::dashed(color),
        };
        let points = points.iter().copied().filter(|(x, _)| *x >= left);
        Series {
            name: name.clone(),
            style,
            points: points.collect(),
            band: None,
        }
    });
    let panel = Panel {
        title: title.to_owned(),
        x: Axis::linear("simulated time, us", left..right),
        y: Axis::linear(unit, 0.0..top),
        series: series.collect(),
    };
    panel.draw(area)
}
