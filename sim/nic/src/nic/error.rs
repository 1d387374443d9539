//! Errors of the NIC.

use spinneret_sim::model::ModelError;
use spinneret_sim::simulation::Failure;
use std::io;
use std::path::PathBuf;

/// Errors of the NIC.
#[derive(Debug, thiserror::Error)]
pub enum NicError {
    /// The hardware has unexpected ports.
    #[error("the simulated hardware is not the one this program was built for: {0}")]
    Ports(#[from] ModelError),
    /// It broke a rule of a bus.
    #[error("the simulated hardware failed: {0}")]
    Failed(#[from] Failure),
    /// The hardware cannot have that many clusters.
    #[error("the hardware has 1, 2, 4 or 8 clusters, not {clusters}")]
    NoClusters {
        /// The number that was asked for.
        clusters: usize,
    },
    /// The folder of the model of the whole hardware.
    #[error("cannot use {} for the model of the hardware with its clusters: {error}", path.display())]
    Folder {
        /// The folder, or a file in it.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// There is no model of the whole hardware.
    #[error("the model of the hardware with its clusters: {0}")]
    Build(#[from] spinneret_verilate::Error),
    /// The fabric has ended.
    #[error(transparent)]
    Stopped(#[from] spinneret_fabric::Stopped),
}
