//! Boards that Corundum has a design for: the application block and what builds it.

mod checkout;
mod header;
mod overlay;
mod pspin;
mod regions;
mod token;
mod tree;

pub use checkout::{REVISIONS, Revision, Revisions, corundum_root};
pub use header::HeaderError;
pub use pspin::{Pspin, SimulationList};

use super::{BoardOutput, Contents, LINT, RTL, verilog_file};
use crate::error::{backend, unknown};
use crate::render::{FILE_LIST, File, HASH_HEADER, HEADER, LICENCE};
use anyhow::bail;
use checkout::Checkout;
use overlay::Overlay;
use spinneret_bsp::ultrascale::{CLUSTER_CLOCK, ClusterClock, CoreClock, MmcmSettings};
use spinneret_bsp::{Board, Rate};
use spinneret_hdl::app::corundum::Generation;
use spinneret_hdl::app::{self, APP_INSTANCE, AppOptions, AppSources, Cluster, TOP};
use spinneret_hdl::cdc;
use spinneret_verilog::{Library, TopOptions};
use std::path::{Path, PathBuf};

/// Folder of what stands for others' modules in simulations.
const MODELS: &str = "sim";
/// File in it that imports packages for files of the cluster.
const IMPORTS_FILE: &str = "spinneret_cluster_imports.sv";
/// Folder of the constraints.
const CONSTRAINTS: &str = "constraints";
/// File of the constraints of clock crossings.
const CROSSINGS_FILE: &str = "spinneret_crossings.xdc";
/// Folder of the overlay, which stands for `fpga/` of Corundum.
const OVERLAY: &str = "fpga";
/// Instance path of the application block in Corundum, the same on all cards.
/// Not by the name of the module: Vivado gives modules with parameters other names.
const APP_BLOCK: &str = "core_inst/core_inst/core_pcie_inst/core_inst/app.app_block_inst";
/// Frequency of PsPIN and its stand-in unless another one is asked for: that of FPsPIN, in Hz.
const PSPIN_HZ: u64 = 40_000_000;

/// The generation of that name.
///
/// # Errors
/// There is none; the nearest name is suggested.
pub fn find_generation(name: &str) -> anyhow::Result<Generation> {
    find("Corundum generation", Generation::ALL, Generation::name, name)
}

/// The cluster of that name.
///
/// # Errors
/// There is none; the nearest name is suggested.
pub fn find_cluster(name: &str) -> anyhow::Result<Cluster> {
    find("cluster", Cluster::ALL, Cluster::name, name)
}

/// The rate of that name.
///
/// # Errors
/// There is none; the nearest name is suggested.
pub fn find_rate(name: &str) -> anyhow::Result<Rate> {
    find("Ethernet rate", Rate::ALL, Rate::name, name)
}

fn find<T: Copy, const N: usize>(
    kind: &'static str,
    all: [T; N],
    name_of: fn(T) -> &'static str,
    name: &str,
) -> anyhow::Result<T> {
    all.into_iter()
        .find(|candidate| name_of(*candidate) == name)
        .ok_or_else(|| unknown(kind, name, all.map(name_of)))
}

/// Options of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Generation of the port list.
    pub generation: Generation,
    /// Cluster of the application block.
    pub cluster: Cluster,
    /// Rate of the Ethernet ports.
    pub rate: Rate,
    /// Frequency of the cluster, in Hz; that of the NIC for spinneret's own and 40 MHz for PsPIN unless it is given.
    pub cluster_hz: Option<u64>,
    /// The user's Corundum checkout, if the overlay is to be written.
    pub corundum: Option<PathBuf>,
    /// The user's FPsPIN checkout, if the cluster is to be built.
    pub pspin: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            generation: Generation::ALL[0],
            cluster: Cluster::ALL[0],
            rate: Rate::default(),
            cluster_hz: None,
            corundum: None,
            pspin: None,
        }
    }
}

/// All files of a board; `directory` is where they will be.
///
/// Checkouts are checked before anything is generated.
///
/// # Errors
/// A checkout that is not what it should be, a frequency that cannot be made, or a design that cannot be generated.
pub fn render(
    board: &'static Board,
    options: &Options,
    directory: &Path,
    build: &BuildApp,
) -> anyhow::Result<BoardOutput> {
    let clock = ClusterTiming::of(options, board)?;
    let corundum = match &options.corundum {
        Some(path) => {
            // A relative path refers to the current directory, which make will see as well.
            tree::check_path(&std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned()))?;
            Some(Checkout::open(path, options.generation, board, options.rate)?)
        }
        None => None,
    };
    let pspin = match (&options.pspin, options.cluster) {
        (Some(path), Cluster::Pspin) => Some(Pspin::open(path)?),
        (Some(_), cluster) => {
            bail!(
                "`--pspin-dir` cannot be used here, because `--cluster {cluster}` needs no PsPIN: leave it out, or add `--cluster \
                 pspin`"
            );
        }
        (None, _) => None,
    };
    let simulation = pspin.as_ref().map(Pspin::simulation).transpose()?;
    let request = AppRequest {
        generation: options.generation,
        cluster: options.cluster,
        cluster_hz: clock.hz(board),
        data_width: options.rate.data_width(),
        board,
    };
    let parts = Parts::new(build(&request)?, clock)?;
    let regions = regions::regions(board, options.cluster);
    let overlay = corundum.as_ref().map(|corundum| Overlay {
        corundum,
        pspin: pspin.as_ref(),
        sources: &parts.sources,
        constraints: &parts.constraints,
        has_regions: regions.is_some(),
    });
    let mut files = parts.files.clone();
    let notes = notes(options, board, clock, regions.as_ref());
    files.extend(regions);
    files.push(core_file(
        board.name,
        [
            &parts.sources,
            &parts.declarations,
            &parts.models,
            &parts.constraints,
        ],
    ));
    if let Some(list) = simulation {
        files.extend(parts.simulation(&list));
    }
    files.extend(overlay.into_iter().flat_map(Overlay::files));
    Ok(BoardOutput { board, files, notes })
}

/// Where the cluster's clock comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClusterTiming {
    /// It is the NIC's: nothing crosses between clocks.
    Core,
    /// A clock manager makes it of the NIC's.
    Own(MmcmSettings),
}

impl ClusterTiming {
    fn of(options: &Options, board: &Board) -> anyhow::Result<Self> {
        let default_hz = match options.cluster {
            Cluster::Spinneret => board.core_clock_hz,
            Cluster::Pspin | Cluster::Stub => PSPIN_HZ,
        };
        match options.cluster_hz.unwrap_or(default_hz) {
            hz if hz == board.core_clock_hz => Ok(Self::Core),
            hz => Ok(Self::Own(MmcmSettings::nearest(board.core_clock_hz, hz)?)),
        }
    }

    fn hz(self, board: &Board) -> u64 {
        match self {
            Self::Core => board.core_clock_hz,
            Self::Own(settings) => settings.output_hz(),
        }
    }
}

/// The files that do not depend on a checkout, and their paths by use.
struct Parts {
    files: Vec<File>,
    sources: Vec<String>,
    declarations: Vec<String>,
    models: Vec<String>,
    constraints: Vec<String>,
}

impl Parts {
    fn new(app: App, clock: ClusterTiming) -> anyhow::Result<Self> {
        let mut contents = Contents::default();
        contents.sources.push(match clock {
            ClusterTiming::Core => cluster_clock(RTL, &CoreClock::new())?,
            ClusterTiming::Own(settings) => cluster_clock(RTL, &ClusterClock::new(settings))?,
        });
        for module in &app.modules {
            // The application block may declare the clock that it instantiates; the real one is there already.
            if module.name != CLUSTER_CLOCK {
                contents.add(&module.name, &module.text);
            }
        }
        let mut models = Vec::new();
        if let ClusterTiming::Own(_) = clock {
            let primitives = ClusterClock::primitives().into_iter();
            let declared = primitives.map(|(name, text)| verilog_file(LINT, name, text));
            contents.declarations.extend(declared);
            models.push(cluster_clock(MODELS, &CoreClock::new())?);
        }
        let constraints = vec![File {
            name: format!("{CONSTRAINTS}/{CROSSINGS_FILE}"),
            text: format!("{}\n{}\n", HASH_HEADER, app.crossings_xdc.trim_end()),
        }];
        let names = |files: &[File]| files.iter().map(|file| file.name.clone()).collect();
        Ok(Self {
            sources: names(&contents.sources),
            declarations: names(&contents.declarations),
            models: names(&models),
            constraints: names(&constraints),
            files: [
                vec![contents.file_list(TOP)],
                contents.sources,
                contents.declarations,
                models,
                constraints,
            ]
            .concat(),
        })
    }
}

impl Parts {
    /// The list of everything that a simulation of the application block with the cluster reads.
    fn simulation(&self, list: &SimulationList) -> [File; 2] {
        let mut text = format!("{HEADER}\n{LICENCE}\n");
        text.push_str(
            "// The application block with the cluster, for simulation (`verilator -F`): order matters up to the imports.\n\
             // The vendor's macros that the cluster instantiates are not among these files: xpm_memory_spram,\n\
             // xpm_memory_tdpram and xpm_fifo_sync.\n",
        );
        let mut add = |line: String| text.push_str(&format!("{line}\n"));
        list.defines
            .iter()
            .for_each(|name| add(format!("+define+{name}")));
        let folders = list.includes.iter();
        folders.for_each(|folder| add(format!("+incdir+{}", folder.display())));
        let (packages, others) = list.files.split_at(list.packages);
        packages.iter().for_each(|file| add(file.display().to_string()));
        add(IMPORTS_FILE.to_owned());
        others.iter().for_each(|file| add(file.display().to_string()));
        let is_model = |name: &&String| {
            self.models
                .iter()
                .any(|model| base_name(model) == base_name(name))
        };
        self.models
            .iter()
            .for_each(|name| add(base_name(name).to_owned()));
        let ours = self.sources.iter().filter(|name| !is_model(name));
        ours.for_each(|name| add(format!("../{name}")));
        let file = |name, text| File {
            name: format!("{MODELS}/{name}"),
            text,
        };
        [file(FILE_LIST, text), file(IMPORTS_FILE, list.imports.clone())]
    }
}

/// The part after the last `/`.
fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn cluster_clock(folder: &str, block: &dyn spinneret_verilog::prelude::Block) -> anyhow::Result<File> {
    let mut library = Library::new();
    library
        .add(block, CLUSTER_CLOCK, &TopOptions::default())
        .map_err(backend(CLUSTER_CLOCK))?;
    let modules = library.modules();
    // A clock is one module.
    Ok(verilog_file(folder, &modules[0].name, &modules[0].text))
}

fn notes(options: &Options, board: &Board, clock: ClusterTiming, regions: Option<&File>) -> Vec<String> {
    let clock = match clock {
        ClusterTiming::Core => format!("that of the NIC, {} MHz", board.core_clock_hz / 1_000_000),
        ClusterTiming::Own(settings) => settings.describe(),
    };
    let mut notes = vec![
        format!(
            "Ethernet of {} Gb/s: beats of {} bits, ports of Corundum's generation {}",
            options.rate.name(),
            options.rate.data_width(),
            options.generation.name()
        ),
        format!("cluster {}, its clock: {clock}", options.cluster),
    ];
    if regions.is_none() {
        notes.push(format!(
            "no placement regions: the clock regions of {} are not known, or the cluster needs none",
            board.part
        ));
    }
    if options.corundum.is_some() {
        notes.push("`make -C fpga` in this directory builds the bitstream; it needs Vivado".to_owned());
    } else {
        notes.push("no overlay for a Corundum checkout: give one with `--corundum-dir`".to_owned());
    }
    if options.cluster == Cluster::Pspin && options.pspin.is_none() {
        notes.push(
            "the sources of `pspin_wrap` are missing: give an FPsPIN checkout with `--pspin-dir`".to_owned(),
        );
    }
    notes
}

/// Request for an application block.
#[derive(Clone, Copy, Debug)]
pub struct AppRequest {
    /// Generation of the port list.
    pub generation: Generation,
    /// The cluster that it instantiates as `pspin_wrap`.
    pub cluster: Cluster,
    /// Frequency of the cluster's clock, in Hz.
    pub cluster_hz: u64,
    /// Width of a beat of Corundum's interfaces, in bits.
    pub data_width: usize,
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
pub type BuildApp = dyn Fn(&AppRequest) -> anyhow::Result<App>;

/// The application block of the hardware blocks, with the constraints of its crossings.
///
/// # Errors
/// A parameter that is not possible, or a design that the back-end cannot translate.
pub fn build_app(request: &AppRequest) -> anyhow::Result<App> {
    let sources = app::sources(AppOptions {
        generation: request.generation,
        cluster: request.cluster,
        cluster_clock_khz: (request.cluster_hz + 500) / 1000,
        data_width: request.data_width,
        ..AppOptions::default()
    })?;
    let header = "# Paths begin in the instance of mqnic_app_block, to which SCOPED_TO_CELLS has to limit this file.\n";
    if request.cluster_hz == request.board.core_clock_hz {
        let none = "# The cluster has the clock of the NIC: no path crosses, and all are timed.\n";
        return Ok(App::new(sources, format!("{header}{none}")));
    }
    let periods = [
        ("clk", period_ps(request.board.core_clock_hz)),
        ("cluster_clk", period_ps(request.cluster_hz)),
    ];
    let crossings = cdc::constraints(&sources.app, APP_INSTANCE);
    let crossings = cdc::xdc(&crossings, &periods)?;
    Ok(App::new(sources, format!("{header}{crossings}")))
}

/// The period of a clock, rounded down, so that a limit that is taken from it is not too long.
fn period_ps(hz: u64) -> u64 {
    1_000_000_000_000 / hz.max(1)
}

/// A core in CAPI2, whose first line has to be its version.
fn core_file(board: &str, [sources, declarations, models, constraints]: [&[String]; 4]) -> File {
    let mut text = format!(
        "CAPI=2:\n{HASH_HEADER}\nname: spinneret-nic:boards:{board}:{version}\n\
         description: The application block of spinneret for {board}\n\nfilesets:\n",
        version = env!("CARGO_PKG_VERSION"),
    );
    let mut fileset = |name: &str, kind: &str, files: &[String]| {
        // A list without an entry would be no list.
        if files.is_empty() {
            return;
        }
        text.push_str(&format!("  {name}:\n    file_type: {kind}\n    files:\n"));
        for file in files {
            text.push_str(&format!("      - {file}\n"));
        }
    };
    fileset("rtl", "systemVerilogSource", sources);
    fileset("declarations", "systemVerilogSource", declarations);
    fileset("models", "systemVerilogSource", models);
    fileset("constraints", "xdc", constraints);
    text.push_str(&format!(
        "\ntargets:\n  default:\n    filesets: [rtl, constraints]\n    toplevel: {TOP}\n"
    ));
    let declared = if declarations.is_empty() {
        ""
    } else {
        "declarations, "
    };
    text.push_str(&format!(
        "  lint:\n    default_tool: verilator\n    filesets: [{declared}rtl]\n    toplevel: {TOP}\n    tools:\n      \
         verilator:\n        mode: lint-only\n"
    ));
    File {
        name: "spinneret.core".to_owned(),
        text,
    }
}
