//! Bytes from the host.

use super::super::copier::LineStore;
use super::super::rotator::LineRotator;
use super::super::steps::{CopyFields, LineSteps};
use super::super::{LineWrite, OFFSET, WORD};
use super::bursts::{BurstFields, HOST_PORT, burst_of, drive};
use super::{HostShape, NoteFields, PartFields, PendingFields, Traffic, WAITING};
use crate::axi::{AxiAddressOut, AxiReadIn};
use crate::entry::ParameterError;
use crate::stream::{Fifo, FifoConfig, StreamIn};
use spinneret_verilog::prelude::*;

/// Parts that can wait for their data: 16 KiB, which the longest path to a host needs. More would delay other contexts.
const PENDING: usize = 16;

/// Copies from the host to memory. Bursts are asked for ahead of the data of the parts before.
///
/// ```text
///  parts =+=> bursts ==> AR
///         |                 R ==> LineRotator ==> LineStore =+=> write
///         +=> pending ==> LineSteps --^                      +-> done
/// ```
#[module(
    shape: HostShape,
    error = ParameterError,
    parts: PartFields = PartFields::new(shape.queues(Traffic::Copies)),
    note: NoteFields = NoteFields::new(shape.queues(Traffic::Copies)),
    burst: BurstFields = BurstFields::new(note.width),
    pending_of: PendingFields = PendingFields::new(shape),
    tag: usize = note.id.width + 1,
    asked: CopyFields = CopyFields::new(tag),
)]
pub struct HostReads {
    /// Parts of copies, as [`PartFields`] says.
    pub s: StreamIn<{ parts.width }>,
    /// Bursts.
    pub ar: AxiAddressOut<{ HOST_PORT }, { HOST_PORT.extras.user.ar }, { false }>,
    /// Their data.
    pub r: AxiReadIn<{ HOST_PORT }>,
    /// Writes of memory.
    pub write: LineWrite,
    /// A command is done.
    pub done: Wire<Out, bool>,
    /// Its id.
    pub done_id: Wire<Out, { note.id.width }>,
    bursts: Checked<Fifo<{ FifoConfig::distributed(burst.width, WAITING) }>>,
    pending: Checked<Fifo<{ FifoConfig::distributed(pending_of.width, PENDING) }>>,
    /// The tag is {the part is the last one, id}.
    steps: LineSteps<{ tag }, { true }>,
    rotator: Checked<LineRotator<{ tag }, { false }>>,
    store: LineStore<{ tag }>,
}

#[kernel(HostReads, suffix = shape.suffix())]
fn update() {
    /// A part goes to both.
    let part = parts.of(s.data);
    let part_note = note.of(part.note);
    s.ready = bursts.s.ready && pending.s.ready;
    bursts.s.valid = s.valid && pending.s.ready;
    bursts.s.data = burst_of(s.data, parts, burst);
    pending.s.valid = s.valid && bursts.s.ready;
    pending.s.data = pack!(pending_of {
        place: part.host.slice(0, OFFSET),
        memory: part.memory,
        bytes: part.bytes,
        tag: cat!(part.last, part_note.id),
    });
    let asks = burst.of(bursts.m.data);
    drive(ar, asks.line, asks.length, note.of(asks.note).owner);
    ar.valid = bursts.m.valid;
    bursts.m.ready = ar.ready;
    /// Its data, beat by beat.
    let next = pending_of.of(pending.m.data);
    steps.s.valid = pending.m.valid;
    pending.m.ready = steps.s.ready;
    steps.s.data = pack!(asked {
        source: next.place.resize(WORD),
        destination: next.memory,
        bytes: next.bytes.resize(WORD),
        tag: next.tag,
    });
    r.ready = steps.asks;
    steps.accepted = r.valid;
    /// SLVERR and DECERR.
    steps.failed = r.resp[1];
    rotator.valid = steps.taken;
    rotator.step = steps.step;
    rotator.data = r.data;
    steps.room = rotator.room;
    store.s = rotator.m;
    write = store.write;
    let (id, is_last) = store.done_tag.split_at(note.id.width);
    done = store.done && is_last[0];
    done_id = id;
}
