//! The write channels of a slave of the stand-in.

use super::burst::StubBurst;
use super::shape::{ADDRESS, DATA, ID, STROBES, StubShape, USER};
use crate::axi::{AxiAddressIn, AxiDataIn, AxiResponseOut, LENGTH_BITS, OKAY, SIZE_BITS};
use crate::entry::ParameterError;
use crate::stream::{SkidBuffer, StreamOut};
use spinneret_verilog::prelude::*;

/// Takes one burst after the other and writes its beats, one a clock when it is its turn.
#[hardware(shape: StubShape, error = ParameterError)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct StubWritePort {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Bursts.
    pub aw: AxiAddressIn<{ StubShape::slave() }, { USER }, { true }>,
    /// Their beats.
    pub w: AxiDataIn<{ StubShape::slave() }>,
    /// How they went.
    pub b: AxiResponseOut<{ StubShape::slave() }>,
    /// Writes to the memory: {line, strobes, data}.
    pub write: StreamOut<{ shape.write() }>,
    beats: Checked<SkidBuffer<{ STROBES + DATA }>>,
    burst: StubBurst<{ shape }>,
    /// A burst can be taken.
    open: Reg<bool, Reset>,
    /// Beats are written.
    active: Reg<bool, Reset>,
    address: Reg<{ ADDRESS }>,
    size: Reg<{ SIZE_BITS }>,
    left: Reg<{ LENGTH_BITS }>,
    id: Reg<{ ID }>,
    response: Reg<2>,
    response_valid: Reg<bool, Reset>,
    got: Wire<Local, bool>,
    strobes: Wire<Local, { STROBES }>,
}

impl Logic for StubWritePort {
    #[kernel(suffix = self._shape.lines())]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.beats, self.open, self.active, self.response_valid);
        clocked!(self.clk => self.address, self.size, self.left, self.id, self.response);
        self.beats.s.data.next = cat!(self.w.strb.val(), self.w.data.val());
        connect!(self.w => self.beats.s; valid, ready);
        self.got.next = self.aw.valid.val() && self.open.q.val();
        self.open.d.next = !self.got.val() && !self.active.q.val() && !self.response_valid.q.val();
        self.aw.ready.next = self.open.q.val();
        /// The checked address is the incoming one; the line is that of the current beat.
        if self.active.q.val() {
            self.burst.address.next = self.address.q.val();
            self.burst.size.next = self.size.q.val();
        } else {
            self.burst.address.next = self.aw.addr.val();
            self.burst.size.next = self.aw.size.val();
        }
        self.burst.kind.next = self.aw.burst.val();
        self.strobes.next = 0.into();
        if self.response.q.val() == OKAY {
            self.strobes.next = self.beats.m.data.val().slice(DATA, STROBES);
        }
        self.write.valid.next = self.active.q.val() && self.beats.m.valid.val();
        self.write.data.next = cat!(
            self.burst.line.val(),
            self.strobes.val(),
            self.beats.m.data.val().slice(0, DATA)
        );
        self.beats.m.ready.next = self.active.q.val() && self.write.ready.val();
        if self.response_valid.q.val() && self.b.ready.val() {
            self.response_valid.d.next = false;
        }
        if self.got.val() {
            self.active.d.next = true;
            self.address.d.next = self.aw.addr.val();
            self.size.d.next = self.aw.size.val();
            self.left.d.next = self.aw.len.val();
            self.id.d.next = self.aw.id.val();
            self.response.d.next = self.burst.response.val();
        } else if self.write.valid.val() && self.write.ready.val() {
            self.address.d.next = self.burst.following.val();
            self.left.d.next = self.left.q.val() - 1;
            if self.left.q.val() == 0 {
                self.active.d.next = false;
                self.response_valid.d.next = true;
            }
        }
        self.b.resp.next = self.response.q.val();
        self.b.id.next = self.id.q.val();
        self.b.user.next = 0.into();
        self.b.valid.next = self.response_valid.q.val();
    }
}
