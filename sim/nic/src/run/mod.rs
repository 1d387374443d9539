//! `spinneret run` and its relatives: the NIC with packets from somewhere, and handlers or a program that brings them.

mod args;
pub(crate) mod build;
mod embedded;
pub(crate) mod ends;
pub(crate) mod faults;
pub(crate) mod host;
pub(crate) mod main_loop;
mod receive;
mod serve;
mod session;
pub(crate) mod setup;
mod wave;

pub use args::{HardwareArguments, LiveArguments, PacketArguments, ResultArguments, RunArguments};
pub use build::{BuildError, program};
pub use embedded::{Embedded, Outcome};
pub use host::HostPing;
pub use receive::{ReceiveArguments, receive};
pub use serve::{ServeArguments, serve};
pub use session::run;
