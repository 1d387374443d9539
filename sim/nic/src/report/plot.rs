//! Latency and occupancy over time, as a picture.

use super::summary::Occupancy;
use crate::picture;
use crate::picture::{Area, Axis, Band, COLORS, Painted, Panel, Shape, Style};
use std::error::Error;

const SIZE: (u32, u32) = (1000, 1050);
/// Maximum number of points that are drawn as points.
const DOTS: usize = 200;

/// Data of the plot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plot {
    /// From the wire to the free packet, in picoseconds.
    latency: Series,
    /// Run time of handlers, in clocks of the cluster.
    handlers: Series,
    busy_hpus: Series,
    queued: Series,
    slots_small: Series,
    slots_large: Series,
}

/// One curve: its name, and its values.
type Curve<'a> = (&'a str, &'a Series);

impl Plot {
    pub(crate) fn latency(&mut self, at_ps: u64, latency_ps: u64) {
        self.latency.add(at_ps, latency_ps as f64);
    }

    pub(crate) fn handler(&mut self, at_ps: u64, cycles: u64) {
        self.handlers.add(at_ps, cycles as f64);
    }

    pub(crate) fn occupancy(&mut self, at_ps: u64, occupancy: &Occupancy) {
        for (series, value) in [
            (&mut self.busy_hpus, occupancy.busy_hpus),
            (&mut self.queued, occupancy.queued),
            (&mut self.slots_small, occupancy.slots_small),
            (&mut self.slots_large, occupancy.slots_large),
        ] {
            series.add(at_ps, value as f64);
        }
    }

    /// The picture, as SVG.
    pub(crate) fn svg(&self) -> Result<String, Box<dyn Error>> {
        picture::svg(SIZE, |area| self.paint(area))
    }

    fn paint(&self, area: &Area<'_>) -> Painted {
        let (name, unit) = time_unit(self.latency.maximum());
        let latency = format!("latency, {name}");
        let panels: [(&str, &str, f64, &[Curve<'_>]); 4] = [
            (
                "Latency of packets",
                &latency,
                unit,
                &[("from the wire until free", &self.latency)],
            ),
            (
                "Handlers",
                "run time, clocks of the cluster",
                1.0,
                &[("run time of handlers", &self.handlers)],
            ),
            (
                "Cluster",
                "number",
                1.0,
                &[("busy HPUs", &self.busy_hpus), ("waiting packets", &self.queued)],
            ),
            (
                "Packet buffer",
                "slots",
                1.0,
                &[
                    ("small slots in use", &self.slots_small),
                    ("large slots in use", &self.slots_large),
                ],
            ),
        ];
        let areas = area.split_evenly((panels.len(), 1));
        for (area, (title, label, unit, curves)) in areas.iter().zip(panels) {
            self.panel(title, label, unit, curves).draw(area)?;
        }
        Ok(())
    }

    /// First and last time of all curves.
    fn times(&self) -> (u64, u64) {
        let all = [&self.latency, &self.handlers, &self.busy_hpus, &self.queued];
        let times = all
            .iter()
            .flat_map(|series| series.points())
            .map(|point| point.at_ps);
        let (first, last) = times.fold((u64::MAX, 0), |(first, last), at| (first.min(at), last.max(at)));
        (first.min(last), last)
    }

    fn panel(&self, title: &str, label: &str, unit: f64, curves: &[Curve<'_>]) -> Panel {
        let (first, last) = self.times();
        let (time_name, time) = time_unit(last as f64);
        let (first, last) = (first as f64 / time, last as f64 / time);
        // One point needs some room around it.
        let room = ((last - first) * 0.01).max(last.abs() * 1e-3).max(1e-3);
        let top = curves.iter().map(|(_, series)| series.maximum());
        let top = top.fold(0.0, f64::max) / unit;
        let top = if top > 0.0 { top * 1.1 } else { 1.0 };
        let series = curves.iter().zip(COLORS).map(|((name, series), color)| {
            let place = |at_ps: u64, value: f64| (at_ps as f64 / time, value / unit);
            let points = series.points();
            let band = (!series.is_exact()).then(|| {
                let upper = points.iter().map(|point| place(point.at_ps, point.maximum));
                let lower = points.iter().rev().map(|point| place(point.at_ps, point.minimum));
                Band {
                    outline: upper.chain(lower).collect(),
                    color,
                    name: String::new(),
                }
            });
            let line = Style {
                line: Some(1),
                ..Style::line(color)
            };
            let style = match points.len() <= DOTS {
                true => line.with(Shape::Dot),
                false => line,
            };
            let places = points.iter().map(|point| place(point.at_ps, point.mean()));
            picture::Series {
                band,
                ..picture::Series::new(legend(name, series), style, places.collect())
            }
        });
        Panel {
            title: title.to_owned(),
            x: Axis::linear(format!("simulated time, {time_name}"), first - room..last + room),
            y: Axis::linear(label, 0.0..top),
            series: series.collect(),
        }
    }
}

fn legend(name: &str, series: &Series) -> String {
    match series.is_exact() {
        _ if series.points().is_empty() => format!("{name}: nothing"),
        true => name.to_owned(),
        false => format!("{name}: mean, and from minimum to maximum"),
    }
}

/// A suitable unit for a time in picoseconds.
fn time_unit(ps: f64) -> (&'static str, f64) {
    let units = [("ns", 1e3), ("µs", 1e6), ("ms", 1e9)];
    let fits = units.into_iter().find(|(_, unit)| ps < 2000.0 * unit);
    fits.unwrap_or(("s", 1e12))
}

/// Points of a series at most; twice as many are decimated to half.
const POINTS: usize = 1024;

/// Consecutive values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// Time of the first value.
    pub(crate) at_ps: u64,
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
    sum: f64,
    count: u64,
}

impl Point {
    pub(crate) fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    fn join(&mut self, other: &Self) {
        self.at_ps = self.at_ps.min(other.at_ps);
        self.minimum = self.minimum.min(other.minimum);
        self.maximum = self.maximum.max(other.maximum);
        self.sum += other.sum;
        self.count += other.count;
    }
}

/// Values over time; if there are many, minimum, mean and maximum of as many neighbours each.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    points: Vec<Point>,
    /// Values that make a point.
    each: u64,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            each: 1,
        }
    }
}

impl Series {
    pub(crate) fn add(&mut self, at_ps: u64, value: f64) {
        let point = Point {
            at_ps,
            minimum: value,
            maximum: value,
            sum: value,
            count: 1,
        };
        if let Some(last) = self.points.last_mut().filter(|last| last.count < self.each) {
            return last.join(&point);
        }
        if self.points.len() == 2 * POINTS {
            self.thin();
        }
        self.points.push(point);
    }

    /// The points, by time.
    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }

    /// Whether every value is a point.
    pub(crate) fn is_exact(&self) -> bool {
        self.each == 1
    }

    pub(crate) fn maximum(&self) -> f64 {
        self.points.iter().map(|point| point.maximum).fold(0.0, f64::max)
    }

    fn thin(&mut self) {
        self.each *= 2;
        self.points = self
            .points
            .chunks(2)
            .map(|pair| {
                let mut joined = pair[0];
                pair[1..].iter().for_each(|other| joined.join(other));
                joined
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(packets: u64) -> String {
        let mut plot = Plot::default();
        for number in 0..packets {
            let at_ps = 5_000_000 + number * 300_000;
            plot.latency(at_ps, 2_000_000 + number % 977 * 1000);
            plot.handler(at_ps, 600 + number % 77);
            let occupancy = Occupancy {
                slots_small: number % 90,
                slots_large: number % 30,
                busy_hpus: number % 16,
                queued: number % 50,
            };
            plot.occupancy(at_ps, &occupancy);
        }
        plot.svg().unwrap()
    }

    #[test]
    fn the_size_of_a_picture_is_bounded() {
        for packets in [0, 1, 2, 200, 100_000] {
            let svg = plot(packets);
            assert!(
                svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"),
                "{packets}"
            );
            assert!(svg.len() < 600_000, "{packets} packets make {} bytes", svg.len());
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{packets}");
            for title in [
                "Latency of packets",
                "Handlers",
                "Cluster",
                "Packet buffer",
                "clocks of the cluster",
            ] {
                assert!(svg.contains(title), "{packets}: {title}");
            }
        }
    }

    #[test]
    fn few_packets_are_drawn_as_points_and_many_as_bands() {
        assert_eq!(plot(1).matches("<circle").count(), 6);
        assert_eq!(plot(100_000).matches("<circle").count(), 0);
        assert_eq!(plot(100_000).matches("<polygon").count(), 6);
        assert!(!plot(200).contains("<polygon"));
    }

    #[test]
    fn units_suit_the_values() {
        assert_eq!(time_unit(1_999_999.0).0, "ns");
        assert_eq!(time_unit(2_000_000.0).0, "µs");
        assert_eq!(time_unit(5e9).0, "ms");
        assert_eq!(time_unit(3e12).0, "s");
    }

    #[test]
    fn few_values_are_kept_unchanged() {
        let mut series = Series::default();
        (0..2000).for_each(|number| series.add(number, number as f64));
        assert!(series.is_exact());
        assert_eq!(series.points().len(), 2000);
    }

    #[test]
    fn many_values_keep_their_extremes_sum_and_order() {
        let mut series = Series::default();
        let values = 100_000;
        (0..values).for_each(|number| series.add(number, (number * 7919 % values) as f64));
        let points = series.points();
        assert!((POINTS..=2 * POINTS).contains(&points.len()), "{}", points.len());
        assert!(points.is_sorted_by_key(|point| point.at_ps));
        assert_eq!(points.iter().map(|point| point.count).sum::<u64>(), values);
        assert_eq!(
            points.iter().map(|point| point.sum).sum::<f64>(),
            (values * (values - 1) / 2) as f64
        );
        assert_eq!(series.maximum(), (values - 1) as f64);
        assert!(
            points
                .iter()
                .all(|point| point.minimum <= point.mean() && point.mean() <= point.maximum)
        );
    }
}
