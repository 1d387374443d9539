//! The application block: what has to come from the hardware blocks to make a board.

use super::{Cluster, Generation};
use crate::Error;
use spinneret_bsp::Board;
use spinneret_verilog::TopOptions;
use spinneret_verilog::prelude::Block;
use std::fmt;

/// What an application block is asked for.
#[derive(Clone, Copy, Debug)]
pub struct AppRequest {
    /// Generation of the port list.
    pub generation: Generation,
    /// What it instantiates as `pspin_wrap`.
    pub cluster: Cluster,
    /// The board, which may decide on parameters.
    pub board: &'static Board,
}

/// A design that is added to the library of a board.
pub struct AppTop {
    /// Name of its module.
    pub name: &'static str,
    /// The design.
    pub block: Box<dyn Block>,
    /// Parameters that Corundum sets.
    pub options: TopOptions,
}

impl fmt::Debug for AppTop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppTop")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// An application block with all that it needs.
///
/// It instantiates `spinneret_cluster_clock` (inputs `clk`, `rst`, outputs `cluster_clk`, `cluster_locked`), which comes
/// from the board. A black box with that name is replaced; other black boxes are only for lint.
#[derive(Debug)]
pub struct App {
    /// The designs; a design that another one instantiates comes first, `mqnic_app_block` last.
    pub tops: Vec<AppTop>,
    /// Constraints of the crossings between its clocks.
    pub crossings_xdc: String,
}

/// Makes an application block.
pub type BuildApp = dyn Fn(&AppRequest) -> Result<App, Error>;

/// Whether [`build_app`] has a design.
pub const HAS_DESIGN: bool = false;

/// The application block of the hardware blocks.
///
/// # Errors
/// There is none yet.
pub fn build_app(request: &AppRequest) -> Result<App, Error> {
    Err(Error::NoBoardDesign {
        board: request.board.name,
        part: request.board.part,
    })
}
