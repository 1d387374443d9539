//! Commands: their checks, and their answers.

use super::shape::{AnswerFields, CommandFields, DoneFields, PlanFields, ReadShape};
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Commands, where they come from.
#[interface(CommandIn, command_id: usize, source: usize, size: usize)]
pub struct CommandOut {
    /// The command is taken in this cycle.
    pub ready: Wire<In, bool>,
    /// It is there.
    pub valid: Wire<Out, bool>,
    /// Its id.
    pub id: Wire<Out, { command_id }>,
    /// Network id.
    pub nid: Wire<Out, 32>,
    /// Flow id.
    pub fid: Wire<Out, 32>,
    /// Address of the first byte.
    pub src_addr: Wire<Out, { source }>,
    /// Number of bytes.
    pub length: Wire<Out, { size }>,
    /// For the user.
    pub user_ptr: Wire<Out, 64>,
}

/// A command in the queue, as [`CommandFields`] says: checked alone, in front of the queue.
#[kernel]
pub(super) fn command(shape: ReadShape, id: Sig, source: Sig, length: Sig) -> Sig {
    let fields = CommandFields::new(shape);
    let outside = source.width() - source.width().min(shape.address);
    pack!(fields {
        address: source.resize(shape.address),
        last: length.slice(0, shape.length()) - 1,
        id,
        wrong_address: if outside > 0 {
            source.slice(shape.address, outside).any()
        } else {
            false
        },
        wrong_length: length > shape.max_frame || !length.any(),
    })
}

/// Computes which lines a frame is in, and how its beats come of them, as [`PlanFields`] says.
///
/// A line is as many bytes of memory as a beat has, and starts at a multiple of them. A frame of B beats has
/// B lines, or B + 1 if it reaches further into its last line than it starts in its first.
#[kernel]
pub(super) fn plan(shape: ReadShape, command: Sig) -> Sig {
    let asked = CommandFields::new(shape).of(command);
    let (plan, frame, answer) = (PlanFields::new(shape), shape.frame(), AnswerFields::new(shape));
    let (offset, line) = asked.address.split_at(shape.offset());
    let (tail, whole_lines) = asked.last.split_at(shape.offset());
    /// The frame goes beyond the highest address: one part of the sum is more than what the other one leaves.
    let wraps = asked.address > !asked.last.resize(shape.address);
    /// The last beat reaches into another line than it starts in.
    let crosses = offset > !tail;
    /// Beats minus 1.
    let whole = whole_lines.resize(shape.beats());
    pack!(plan {
        line,
        frame: pack!(frame {
            lines: whole + crosses.word().resize(shape.beats()),
            offset,
            tail,
            even: !crosses,
        }),
        beats: whole + 1,
        // A wrong length comes before a wrong address.
        answer: pack!(answer {
            id: asked.id,
            refused: asked.wrong_length || asked.wrong_address || wraps,
            wrong_address: !asked.wrong_length,
        }),
    })
}

/// Width of an error code.
pub(super) const ERROR_BITS: usize = 4;
/// Error: a read was answered with SLVERR; the code that Corundum has for it.
pub(super) const READ_SLVERR: u64 = 4;
/// Error: a read was answered with DECERR; the code that Corundum has for it.
pub(super) const READ_DECERR: u64 = 5;
/// Error: a length of 0, or more than the longest frame.
pub(super) const WRONG_LENGTH: u64 = 12;
/// Error: an address that the port cannot have, or a frame that goes beyond the highest one.
pub(super) const WRONG_ADDRESS: u64 = 13;

/// Event of [`Responder`]: a command was refused.
pub(super) const REFUSED: usize = 0;
/// Event of [`Responder`]: a command's read failed.
pub(super) const READ_ERROR: usize = 1;
/// Number of events.
pub(super) const EVENTS: usize = 2;

/// Answers every command once, one a clock, in the order of the commands: refused ones at once, others when
/// their last line has come.
#[module(
    shape: ReadShape,
    answer = AnswerFields::new(shape),
    done = DoneFields::new(),
)]
pub struct Responder {
    /// Commands to be answered, as [`AnswerFields`] says.
    pub answer: StreamIn<{ answer.width }>,
    /// For those that are not refused, as [`DoneFields`] says.
    pub done: StreamIn<{ done.width }>,
    /// A command is answered.
    pub valid: Wire<Out, bool>,
    /// Its id.
    pub id: Wire<Out, { shape.id }>,
    /// The newest error, from the clock of its answer on; 0: there was none.
    pub last_error: Wire<Out, { ERROR_BITS }>,
    /// Forgets the last error, unless another one comes.
    pub clear: Wire<In, bool>,
    /// Bit n: event n happens in this cycle.
    pub events: Wire<Out, { EVENTS }>,
    error: Reg<{ ERROR_BITS }, Reset>,
}

#[kernel(Responder { answer, done, valid, id, last_error, clear, events, error, shape })]
fn update() {
    let (asked, read) = (
        AnswerFields::new(shape).of(answer.data),
        DoneFields::new().of(done.data),
    );
    let read_error = !asked.refused && read.error;
    let answered = answer.valid && (asked.refused || done.valid);
    answer.ready = answered;
    done.ready = answered && !asked.refused;
    valid = reg_reset(answered, false);
    id = reg(asked.id);
    if clear {
        error = 0;
    }
    if answered && asked.refused {
        error = if asked.wrong_address {
            WRONG_ADDRESS
        } else {
            WRONG_LENGTH
        };
    } else if answered && read_error {
        error = if read.decerr { READ_DECERR } else { READ_SLVERR };
    }
    events = cat!(answered && read_error, answered && asked.refused);
    last_error = error;
}
