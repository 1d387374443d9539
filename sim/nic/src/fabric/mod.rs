//! `spinneret fabric`: many NICs, the cables and switches between them, and one clock.
//!
//! ```text
//! arguments, topology file --> plans --> spinneret_fabric::run --> tables, JSON, trace, captures
//!                                          |  a thread for each NIC
//!                                          v
//!   Plan::run: Nic with a Port, and its host: application at a socket, made-up frames, this machine
//! ```

mod args;
mod command;
mod member;
mod plot;
mod programs;
mod show;
mod trace;

pub use args::FabricArguments;
pub use command::fabric;
pub use member::{Handlers, Outcome};
pub use programs::{Hosted, Signal, run_programs};
