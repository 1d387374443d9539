//! Results on standard output, and what is told beside them.

use anyhow::{Result, anyhow};
use std::fmt::Display;
use std::io::{ErrorKind, Write as _, stderr, stdout};

/// Prints a result. Whoever reads the output and goes has seen enough of it, so that is no failure.
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
    let _ = writeln!(stderr(), "{}", harmless(&text.to_string()));
}

/// A text without characters that a terminal obeys: what handlers print and names of files may hold any.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' | '\n' => shown.push(character),
            _ if character.is_control() => shown.extend(character.escape_default()),
            _ => shown.push(character),
        }
    }
    shown
}
