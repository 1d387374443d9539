//! The common part of all pictures: colours, marks, axes that say their numbers in words, legends that cover nothing.
//!
//! What was simulated here has lines and colours. What was published elsewhere is grey and has no line, or a dashed one, or is a
//! tint with its name in it, so that both are told apart in print, too.

mod axis;
mod mark;
mod panel;

pub use axis::{Axis, bytes};
pub use mark::{Shape, Style};
pub use panel::{Band, Panel, Series, legend};

use plotters::coord::Shift;
use plotters::prelude::*;
use spinneret_packets::capture::whole_file::WholeFile;
use std::error::Error;
use std::io::Write as _;
use std::path::Path;

/// Colours that are told apart by most eyes, and on paper (Okabe and Ito, without the yellow).
pub const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// Of what was published elsewhere.
pub const PUBLISHED: RGBColor = RGBColor(90, 90, 90);

/// The font of everything.
pub const FONT: &str = "sans-serif";

/// A part of a picture.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The result of painting.
pub type Painted = Result<(), Box<dyn Error>>;

/// The picture as SVG.
///
/// # Errors
/// What painting gives.
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

/// Writes the picture, or leaves what was there.
///
/// # Errors
/// What painting gives, or that the file cannot be written.
pub(crate) fn save(path: &Path, size: (u32, u32), paint: impl FnOnce(&Area<'_>) -> Painted) -> Painted {
    let text = svg(size, paint)?;
    let mut whole = WholeFile::create(path)?;
    whole.write_all(text.as_bytes())?;
    Ok(whole.finish()?)
}
