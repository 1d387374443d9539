//! All source files of the application block.

use super::corundum::{CLUSTER, ClusterClock, Generation, Shell};
use super::{ENTRY, SpinneretApp, stub};
use crate::entry::{Config, Entry, ParameterError, Values};
use crate::hpu::cluster::{ComplexShape, complex};

use spinneret_regmap::CLUSTERS;
use spinneret_verilog::{Design, Library, Module, TopOptions};
use std::fmt;
use thiserror::Error;

/// The source of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cluster {
    /// Ours.
    Spinneret,
    /// PsPIN; its sources come from the user.
    Pspin,
    /// Our stand-in, whose sources are among these.
    Stub,
}

impl Cluster {
    /// All; boards have the first unless another one is asked for.
    pub const ALL: [Self; 3] = [Self::Spinneret, Self::Pspin, Self::Stub];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pspin => "pspin",
            Self::Stub => "stub",
            Self::Spinneret => "spinneret",
        }
    }
}

/// How the application block is made.
#[derive(Clone, Copy, Debug)]
pub struct AppOptions {
    /// Whose ports it has.
    pub generation: Generation,
    /// The source of the cluster.
    pub cluster: Cluster,
    /// Clusters. 2 in the public design; our own can be 1, 2, 4 or 8, with queues for them.
    pub clusters: usize,
    /// Where the cluster's clock comes from.
    pub clock: ClusterClock,
    /// The frequency of the cluster's clock in kHz, which software can read.
    pub cluster_clock_khz: u64,
    /// Interfaces unless Corundum sets the parameter.
    pub interfaces: u64,
    /// Width of a beat of Corundum's interfaces in bits.
    pub data_width: usize,
}

impl Default for AppOptions {
    fn default() -> Self {
        Self {
            generation: Generation::ALL[0],
            cluster: Cluster::Pspin,
            clusters: CLUSTERS as usize,
            clock: ClusterClock::Board,
            cluster_clock_khz: 40_000,
            interfaces: 1,
            data_width: 512,
        }
    }
}

/// Why there are no sources.
#[derive(Debug, Error)]
pub enum AppError {
    /// A parameter is not possible.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The back-end refused a block.
    #[error(transparent)]
    Backend(#[from] spinneret_verilog::Error),
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Name of its module; the file has the same name and the extension `sv`.
    pub module: String,
    /// One line that says what the module does.
    pub doc: String,
    /// Its text.
    pub text: String,
}

/// The sources of the application block.
#[derive(Clone, Debug)]
pub struct AppSources {
    /// Files, each before those that need it; the last is `mqnic_app_block`.
    pub files: Vec<SourceFile>,
    /// The ports of the cluster without its content, if its sources come from the user: for tools that lack them.
    pub declaration: Option<SourceFile>,
    /// The application inside.
    pub app: Design,
}

/// Name of the top module.
pub const TOP: &str = "mqnic_app_block";

/// Name of the application's instance in the top module.
pub const APP_INSTANCE: &str = "app";

/// Makes all source files but those of PsPIN and of the board's clock.
///
/// # Errors
/// If a parameter is invalid; anything else is a bug in a block.
pub fn sources(options: AppOptions) -> Result<AppSources, AppError> {
    let mut library = Library::with_prefix("spinneret_", &["pspin_", "mqnic_"]);
    let values = values(options);
    let app = library.add(&SpinneretApp::new(&values)?, ENTRY.name, &TopOptions::default())?;
    let mut queues = values.get("queues").copied().unwrap_or(0);
    let own = match options.cluster {
        Cluster::Pspin => None,
        Cluster::Stub => Some(stub::ENTRY),
        Cluster::Spinneret => Some(complex::ENTRY),
    };
    if let Some(entry) = own {
        let values = own_values(entry, options);
        let top = TopOptions {
            parameters: entry.verilog_parameters(&values),
        };
        library.add(&*(entry.build)(&values)?, CLUSTER, &top)?;
        queues = values.get("mpqs").copied().unwrap_or(queues);
    }
    let mut files: Vec<_> = library.modules().iter().map(SourceFile::of).collect();
    let get = |name: &str| values.get(name).copied().unwrap_or(0);
    let shell = Shell {
        generation: options.generation,
        clock: options.clock,
        interfaces: options.interfaces,
        cluster: [get("clusters"), queues],
        app: &app,
    };
    files.push(SourceFile {
        module: TOP.to_owned(),
        doc: "Corundum's application block around spinneret.".to_owned(),
        text: shell.text(),
    });
    let declaration = (options.cluster == Cluster::Pspin).then(|| SourceFile {
        module: CLUSTER.to_owned(),
        doc: "Ports of the cluster.".to_owned(),
        text: shell.cluster_declaration(),
    });
    Ok(AppSources {
        files,
        declaration,
        app,
    })
}

/// The application with the default options.
///
/// # Errors
/// As [`sources`].
pub fn design() -> Result<Design, AppError> {
    Ok(sources(AppOptions::default())?.app)
}

impl SourceFile {
    fn of(module: &Module) -> Self {
        Self {
            module: module.name.clone(),
            doc: module.doc.clone(),
            text: module.text.clone(),
        }
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The application's parameters under these options.
fn values(options: AppOptions) -> Values {
    let mut values = ENTRY.values(Config::Board);
    values.insert("cluster_clock_khz".to_owned(), options.cluster_clock_khz);
    values.insert("clusters".to_owned(), options.clusters as u64);
    values.insert("data_width".to_owned(), options.data_width as u64);
    values.insert("stub".to_owned(), u64::from(options.cluster == Cluster::Stub));
    let has_sum = options.cluster == Cluster::Spinneret;
    values.insert("payload_sum".to_owned(), u64::from(has_sum));
    values
}

/// The parameters of our own cluster under these options.
fn own_values(entry: Entry, options: AppOptions) -> Values {
    let mut values = entry.values(Config::Board);
    let mut set = |name: &str, value: usize| values.insert(name.to_owned(), value as u64);
    set("clusters", options.clusters);
    if options.cluster == Cluster::Spinneret {
        let shape = ComplexShape::of_clusters(options.clusters);
        set("mpqs", shape.queues);
        set("cells", shape.cells);
    }
    values
}
