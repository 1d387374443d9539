//! Benches of whole programs, and the paper's experiments.
//!
//! ```text
//! ./dev bench NAME ---> command ---> nic, laptop, fabric, pci, serve, mpi, rpc ---> spinneret_table::bench: medians, bars, JSON
//! ./dev experiments --->  "   ---> experiments: figure7 ... figure10 ---> CSV, pictures
//! ```
//!
//! A bench is its subject only. Benches of single blocks, which count cycles, are in `tb/`; Molly's is in `molly/command/`.

mod command;
mod echo;
mod fabric;
mod harness;
mod laptop;
mod mpi;
mod nic;
mod pci;
mod rpc;
mod serve;
mod server;

pub mod experiments;
pub mod transfer;

pub use command::main;
