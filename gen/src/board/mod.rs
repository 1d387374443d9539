//! Everything that a board needs, as files in memory.

pub mod alchitry_cu;
pub mod build;
mod library;
mod report;

pub use library::{Contents, RTL};
pub use report::BoardReport;

use crate::Error;
use crate::error::Advice;
use crate::render::File;
use spinneret_bsp::{self as bsp, Board, Family};

/// What a board is written for.
#[derive(Clone, Debug)]
pub struct BoardOutput {
    /// The board.
    pub board: &'static Board,
    /// All files.
    pub files: Vec<File>,
    /// What people should know of them, one sentence each.
    pub notes: Vec<String>,
}

/// The board of that name.
///
/// # Errors
/// There is none; the nearest name is suggested.
pub fn find(name: &str) -> Result<&'static Board, Error> {
    bsp::find(name).ok_or_else(|| Error::UnknownName {
        kind: "board",
        name: name.to_owned(),
        advice: Advice::new(name, bsp::boards().iter().map(|board| board.name)),
    })
}

/// All files of a board.
///
/// # Errors
/// The board has no design, or its design cannot be generated.
pub fn render(board: &'static Board) -> Result<BoardOutput, Error> {
    match board.family {
        Family::Ice40 => alchitry_cu::render(board),
        Family::UltraScalePlus => Err(Error::NoBoardDesign {
            board: board.name,
            part: board.part,
        }),
    }
}
