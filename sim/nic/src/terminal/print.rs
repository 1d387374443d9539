//! Results on standard output, and what is told beside them.

use anyhow::{Result, anyhow};
use spinneret_host::harmless;
use std::fmt::Display;
use std::io::{ErrorKind, Write as _, stdout};

/// Prints a result for people: its lines are no wider than the terminal, if there is one.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_folded(text: impl Display) -> Result<()> {
    print(spinneret_table::for_people(&text.to_string(), &stdout()))
}

/// Prints a result as it is, for programs. Whoever reads the output and goes has seen enough of it, so that is no failure.
///
/// # Errors
/// If it cannot be written, as on a full disk.
pub(crate) fn print(text: impl Display) -> Result<()> {
    let mut out = stdout().lock();
    match out
        .write_all(harmless(&text.to_string()).as_bytes())
        .and_then(|()| out.flush())
    {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| anyhow!("cannot print the result: {error}")),
    }
}

/// Tells people something beside the result; where nobody can read it, nothing is lost.
pub(crate) fn tell(text: impl Display) {
    spinneret_table::tell(harmless(&text.to_string()));
}

/// Tells why a command did not succeed: in red on a terminal, unless `NO_COLOR` is set (<https://no-color.org>).
pub(crate) fn tell_failure(failure: impl Display) {
    spinneret_table::tell(spinneret_table::error_line(&harmless(&failure.to_string())));
}
