//! `spinneret run`: handlers on the NIC, with packets from somewhere.

mod args;
mod build;
mod contexts;
mod ends;
mod host_ping;
mod session;
mod setup;

pub use args::RunArguments;
pub use build::{BuildError, program};
pub use contexts::{HOST_BASE, HOST_BYTES, HOST_STRIDE, contexts};
pub use session::run;
