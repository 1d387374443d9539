//! `spinneret run` and its relatives: the NIC with packets from somewhere, and handlers or a program that brings them.

mod answering;
mod args;
pub(crate) mod build;
mod embedded;
mod ends;
pub(crate) mod faults;
mod host;
pub(crate) mod host_ping;
mod inbox;
mod pci;
mod receive;
mod serve;
mod session;
pub(crate) mod setup;
mod waiting;
mod wave;

pub use args::{HardwareArguments, PacketArguments, ResultArguments, RunArguments};
pub use build::{BuildError, program};
pub use embedded::{Embedded, Outcome, Peer};
pub use host_ping::HostPing;
pub use receive::{LiveArguments, ReceiveArguments, receive};
pub use serve::{ServeArguments, serve};
pub use session::run;
