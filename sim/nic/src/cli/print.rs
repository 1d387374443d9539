//! Results on standard output.

use anyhow::{Result, anyhow};
use std::fmt::Display;
use std::io::{ErrorKind, Write as _, stdout};

/// Prints a result. Whoever reads the output and goes has seen enough of it, so that is no failure.
///
/// # Errors
/// If it cannot be written, as on a full disk.
pub(crate) fn print(text: impl Display) -> Result<()> {
    let mut out = stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| anyhow!("cannot print the result: {error}")),
    }
}
