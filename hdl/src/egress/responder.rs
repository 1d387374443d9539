//! Answers commands in their order, and keeps the last error.

use super::EgressShape;
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
#[hardware(shape: EgressShape, id: usize = shape.command_id())]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct Responder {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: there is no last error.
    pub rst: Wire<In, bool>,
    /// Commands to be answered: {address is wrong, refused, id}.
    pub answer: StreamIn<{ shape.answer() }>,
    /// For those that are not refused: {DECERR, error}.
    pub done: StreamIn<2>,
    /// A command is answered.
    pub valid: Wire<Out, bool>,
    /// Its id.
    pub id: Wire<Out, { id }>,
    /// The newest error, from the clock of its answer on; 0: there was none.
    pub last_error: Wire<Out, { ERROR_BITS }>,
    /// Forgets the last error, unless another one comes.
    pub clear: Wire<In, bool>,
    /// Bit n: event n happens in this cycle.
    pub events: Wire<Out, { EVENTS }>,
    valid_reg: Reg<bool, Reset>,
    id_reg: Reg<{ id }>,
    error_reg: Reg<{ ERROR_BITS }, Reset>,
    refused: Wire<Local, bool>,
    read_error: Wire<Local, bool>,
    go: Wire<Local, bool>,
}

impl Logic for Responder {
    #[kernel]
    fn update(&mut self) {
        let id = self._id;
        clocked!(self.clk, self.rst => self.valid_reg, self.error_reg);
        clocked!(self.clk => self.id_reg);
        self.refused.next = self.answer.data.val().get_bit(id);
        self.read_error.next = !self.refused.val() && self.done.data.val().get_bit(0);
        self.go.next = self.answer.valid.val() && (self.refused.val() || self.done.valid.val());
        self.answer.ready.next = self.go.val();
        self.done.ready.next = self.go.val() && !self.refused.val();
        self.valid_reg.d.next = self.go.val();
        self.id_reg.d.next = self.answer.data.val().slice(0, id);
        if self.clear.val() {
            self.error_reg.d.next = 0.into();
        }
        if self.go.val() && self.refused.val() {
            if self.answer.data.val().get_bit(id + 1) {
                self.error_reg.d.next = WRONG_ADDRESS.into();
            } else {
                self.error_reg.d.next = WRONG_LENGTH.into();
            }
        } else if self.go.val() && self.read_error.val() {
            if self.done.data.val().get_bit(1) {
                self.error_reg.d.next = READ_DECERR.into();
            } else {
                self.error_reg.d.next = READ_SLVERR.into();
            }
        }
        self.events.next = cat!(
            self.go.val() && self.read_error.val(),
            self.go.val() && self.refused.val()
        );
        self.valid.next = self.valid_reg.q.val();
        self.id.next = self.id_reg.q.val();
        self.last_error.next = self.error_reg.q.val();
    }
}
