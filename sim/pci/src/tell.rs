//! What is said to whoever looks at the server.

use std::fmt;
use std::io::{self, Write as _};

/// Writes a line to standard error.
pub(crate) fn tell(what: fmt::Arguments<'_>) {
    // Where nobody can read it, nothing is lost.
    let _ = writeln!(io::stderr(), "{what}");
}
