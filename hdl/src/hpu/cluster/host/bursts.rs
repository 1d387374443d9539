//! Bursts of the host's port.

use super::super::steps::{LINES, LONGEST};
use super::super::{HOST_ADDRESS, OFFSET, SLAVE};
use crate::axi::{AxiAddressOutHandles, AxiShape, BUFFERABLE, INCR, LENGTH_BITS, PAGE_BITS, UNPRIVILEGED};
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Bits of the number of a line of the host.
pub(super) const HOST_LINE: usize = HOST_ADDRESS - OFFSET;
/// Bits of the number of a line in 4 KiB, which no burst crosses.
pub(super) const PAGE_LINE: usize = PAGE_BITS - OFFSET;
/// Bits of the number of bytes of the longest copy.
pub(super) const BYTES: usize = LONGEST + 1;
/// Bits of the user signals.
pub(super) const USER: usize = SLAVE.extras.user.aw;

/// Widths of the host's port.
pub const HOST_PORT: AxiShape = AxiShape {
    address: HOST_ADDRESS,
    ..SLAVE
};

/// Bytes of the host.
#[record(note: usize)]
pub struct RangeFields {
    /// Address of the first one.
    pub address: Field<{ HOST_ADDRESS }>,
    /// How many: 1 to 2^[`LONGEST`].
    pub bytes: Field<{ BYTES }>,
    /// For the user.
    pub note: Field<{ note }>,
}

/// A burst.
#[record(note: usize)]
pub struct BurstFields {
    /// The first line.
    pub line: Field<{ HOST_LINE }>,
    /// Lines, minus 1.
    pub length: Field<{ PAGE_LINE }>,
    /// It is the last one of its bytes.
    pub last: Field<1>,
    /// For the user.
    pub note: Field<{ note }>,
}

/// Splits bytes of the host into bursts of lines that stay in their 4 KiB: one burst a clock, and a clock between ranges.
#[module(
    note: usize,
    range: RangeFields = RangeFields::new(note),
    burst: BurstFields = BurstFields::new(note),
)]
pub struct HostBursts {
    /// Ranges, as [`RangeFields`] says.
    pub s: StreamIn<{ range.width }>,
    /// Bursts, as [`BurstFields`] says.
    pub m: StreamOut<{ burst.width }>,
    active: Reg<bool, Reset>,
    line: Reg<{ HOST_LINE }>,
    /// Lines that are left, minus 1.
    left: Reg<{ LINES }>,
    note_now: Reg<{ note }>,
    held: Reg<{ burst.width }>,
    present: Reg<bool, Reset>,
}

#[kernel(HostBursts, suffix = note)]
fn update() {
    let (place, page) = line.split_at(PAGE_LINE);
    /// Lines after this one in its 4 KiB.
    let behind = !place;
    let fits = left <= behind.resize(LINES);
    m.valid = present;
    m.data = held;
    if m.ready {
        present = false;
    }
    if active && (!present || m.ready) {
        present = true;
        active = !fits;
        held = pack!(burst {
            line,
            length: if fits { left.slice(0, PAGE_LINE) } else { behind },
            last: fits,
            note: note_now,
        });
        line = cat!(page + 1, lit(0, PAGE_LINE));
        left = left - behind.resize(LINES) - 1;
    }
    s.ready = !active;
    if s.valid && !active {
        let asked = range.of(s.data);
        let (byte, first_line) = asked.address.split_at(OFFSET);
        let ending = byte.resize(BYTES) + (asked.bytes - 1);
        active = true;
        line = first_line;
        left = ending.slice(OFFSET, LINES);
        note_now = asked.note;
    }
}

/// Drives an address channel of the host's port: all but valid.
#[kernel]
pub(super) fn drive(address: AxiAddressOutHandles, line: Sig, length: Sig, context: Sig) {
    *address.id = 0;
    address.addr = cat!(line, lit(0, OFFSET));
    *address.len = length.resize(LENGTH_BITS);
    *address.size = OFFSET;
    *address.burst = INCR;
    *address.lock = false;
    *address.cache = BUFFERABLE;
    address.prot = UNPRIVILEGED;
    *address.qos = 0;
    *address.region = 0;
    *address.user = context.resize(USER);
}
