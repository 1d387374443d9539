//! Copies bytes between memories of lines.
//!
//! ```text
//!  copies ===> LineLoader ===> LineRotator ===> LineStore ---> done
//!                  |                                |
//!  read <=========-+                 write <========+
//! ```
//!
//! # Contract
//! - **Behaviour:** any source, destination and number of bytes up to 1 MiB ([`LONGEST`]). Copies are done and reported in order.
//! - **Failures:** of a line that cannot be read, no byte is written, nor of those after it; after a line that cannot be written,
//!   none is. `done_failed` reports it; also for a copy of more than 1 MiB, of which nothing is done. A copy of no bytes succeeds.
//! - **Overlap:** lines are read before they are written, at most 32 lines ahead. So a destination may overlap its source if it
//!   begins at a lower address; else bytes that were copied may be copied again.
//! - **Order:** the reads of a copy may be accepted before the last writes of the copy before it: a copy that reads what
//!   another one writes must be asked for after its `done`.
//! - **Throughput:** one line a clock; between copies a clock, and one if source and destination lie differently in their lines.
//! - **Latency:** [`READ_CLOCKS`](super::READ_CLOCKS) + 7 clocks from a copy of one line to its `done`, if nothing waits.
//! - **Reset** forgets all copies.

pub use super::steps::LONGEST;

use super::rotator::{LineRotator, PlacedFields};
use super::steps::{CopyFields, LineLoader};
use super::{CopyIn, LINE, LINE_BYTES, LINE_DATA, LineRead, LineWrite};
use crate::entry::{Entry, ParameterError};
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Bits of the number of a copy of a cluster.
const TAG: usize = 6;

/// [`LineCopier`].
pub(crate) const ENTRY: Entry = Entry::part(
    "line_copier",
    "copies bytes between memories of lines",
    |_| Vec::new(),
    |_| Ok(Box::new(LineCopier::new()?)),
);

/// Writes placed lines, and reports the ends of their copies.
#[module(tag: usize, placed: PlacedFields = PlacedFields::new(tag))]
pub struct LineStore {
    /// Lines, as [`PlacedFields`] says.
    pub s: StreamIn<{ placed.width }>,
    /// Writes.
    pub write: LineWrite,
    /// A copy is done.
    pub done: Wire<Out, bool>,
    /// Its number.
    pub done_tag: Wire<Out, { tag }>,
    /// A read or a write failed.
    pub done_failed: Wire<Out, bool>,
    present: Reg<bool, Reset>,
    /// The line is not empty.
    writes: Reg<bool, Reset>,
    line: Reg<{ LINE }>,
    strobe: Reg<{ LINE_BYTES }>,
    data: Reg<{ LINE_DATA }>,
    last: Reg<bool>,
    failed: Reg<bool>,
    copy_tag: Reg<{ tag }>,
    /// A write of the copy before it failed.
    broken: Reg<bool, Reset>,
}

#[kernel(LineStore, suffix = tag)]
fn update() {
    let ends = present && (!writes || write.ready);
    let is_broken = broken || writes && write.ready && write.failed;
    done = reg_reset(ends && last, false);
    done_tag = reg(copy_tag);
    done_failed = reg(failed || is_broken);
    let is_broken_next = is_broken && !(ends && last);
    broken = is_broken_next;
    let free = !present || ends;
    s.ready = free;
    let next = placed.of(s.data);
    if free {
        present = s.valid;
        writes = s.valid && !next.empty && !is_broken_next;
        line = next.to;
        strobe = next.strobe;
        data = next.data;
        last = next.last;
        failed = next.failed;
        copy_tag = next.tag;
    }
    write.valid = writes;
    write.line = line;
    write.strobe = strobe;
    write.data = data;
}

/// Copies bytes between memories of lines.
#[module(error = ParameterError, copies: CopyFields = CopyFields::new(TAG))]
pub struct LineCopier {
    /// Copies.
    pub copy: CopyIn,
    /// Reads.
    pub read: LineRead,
    /// Writes.
    pub write: LineWrite,
    loader: LineLoader<{ TAG }>,
    rotator: Checked<LineRotator<{ TAG }, { false }>>,
    store: LineStore<{ TAG }>,
}

#[kernel(LineCopier)]
fn update() {
    loader.s.valid = copy.valid;
    loader.s.data = pack!(copies {
        source: copy.source,
        destination: copy.destination,
        bytes: copy.bytes,
        tag: copy.tag,
    });
    copy.ready = loader.s.ready;
    read = loader.read;
    rotator.valid = loader.valid;
    rotator.step = loader.step;
    rotator.data = loader.data;
    loader.room = rotator.room;
    store.s = rotator.m;
    write = store.write;
    copy.done = store.done;
    copy.done_tag = store.done_tag;
    copy.done_failed = store.done_failed;
}
