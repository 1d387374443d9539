//! `spinneret fabric`: many NICs, the cables and switches between them, and one clock.
//!
//! ```text
//! arguments, topology file --> plans --> spinneret_fabric::run --> tables, JSON, trace, captures
//!                                          |  a thread for each NIC
//!                                          v
//!   Plan::run: Nic with a Port, and its host: application at a socket, made-up frames, this machine
//! ```

mod command;
mod node;
mod output;

pub use command::fabric;
pub use node::{Handlers, Hosted, Outcome, Signal, run_programs};

use crate::run::{HardwareArguments, handlers, setup};
use crate::terminal::{Failure, Files};
use anyhow::anyhow;
use clap::Args;
use spinneret_cluster::Program;
use spinneret_fabric::topology::{Mode, NicConfig, Simple, SwitchConfig, Topology};
use spinneret_fabric::{Faults, Ps, units};
use spinneret_rules::{MatcherParams, RuleFile};
use std::collections::HashMap;
use std::path::PathBuf;

/// Most NICs that can be asked for without a file.
const MOST_NICS: u64 = 4096;

/// Arguments of `spinneret fabric`.
#[derive(Clone, Debug, Args)]
pub struct FabricArguments {
    /// Topology: a TOML file, described in docs/run/fabric.md
    #[arg(
        value_name = "TOPOLOGY",
        required_unless_present = "nics",
        conflicts_with = "nics"
    )]
    pub topology: Option<PathBuf>,
    /// Simulate N NICs without a topology file, each for an application: 2 on a cable, more around a switch
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=MOST_NICS))]
    pub nics: Option<u64>,
    /// Folder for the sockets of the NICs; applications open unix:DIR/NAME
    #[arg(long, value_name = "DIR", required_unless_present = "topology")]
    pub sockets: Option<PathBuf>,
    /// NICs that are simulated in parallel [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// End at this simulated time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub until: Option<Ps>,
    /// Bit rate of each cable
    #[arg(long, value_name = "RATE", default_value = "100 Gbps", value_parser = units::rate, conflicts_with = "topology", help_heading = "Cables")]
    pub rate: u64,
    /// Latency of each cable
    #[arg(long, value_name = "TIME", default_value = "500 ns", value_parser = time, conflicts_with = "topology", help_heading = "Cables")]
    pub latency: Ps,
    /// Loss rate: fraction of frames that a cable loses
    #[arg(long, value_name = "SHARE", default_value = "0 %", value_parser = units::share, conflicts_with = "topology", help_heading = "Cables")]
    pub loss: f64,
    /// Duplication rate: fraction of frames that arrive twice
    #[arg(long, value_name = "SHARE", default_value = "0 %", value_parser = units::share, conflicts_with = "topology", help_heading = "Cables")]
    pub duplication: f64,
    /// Reordering rate: fraction of frames that others overtake
    #[arg(long, value_name = "SHARE", default_value = "0 %", value_parser = units::share, conflicts_with = "topology", help_heading = "Cables")]
    pub reordering: f64,
    /// Bit error rate: fraction of frames with one flipped bit
    #[arg(long, value_name = "SHARE", default_value = "0 %", value_parser = units::share, conflicts_with = "topology", help_heading = "Cables")]
    pub corruption: f64,
    /// Seed of the faults
    #[arg(
        long,
        default_value_t = 1,
        conflicts_with = "topology",
        help_heading = "Cables"
    )]
    pub seed: u64,
    /// Let the switch forward frames before they are complete
    #[arg(long, conflicts_with = "topology", help_heading = "Cables")]
    pub cut_through: bool,
    /// Queue size of each port of the switch
    #[arg(long, value_name = "SIZE", default_value = "256 KiB", value_parser = units::size, conflicts_with = "topology", help_heading = "Cables")]
    pub buffer: u64,
    /// Hardware
    #[command(flatten)]
    pub hardware: HardwareArguments,
    /// Print the result as JSON
    #[arg(long, help_heading = "Results")]
    pub json: bool,
    /// Exit with success even if handlers of the topology fail, are refused something, or are missing for a packet
    #[arg(long, help_heading = "Results")]
    pub allow_faults: bool,
    /// Write a timeline of all NICs for ui.perfetto.dev
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub trace: Option<PathBuf>,
    /// Draw queues, drops and latencies over time (SVG)
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub plot: Option<PathBuf>,
}

fn time(text: &str) -> Result<Ps, units::UnitError> {
    units::time(text)
}

impl FabricArguments {
    /// The topology to simulate.
    ///
    /// # Errors
    /// If it is not valid.
    fn topology(&self) -> Result<Topology, Failure> {
        if let Some(file) = &self.topology {
            return Topology::read(file).map_err(Failure::usage);
        }
        let simple = Simple {
            nics: self.nics.unwrap_or(2) as usize,
            rate_bps: self.rate,
            latency_ps: self.latency,
            faults: Faults {
                loss: self.loss,
                duplication: self.duplication,
                reordering: self.reordering,
                corruption: self.corruption,
            },
            seed: self.seed,
            switch: SwitchConfig {
                mode: if self.cut_through {
                    Mode::CutThrough
                } else {
                    Mode::StoreAndForward
                },
                buffer_bytes: self.buffer,
                ..SwitchConfig::default()
            },
            nic: NicConfig {
                application: true,
                ..NicConfig::default()
            },
        };
        simple.topology().map_err(Failure::usage)
    }

    /// Number of NICs that are simulated in parallel.
    fn threads(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(processors, usize::from)
    }

    /// Folder of the sockets.
    ///
    /// # Errors
    /// If none was given.
    fn sockets(&self) -> Result<&PathBuf, Failure> {
        self.sockets.as_ref().ok_or_else(|| {
            Failure::Usage(anyhow!(
                "--sockets is missing: name a folder for the sockets of the applications"
            ))
        })
    }
}

/// Handlers by their paths and those of their rules, built and read once for several NICs.
#[derive(Debug, Default)]
struct Programs(HashMap<(PathBuf, PathBuf), Handlers>);

impl Programs {
    /// The handlers of a NIC.
    fn of(&self, nic: &NicConfig) -> Option<Handlers> {
        self.0.get(&paths(nic)?).cloned()
    }
}

/// Builds and reads the handlers of these NICs after checks of all files that are read or written.
///
/// # Errors
/// If a file would be overwritten, or handlers or rules cannot be used. Only make has written files then.
fn build_programs<'n>(
    arguments: &FabricArguments,
    topology: &Topology,
    nics: impl Iterator<Item = (usize, &'n str, &'n NicConfig)>,
    clusters: usize,
) -> Result<Programs, Failure> {
    let mut files = named(arguments, topology);
    files.check().map_err(Failure::Usage)?;
    let mut programs = Programs::default();
    for (_, name, nic) in nics {
        let Some(paths) = paths(nic).filter(|paths| !programs.0.contains_key(paths)) else {
            continue;
        };
        let (target, rules) = &paths;
        let elf = handlers::program(target, clusters).map_err(Failure::usage)?;
        let handlers = format!("the handlers of `{name}`");
        files = setup::files_of_handlers(files, &handlers, (target, &elf), clusters)?;
        files.check().map_err(Failure::Usage)?;
        let rules = RuleFile::read(rules, &MatcherParams::BOARD).map_err(Failure::usage)?;
        let handlers = Handlers {
            program: Program::open(&elf).map_err(Failure::usage)?,
            rulesets: rules.rulesets,
        };
        programs.0.insert(paths, handlers);
    }
    Ok(programs)
}

/// All files that arguments and topology name.
fn named(arguments: &FabricArguments, topology: &Topology) -> Files {
    let mut files = Files::of_command().reads("TOPOLOGY", arguments.topology.as_deref());
    for (_, name, nic) in topology.nics() {
        if let Some((target, rules)) = paths(nic) {
            let target = Some(&*target).filter(|target| target.is_file());
            files = files
                .reads(format!("the handlers of `{name}`"), target)
                .reads(format!("the rules of `{name}`"), Some(&rules));
        }
        if let (true, Some(folder)) = (nic.application, &arguments.sockets) {
            files = files.reads(format!("the socket of `{name}`"), Some(&folder.join(name)));
        }
    }
    for capture in &topology.captures {
        let topology_file = arguments.topology.as_deref().unwrap_or("".as_ref()).display();
        let place = format!("{topology_file}:{}", capture.line);
        let at = &topology.nodes[capture.node].name;
        files = files.writes_by(place, format!("the capture at `{at}`"), &capture.file);
    }
    files
        .writes("--trace", arguments.trace.as_deref())
        .writes("--plot", arguments.plot.as_deref())
}

/// Paths of the handlers of a NIC and of their rules.
fn paths(nic: &NicConfig) -> Option<(PathBuf, PathBuf)> {
    let target = nic.handlers.as_ref()?;
    Some((target.clone(), setup::rules_of(target, nic.rules.as_deref())))
}
