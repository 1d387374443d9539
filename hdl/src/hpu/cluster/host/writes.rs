//! Bytes to the host: copies of memory, and words of commands.

use super::super::rotator::{LineRotator, PlacedFields};
use super::super::steps::{CopyFields, LineLoader};
use super::super::{LINE_BYTES, LINE_DATA, LineRead, WORD};
use super::bursts::{BurstFields, HOST_PORT, PART_LINE, burst_of, drive};
use super::queues::HOST_LINE;
use super::{HostShape, NoteFields, PartFields, Traffic, WAITING, WordsJob};
use crate::axi::{AxiAddressOut, AxiDataOut, AxiResponseIn};
use crate::entry::ParameterError;
use crate::stream::{Fifo, FifoConfig, StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Bursts that can wait for their response.
const OPEN: usize = 32;

/// Copies from memory to the host, and writes words of commands between their bursts.
///
/// ```text
///  parts =+=> LineLoader ==> LineRotator =+=> W
///         |      | read                   |
///         +=> bursts =====================+=> AW ==> open bursts <== B
///  direct ================================+                  +---> done
/// ```
#[module(
    shape: HostShape,
    error = ParameterError,
    parts: PartFields = PartFields::new(shape.queues(Traffic::Copies)),
    words_of: WordsJob = WordsJob::new(),
    note: NoteFields = NoteFields::new(shape.queues(Traffic::Copies)),
    fields: BurstFields = BurstFields::new(note.width),
    asked: CopyFields = CopyFields::new(1),
    placed: PlacedFields = PlacedFields::new(1),
)]
pub struct HostWrites {
    /// Parts of copies, as [`PartFields`] says.
    pub s: StreamIn<{ parts.width }>,
    /// Words: {[`NoteFields`], [`WordsJob`]}.
    pub direct: StreamIn<{ words_of.width + note.width }>,
    /// Reads of memory.
    pub read: LineRead,
    /// Bursts.
    pub aw: AxiAddressOut<{ HOST_PORT }, { HOST_PORT.extras.user.aw }, { HOST_PORT.extras.atop }>,
    /// Their data.
    pub w: AxiDataOut<{ HOST_PORT }>,
    /// Their responses.
    pub b: AxiResponseIn<{ HOST_PORT }>,
    /// Ids of commands that are done.
    pub done: StreamOut<{ note.id.width }>,
    bursts: Checked<Fifo<{ FifoConfig::distributed(fields.width, WAITING) }>>,
    loader: LineLoader<{ 1 }>,
    rotator: Checked<LineRotator<{ 1 }, { true }>>,
    open: Checked<Fifo<{ FifoConfig::distributed(note.id.width + 1, OPEN) }>>,
    has_aw: Reg<bool, Reset>,
    held_line: Reg<{ HOST_LINE }>,
    held_length: Reg<{ PART_LINE }>,
    held_context: Reg<{ note.owner.width }>,
    has_w: Reg<bool, Reset>,
    held_last: Reg<bool>,
    held_strobe: Reg<{ LINE_BYTES }>,
    held_data: Reg<{ LINE_DATA }>,
    /// Beats of a burst are to come, and how many, minus 1.
    in_burst: Reg<bool, Reset>,
    left: Reg<{ PART_LINE }>,
    /// The burst before was one of words.
    was_direct: Reg<bool>,
}

#[kernel(HostWrites, suffix = shape.suffix())]
fn update() {
    /// A part goes to both.
    let part = parts.of(s.data);
    s.ready = bursts.s.ready && loader.s.ready;
    bursts.s.valid = s.valid && loader.s.ready;
    bursts.s.data = burst_of(s.data, parts, fields);
    loader.s.valid = s.valid && bursts.s.ready;
    loader.s.data = pack!(asked {
        source: part.memory,
        destination: part.host.slice(0, WORD),
        bytes: part.bytes.resize(WORD),
        tag: 0,
    });
    read = loader.read;
    rotator.valid = loader.valid;
    rotator.step = loader.step;
    rotator.data = loader.data;
    loader.room = rotator.room;
    /// The next beat.
    if aw.ready {
        has_aw = false;
    }
    let w_free = !has_w || w.ready;
    let can_open = w_free && !in_burst && !has_aw && open.s.ready;
    let copy_waits = bursts.m.valid && rotator.m.valid;
    let writes_direct = can_open && direct.valid && !(was_direct && copy_waits);
    let opens = can_open && copy_waits && !writes_direct;
    let goes_on = w_free && in_burst && rotator.m.valid;
    let burst = fields.of(bursts.m.data);
    let (words, words_note) = direct.data.split_at(words_of.width);
    let words = words_of.of(words);
    direct.ready = writes_direct;
    bursts.m.ready = opens;
    rotator.m.ready = opens || goes_on;
    let opened = note.of(if writes_direct { words_note } else { burst.note });
    open.s.valid = writes_direct || opens;
    open.s.data = cat!(writes_direct || burst.last, opened.id);
    if writes_direct || opens {
        has_aw = true;
        held_line = if writes_direct { words.line } else { burst.line };
        held_length = if writes_direct {
            constant(lit(0, PART_LINE))
        } else {
            burst.length
        };
        held_context = opened.owner;
        was_direct = writes_direct;
    }
    let is_single = burst.length == 0;
    let beat = placed.of(rotator.m.data);
    if w_free {
        has_w = writes_direct || opens || goes_on;
        held_last = if in_burst {
            left == 0
        } else {
            writes_direct || is_single
        };
        held_strobe = if writes_direct {
            words.strobe.resize(LINE_BYTES)
        } else {
            beat.strobe
        };
        held_data = beat.data;
        /// Strobes leave the others out.
        if writes_direct {
            held_data.slice(0, words.data.width()) = words.data;
        }
    }
    if opens {
        in_burst = !is_single;
        left = burst.length - 1;
    }
    if goes_on {
        in_burst = left != 0;
        left = left - 1;
    }
    drive(aw, held_line, held_length, held_context);
    *aw.atop = 0;
    aw.valid = has_aw;
    w.data = held_data;
    w.strb = held_strobe;
    *w.last = held_last;
    *w.user = 0;
    w.valid = has_w;
    /// Responses come in the order of the bursts.
    let (id, is_last) = open.m.data.split_at(note.id.width);
    let ends = is_last[0];
    done.valid = b.valid && open.m.valid && ends;
    done.data = id;
    let answered = open.m.valid && (!ends || done.ready);
    b.ready = answered;
    open.m.ready = b.valid && answered;
}
