//! The paper's experiments, on simulated NICs: `./dev experiments` makes tables and pictures of them.

mod figure7;
mod figure8;
mod picture;
mod stack;

pub use figure7::{Mode, PAPER_7, Protocol, RoundTrip, round_trips};
pub use figure8::{FaultRun, PAPER_BEST_GBPS, PAPER_WINDOW_1_GBPS, Throughput, with_faults, without_faults};
pub use picture::{draw_figure7, draw_figure8};
pub use stack::{Stack, Turnaround};

use crate::laptop::BenchError;
use crate::net::NetError;
use crate::transfer::TransferError;

/// Why an experiment cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The simulated NIC.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// A transfer between two of them.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// Linux's network stack.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A picture.
    #[error("{0} cannot be drawn: {1}")]
    Draw(String, String),
    /// Something did not do what it should.
    #[error("{0}")]
    Wrong(String),
}

impl From<crate::nic::NicError> for ExperimentError {
    fn from(error: crate::nic::NicError) -> Self {
        Self::Bench(error.into())
    }
}

impl From<crate::nic::ControlError> for ExperimentError {
    fn from(error: crate::nic::ControlError) -> Self {
        Self::Bench(error.into())
    }
}
