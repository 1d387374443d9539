//! The read channels of a slave of the stand-in.

use super::burst::StubBurst;
use super::shape::{ADDRESS, DATA, ID, StubShape, USER};
use crate::axi::{AxiAddressIn, AxiReadOut, LENGTH_BITS, OKAY, SIZE_BITS};
use crate::entry::ParameterError;
use crate::stream::{OutputQueue, StreamOut};
use spinneret_verilog::prelude::*;

/// Beats that wait to be taken.
const BEATS: usize = 4;
/// Beats that are asked for before it is seen that there is no more room.
const MARGIN: usize = 2;

/// Takes one burst after the other and reads its beats, one a clock when it is its turn.
#[hardware(shape: StubShape, error = ParameterError)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct StubReadPort {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Bursts.
    pub ar: AxiAddressIn<{ StubShape::slave() }, { USER }, { false }>,
    /// Their beats; 0 if the burst failed.
    pub r: AxiReadOut<{ StubShape::slave() }>,
    /// Reads of the memory: line.
    pub read: StreamOut<{ shape.line() }>,
    /// The line that was asked for in the clock before.
    pub memory_data: Wire<In, { DATA }>,
    #[new(OutputQueue::new(DATA + ID + 3, BEATS, MARGIN)?)]
    queue: OutputQueue,
    burst: StubBurst<{ shape }>,
    /// A burst can be taken.
    open: Reg<bool, Reset>,
    /// Beats are asked for.
    active: Reg<bool, Reset>,
    address: Reg<{ ADDRESS }>,
    size: Reg<{ SIZE_BITS }>,
    left: Reg<{ LENGTH_BITS }>,
    id: Reg<{ ID }>,
    response: Reg<2>,
    /// A beat was asked for in the clock before, and what belongs to it.
    asked: Reg<bool, Reset>,
    asked_last: Reg<bool>,
    asked_id: Reg<{ ID }>,
    asked_response: Reg<2>,
    got: Wire<Local, bool>,
    granted: Wire<Local, bool>,
    data: Wire<Local, { DATA }>,
}

impl Logic for StubReadPort {
    #[kernel(suffix = self._shape.lines())]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.queue, self.open, self.active, self.asked);
        clocked!(self.clk => self.address, self.size, self.left, self.id, self.response, self.asked_last,
            self.asked_id, self.asked_response);
        self.got.next = self.ar.valid.val() && self.open.q.val();
        self.open.d.next = !self.got.val() && !self.active.q.val();
        self.ar.ready.next = self.open.q.val();
        if self.active.q.val() {
            self.burst.address.next = self.address.q.val();
            self.burst.size.next = self.size.q.val();
        } else {
            self.burst.address.next = self.ar.addr.val();
            self.burst.size.next = self.ar.size.val();
        }
        self.burst.kind.next = self.ar.burst.val();
        self.read.data.next = self.burst.line.val();
        self.read.valid.next = self.active.q.val() && !self.queue.almost_full.val();
        self.granted.next = self.read.valid.val() && self.read.ready.val();
        self.asked.d.next = self.granted.val();
        self.asked_last.d.next = self.left.q.val() == 0;
        self.asked_id.d.next = self.id.q.val();
        self.asked_response.d.next = self.response.q.val();
        if self.got.val() {
            self.active.d.next = true;
            self.address.d.next = self.ar.addr.val();
            self.size.d.next = self.ar.size.val();
            self.left.d.next = self.ar.len.val();
            self.id.d.next = self.ar.id.val();
            self.response.d.next = self.burst.response.val();
        } else if self.granted.val() {
            self.address.d.next = self.burst.following.val();
            self.left.d.next = self.left.q.val() - 1;
            if self.left.q.val() == 0 {
                self.active.d.next = false;
            }
        }
        self.data.next = Word::zero(DATA);
        if self.asked_response.q.val() == OKAY {
            self.data.next = self.memory_data.val();
        }
        self.queue.s.valid.next = self.asked.q.val();
        self.queue.s.data.next = cat!(
            self.asked_last.q.val(),
            self.asked_response.q.val(),
            self.asked_id.q.val(),
            self.data.val()
        );
        self.r.data.next = self.queue.m.data.val().slice(0, DATA);
        self.r.id.next = self.queue.m.data.val().slice(DATA, ID);
        self.r.resp.next = self.queue.m.data.val().slice(DATA + ID, 2);
        self.r.last.next = self.queue.m.data.val().get_bit(DATA + ID + 2);
        self.r.user.next = 0.into();
        connect!(self.queue.m => self.r; valid, ready);
    }
}
