//! The paper's experiments, on simulated NICs: `./dev experiments` makes tables and pictures of them.

mod figure10;
mod figure7;
mod figure8;
mod parallel;
mod picture;
mod promises;
mod stack;
mod table10;
mod unpack;

pub use figure7::{Mode, PAPER_7, Protocol, RoundTrip, figure7_csv, read_figure7, round_trips};
pub use figure8::{FaultRun, PAPER_BEST_GBPS, PAPER_WINDOW_1_GBPS, Throughput, with_faults, without_faults};
pub use figure10::{
    ELEMENT_BYTES, ELEMENTS, MESSAGES, PAPER_LENGTHS, PAPER_MESSAGES, Paper, Point, Spec, TIMES, points,
};
pub use picture::{draw_figure7, draw_figure8, draw_figure9, draw_figure10};
pub use promises::{Promise, of_points, promised, promises};
pub use stack::{Stack, Turnaround};
pub use table10::{csv as figure10_csv, figure9, of_paper};
pub use unpack::{Unpacking, unpack_everywhere, unpack_with};

use crate::laptop::BenchError;
use crate::mpi::ExchangeError;
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
    /// Messages of MPI's datatypes.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
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

impl From<spinneret_mpi::LayoutError> for ExperimentError {
    fn from(error: spinneret_mpi::LayoutError) -> Self {
        Self::Exchange(error.into())
    }
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
