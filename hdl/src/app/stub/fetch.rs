//! Reads a line from the host into the memory.

use super::shape::{DATA, HOST_ADDRESS, OFFSET, STROBES, StubShape};
use crate::axi::OKAY;
use crate::stream::StreamOut;
use spinneret_verilog::prelude::*;

/// How far behind the start of the host's memory the line lies, in lines.
pub(super) const DISTANCE_LINES: u64 = 4096 / STROBES as u64;
/// Bits of the number of a line of the host.
pub(super) const HOST_LINE: usize = HOST_ADDRESS - OFFSET;

/// Reads a line from the host and writes it to the memory, unless the host says that it failed.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct HostFetch {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// It begins; nothing is under way.
    pub start: Wire<In, bool>,
    /// With `start`: line of the host in which its memory starts.
    pub host_line: Wire<In>,
    /// While it is under way: line of the memory.
    pub line: Wire<In>,
    /// It ends.
    pub done: Wire<Out, bool>,
    /// With `done`: the host's response is not OKAY.
    pub failed: Wire<Out, bool>,
    /// With `failed`: the response.
    pub code: Wire<Out>,
    /// Line of the host to be read.
    pub ar_line: Wire<Out>,
    /// It is there.
    pub ar_valid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub ar_ready: Wire<In, bool>,
    /// What was read.
    pub r_data: Wire<In>,
    /// How the read went.
    pub r_resp: Wire<In>,
    /// It is there; it is always taken.
    pub r_valid: Wire<In, bool>,
    /// Writes to the memory: {line, strobes, data}.
    pub write: StreamOut,
    asked_line: Reg,
    asks: Reg<bool>,
    waits: Reg<bool>,
    writes: Reg<bool>,
    data: Reg,
    written: Wire<Local, bool>,
    _shape: StubShape,
}

impl HostFetch {
    /// For a memory of the given shape.
    pub fn new(shape: StubShape) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            start: Wire::bit(),
            host_line: Wire::word(HOST_LINE),
            line: Wire::word(shape.line()),
            done: Wire::bit(),
            failed: Wire::bit(),
            code: Wire::word(2),
            ar_line: Wire::word(HOST_LINE),
            ar_valid: Wire::bit(),
            ar_ready: Wire::bit(),
            r_data: Wire::word(DATA),
            r_resp: Wire::word(2),
            r_valid: Wire::bit(),
            write: StreamOut::new(shape.write()),
            asked_line: Reg::word(HOST_LINE),
            asks: Reg::bit_reset(),
            waits: Reg::bit_reset(),
            writes: Reg::bit_reset(),
            data: Reg::word(DATA),
            written: Wire::bit(),
            _shape: shape,
        }
    }
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
