//! Answers commands in their order, and keeps the last error.

use super::shape::{AnswerFields, DoneFields, EgressShape};
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Width of an error code.
pub const ERROR_BITS: usize = 4;
/// Error: a read was answered with SLVERR; the code that Corundum has for it.
pub const READ_SLVERR: u64 = 4;
/// Error: a read was answered with DECERR; the code that Corundum has for it.
pub const READ_DECERR: u64 = 5;
/// Error: a length of 0, or more than the longest frame.
pub const WRONG_LENGTH: u64 = 12;
/// Error: an address that the port cannot have, or a frame that goes beyond the highest one.
pub const WRONG_ADDRESS: u64 = 13;

/// Event of [`Responder`]: a command was refused.
pub const REFUSED: usize = 0;
/// Event of [`Responder`]: a command's read failed.
pub const READ_ERROR: usize = 1;
/// Number of events.
pub const EVENTS: usize = 2;

/// Answers every command once, one a clock, in the order of the commands: refused ones at once, others when
/// their last line has come.
#[module(
    shape: EgressShape,
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
    pub id: Wire<Out, { shape.command_id() }>,
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
