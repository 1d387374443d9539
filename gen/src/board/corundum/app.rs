//! The application block: what has to come from the hardware blocks to make a board.

use crate::Error;
use spinneret_bsp::Board;
use spinneret_hdl::app::corundum::Generation;
use spinneret_hdl::app::{AppSources, Cluster};

/// What an application block is asked for.
#[derive(Clone, Copy, Debug)]
pub struct AppRequest {
    /// Generation of the port list.
    pub generation: Generation,
    /// What it instantiates as `pspin_wrap`.
    pub cluster: Cluster,
    /// Frequency of the cluster's clock, in kHz.
    pub cluster_khz: u64,
    /// The board, which may decide on parameters.
    pub board: &'static Board,
}

/// A Verilog module in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppModule {
    /// Its name, and that of its file.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// An application block with all that it needs.
///
/// It instantiates `spinneret_cluster_clock` (inputs `clk`, `rst`, outputs `cluster_clk`, `cluster_locked`), which comes
/// from the board. A black box of that name is left out; other black boxes are only for lint.
#[derive(Clone, Debug)]
pub struct App {
    /// The modules, each before those that instantiate it; the last is `mqnic_app_block`.
    pub modules: Vec<AppModule>,
    /// Constraints of the crossings between its clocks.
    pub crossings_xdc: String,
}

impl App {
    /// The application block of the hardware blocks, with the constraints of its crossings.
    pub fn new(sources: AppSources, crossings_xdc: String) -> Self {
        let modules = sources.files.into_iter().map(|file| AppModule {
            name: file.module,
            text: file.text,
        });
        Self {
            modules: modules.collect(),
            crossings_xdc,
        }
    }
}

/// Makes an application block.
pub type BuildApp = dyn Fn(&AppRequest) -> Result<App, Error>;

/// Whether [`build_app`] has a design.
pub const HAS_DESIGN: bool = false;

/// The application block of the hardware blocks.
///
/// # Errors
/// There is none that could be built: the constraints of its crossings are missing.
pub fn build_app(request: &AppRequest) -> Result<App, Error> {
    Err(Error::NoBoardDesign {
        board: request.board.name,
        part: request.board.part,
    })
}
