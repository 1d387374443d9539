//! The experiments as pictures, with the paper's values beside ours.

mod figure10;
mod figure7;
mod figure8;
mod figure9;

pub use figure7::draw_figure7;
pub use figure8::draw_figure8;
pub use figure9::draw_figure9;
pub use figure10::draw_figure10;

use super::ExperimentError;
use crate::picture::{Area, Painted, save};
use std::path::Path;

fn draw(
    path: &Path,
    size: (u32, u32),
    paint: impl FnOnce(&Area<'_>) -> Painted,
) -> Result<(), ExperimentError> {
    save(path, size, paint)
        .map_err(|error| ExperimentError::Draw(path.display().to_string(), error.to_string()))
}
