//! A queue whose output is a register and that costs one clock.

use super::{Fifo, FifoConfig, StreamIn, StreamOut};
use crate::catalog::ParameterError;
use spinneret_verilog::prelude::*;

/// A FIFO with a register at its output that an element reaches in one clock when nothing is ahead of it.
///
/// Holds `depth` elements and the one in the register. Throughput one element a clock; all outputs are
/// registers.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct OutputQueue {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: empties the queue.
    pub rst: Wire<In, bool>,
    /// Elements in.
    pub s: StreamIn,
    /// Elements out.
    pub m: StreamOut,
    /// At most the margin's number of elements still fit.
    pub almost_full: Wire<Out, bool>,
    fifo: Fifo,
    data: Reg,
    valid: Reg<bool>,
    /// The register is free, or empties in this cycle.
    free: Wire<Local, bool>,
    /// The input goes straight to the register.
    bypass: Wire<Local, bool>,
    _variant: String,
}

impl OutputQueue {
    /// A queue for `depth` payloads of `width` bits, with a margin of none.
    ///
    /// # Errors
    /// If the depth is not a power of two from 2, or the width not possible.
    pub fn new(width: usize, depth: usize) -> Result<Self, ParameterError> {
        Self::with_margin(width, depth, 0)
    }

    /// The same, and `almost_full` rises when `margin` payloads still fit.
    ///
    /// # Errors
    /// As those of `new`, and if the margin is not less than the depth.
    pub fn with_margin(width: usize, depth: usize, margin: usize) -> Result<Self, ParameterError> {
        Ok(Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            s: StreamIn::new(width),
            m: StreamOut::new(width),
            almost_full: Wire::bit(),
            fifo: Fifo::new(FifoConfig::distributed(width, depth).with_margin(margin))?,
            data: Reg::word(width),
            valid: Reg::bit_reset(),
            free: Wire::bit(),
            bypass: Wire::bit(),
            _variant: format!("{depth}x{width}_{margin}"),
        })
    }
}

impl Logic for OutputQueue {
    #[kernel(suffix = self._variant)]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.fifo, self.valid);
        clocked!(self.clk => self.data);
        self.free.next = !self.valid.q.val() || self.m.ready.val();
        self.bypass.next = self.free.val() && !self.fifo.m.valid.val();
        self.s.ready.next = self.fifo.s.ready.val();
        self.almost_full.next = self.fifo.almost_full.val();
        self.fifo.s.data.next = self.s.data.val();
        self.fifo.s.valid.next = self.s.valid.val() && !self.bypass.val();
        self.fifo.m.ready.next = self.free.val();
        if self.free.val() {
            if self.fifo.m.valid.val() {
                self.valid.d.next = true;
                self.data.d.next = self.fifo.m.data.val();
            } else {
                self.valid.d.next = self.s.valid.val() && self.fifo.s.ready.val();
                self.data.d.next = self.s.data.val();
            }
        }
        self.m.valid.next = self.valid.q.val();
        self.m.data.next = self.data.q.val();
    }
}
