//! What `./dev bench laptop` and `./dev bench nic` measure: how fast the simulation is, and what the simulated NIC does.

mod icarus;
mod load;
mod mixes;
mod ping;
mod plot;
mod speed;

pub use icarus::icarus;
pub use load::{Load, full_load};
pub use mixes::{MIXES, under_load};
pub(crate) use ping::{HEADERS, recipe};
pub use ping::{PAPER_ICMP, PAPER_UDP, RoundTrip, ping_pong, round_trips};
pub use plot::plot;
pub use speed::{Speed, idle, traffic};

use crate::nic::{ControlError, Nic, NicConfig, NicError};
use crate::run::{self, BuildError};
use spinneret_cluster::{Program, ProgramError};
use spinneret_rules::{MatcherParams, RuleFile, RuleFileError};
use std::path::{Path, PathBuf};

/// Why a measurement cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The handlers cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Their program cannot be read.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// Their rules cannot be read.
    #[error(transparent)]
    Rules(#[from] RuleFileError),
    /// The NIC cannot be made or failed.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// It does not start.
    #[error(transparent)]
    Start(#[from] crate::StartError),
    /// A register does not answer.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// It did something else than it should.
    #[error("{0}")]
    Wrong(String),
}

/// The folder of an example.
pub fn example(name: &str) -> PathBuf {
    runtime().join("examples").join(name)
}

/// The folder of what handlers are built with.
pub(crate) fn runtime() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime")
}

/// A NIC that runs an example with its rules.
///
/// # Errors
/// If it cannot be built or does not start.
pub fn start(name: &str, config: NicConfig) -> Result<Nic, BenchError> {
    let folder = example(name);
    let program = Program::open(&run::program(&folder, config.cluster.clusters)?)?;
    let rules = RuleFile::read(&folder.join("rules.toml"), &MatcherParams::BOARD)?;
    Ok(crate::start(config, &program, &rules.rulesets, None)?)
}
