//! Output to people: tables, and printing that survives a reader who leaves early.

pub use spinneret_table::table;
use spinneret_table::{Cell, CellAlignment, ColumnConstraint, Table, Width, for_people};
use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Wraps a last column of running text, also where the width of the terminal is unknown.
pub fn limit_last_column(table: &mut Table) {
    const CHARACTERS: u16 = 60;
    let last = table.column_count().saturating_sub(1);
    if let Some(column) = table.column_mut(last) {
        column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(CHARACTERS)));
    }
}

/// A cell for a number: right-aligned, empty if there is none.
pub fn number(value: Option<impl ToString>) -> Cell {
    let text = value.map(|value| value.to_string()).unwrap_or_default();
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// The work is done, but its result could not be printed.
#[derive(Debug, thiserror::Error)]
#[error("all is done, but the result cannot be printed: {0}")]
pub struct NotPrinted(io::Error);

/// Prints a text and a line end.
///
/// # Errors
/// Standard output cannot be written to; a closed pipe (`| head`) is not an error.
pub fn print(text: &str) -> Result<(), NotPrinted> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(NotPrinted(error)),
        _ => Ok(()),
    }
}

/// Tells people something beside the result; where nobody can read it, nothing is lost.
pub fn tell(text: fmt::Arguments<'_>) {
    let _ = write!(io::stderr(), "{}", for_people(&text.to_string(), &io::stderr()));
}

/// How a command ends that failed: 2 if it was refused, 1 if its result only could not be printed.
pub fn fail(error: &anyhow::Error, told: fmt::Arguments<'_>) -> ExitCode {
    tell(told);
    ExitCode::from(if error.is::<NotPrinted>() { 1 } else { 2 })
}

/// One of `one` and `many` with its count in front.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
