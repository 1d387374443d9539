//! A FIFO that costs no clock while it is empty.
//!
//! ```text
//!  s ==+============================> m     empty: straight through
//!      |   +------+
//!      +==>| FIFO |=================> m     else: behind what waits
//!          +------+
//! ```
//!
//! # Contract
//! - **Latency:** none while nothing waits: what comes in is at the output in the same cycle. An element
//!   that the other side does not take waits in the FIFO, and so do those behind it.
//! - **Throughput:** one element a clock. With block RAM two cycles pass without an element after the first
//!   one has had to wait, which is the time that the memory takes.
//! - **Capacity:** exactly `depth` elements.
//! - **Backpressure:** `s_ready` is a register. `almost_full` is one too: high while at most `margin` more
//!   elements fit.
//! - **Paths:** from `s_valid` and `s_data` to `m_valid` and `m_data`, none from `m_ready` to `s`.
//! - **Ordering:** elements leave in the order in which they came.
//! - **Reset:** empties the FIFO.

use super::{Fifo, FifoConfig, FifoOutput, StreamIn, StreamOut};
use crate::catalog::ParameterError;
use spinneret_verilog::prelude::*;

/// First in, first out, without any latency while it is empty.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PassFifo {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: empties the FIFO.
    pub rst: Wire<In, bool>,
    /// Elements in.
    pub s: StreamIn,
    /// Elements out.
    pub m: StreamOut,
    /// At most the margin's number of elements still fit.
    pub almost_full: Wire<Out, bool>,
    fifo: Fifo,
    /// Something is in the FIFO, also if it is not at its output yet (registered output only).
    waiting: Vec<Reg<bool>>,
    blocked: Wire<Local, bool>,
    comes: Wire<Local, bool>,
    goes: Wire<Local, bool>,
}

impl PassFifo {
    /// A FIFO.
    ///
    /// # Errors
    /// As those of [`Fifo::new`].
    pub fn new(config: FifoConfig) -> Result<Self, ParameterError> {
        let registered = config.output == FifoOutput::Registered;
        Ok(Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            s: StreamIn::new(config.width),
            m: StreamOut::new(config.width),
            almost_full: Wire::bit(),
            fifo: Fifo::new(config)?,
            waiting: (0..usize::from(registered)).map(|_| Reg::bit_reset()).collect(),
            blocked: Wire::bit(),
            comes: Wire::bit(),
            goes: Wire::bit(),
        })
    }
}

impl Logic for PassFifo {
    #[kernel(suffix = self.fifo.config().variant())]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.fifo, self.waiting);
        self.s.ready.next = self.fifo.s.ready.val();
        self.almost_full.next = self.fifo.almost_full.val();
        self.comes.next = self.s.valid.val() && self.fifo.s.ready.val();
        if self.waiting.is_empty() {
            self.blocked.next = self.fifo.m.valid.val();
        } else {
            self.blocked.next = self.waiting[0].q.val();
        }
        if self.blocked.val() {
            self.m.valid.next = self.fifo.m.valid.val();
            self.m.data.next = self.fifo.m.data.val();
            self.fifo.s.valid.next = self.s.valid.val();
        } else {
            self.m.valid.next = self.comes.val();
            self.m.data.next = self.s.data.val();
            self.fifo.s.valid.next = self.s.valid.val() && !self.m.ready.val();
        }
        self.fifo.s.data.next = self.s.data.val();
        self.fifo.m.ready.next = self.m.ready.val();
        self.goes.next = self.fifo.m.valid.val() && self.m.ready.val();
        /// The last element leaves when only one is inside and none comes.
        if !self.waiting.is_empty() {
            if self.blocked.val() {
                self.waiting[0].d.next = self.comes.val() || !self.goes.val() || self.fifo.level.val() != 1;
            } else {
                self.waiting[0].d.next = self.comes.val() && !self.m.ready.val();
            }
        }
    }
}
