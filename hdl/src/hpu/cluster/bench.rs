//! AXI slaves in front of the memories of two clusters, for the testbench.

use super::{
    CrossbarShape, HANDLER_LINE, L1_LINE, LineCrossbar, LineMemory, LineMemoryShape, LineReader, LineWriter,
    PACKET_LINE, PROGRAM_ADDR, ProgramWriter, READ_CLOCKS, SLAVE, WORD,
};
use crate::axi::{AxiExtras, AxiTarget};
use crate::entry::{Entry, ParameterError};
use spinneret_verilog::prelude::*;

/// Slaves; the last one writes program memory.
const SLAVES: usize = 2;
/// All that bus models know: no atomic operations.
const EXTRAS: AxiExtras = AxiExtras {
    atop: false,
    ..SLAVE.extras
};
const SHAPE: CrossbarShape = CrossbarShape {
    readers: SLAVES,
    writers: SLAVES,
    clusters: 2,
};

/// A memory of lines whose numbers have that many bits.
fn memory(bits: usize) -> LineMemory {
    LineMemory::new(LineMemoryShape {
        lines: 1 << bits,
        ultra: true,
    })
}

/// AXI slaves in front of the memories of two clusters.
#[module(error = ParameterError)]
pub struct LineSlavesBench {
    /// The slaves.
    pub s: [AxiTarget<{ SLAVE.with(EXTRAS) }>; SLAVES],
    /// Only the first one may write the memory in which its line is.
    pub hold: Wire<In, bool>,
    /// A word of program memory is written.
    pub program_write: Wire<Out, bool>,
    /// Its number.
    pub program_addr: Wire<Out, { PROGRAM_ADDR }>,
    /// The word.
    pub program_data: Wire<Out, { WORD }>,
    #[new(LineWriter::new()?)]
    writers: [LineWriter; SLAVES],
    readers: [Checked<LineReader<{ READ_CLOCKS }>>; SLAVES],
    program: ProgramWriter,
    crossbar: LineCrossbar<{ SHAPE }>,
    #[new(memory(HANDLER_LINE))]
    handler: LineMemory,
    #[new(memory(PACKET_LINE))]
    packet: LineMemory,
    #[new(memory(L1_LINE))]
    l1: [LineMemory; SHAPE.clusters],
}

#[kernel(LineSlavesBench)]
fn update() {
    for (number, slave) in s.iter().enumerate() {
        let (writer, reader) = (&writers[number], &readers[number]);
        writer.aw = slave.aw;
        writer.w = slave.w;
        slave.b = writer.b;
        reader.ar = slave.ar;
        slave.r = reader.r;
        crossbar.read[number] = reader.read;
    }
    crossbar.write[0] = writers[0].write;
    program.s = writers[1].write;
    crossbar.write[1] = program.m;
    program_write = program.program_write;
    program_addr = program.program_addr;
    program_data = program.program_data;
    crossbar.hold = hold;
    handler.s = crossbar.handler;
    packet.s = crossbar.packet;
    for (number, memory) in l1.iter().enumerate() {
        memory.s = crossbar.l1[number];
    }
}

/// [`LineSlavesBench`].
pub(crate) const ENTRY: Entry = Entry::part(
    "line_slaves_bench",
    "AXI slaves in front of the memories of two clusters, for the testbench",
    |_| Vec::new(),
    |_| Ok(Box::new(LineSlavesBench::new()?)),
);
