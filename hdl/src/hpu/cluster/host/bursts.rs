//! Bursts of the host's port: one for each part of a copy.

use super::super::{HOST_ADDRESS, OFFSET, SLAVE};
use super::queues::{HOST_LINE, PART, PartFields};
use crate::axi::{AxiAddressOutHandles, AxiShape, BUFFERABLE, INCR, LENGTH_BITS, UNPRIVILEGED};
use spinneret_verilog::prelude::*;

/// Bits of the number of a line in a part.
pub(super) const PART_LINE: usize = PART - OFFSET;
/// Bits of the user signals.
pub(super) const USER: usize = SLAVE.extras.user.aw;

/// Widths of the host's port.
pub const HOST_PORT: AxiShape = AxiShape {
    address: HOST_ADDRESS,
    ..SLAVE
};

/// A burst.
#[record(note: usize)]
pub struct BurstFields {
    /// The first line.
    pub line: Field<{ HOST_LINE }>,
    /// Lines, minus 1.
    pub length: Field<{ PART_LINE }>,
    /// It is the last one of its copy.
    pub last: Field<1>,
    /// Whose it is.
    pub note: Field<{ note }>,
}

/// The burst of a part.
#[kernel]
pub(super) fn burst_of(part: Sig, of: PartFields, fields: BurstFields) -> Sig {
    let part = of.of(part);
    let (place, line) = part.host.split_at(OFFSET);
    /// No part leaves its 2^[`PART`] bytes, so its last byte has the same higher bits.
    let ending = place.resize(PART) + part.bytes.slice(0, PART) - 1;
    pack!(fields {
        line,
        length: ending.slice(OFFSET, PART_LINE),
        last: part.last,
        note: part.note,
    })
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
