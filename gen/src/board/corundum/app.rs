//! The application block: what has to come from the hardware blocks to make a board.

use crate::Error;
use spinneret_bsp::Board;
use spinneret_hdl::app::corundum::Generation;
use spinneret_hdl::app::{self, APP_INSTANCE, AppOptions, AppSources, Cluster};
use spinneret_hdl::cdc;

/// What an application block is asked for.
#[derive(Clone, Copy, Debug)]
pub struct AppRequest {
    /// Generation of the port list.
    pub generation: Generation,
    /// What it instantiates as `pspin_wrap`.
    pub cluster: Cluster,
    /// Frequency of the cluster's clock, in Hz.
    pub cluster_hz: u64,
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
    /// The application block of the hardware blocks, with the constraints of its crossings. If its cluster comes from
    /// elsewhere, a black box declares it.
    pub fn new(sources: AppSources, crossings_xdc: String) -> Self {
        let files = sources.declaration.into_iter().chain(sources.files);
        let modules = files.map(|file| AppModule {
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

/// The application block of the hardware blocks, with the constraints of its crossings.
///
/// # Errors
/// A parameter that is not possible, or a design that the back-end cannot translate.
pub fn build_app(request: &AppRequest) -> Result<App, Error> {
    let sources = app::sources(AppOptions {
        generation: request.generation,
        cluster: request.cluster,
        cluster_clock_khz: (request.cluster_hz + 500) / 1000,
        ..AppOptions::default()
    })?;
    let periods = [
        ("clk", period_ps(request.board.core_clock_hz)),
        ("cluster_clk", period_ps(request.cluster_hz)),
    ];
    let crossings = cdc::constraints(&sources.app, APP_INSTANCE);
    let crossings = cdc::xdc(&crossings, &periods)?;
    let header = "# Paths begin in the instance of mqnic_app_block, to which SCOPED_TO_CELLS has to limit this file.\n";
    Ok(App::new(sources, format!("{header}{crossings}")))
}

/// The period of a clock, rounded down, so that a limit that is taken from it is not too long.
fn period_ps(hz: u64) -> u64 {
    1_000_000_000_000 / hz.max(1)
}
