//! Memories that synthesis maps to RAM.

use super::only_shown;
use super::wire::{Value, Wire};
use super::word::Word;
use num_bigint::BigUint;
use rust_hdl::core::ast::Verilog;
use rust_hdl::prelude::{Block, Clock, In, Logic, Out, Probe, Signal};

/// Bits of a byte.
const BYTE: usize = 8;

/// How a memory is built, which also decides when its read data appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RamStyle {
    /// Block RAM: read data one cycle after the address, held while `read_enable` is low.
    Block,
    /// UltraRAM: reads as block RAM does, and cannot have initial contents.
    Ultra,
    /// Distributed RAM (LUTs): read data in the same cycle; `read_enable` has no effect. The read port has no
    /// clock, so what reads may be in another clock domain than `clk`, which then is the clock of the write.
    Distributed,
}

/// A memory with one write port and one or more read ports. Its write enable is a bit, or one for each byte.
///
/// A read of the address that is being written in the same cycle returns the old word (read first). The contents have no
/// reset, and no defined value at power-up unless [`Memory::holding`] gives one.
#[derive(Clone, Debug)]
pub struct Memory<E: Value> {
    /// Clock of all ports; of the write alone in distributed RAM.
    pub clk: Signal<In, Clock>,
    /// Writes `write_data` at the rising edge, or byte n of it with bit n.
    pub write_enable: Wire<In, E>,
    /// Word address of the write.
    pub write_addr: Wire<In, Word>,
    /// Word to write.
    pub write_data: Wire<In, Word>,
    /// Takes a new word into `read_data` (not in distributed RAM); a bit for each read port.
    pub read_enable: Wire<In, Word>,
    /// Word addresses of the read ports, that of port 0 in the lowest bits.
    pub read_addr: Wire<In, Word>,
    /// Words that were read.
    pub read_data: Wire<Out, Word>,
    style: RamStyle,
    depth: usize,
    contents: Option<(String, Vec<BigUint>)>,
}

/// A memory whose words are written whole.
pub type Ram = Memory<bool>;

/// A memory whose bytes are written one by one.
pub type ByteRam = Memory<Word>;

impl Ram {
    /// A memory of `depth` words of `width` bits.
    ///
    /// # Panics
    /// If depth or width is zero.
    pub fn new(style: RamStyle, depth: usize, width: usize) -> Self {
        Self::with(style, depth, width, Wire::bit())
    }
}

impl ByteRam {
    /// A memory of `depth` words of `bytes` bytes.
    ///
    /// # Panics
    /// If depth or bytes is zero.
    pub fn new(style: RamStyle, depth: usize, bytes: usize) -> Self {
        Self::with(style, depth, BYTE * bytes, Wire::word(bytes))
    }
}

impl<E: Value> Memory<E> {
    fn with(style: RamStyle, depth: usize, width: usize, write_enable: Wire<In, E>) -> Self {
        assert!(
            depth > 0 && width > 0,
            "a memory of {depth} words of {width} bits holds nothing"
        );
        let address = address_width(depth);
        Self {
            clk: Signal::default(),
            write_enable,
            write_addr: Wire::word(address),
            write_data: Wire::word(width),
            read_enable: Wire::word(1),
            read_addr: Wire::word(address),
            read_data: Wire::word(width),
            style,
            depth,
            contents: None,
        }
    }

    /// The same memory with this number of read ports.
    #[must_use]
    pub fn with_reads(self, count: usize) -> Self {
        Self {
            read_enable: Wire::word(count),
            read_addr: Wire::word(count * self.write_addr.width()),
            read_data: Wire::word(count * self.write_data.width()),
            ..self
        }
    }

    /// The same memory with these words from address 0 on at power-up, and 0 in the others. The name tells its module from others.
    ///
    /// # Panics
    /// If there are more words than places, a word does not fit, or the memory is UltraRAM.
    #[must_use]
    pub fn holding(self, name: &str, words: Vec<BigUint>) -> Self {
        let width = self.write_data.width();
        assert!(
            self.style != RamStyle::Ultra,
            "UltraRAM cannot have initial contents: use block RAM"
        );
        assert!(
            words.len() <= self.depth && words.iter().all(|word| word.bits() <= width as u64),
            "the contents of `{name}` do not fit {} words of {width} bits",
            self.depth
        );
        Self {
            contents: Some((name.to_owned(), words)),
            ..self
        }
    }

    /// Number of read ports.
    pub(crate) fn reads(&self) -> usize {
        self.read_enable.width()
    }

    fn is_clocked(&self) -> bool {
        self.style != RamStyle::Distributed
    }

    /// Whether its bytes are written one by one; a word of one byte is written whole.
    fn has_bytes(&self) -> bool {
        self.write_enable.width() > 1
    }

    fn module_text(&self) -> String {
        let style = match self.style {
            RamStyle::Block => "block",
            RamStyle::Ultra => "ultra",
            RamStyle::Distributed => "distributed",
        };
        let (words, write) = match self.has_bytes() {
            true => (
                "_bytes",
                "    for (int i = 0; i < BYTES; i++) begin\n        \
                 if (write_enable[i]) begin\n            memory[write_addr][WIDTH/BYTES*i +: WIDTH/BYTES] <=\n                write_data[WIDTH/BYTES*i +: WIDTH/BYTES];\n        end\n    end\n",
            ),
            false => ("", "    if (write_enable) memory[write_addr] <= write_data;\n"),
        };
        let reads = if self.reads() > 1 { "_reads" } else { "" };
        let (name, contents) = match &self.contents {
            Some((name, words)) => contents_text(name, words, self.write_data.width()),
            None => Default::default(),
        };
        // SystemVerilog lets only one process write what `always_ff` writes.
        let always = if contents.is_empty() {
            "always_ff"
        } else {
            "always"
        };
        format!(
            "// module: ram_{style}{words}{reads}{name}\n\
             // doc: Memory of DEPTH words of WIDTH bits, one write port, {ports} ({style} RAM).\n\
             {parameters}\
             (* ram_style = \"{style}\" *)\n\
             logic [WIDTH-1:0] memory [0:DEPTH-1];\n\n\
             {contents}\
             {always} @(posedge clk) begin\n{write}end\n\n\
             {read}",
            ports = if self.reads() > 1 {
                "READS read ports"
            } else {
                "one read port"
            },
            parameters = self.parameters(),
            read = self.read_text(),
        )
    }

    /// Numbers of the text, and the ports that are so wide.
    fn parameters(&self) -> String {
        let (address, width, reads) = (self.write_addr.width(), self.write_data.width(), self.reads());
        let mut all = vec![("DEPTH", self.depth, "")];
        if reads == 1 {
            all.push(("ADDRESS", address, "write_addr read_addr"));
            all.push(("WIDTH", width, "write_data read_data"));
        } else {
            all.push(("ADDRESS", address, "write_addr"));
            all.push(("WIDTH", width, "write_data"));
            all.push(("READS", reads, "read_enable"));
            all.push(("READ_ADDRESS", reads * address, "read_addr"));
            all.push(("READ_WIDTH", reads * width, "read_data"));
        }
        if self.has_bytes() {
            all.push(("BYTES", self.write_enable.width(), "write_enable"));
        }
        let line = |(name, value, ports)| format!("// parameter {name} = {value}: {ports}\n");
        all.into_iter().map(line).collect()
    }

    fn read_text(&self) -> String {
        let (enable, data, address) = match self.reads() {
            1 => ("read_enable", "read_data", "read_addr"),
            _ => (
                "read_enable[i]",
                "read_data[WIDTH*i +: WIDTH]",
                "read_addr[ADDRESS*i +: ADDRESS]",
            ),
        };
        let read = match self.is_clocked() {
            true => format!("if ({enable}) {data} <= memory[{address}];"),
            false => format!("{data} = memory[{address}];"),
        };
        let always = if self.is_clocked() {
            "always_ff @(posedge clk)"
        } else {
            "always_comb"
        };
        match (self.reads(), self.is_clocked()) {
            (1, false) => format!("assign {read}\n"),
            (1, true) => format!("{always} begin\n    {read}\nend\n"),
            _ => format!(
                "{always} begin\n    for (int i = 0; i < READS; i++) begin\n        {read}\n    end\nend\n"
            ),
        }
    }
}

/// The suffix of the module's name, and the text that fills the memory.
fn contents_text(name: &str, words: &[BigUint], width: usize) -> (String, String) {
    let mut text = "initial begin\n    for (int i = 0; i < DEPTH; i++) memory[i] = '0;\n".to_owned();
    for (number, word) in words.iter().enumerate() {
        text += &format!("    memory[{number}] = {width}'h{word:x};\n");
    }
    (format!("_{name}"), text + "end\n\n")
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
        Verilog::Custom(self.module_text())
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
        if self.is_clocked() {
            self.read_enable.accept("read_enable", probe);
        }
        self.read_addr.accept("read_addr", probe);
        self.read_data.accept("read_data", probe);
        probe.visit_end_scope(name, self);
    }
}
