//! Block RAM whose bytes are written one by one.

use super::only_shown;
use super::ram::address_width;
use super::wire::Wire;
use super::word::Word;
use rust_hdl::core::ast::Verilog;
use rust_hdl::prelude::{Block, Clock, In, Logic, Out, Probe, Signal, TimingInfo};

/// Bits of a byte.
const BYTE: usize = 8;

/// Block RAM with one write port and one read port on one clock, and an enable for each byte of the write.
///
/// Read data comes one cycle after the address and is held while `read_enable` is low. A read of the
/// address that is being written in the same cycle returns the old bytes (read first). The contents have
/// no reset and no defined power-up value.
#[derive(Clone, Debug)]
pub struct ByteRam {
    /// Clock of both ports.
    pub clk: Signal<In, Clock>,
    /// Bit n: writes byte n of `write_data`, bits 8n to 8n + 7, at the rising edge.
    pub write_enable: Wire<In, Word>,
    /// Word address of the write.
    pub write_addr: Wire<In, Word>,
    /// Word to write.
    pub write_data: Wire<In, Word>,
    /// Takes a new word into `read_data`.
    pub read_enable: Wire<In, bool>,
    /// Word address of the read.
    pub read_addr: Wire<In, Word>,
    /// Word that was read.
    pub read_data: Wire<Out, Word>,
    depth: usize,
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
        let (address, width) = (address_width(depth), BYTE * bytes);
        Self {
            clk: Signal::default(),
            write_enable: Wire::word(bytes),
            write_addr: Wire::word(address),
            write_data: Wire::word(width),
            read_enable: Wire::bit(),
            read_addr: Wire::word(address),
            read_data: Wire::word(width),
            depth,
        }
    }

    fn module_text(&self) -> String {
        let (depth, bytes) = (self.depth, self.write_enable.width());
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
        format!(
            "// module: ram_bytes_{depth}x{bytes}\n\
             // doc: Memory of {depth} words of {bytes} bytes that are written one by one, one write and one read port (block RAM).\n\
             (* ram_style = \"block\" *)\n\
             logic [{top}:0] memory [0:{last}];\n\n\
             always_ff @(posedge clk) begin\n{write}end\n\n\
             always_ff @(posedge clk) begin\n    if (read_enable) read_data <= memory[read_addr];\nend\n",
            top = BYTE * bytes - 1,
            last = depth - 1,
        )
    }
}

impl Logic for ByteRam {
    fn update(&mut self) {}
    fn hdl(&self) -> Verilog {
        Verilog::Custom(self.module_text())
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![TimingInfo {
            name: "ram".into(),
            clock: "clk".into(),
            inputs: vec!["write_enable".into(), "write_addr".into(), "write_data".into()],
            outputs: vec!["read_data".into()],
        }]
    }
}

impl Block for ByteRam {
    only_shown!();

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        self.clk.accept("clk", probe);
        self.write_enable.accept("write_enable", probe);
        self.write_addr.accept("write_addr", probe);
        self.write_data.accept("write_data", probe);
        self.read_enable.accept("read_enable", probe);
        self.read_addr.accept("read_addr", probe);
        self.read_data.accept("read_data", probe);
        probe.visit_end_scope(name, self);
    }
}
