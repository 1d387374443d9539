//! Memory for programs and contexts of several owners.

use crate::control::{self, Part};
use crate::device::DeviceError;
use crate::error::ErrorKind;
use spinneret_regmap::pspin::{ENTRY, HANDLER_BASE, PROGRAM_BASE, RESIDENT_CODE, RESIDENT_DATA_BYTES};
use std::ops::Range;

/// Default shares of handler memory on a NIC of several programs.
pub(super) const SHARES: u32 = 8;
/// Allocation unit of memory.
pub(super) const LINE: u32 = control::LINE;

/// Program memory for programs.
pub(super) const PROGRAM: Part = Part {
    start: PROGRAM_BASE + ENTRY,
    bytes: RESIDENT_CODE - PROGRAM_BASE - ENTRY,
};

/// Handler memory for programs and contexts.
pub(super) fn handler_memory() -> Part {
    let whole = control::handler_memory(HANDLER_BASE);
    Part {
        bytes: whole.bytes - RESIDENT_DATA_BYTES,
        ..whole
    }
}

pub(super) fn full(why: &str) -> ErrorKind {
    DeviceError::Full(why.to_owned()).into()
}

/// Allocates memory where a program was linked, or else first-fit.
pub(super) fn place(
    what: &str,
    whole: Part,
    range: &Range<u32>,
    alignment: u32,
    taken: &[Part],
) -> Result<Part, ErrorKind> {
    let wanted = Part {
        start: range.start,
        bytes: (range.end - range.start).next_multiple_of(LINE),
    };
    let is_free = taken.iter().all(|part| !part.overlaps(wanted));
    if is_free && wanted.end() <= whole.end() {
        return Ok(wanted);
    }
    // Where the program was linked is a multiple of its alignment.
    let unit = alignment - LINE;
    let found = control::place(whole, taken.iter().copied(), wanted.bytes + unit);
    let start = found.map(|part| part.start + (range.start.wrapping_sub(part.start) & (alignment - 1)));
    let start = start.ok_or_else(|| no_room(what, whole, taken, wanted.bytes))?;
    Ok(Part { start, ..wanted })
}

/// Allocates memory first-fit.
pub(super) fn allocate(what: &str, whole: Part, taken: &[Part], bytes: u32) -> Result<Part, ErrorKind> {
    control::place(whole, taken.iter().copied(), bytes).ok_or_else(|| no_room(what, whole, taken, bytes))
}

fn no_room(what: &str, whole: Part, taken: &[Part], bytes: u32) -> ErrorKind {
    let used: u32 = taken.iter().map(|part| part.bytes).sum();
    full(&format!(
        "no room for {bytes} bytes of {what}: {} of {} bytes are free",
        whole.bytes.saturating_sub(used),
        whole.bytes
    ))
}
