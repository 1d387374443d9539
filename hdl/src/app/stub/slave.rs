//! A slave of the stand-in.

use super::ports::WrapSlave;
use super::read_port::StubReadPort;
use super::shape::{DATA, StubShape};
use super::write_port::StubWritePort;
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
    pub port: WrapSlave,
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
        self.writes.aw_addr.next = self.port.aw_addr_i.val();
        self.writes.aw_len.next = self.port.aw_len_i.val();
        self.writes.aw_size.next = self.port.aw_size_i.val();
        self.writes.aw_burst.next = self.port.aw_burst_i.val();
        self.writes.aw_id.next = self.port.aw_id_i.val();
        self.writes.aw_valid.next = self.port.aw_valid_i.val();
        self.port.aw_ready_o.next = self.writes.aw_ready.val();
        self.writes.w_data.next = self.port.w_data_i.val();
        self.writes.w_strb.next = self.port.w_strb_i.val();
        self.writes.w_valid.next = self.port.w_valid_i.val();
        self.port.w_ready_o.next = self.writes.w_ready.val();
        self.port.b_resp_o.next = self.writes.b_resp.val();
        self.port.b_id_o.next = self.writes.b_id.val();
        self.port.b_user_o.next = 0.into();
        self.port.b_valid_o.next = self.writes.b_valid.val();
        self.writes.b_ready.next = self.port.b_ready_i.val();
        self.reads.ar_addr.next = self.port.ar_addr_i.val();
        self.reads.ar_len.next = self.port.ar_len_i.val();
        self.reads.ar_size.next = self.port.ar_size_i.val();
        self.reads.ar_burst.next = self.port.ar_burst_i.val();
        self.reads.ar_id.next = self.port.ar_id_i.val();
        self.reads.ar_valid.next = self.port.ar_valid_i.val();
        self.port.ar_ready_o.next = self.reads.ar_ready.val();
        self.port.r_data_o.next = self.reads.r_data.val();
        self.port.r_resp_o.next = self.reads.r_resp.val();
        self.port.r_last_o.next = self.reads.r_last.val();
        self.port.r_id_o.next = self.reads.r_id.val();
        self.port.r_user_o.next = 0.into();
        self.port.r_valid_o.next = self.reads.r_valid.val();
        self.reads.r_ready.next = self.port.r_ready_i.val();
        self.reads.memory_data.next = self.memory_data.val();
        StreamOut::link(&mut self.write, &mut self.writes.write);
        StreamOut::link(&mut self.read, &mut self.reads.read);
    }
}
