//! Common parts of plots: colours, marks, axes with formatted numbers, and legends outside of the panels.
//!
//! Simulated values have lines and colours. Published values are grey without a line or with a dashed one, or a
//! labelled tint, so that both can be distinguished in print.

mod panel;

pub use panel::{Band, Panel, Series, Shape, Style, legend};

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use spinneret_packets::capture::whole_file::WholeFile;
use std::error::Error;
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;

/// Colours that are distinguishable for most people and in print (Okabe and Ito, without the yellow).
pub const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// Colour of published values.
pub const PUBLISHED: RGBColor = RGBColor(90, 90, 90);

/// The font.
pub const FONT: &str = "sans-serif";

/// A part of a picture.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The result of painting.
pub type Painted = Result<(), Box<dyn Error>>;

/// The picture as SVG.
///
/// # Errors
/// If drawing fails.
pub fn svg(size: (u32, u32), paint: impl FnOnce(&Area<'_>) -> Painted) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE)?;
        paint(&area)?;
        area.present()?;
    }
    Ok(text)
}

/// Writes the picture; an existing file is only replaced by a complete one.
///
/// # Errors
/// If drawing fails, or the file cannot be written.
pub(crate) fn save(path: &Path, size: (u32, u32), paint: impl FnOnce(&Area<'_>) -> Painted) -> Painted {
    let text = svg(size, paint)?;
    let mut whole = WholeFile::create(path)?;
    whole.write_all(text.as_bytes())?;
    Ok(whole.finish()?)
}

/// Maximum number of labels at an axis.
const MOST: usize = 9;

/// An axis: title, range, and format of its numbers.
#[derive(Clone, Debug)]
pub struct Axis {
    label: String,
    range: Range<f64>,
    ticks: Vec<f64>,
    words: fn(f64) -> String,
    is_log: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>, range: Range<f64>) -> Self {
        Self {
            label: label.into(),
            ticks: linear(&range),
            range,
            words: plain,
            is_log: false,
        }
    }

    /// A logarithmic axis; the range is above zero.
    pub fn log(label: impl Into<String>, range: Range<f64>) -> Self {
        Self {
            label: label.into(),
            ticks: log(&range),
            range,
            words: plain,
            is_log: true,
        }
    }

    /// With another format of its numbers.
    pub fn with_words(self, words: fn(f64) -> String) -> Self {
        Self { words, ..self }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let place = |value: f64| if self.is_log { value.ln() } else { value };
        let (start, end) = (place(self.range.start), place(self.range.end));
        let share = (place(*value) - start) / (end - start);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear(range: &Range<f64>) -> Vec<f64> {
    let least = (range.end - range.start) / (MOST - 1) as f64;
    let power = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = steps.into_iter().find(|step| *step >= least);
    let step = step.unwrap_or(10.0 * power);
    let first = (range.start / step).ceil() as i64;
    let last = (range.end / step).floor() as i64;
    (first..=last).map(|number| number as f64 * step).collect()
}

/// Powers of ten, and twice and five times these where there is room.
fn log(range: &Range<f64>) -> Vec<f64> {
    let decades = range.start.log10().floor() as i32..=range.end.log10().ceil() as i32;
    let within = |factors: &[f64]| -> Vec<f64> {
        let all = decades
            .clone()
            .flat_map(|decade| factors.iter().map(move |factor| factor * 10f64.powi(decade)));
        all.filter(|tick| range.contains(tick)).collect()
    };
    Some(within(&[1.0, 2.0, 5.0]))
        .filter(|ticks| ticks.len() <= MOST)
        .unwrap_or_else(|| within(&[1.0]))
}

/// A number without zeros at its end.
fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

/// Bytes in a suitable unit.
pub fn bytes(value: f64) -> String {
    let units = [("B", 1.0), ("kB", 1e3), ("MB", 1e6)];
    let fits = units.into_iter().find(|(_, unit)| value < 1000.0 * unit);
    let (name, unit) = fits.unwrap_or(("GB", 1e9));
    format!("{} {name}", plain(value / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_axes_are_round_and_few() {
        assert_eq!(
            linear(&(0.0..1450.0)),
            [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0, 1200.0, 1400.0]
        );
        assert_eq!(
            log(&(8e3..1.25e7))
                .iter()
                .map(|tick| bytes(*tick))
                .collect::<Vec<_>>(),
            ["10 kB", "100 kB", "1 MB", "10 MB"]
        );
        assert_eq!(
            log(&(0.04..30.0))
                .iter()
                .map(|tick| plain(*tick))
                .collect::<Vec<_>>(),
            ["0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20"]
        );
        for range in [0.9..1.004, 0.0..1e-3, -5.0..5.0, 3.0..3e9] {
            assert!((2..=MOST).contains(&linear(&range).len()), "{range:?}");
        }
    }

    #[test]
    fn places_are_between_the_ends() {
        let axis = Axis::log("bytes", 1.0..1e4);
        assert_eq!(
            [1.0, 100.0, 1e4].map(|value| axis.map(&value, (0, 400))),
            [0, 200, 400]
        );
        let axis = Axis::linear("bytes", 0.0..4.0);
        assert_eq!(
            [0.0, 1.0, 4.0].map(|value| axis.map(&value, (400, 0))),
            [400, 300, 0]
        );
    }
}
