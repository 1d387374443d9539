//! Memories that synthesis maps to RAM.

use super::only_shown;
use super::wire::{Value, Wire};
use super::word::Word;
use rust_hdl::core::ast::Verilog;
use rust_hdl::prelude::{Block, Clock, In, Logic, Out, Probe, Signal};

/// Bits of a byte.
const BYTE: usize = 8;

/// How a memory is built, which also decides when its read data appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RamStyle {
    /// Block RAM: read data one cycle after the address, held while `read_enable` is low.
    Block,
    /// Distributed RAM (LUTs): read data in the same cycle; `read_enable` has no effect. The read port has no
    /// clock, so what reads may be in another clock domain than `clk`, which then is the clock of the write.
    Distributed,
}

/// A memory with one write port and one read port on one clock.
///
/// A read of the address that is being written in the same cycle returns the old word (block RAM:
/// read first). The contents have no reset and no defined power-up value.
#[derive(Clone, Debug)]
pub struct Memory<E: Value> {
    /// Clock of both ports; of the write alone in distributed RAM.
    pub clk: Signal<In, Clock>,
    /// Writes `write_data` at the rising edge, or each byte of it that has a bit of its own here.
    pub write_enable: Wire<In, E>,
    /// Word address of the write.
    pub write_addr: Wire<In, Word>,
    /// Word to write.
    pub write_data: Wire<In, Word>,
    /// Takes a new word into `read_data` (block RAM only).
    pub read_enable: Wire<In, bool>,
    /// Word address of the read.
    pub read_addr: Wire<In, Word>,
    /// Word that was read.
    pub read_data: Wire<Out, Word>,
    style: RamStyle,
    text: String,
}

/// A memory whose words are written as a whole.
pub type Ram = Memory<bool>;

/// Block RAM whose bytes are written one by one: bit n of `write_enable` writes bits 8n to 8n + 7.
pub type ByteRam = Memory<Word>;

impl Ram {
    /// A memory of `depth` words of `width` bits.
    ///
    /// # Panics
    /// If depth or width is zero.
    pub fn new(style: RamStyle, depth: usize, width: usize) -> Self {
        assert!(
            depth > 0 && width > 0,
            "a memory of {depth} words of {width} bits holds nothing"
        );
        let (name, read) = match style {
            RamStyle::Block => (
                "block",
                "always_ff @(posedge clk) begin\n    if (read_enable) read_data <= memory[read_addr];\nend\n",
            ),
            RamStyle::Distributed => ("distributed", "assign read_data = memory[read_addr];\n"),
        };
        let address = address_width(depth);
        let text = format!(
            "// module: ram_{name}\n\
             // doc: Memory of DEPTH words of WIDTH bits, one write and one read port ({name} RAM).\n\
             // parameter DEPTH = {depth}:\n\
             // parameter ADDRESS = {address}: write_addr read_addr\n\
             // parameter WIDTH = {width}: write_data read_data\n\
             (* ram_style = \"{name}\" *)\n\
             logic [WIDTH-1:0] memory [0:DEPTH-1];\n\n\
             always_ff @(posedge clk) begin\n    if (write_enable) memory[write_addr] <= write_data;\nend\n\n\
             {read}",
        );
        Self::with(Wire::bit(), style, depth, width, text)
    }
}

impl ByteRam {
    /// A memory of `depth` words of `bytes` bytes.
    ///
    /// # Panics
    /// If depth or bytes is zero.
    pub fn new(depth: usize, bytes: usize) -> Self {
        assert!(
            depth > 0 && bytes > 0,
            "a memory of {depth} words of {bytes} bytes holds nothing"
        );
        // One bit has no index in Verilog.
        let write = if bytes == 1 {
            "    if (write_enable) memory[write_addr] <= write_data;\n".to_owned()
        } else {
            format!(
                "    for (int i = 0; i < {bytes}; i++) begin\n        \
                 if (write_enable[i]) memory[write_addr][{BYTE}*i +: {BYTE}] <= write_data[{BYTE}*i +: {BYTE}];\n    \
                 end\n"
            )
        };
        let text = format!(
            "// module: ram_bytes_{depth}x{bytes}\n\
             // doc: Memory of {depth} words of {bytes} bytes that are written one by one, one write and one read port (block RAM).\n\
             (* ram_style = \"block\" *)\n\
             logic [{top}:0] memory [0:{last}];\n\n\
             always_ff @(posedge clk) begin\n{write}end\n\n\
             always_ff @(posedge clk) begin\n    if (read_enable) read_data <= memory[read_addr];\nend\n",
            top = BYTE * bytes - 1,
            last = depth - 1,
        );
        Self::with(Wire::word(bytes), RamStyle::Block, depth, BYTE * bytes, text)
    }
}

impl<E: Value> Memory<E> {
    fn with(write_enable: Wire<In, E>, style: RamStyle, depth: usize, width: usize, text: String) -> Self {
        let address = address_width(depth);
        Self {
            clk: Signal::default(),
            write_enable,
            write_addr: Wire::word(address),
            write_data: Wire::word(width),
            read_enable: Wire::bit(),
            read_addr: Wire::word(address),
            read_data: Wire::word(width),
            style,
            text,
        }
    }
}

/// Number of bits that address `depth` words; one bit for a single word, because a port needs one.
pub fn address_width(depth: usize) -> usize {
    depth.next_power_of_two().trailing_zeros().max(1) as usize
}

/// Number of bits that hold the numbers 0 to `largest`.
pub fn bit_width(largest: usize) -> usize {
    (usize::BITS - largest.leading_zeros()) as usize
}

impl<E: Value> Logic for Memory<E> {
    fn update(&mut self) {}
    fn hdl(&self) -> Verilog {
        Verilog::Custom(self.text.clone())
    }
}

impl<E: Value> Block for Memory<E> {
    only_shown!();

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        self.clk.accept("clk", probe);
        self.write_enable.accept("write_enable", probe);
        self.write_addr.accept("write_addr", probe);
        self.write_data.accept("write_data", probe);
        if self.style == RamStyle::Block {
            self.read_enable.accept("read_enable", probe);
        }
        self.read_addr.accept("read_addr", probe);
        self.read_data.accept("read_data", probe);
        probe.visit_end_scope(name, self);
    }
}
