//! Bytes from the host.

use super::super::copier::LineStore;
use super::super::rotator::LineRotator;
use super::super::steps::{CopyFields, LineSteps};
use super::super::{LineWrite, OFFSET, WORD};
use super::bursts::{BurstFields, HOST_PORT, HostBursts, RangeFields, drive};
use super::{CopyQueue, NoteFields, PendingFields};
use crate::axi::{AxiAddressOut, AxiReadIn};
use crate::entry::ParameterError;
use crate::stream::{Fifo, FifoConfig, StreamIn};
use spinneret_verilog::prelude::*;

/// Copies that can wait for their data.
const PENDING: usize = 32;

/// Copies from the host to memory. Bursts are asked for ahead of the data of the copies before.
///
/// ```text
///  copies =+=> HostBursts ==> AR
///          |                      R ==> LineRotator ==> LineStore =+=> write
///          +=> pending ==> LineSteps ------^                       +-> done
/// ```
#[module(
    clusters: usize,
    error = ParameterError,
    queued: CopyQueue = CopyQueue::new(clusters),
    note: NoteFields = NoteFields::new(clusters),
    range: RangeFields = RangeFields::new(note.context.width),
    burst_of: BurstFields = BurstFields::new(note.context.width),
    pending_of: PendingFields = PendingFields::new(clusters),
    asked: CopyFields = CopyFields::new(note.id.width),
)]
pub struct HostReads {
    /// Copies, as [`CopyQueue`] says.
    pub s: StreamIn<{ queued.width }>,
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
    bursts: HostBursts<{ note.context.width }>,
    pending: Checked<Fifo<{ FifoConfig::distributed(pending_of.width, PENDING) }>>,
    steps: LineSteps<{ note.id.width }, { true }>,
    rotator: Checked<LineRotator<{ note.id.width }, { false }>>,
    store: LineStore<{ note.id.width }>,
}

#[kernel(HostReads, suffix = clusters)]
fn update() {
    /// A copy goes to both.
    let copy = queued.of(s.data);
    let copy_note = note.of(copy.note);
    s.ready = bursts.s.ready && pending.s.ready;
    bursts.s.valid = s.valid && pending.s.ready;
    bursts.s.data = pack!(range {
        address: copy.host,
        bytes: copy.bytes,
        note: copy_note.context,
    });
    pending.s.valid = s.valid && bursts.s.ready;
    pending.s.data = pack!(pending_of {
        place: copy.host.slice(0, OFFSET),
        memory: copy.memory,
        bytes: copy.bytes,
        id: copy_note.id,
    });
    let burst = burst_of.of(bursts.m.data);
    drive(ar, burst.line, burst.length, burst.note);
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
        tag: next.id,
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
    done = store.done;
    done_id = store.done_tag;
}
