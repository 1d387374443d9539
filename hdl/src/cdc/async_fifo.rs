//! First in, first out, from one clock to another.
//!
//! ```text
//!         s_clk                     |                       m_clk
//!                     +-------------|-----+   +----------------+
//!  s ====+===========>| distributed | RAM |==>| output register|====> m
//!        |            +-------------|-----+   +----------------+
//!   +--------+  gray pointer        |  +------------+     |
//!   | writer |----------------------|->| 2 registers|-> reader
//!   |        |   +------------+     |  +------------+     |
//!   |        |<--| 2 registers|<----|---------------------+  gray pointer
//!   +--------+   +------------+     |
//! ```
//!
//! # Contract
//! - **Latency:** an element that is taken at an edge of `s_clk` is valid at `m` after the third edge of `m_clk`
//!   that comes after it, if nothing is ahead of it; an edge of `m_clk` at the same time may count or not.
//! - **Throughput:** one element a clock on each side while the other side keeps up. A `depth` of 16 is enough for
//!   that at any ratio of the clocks; with less, a fast writer waits for the round trip of the pointers.
//! - **Capacity:** `depth` elements in the memory and one in the output register. Room that is made at `m` shows at
//!   `s` after the third edge of `s_clk` after it.
//! - **Backpressure:** `s_ready` is a register: low while the memory is full as far as the write side knows, and
//!   in the first cycle after reset.
//! - **Paths:** none from `s` to `m` or back; `m_valid` and `m_data` are registers.
//! - **Ordering:** elements leave in the order in which they came.
//! - **Reset:** synchronous on each side. In reset a side takes and gives nothing. When both are in reset, the
//!   FIFO is emptied. A side alone in reset stops, and continues afterwards; all that is lost then is the
//!   element in the output register. An element that comes in before the other side has left its reset is not
//!   lost.
//! - **Rule of use:** both sides are reset together: their resets overlap for 16 clocks of the slower side, also at
//!   power-up. [`LinkReset`](super::LinkReset) sees to it, and to no more than is needed. Resets that do not overlap
//!   are 8 clocks of the slower side apart.
//! - **Clocks:** any two, also stopped ones.
//! - **Constraints:** [`CrossingKind::AsyncFifo`](super::CrossingKind::AsyncFifo).
//!
//! Source: C. E. Cummings, Simulation and Synthesis Techniques for Asynchronous FIFO Design, SNUG San Jose 2002, with
//! synchronised pointers that are compared. That pointers are cleared when both sides know of both resets, and not
//! before, is ours: a pointer that jumps to zero before the eyes of the other side would make elements out of nothing.

use super::limits;
use super::reader::FifoReader;
use super::writer::FifoWriter;
use crate::entry::ParameterError;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// First in, first out, from one clock to another.
/// # Parameters
/// `depth` is a power of two from 4 to 1024.
#[hardware(
    width: usize,
    depth: usize,
    error = ParameterError,
    _ = limits::WIDTH.check("async_fifo", width)?,
    _ = limits::DEPTH.check("async_fifo", depth)?,
    address = address_width(depth),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct AsyncFifo {
    /// Clock of the side where elements come in.
    pub s_clk: Signal<In, Clock>,
    /// Synchronous reset of that side.
    pub s_rst: Wire<In, bool>,
    /// Elements in.
    pub s: StreamIn<{ width }>,
    /// Clock of the side where elements go out.
    pub m_clk: Signal<In, Clock>,
    /// Synchronous reset of that side.
    pub m_rst: Wire<In, bool>,
    /// Elements out.
    pub m: StreamOut<{ width }>,
    write: FifoWriter<{ address }>,
    read: FifoReader<{ width }, { address }>,
    memory: Ram<{ RamStyle::Distributed }, { depth }, { width }>,
}

impl Logic for AsyncFifo {
    #[kernel(
        parameters(DEPTH = self._depth, WIDTH = self.s.data.width()),
        numbers(ADDRESS = clog2(DEPTH), POINTER = clog2(DEPTH) + 1)
    )]
    fn update(&mut self) {
        clocked!(self.s_clk, self.s_rst => self.write);
        clocked!(self.s_clk => self.memory);
        clocked!(self.m_clk, self.m_rst => self.read);

        connect!(self.s => self.write; valid, ready);
        self.memory.write_enable.next = self.write.push.val();
        self.memory.write_addr.next = self.write.place.val();
        self.memory.write_data.next = self.s.data.val();

        /// Read without a clock: what is in that place is still since the write side's pointer has passed it.
        self.memory.read_addr.next = self.read.place.val();
        self.read.element.next = self.memory.read_data.val();
        connect!(self.read.m => self.m; data, valid, ready);

        self.write.far_pointer.next = self.read.pointer.val();
        self.write.far_resting.next = self.read.resting.val();
        self.read.far_pointer.next = self.write.pointer.val();
        self.read.far_resting.next = self.write.resting.val();
    }
}
