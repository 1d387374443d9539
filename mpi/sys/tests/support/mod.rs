//! The program of these tests.

pub(crate) mod launch;

pub(crate) use launch::{Ended, Installed, Program, each_mpi};

const PROGRAM: &str = env!("CARGO_BIN_EXE_spinneret-mpi-check");

impl Installed {
    /// The one that this is not, if it is installed.
    pub(crate) fn other(self) -> Option<Self> {
        let other = if self == Self::OpenMpi {
            Self::Mpich
        } else {
            Self::OpenMpi
        };
        other.is_there().then_some(other)
    }
}
