//! A slave of the stand-in.

use super::read_port::StubReadPort;
use super::shape::{DATA, StubShape};
use super::write_port::StubWritePort;
use crate::axi::AxiTarget;
use crate::entry::ParameterError;
use crate::stream::StreamOut;
use spinneret_verilog::prelude::*;

/// A slave of the stand-in: bursts become accesses to the memory.
#[hardware(shape: StubShape, error = ParameterError)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct StubSlave {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// The channels.
    pub port: AxiTarget<{ StubShape::slave() }>,
    /// Writes to the memory: {line, strobes, data}.
    pub write: StreamOut<{ shape.write() }>,
    /// Reads of the memory: line.
    pub read: StreamOut<{ shape.line() }>,
    /// The line that was asked for in the clock before.
    pub memory_data: Wire<In, { DATA }>,
    writes: Checked<StubWritePort<{ shape }>>,
    reads: Checked<StubReadPort<{ shape }>>,
}

impl Logic for StubSlave {
    #[kernel(suffix = self._shape.lines())]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.writes, self.reads);
        connect!(self.port => self.writes; aw, w, b);
        connect!(self.port => self.reads; ar, r);
        self.reads.memory_data.next = self.memory_data.val();
        connect!(self.writes.write => self.write);
        connect!(self.reads.read => self.read);
    }
}
