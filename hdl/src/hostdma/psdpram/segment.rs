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
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct RamSegment {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high: forgets commands and responses; the contents stay.
    pub rst: Wire<In, bool>,
    /// Bytes that are written.
    pub write_be: Wire<In>,
    /// Line that is written.
    pub write_addr: Wire<In>,
    /// Data to write.
    pub write_data: Wire<In>,
    /// The write is there.
    pub write_valid: Wire<In, bool>,
    /// The write is taken in this cycle.
    pub write_ready: Wire<Out, bool>,
    /// The write of the last cycle is in the memory.
    pub write_done: Wire<Out, bool>,
    /// Line to read.
    pub read_addr: Wire<In>,
    /// The read is there.
    pub read_valid: Wire<In, bool>,
    /// The read is taken in this cycle.
    pub read_ready: Wire<Out, bool>,
    /// Line that was read.
    pub response_data: Wire<Out>,
    /// The line is there.
    pub response_valid: Wire<Out, bool>,
    /// The line is taken in this cycle.
    pub response_ready: Wire<In, bool>,
    memory: ByteRam,
    /// Makes the ready signal of reads a register.
    reads: ReadySlice,
    /// The reset is over.
    open: Reg<bool>,
    done: Reg<bool>,
    /// The memory's read register holds a line that nobody has seen.
    fetched: Reg<bool>,
    /// The output register holds a line.
    shown: Reg<bool>,
    line: Reg,
    writes: Wire<Local, bool>,
    /// The output register is free, or empties in this cycle.
    free: Wire<Local, bool>,
    /// So is the memory's read register.
    fetch: Wire<Local, bool>,
    _variant: String,
}

impl RamSegment {
    /// A segment of a RAM of that shape.
    pub fn new(shape: PsdpramShape) -> Self {
        let (lines, bytes) = (shape.lines(), shape.segment_bytes());
        let address = address_width(lines);
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            write_be: Wire::word(bytes),
            write_addr: Wire::word(address),
            write_data: Wire::word(shape.segment_data),
            write_valid: Wire::bit(),
            write_ready: Wire::bit(),
            write_done: Wire::bit(),
            read_addr: Wire::word(address),
            read_valid: Wire::bit(),
            read_ready: Wire::bit(),
            response_data: Wire::word(shape.segment_data),
            response_valid: Wire::bit(),
            response_ready: Wire::bit(),
            memory: ByteRam::new(lines, bytes),
            reads: ReadySlice::new(address),
            open: Reg::bit_reset(),
            done: Reg::bit_reset(),
            fetched: Reg::bit_reset(),
            shown: Reg::bit_reset(),
            line: Reg::word(shape.segment_data),
            writes: Wire::bit(),
            free: Wire::bit(),
            fetch: Wire::bit(),
            _variant: format!("{lines}x{bytes}"),
        }
    }
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
        self.memory.write_addr.next = self.write_addr.val();
        self.memory.write_data.next = self.write_data.val();
        self.done.d.next = self.writes.val();
        self.write_done.next = self.done.q.val();
        /// Reads: each register goes on when the one behind it does.
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
