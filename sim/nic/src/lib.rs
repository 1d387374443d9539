//! The NIC on a laptop, and the `spinneret` command.

pub mod cli;
pub mod engine;
pub mod laptop;
pub mod net;
pub mod nic;
pub mod report;
pub mod run;

mod attach;
mod share;

/// The designs that the command simulates, one typed struct each.
pub mod models {
    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}
