//! Why a simulation cannot go on.

use crate::agent::Violation;
use crate::model::ModelError;
use crate::seed::{self, Seed};
use thiserror::Error;

/// Why a simulation cannot go on.
#[derive(Debug, Error)]
#[error("{model}, cycle {cycle}: {cause} (reproduce with {}={seed})", seed::VARIABLE)]
pub struct Failure {
    /// Name of the model.
    pub model: &'static str,
    /// Cycles since the simulation was made.
    pub cycle: u64,
    /// What the random choices depended on.
    pub seed: Seed,
    /// What happened.
    #[source]
    pub cause: Cause,
}

/// What stopped a simulation.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Cause {
    /// The design broke a rule of a bus.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// The design cannot be simulated, or its waveform cannot be written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The simulation takes longer than was expected.
    #[error("the limit of {limit} cycles is reached; is there a deadlock?{state}")]
    CycleLimit {
        /// The limit in cycles.
        limit: u64,
        /// A line for each agent.
        state: String,
    },
    /// No clock of the design runs.
    #[error("all clocks stand: let one run before going on")]
    AllClocksStand,
    /// Something is left at the end.
    #[error("the test ended too early:{state}")]
    Unfinished {
        /// A line for each agent that is not idle.
        state: String,
    },
}
