//! Reads a line from the host into the memory.

use super::shape::{DATA, HOST_ADDRESS, OFFSET, STROBES, StubShape};
use crate::axi::OKAY;
use crate::stream::StreamOut;
use spinneret_verilog::prelude::*;

/// How far after the start of the host's memory the line lies, in lines.
pub(super) const DISTANCE_LINES: u64 = 4096 / STROBES as u64;
/// Bits of the number of a line of the host.
pub(super) const HOST_LINE: usize = HOST_ADDRESS - OFFSET;

/// Reads a line from the host and writes it to the memory, unless the host says that it failed.
#[hardware(shape: StubShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct HostFetch {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// It begins; nothing is in flight.
    pub start: Wire<In, bool>,
    /// With `start`: line of the host in which its memory starts.
    pub host_line: Wire<In, { HOST_LINE }>,
    /// While it is in flight: line of the memory.
    pub line: Wire<In, { shape.line() }>,
    /// It ends.
    pub done: Wire<Out, bool>,
    /// With `done`: the host's response is not OKAY.
    pub failed: Wire<Out, bool>,
    /// With `failed`: the response.
    pub code: Wire<Out, 2>,
    /// Line of the host to be read.
    pub ar_line: Wire<Out, { HOST_LINE }>,
    /// It is there.
    pub ar_valid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub ar_ready: Wire<In, bool>,
    /// The data.
    pub r_data: Wire<In, { DATA }>,
    /// How the read went.
    pub r_resp: Wire<In, 2>,
    /// It is there; it is always taken.
    pub r_valid: Wire<In, bool>,
    /// Writes to the memory: {line, strobes, data}.
    pub write: StreamOut<{ shape.write() }>,
    asked_line: Reg<{ HOST_LINE }>,
    asks: Reg<bool, Reset>,
    waits: Reg<bool, Reset>,
    writes: Reg<bool, Reset>,
    data: Reg<{ DATA }>,
    written: Wire<Local, bool>,
}

impl Logic for HostFetch {
    #[kernel(suffix = self._shape.lines())]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.asks, self.waits, self.writes);
        clocked!(self.clk => self.asked_line, self.data);
        if self.ar_ready.val() {
            self.asks.d.next = false;
        }
        if self.start.val() {
            self.asks.d.next = true;
            self.waits.d.next = true;
            self.asked_line.d.next = self.host_line.val() + DISTANCE_LINES;
        }
        self.ar_line.next = self.asked_line.q.val();
        self.ar_valid.next = self.asks.q.val();
        if self.waits.q.val() && self.r_valid.val() {
            self.waits.d.next = false;
            self.writes.d.next = self.r_resp.val() == OKAY;
            self.data.d.next = self.r_data.val();
        }
        self.write.valid.next = self.writes.q.val();
        self.write.data.next = cat!(self.line.val(), fill(true, STROBES), self.data.q.val());
        self.written.next = self.writes.q.val() && self.write.ready.val();
        if self.written.val() {
            self.writes.d.next = false;
        }
        self.failed.next = self.waits.q.val() && self.r_valid.val() && self.r_resp.val() != OKAY;
        self.code.next = self.r_resp.val();
        self.done.next = self.written.val() || self.failed.val();
    }
}
