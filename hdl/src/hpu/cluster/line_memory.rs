//! A memory of lines.
//!
//! # Contract
//! - **Reads:** a line that is asked for in clock t is at the output in t + 2, as it was before a write of clock t.
//!   The output is kept until another line was read.
//! - **Writes:** the bytes whose strobes are 1 are written at the end of the clock.
//! - **Contents** are undefined at power-up; there is no reset.

use super::{LINE_BYTES, LINE_DATA, LinePortIn};
use crate::entry::Entry;
use spinneret_verilog::prelude::*;

/// Parameters of a memory of lines.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "line_memory")]
pub struct LineMemoryShape {
    /// Lines of 64 bytes, a power of two.
    #[parameter(16384, range = 2..=1 << 20, power_of_two)]
    pub lines: usize,
    /// 1: in UltraRAM, 0: in block RAM.
    #[parameter(1)]
    pub ultra: bool,
}

impl LineMemoryShape {
    fn bits(self) -> usize {
        address_width(self.lines)
    }

    fn style(self) -> RamStyle {
        if self.ultra {
            RamStyle::Ultra
        } else {
            RamStyle::Block
        }
    }
}

/// A memory of lines.
#[module(no_clock, shape: LineMemoryShape)]
pub struct LineMemory {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Its port.
    pub s: LinePortIn<{ shape.bits() }>,
    ram: ByteRam<{ shape.style() }, { shape.lines }, { LINE_BYTES }>,
    /// The second clock of a read, which the memory itself has.
    data: Reg<{ LINE_DATA }>,
}

#[kernel(LineMemory, suffix = format!("{}{}", shape.lines, if shape.ultra { "_ultra" } else { "" }))]
fn update() {
    ram.write(s.write_strobe, s.write_line, s.write_data);
    ram.read_enable = s.read;
    ram.read_addr = s.read_line;
    data = ram.read_data;
    s.read_data = data;
}

/// [`LineMemory`].
pub(crate) const ENTRY: Entry = entry!(part LineMemoryShape::BLOCK, LineMemory(LineMemoryShape):
    "memory of 64-byte lines");
