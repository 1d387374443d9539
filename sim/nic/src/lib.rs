//! The NIC on a laptop, and the `spinneret` command.

pub mod cli;
pub mod device;
pub mod engine;
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

mod attach;
mod start;

pub use device::Simulated;
pub use start::{StartError, start, start_on};

/// The designs that the command simulates, one typed struct each.
pub mod models {
    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}
