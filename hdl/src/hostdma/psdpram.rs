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

use super::{RamReadIn, RamShape, RamWriteIn};
use crate::entry::{Checked, Entry, ParameterError, Values, Variant};
use crate::stream::ReadySlice;
use spinneret_verilog::prelude::*;

/// The segmented RAM.
pub(crate) const ENTRY: Entry = entry!(shipped PsdpramShape::BLOCK, SpinneretPsdpram(PsdpramShape):
    "segmented RAM between the host DMA and Corundum's DMA engine")
.derives(derived);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    // A line of 64 bytes is in one segment.
    ENTRY.variant("spinneret_psdpram_board", "").of_boards(),
    // So few lines that reads and writes meet all the time.
    ENTRY.variant(
        "spinneret_psdpram_small",
        "size=64 ram_seg_count=4 ram_seg_data_width=32 ram_addr_width=9",
    ),
    // One segment, and addresses that end where it does.
    ENTRY.variant(
        "spinneret_psdpram_one",
        "size=32 ram_seg_count=1 ram_seg_data_width=8 ram_addr_width=5",
    ),
];

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let of = |shape: PsdpramShape| {
        vec![
            ("RAM_SEG_BE_WIDTH", shape.segment_bytes() as u64),
            ("RAM_SEG_ADDR_WIDTH", shape.segment_address() as u64),
        ]
    };
    PsdpramShape::new(values).map(of).unwrap_or_default()
}

/// Sizes of a segmented RAM.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "spinneret_psdpram", check)]
pub struct PsdpramShape {
    /// Bytes, a power of two.
    #[parameter(16384, range = 2..=1 << 24, power_of_two, verilog = "SIZE")]
    pub size: usize,
    /// Segments, a power of two.
    #[parameter(2, range = 1..=16, power_of_two, name = "ram_seg_count", verilog = "RAM_SEG_COUNT")]
    pub segments: usize,
    /// Width of a segment in bits, a power of two.
    #[parameter(256, board = 512, range = 8..=1024, power_of_two)]
    #[parameter(name = "ram_seg_data_width", verilog = "RAM_SEG_DATA_WIDTH")]
    pub segment_data: usize,
    /// Width of a byte address in bits.
    #[parameter(20, range = 1..=32, name = "ram_addr_width", verilog = "RAM_ADDR_WIDTH")]
    pub address: usize,
}

impl PsdpramShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let least = 2 * self.row_bytes();
        if self.size < least {
            let reason = format!("it must be at least {least}: two lines of all segments");
            return Err(checked.refuse("size", reason));
        }
        let needed = self.size.trailing_zeros() as usize;
        if needed > self.address {
            let reason = format!("it must be at least {needed}, for {} bytes", self.size);
            return Err(checked.refuse("ram_addr_width", reason));
        }
        Ok(())
    }

    /// Widths of the ports.
    pub fn ports(self) -> RamShape {
        RamShape {
            segments: self.segments,
            data: self.segment_data,
            address: self.segment_address(),
        }
    }

    /// Widths of the ports of a segment alone, whose addresses count its lines.
    fn segment_ports(self) -> RamShape {
        RamShape {
            segments: 1,
            data: self.segment_data,
            address: self.line_bits(),
        }
    }

    /// Bytes of a segment's line.
    pub fn segment_bytes(self) -> usize {
        self.segment_data / 8
    }

    /// Bytes of a line of all segments.
    fn row_bytes(self) -> usize {
        self.segments * self.segment_bytes()
    }

    /// Lines of a segment.
    pub fn lines(self) -> usize {
        self.size / self.row_bytes()
    }

    /// Bits that number the lines of a segment.
    pub fn line_bits(self) -> usize {
        self.lines().trailing_zeros() as usize
    }

    /// Width of a segment's address at the ports, in bits.
    pub fn segment_address(self) -> usize {
        self.address - self.row_bytes().trailing_zeros() as usize
    }
}

/// Segmented RAM for Corundum's DMA engine.
#[module(shape: PsdpramShape)]
pub struct SpinneretPsdpram {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Writes.
    pub ram_wr: RamWriteIn<{ shape.ports() }>,
    /// Reads.
    pub ram_rd: RamReadIn<{ shape.ports() }>,
    segments: [RamSegment<{ shape }>; shape.segments],
}

#[kernel(SpinneretPsdpram { ram_wr, ram_rd, segments, shape })]
fn update() {
    let (bytes, data) = (shape.segment_bytes(), shape.segment_data);
    let (address, line) = (shape.segment_address(), shape.line_bits());
    for (s, segment) in segments.iter().enumerate() {
        segment.wr.cmd_be = ram_wr.cmd_be.slice(bytes * s, bytes);
        segment.wr.cmd_addr = ram_wr.cmd_addr.slice(address * s, line);
        segment.wr.cmd_data = ram_wr.cmd_data.slice(data * s, data);
        segment.wr.cmd_valid = ram_wr.cmd_valid.slice(s, 1);
        ram_wr.cmd_ready.slice(s, 1) = segment.wr.cmd_ready;
        ram_wr.done.slice(s, 1) = segment.wr.done;
        segment.rd.cmd_addr = ram_rd.cmd_addr.slice(address * s, line);
        segment.rd.cmd_valid = ram_rd.cmd_valid.slice(s, 1);
        ram_rd.cmd_ready.slice(s, 1) = segment.rd.cmd_ready;
        ram_rd.resp_data.slice(data * s, data) = segment.rd.resp_data;
        ram_rd.resp_valid.slice(s, 1) = segment.rd.resp_valid;
        segment.rd.resp_ready = ram_rd.resp_ready.slice(s, 1);
    }
}

/// One segment: a memory with a write port and a read port that obey ready and valid.
///
/// ```text
///  write command ==================>+--------+
///                                   | memory |==> read register ==> output register ==> response
///  read command ==> ReadySlice ====>+--------+
/// ```
///
/// Its contract is that of [`SpinneretPsdpram`]; addresses count lines of the segment. Reset discards commands and responses; the contents stay.
#[module(shape: PsdpramShape)]
pub struct RamSegment {
    /// Writes.
    pub wr: RamWriteIn<{ shape.segment_ports() }>,
    /// Reads.
    pub rd: RamReadIn<{ shape.segment_ports() }>,
    memory: ByteRam<{ RamStyle::Block }, { shape.lines() }, { shape.segment_bytes() }>,
    /// Makes the ready signal of reads a register.
    reads: ReadySlice<{ shape.line_bits() }>,
    /// The reset is over.
    open: Reg<bool, Reset>,
    done: Reg<bool, Reset>,
    /// The memory's read register holds a line that was not output yet.
    fetched: Reg<bool, Reset>,
    /// The output register holds a line.
    shown: Reg<bool, Reset>,
    line: Reg<{ shape.segment_data }>,
}

#[kernel(
    RamSegment { wr, rd, memory, reads, open, done, fetched, shown, line, shape },
    suffix = format!("{}x{}", self._shape.lines(), self._shape.segment_bytes())
)]
fn update() {
    /// Writes.
    open = true;
    wr.cmd_ready = open.word();
    let writes = wr.cmd_valid[0] && open;
    memory.write_enable = wr.cmd_be & writes.repeat(shape.segment_bytes());
    memory.write_addr = wr.cmd_addr;
    memory.write_data = wr.cmd_data;
    done = writes;
    wr.done = done.word();
    /// The output register is free, or empties in this cycle.
    let free = !shown || rd.resp_ready[0];
    /// So is the memory's read register.
    let fetch = !fetched || free;
    /// Reads: each register continues when the one after it does.
    reads.s.data = rd.cmd_addr;
    reads.s.valid = rd.cmd_valid[0];
    rd.cmd_ready = reads.s.ready.word();
    reads.m.ready = fetch;
    memory.read_enable = fetch;
    memory.read_addr = reads.m.data;
    if fetch {
        fetched = reads.m.valid;
    }
    if free {
        shown = fetched;
        line = memory.read_data;
    }
    rd.resp_data = line;
    rd.resp_valid = shown.word();
}
