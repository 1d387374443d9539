//! Segmented RAM: a parallel simple dual port RAM, as Corundum's DMA engine reads and writes it.
//!
//! ```text
//!                  +---------------------+
//!  ram_wr_cmd  ===>| segment 0           |===> ram_rd_resp
//!  ram_rd_cmd  ===>| segment 1           |===> ram_wr_done
//!  (side by side)  | ...                 |     (side by side)
//!                  +---------------------+
//! ```
//!
//! A line of the RAM is one line of every segment side by side, segment 0 first: byte address a is byte
//! a mod B of segment (a / B) mod S in line a / (S * B), with S segments of B bytes. A port carries all
//! segments side by side, segment 0 in the lowest bits.
//!
//! # Contract
//! Each segment has handshakes of its own and takes no notice of the others.
//! - **Writes:** the bytes with `be` 1 are written, the others stay. `ram_wr_done` is high for one clock, in the
//!   clock after the command, once for each command and in their order, also if `be` is 0.
//! - **Reads:** one response for each command, in their order. A read sees every write that was taken in a clock
//!   before it; the whole of a write or nothing of it.
//! - **Read of the line that is written in the same clock:** the old line. While responses are not taken, a
//!   command may wait inside and is read later; it then sees the writes up to the clock before that, too.
//! - **Latency:** command to response 2 clocks, write to done 1 clock.
//! - **Throughput:** one write and one read a clock for each segment.
//! - **Backpressure:** `ram_wr_cmd_ready` is high from the second clock after reset on, forever. A segment
//!   holds three reads; with three inside, `ram_rd_cmd_ready` is low until the clock after one has left. A
//!   response stays as it is until it is taken.
//! - **Addresses:** bits above the size are ignored, so the RAM repeats.
//! - **Registers:** all outputs are registers; no path leads from input to output.
//! - **Reset** (`rstn` low) discards reads that are inside and `done` of the write in the clock before. Written
//!   data stays. Contents are undefined at power-up.

mod entry;
mod segment;
mod shape;

pub(crate) use entry::{ENTRY, SIMULATED};
pub use segment::RamSegment;
pub use shape::PsdpramShape;

use crate::hostdma::{RamReadIn, RamWriteIn};
use spinneret_verilog::prelude::*;

/// Segmented RAM for Corundum's DMA engine.
#[hardware(shape: PsdpramShape, flags = shape.segments)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct SpinneretPsdpram {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Writes.
    pub ram_wr: RamWriteIn<{ shape.ports() }>,
    /// Reads.
    pub ram_rd: RamReadIn<{ shape.ports() }>,
    reset: Wire<Local, bool>,
    segments: [RamSegment<{ shape }>; flags],
}

impl Logic for SpinneretPsdpram {
    #[kernel]
    fn update(&mut self) {
        let (bytes, data) = (self._shape.segment_bytes(), self._shape.segment_data);
        let (address, line) = (self._shape.segment_address(), self._shape.line_bits());
        self.reset.next = !self.rstn.val();
        clocked!(self.clk, self.reset => self.segments);
        self.ram_wr.cmd_ready.next = 0.into();
        self.ram_wr.done.next = 0.into();
        self.ram_rd.cmd_ready.next = 0.into();
        self.ram_rd.resp_valid.next = 0.into();
        self.ram_rd.resp_data.next = 0.into();
        for s in 0..self.segments.len() {
            self.segments[s].write_be.next = self.ram_wr.cmd_be.val().slice(bytes * s, bytes);
            self.segments[s].write_addr.next = self.ram_wr.cmd_addr.val().slice(address * s, line);
            self.segments[s].write_data.next = self.ram_wr.cmd_data.val().slice(data * s, data);
            self.segments[s].write_valid.next = self.ram_wr.cmd_valid.val().get_bit(s);
            self.ram_wr
                .cmd_ready
                .next
                .set_bit(s, self.segments[s].write_ready.val());
            self.ram_wr
                .done
                .next
                .set_bit(s, self.segments[s].write_done.val());
            self.segments[s].read_addr.next = self.ram_rd.cmd_addr.val().slice(address * s, line);
            self.segments[s].read_valid.next = self.ram_rd.cmd_valid.val().get_bit(s);
            self.ram_rd
                .cmd_ready
                .next
                .set_bit(s, self.segments[s].read_ready.val());
            self.ram_rd
                .resp_data
                .next
                .set_slice(data * s, data, self.segments[s].response_data.val());
            self.ram_rd
                .resp_valid
                .next
                .set_bit(s, self.segments[s].response_valid.val());
            self.segments[s].response_ready.next = self.ram_rd.resp_ready.val().get_bit(s);
        }
    }
}
