//! One segment of the segmented RAM.
//!
//! ```text
//!  write command ==================>+--------+
//!                                   | memory |==> read register ==> output register ==> response
//!  read command ==> ReadySlice ====>+--------+
//! ```
//!
//! # Contract
//! As [`SpinneretPsdpram`](super::SpinneretPsdpram) states it for each of its segments; addresses count lines
//! of the segment, and `rst` is active high.

use super::PsdpramShape;
use crate::stream::ReadySlice;
use spinneret_verilog::prelude::*;

/// A memory with a write port and a read port that obey ready and valid.
#[hardware(
    shape: PsdpramShape,
    lines = shape.lines(),
    bytes = shape.segment_bytes(),
    address = address_width(lines),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct RamSegment {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high: discards commands and responses; the contents stay.
    pub rst: Wire<In, bool>,
    /// Bytes that are written.
    pub write_be: Wire<In, { bytes }>,
    /// Line that is written.
    pub write_addr: Wire<In, { address }>,
    /// Data to write.
    pub write_data: Wire<In, { shape.segment_data }>,
    /// The write is there.
    pub write_valid: Wire<In, bool>,
    /// The write is taken in this cycle.
    pub write_ready: Wire<Out, bool>,
    /// The write of the last cycle is in the memory.
    pub write_done: Wire<Out, bool>,
    /// Line to read.
    pub read_addr: Wire<In, { address }>,
    /// The read is there.
    pub read_valid: Wire<In, bool>,
    /// The read is taken in this cycle.
    pub read_ready: Wire<Out, bool>,
    /// Line that was read.
    pub response_data: Wire<Out, { shape.segment_data }>,
    /// The line is there.
    pub response_valid: Wire<Out, bool>,
    /// The line is taken in this cycle.
    pub response_ready: Wire<In, bool>,
    memory: ByteRam<{ lines }, { bytes }>,
    /// Makes the ready signal of reads a register.
    reads: ReadySlice<{ address }>,
    /// The reset is over.
    open: Reg<bool, Reset>,
    done: Reg<bool, Reset>,
    /// The memory's read register holds a line that was not output yet.
    fetched: Reg<bool, Reset>,
    /// The output register holds a line.
    shown: Reg<bool, Reset>,
    line: Reg<{ shape.segment_data }>,
    writes: Wire<Local, bool>,
    /// The output register is free, or empties in this cycle.
    free: Wire<Local, bool>,
    /// So is the memory's read register.
    fetch: Wire<Local, bool>,
    #[new(format!("{lines}x{bytes}"))]
    _variant: String,
}

impl Logic for RamSegment {
    #[kernel(suffix = self._variant)]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.reads, self.open, self.done, self.fetched, self.shown);
        clocked!(self.clk => self.memory, self.line);
        /// Writes.
        self.open.d.next = true;
        self.write_ready.next = self.open.q.val();
        self.writes.next = self.write_valid.val() && self.open.q.val();
        self.memory.write_enable.next = self.write_be.val() & fill(self.writes.val(), self.write_be.width());
        connect!(self => self.memory; write_addr, write_data);
        self.done.d.next = self.writes.val();
        self.write_done.next = self.done.q.val();
        /// Reads: each register continues when the one after it does.
        self.reads.s.data.next = self.read_addr.val();
        self.reads.s.valid.next = self.read_valid.val();
        self.read_ready.next = self.reads.s.ready.val();
        self.free.next = !self.shown.q.val() || self.response_ready.val();
        self.fetch.next = !self.fetched.q.val() || self.free.val();
        self.reads.m.ready.next = self.fetch.val();
        self.memory.read_enable.next = self.fetch.val();
        self.memory.read_addr.next = self.reads.m.data.val();
        if self.fetch.val() {
            self.fetched.d.next = self.reads.m.valid.val();
        }
        if self.free.val() {
            self.shown.d.next = self.fetched.q.val();
            self.line.d.next = self.memory.read_data.val();
        }
        self.response_data.next = self.line.q.val();
        self.response_valid.next = self.shown.q.val();
    }
}
