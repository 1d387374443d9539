//! The simulated NIC, and the `spinneret` command.

mod attach;
pub mod cli;
pub mod device;
pub mod fabric;
pub mod gdb;
pub mod installed;
pub mod mpi;
pub mod net;
pub mod nic;
pub mod picture;
pub mod report;
pub mod run;
pub mod services;
pub mod terminal;

pub use device::Simulated;
pub use run::handlers::{StartError, start, start_on};

/// The designs that the command simulates, one typed struct each.
pub mod models {
    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}
