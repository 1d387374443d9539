//! Figure 7: round trips over payload.

use super::draw;
use crate::experiments::ExperimentError;
use crate::experiments::figure7::{Mode, PAPER_7, Protocol, RoundTrip};
use crate::picture::{Axis, Band, COLORS, Panel, Series, Shape, Style};
use std::path::Path;

/// Size of the picture in points.
const SIZE: (u32, u32) = (960, 520);
/// Payloads that are drawn, in bytes.
const PAYLOADS: [f64; 2] = [0.0, 1450.0];
/// One for each mode, in print too.
const SHAPES: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];

/// Draws round trips over payload, one picture beside the other for both protocols.
///
/// # Errors
/// If the file cannot be written.
pub fn draw_figure7(path: &Path, trips: &[RoundTrip]) -> Result<(), ExperimentError> {
    draw(path, SIZE, |area| {
        let halves = area.split_evenly((1, 2));
        for (half, protocol) in halves.iter().zip([Protocol::Icmp, Protocol::Udp]) {
            panel(protocol, trips).draw(half)?;
        }
        Ok(())
    })
}

fn panel(protocol: Protocol, trips: &[RoundTrip]) -> Panel {
    let ours = trips.iter().filter(|trip| trip.protocol == protocol);
    let paper = PAPER_7.iter().filter(|(of, ..)| *of == protocol);
    let highest = ours.clone().map(RoundTrip::total);
    let highest = highest
        .chain(paper.clone().map(|(.., [_, high])| *high))
        .fold(0.0, f64::max);
    let mut series = Vec::new();
    for ((mode, color), shape) in Mode::ALL.into_iter().zip(COLORS).zip(SHAPES) {
        let published = paper.clone().filter(|(_, of, ..)| *of == mode);
        for (.., [low, high]) in published.clone().filter(|(_, _, payload, _)| payload.is_none()) {
            let [left, right] = PAYLOADS;
            series.push(Series {
                name: format!("{}, paper: range over payloads", mode.name()),
                style: Style::area(color),
                points: Vec::new(),
                band: Some(Band {
                    outline: vec![(left, *low), (right, *low), (right, *high), (left, *high)],
                    color,
                    name: format!("{}, paper", mode.name()),
                }),
            });
        }
        let points = ours.clone().filter(|trip| trip.mode == mode);
        let own = Series {
            name: format!("{}, here", mode.name()),
            style: Style::line(color).with(shape),
            points: points.map(|trip| (trip.payload as f64, trip.total())).collect(),
            band: None,
        };
        let values = published.filter_map(|(.., payload, [value, _])| Some(((*payload)? as f64, *value)));
        let theirs = Series {
            name: format!("{}, paper", mode.name()),
            style: Style::published(shape),
            points: values.collect(),
            band: None,
        };
        series.extend(
            [own, theirs]
                .into_iter()
                .filter(|series| !series.points.is_empty()),
        );
    }
    let [left, right] = PAYLOADS;
    Panel {
        title: format!("{} ping-pong", protocol.name()),
        x: Axis::linear("payload, bytes", left..right),
        y: Axis::linear("round trip, us", 0.0..highest * 1.08),
        series,
    }
}
