//! Latency and occupancy over time, as a picture.

use super::occupancy::Occupancy;
use super::series::Series;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;

const SIZE: (u32, u32) = (1000, 1050);
const FONT: &str = "sans-serif";

/// What is drawn.
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

/// One curve: its name, its colour, its values and what a unit of the axis is in them.
type Curve<'a> = (&'a str, RGBColor, &'a Series);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

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
        let mut text = String::new();
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let (name, unit) = time_unit(self.latency.maximum());
        let latency = [("from the wire until free", BLUE, &self.latency)];
        let handlers = [("run time of handlers", BLUE, &self.handlers)];
        let cluster = [
            ("busy HPUs", BLUE, &self.busy_hpus),
            ("waiting packets", RED, &self.queued),
        ];
        let slots = [
            ("small slots in use", BLUE, &self.slots_small),
            ("large slots in use", RED, &self.slots_large),
        ];
        let areas = root.split_evenly((4, 1));
        self.panel(
            &areas[0],
            "Latency of packets",
            &format!("latency ({name})"),
            unit,
            &latency,
        )?;
        self.panel(
            &areas[1],
            "Handlers",
            "run time (clocks of the cluster)",
            1.0,
            &handlers,
        )?;
        self.panel(&areas[2], "Cluster", "number", 1.0, &cluster)?;
        self.panel(&areas[3], "Packet buffer", "slots", 1.0, &slots)?;
        root.present()?;
        drop((areas, root));
        Ok(text)
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

    fn panel(
        &self,
        area: &Area<'_>,
        title: &str,
        label: &str,
        unit: f64,
        curves: &[Curve<'_>],
    ) -> Result<(), Box<dyn Error>> {
        let (first, last) = self.times();
        let (time_name, time) = time_unit(last as f64);
        let (first, last) = (first as f64 / time, last as f64 / time);
        // One point needs some room around it.
        let room = ((last - first) * 0.01).max(last.abs() * 1e-3).max(1e-3);
        let top = curves
            .iter()
            .map(|(_, _, series)| series.maximum())
            .fold(0.0, f64::max)
            / unit;
        let top = if top > 0.0 { top * 1.1 } else { 1.0 };
        let mut chart = ChartBuilder::on(area)
            .caption(title, (FONT, 20))
            .margin(10)
            .x_label_area_size(42)
            .y_label_area_size(70)
            .build_cartesian_2d(first - room..last + room, 0.0..top)?;
        chart
            .configure_mesh()
            .x_desc(format!("simulated time ({time_name})"))
            .y_desc(label)
            .x_labels(10)
            .y_labels(6)
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(225, 225, 225))
            .label_style((FONT, 14))
            .draw()?;
        for (name, color, series) in curves.iter().copied() {
            let place = |at_ps: u64, value: f64| (at_ps as f64 / time, value / unit);
            let points = series.points();
            let mean = points.iter().map(|point| place(point.at_ps, point.mean()));
            if !series.is_exact() {
                let upper = points.iter().map(|point| place(point.at_ps, point.maximum));
                let lower = points.iter().rev().map(|point| place(point.at_ps, point.minimum));
                let outline: Vec<_> = upper.chain(lower).collect();
                chart.draw_series([Polygon::new(outline, color.mix(0.2))])?;
            }
            chart
                .draw_series(LineSeries::new(mean.clone(), color.stroke_width(1)))?
                .label(legend(name, series))
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(3)));
            if points.len() <= 200 {
                chart.draw_series(mean.map(|at| Circle::new(at, 2, color.filled())))?;
            }
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .border_style(RGBColor(200, 200, 200))
            .label_font((FONT, 14))
            .draw()?;
        Ok(())
    }
}

fn legend(name: &str, series: &Series) -> String {
    match series.is_exact() {
        _ if series.points().is_empty() => format!("{name}: nothing"),
        true => name.to_owned(),
        false => format!("{name}: mean, and from minimum to maximum"),
    }
}

/// The unit in which a time in picoseconds is read best.
fn time_unit(ps: f64) -> (&'static str, f64) {
    let units = [("ns", 1e3), ("µs", 1e6), ("ms", 1e9)];
    let fits = units.into_iter().find(|(_, unit)| ps < 2000.0 * unit);
    fits.unwrap_or(("s", 1e12))
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
    fn any_number_of_packets_gives_a_picture_of_bounded_size() {
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
    fn few_packets_are_points_and_many_are_bands() {
        assert_eq!(plot(1).matches("<circle").count(), 6);
        assert_eq!(plot(100_000).matches("<circle").count(), 0);
        assert_eq!(plot(100_000).matches("<polygon").count(), 6);
        assert!(!plot(200).contains("<polygon"));
    }

    #[test]
    fn units_fit_the_figures() {
        assert_eq!(time_unit(1_999_999.0).0, "ns");
        assert_eq!(time_unit(2_000_000.0).0, "µs");
        assert_eq!(time_unit(5e9).0, "ms");
        assert_eq!(time_unit(3e12).0, "s");
    }
}
