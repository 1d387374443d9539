//! What is written for a board.

use crate::render::File;
use spinneret_bsp::Board;

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
