//! Results on standard output, and what is told beside them.

use anyhow::{Result, anyhow};
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal as _, Write as _, stderr, stdout};

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

/// Tells why a command did not succeed: in red on a terminal, unless `NO_COLOR` is set (<https://no-color.org>).
pub(crate) fn tell_failure(failure: impl Display) {
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match stderr().is_terminal() && !is_plain {
        true => {
            let _ = writeln!(
                stderr(),
                "\x1b[31merror:\x1b[0m {}",
                harmless(&failure.to_string())
            );
        }
        false => tell(format_args!("error: {failure}")),
    }
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
