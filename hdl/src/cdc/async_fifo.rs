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

use super::entries as limits;
use super::synchronisers::{FarView, source};
use crate::entry::ParameterError;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// First in, first out, from one clock to another.
/// # Parameters
/// `depth` is a power of two from 4 to 1024.
#[module(
    no_clock,
    width: usize,
    depth: usize,
    error = ParameterError,
    _ = limits::WIDTH.check("async_fifo", width)?,
    _ = limits::DEPTH.check("async_fifo", depth)?,
    address = address_width(depth),
)]
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
    #[clock(s_clk, s_rst)]
    write: FifoWriter<{ address }>,
    #[clock(m_clk, m_rst)]
    read: FifoReader<{ width }, { address }>,
    #[clock(s_clk)]
    memory: Ram<{ RamStyle::Distributed }, { depth }, { width }>,
}

#[kernel(
    AsyncFifo { s, m, write, read, memory },
    parameters(DEPTH = self._depth, WIDTH = self._width),
    numbers(ADDRESS = clog2(DEPTH), POINTER = clog2(DEPTH) + 1)
)]
fn update() {
    write.valid = s.valid;
    s.ready = write.ready;
    memory.write(write.push, write.place, s.data);

    /// Read without a clock: what is in that place is still since the write side's pointer has passed it.
    memory.read_addr = read.place;
    read.element = memory.read_data;
    m = read.m;

    write.far_pointer = read.pointer;
    write.far_resting = read.resting;
    read.far_pointer = write.pointer;
    read.far_resting = write.resting;
}

/// Clock and reset of one side.
pub(super) type Side = (Sig<Clock>, Sig<bool>);

/// Sends a channel of one side, packed, through a FIFO to the same channel of the other side.
#[kernel]
pub(super) fn cross(fifo: &AsyncFifoHandles, s_side: Side, s: &impl Payload, m_side: Side, m: &impl Payload) {
    fifo.s_clk = s_side.0;
    fifo.s_rst = s_side.1;
    fifo.m_clk = m_side.0;
    fifo.m_rst = m_side.1;
    fifo.s.data = s.pack();
    fifo.s.handshake() = s.handshake();
    m.unpack(fifo.m.data);
    m.handshake() = fifo.m.handshake();
}

/// A number in gray code.
#[kernel]
fn gray_code(number: Sig) -> Sig {
    number ^ (number >> 1)
}

/// The write side of an asynchronous FIFO: takes elements while it sees room.
#[module(address: usize, pointer = address + 1)]
pub(super) struct FifoWriter {
    /// Clock of the write side.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: nothing comes in.
    pub rst: Wire<In, bool>,
    /// An element is there.
    pub valid: Wire<In, bool>,
    /// It is taken.
    pub ready: Wire<Out, bool>,
    /// The element goes to the memory.
    pub push: Wire<Out, bool>,
    /// Its place there.
    pub place: Wire<Out, { address }>,
    /// Elements that came in, in gray code.
    pub pointer: Wire<Out, { pointer }>,
    /// This side is in reset.
    pub resting: Wire<Out, bool>,
    /// Elements that left, in gray code, from the other clock.
    pub far_pointer: Wire<In, { pointer }>,
    /// The other side is in reset, from the other clock.
    pub far_resting: Wire<In, bool>,
    far: FarView<{ pointer }>,
    /// Both sides are in reset, so a change in more than one bit is not read.
    clear: Wire<Local, bool>,
    #[clock(clk, clear)]
    count: Reg<{ pointer }, Reset>,
    #[clock(clk, clear)]
    #[new(Reg::word_reset(pointer).with(RegAttribute::DontTouch))]
    gray: Reg,
    not_full: Reg<bool, Reset>,
    #[new(source(true))]
    rests: Reg<bool>,
}

#[kernel(
    FifoWriter {
        rst, valid, ready, push, place, pointer, resting, far_pointer, far_resting, far, clear, count, gray, not_full,
        rests, address
    },
    parameters(DEPTH = 1 << self._address),
    numbers(ADDRESS = clog2(DEPTH), POINTER = clog2(DEPTH) + 1)
)]
fn update() {
    far.pointer = far_pointer;
    far.resting = far_resting;
    rests = rst;
    clear = rst && far.resting_seen;

    push = valid && not_full && !rst;
    let next = if push { count + 1 } else { count };
    let next_gray = gray_code(next);
    count = next;
    gray = next_gray;
    let seen = far.pointer_seen;
    /// Full: the same place one round ahead, which in gray code differs in the two highest bits.
    not_full = next_gray != cat!(!seen.slice(address - 1, 2), seen.slice(0, address - 1));

    ready = not_full;
    place = count.slice(0, address);
    pointer = gray;
    resting = rests;
}

/// The read side of an asynchronous FIFO: gives elements, from a register, as soon as it sees them.
#[module(width: usize, address: usize, pointer = address + 1)]
pub(super) struct FifoReader {
    /// Clock of the read side.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: nothing goes out.
    pub rst: Wire<In, bool>,
    /// Elements out.
    pub m: StreamOut<{ width }>,
    /// The place of the next element in the memory.
    pub place: Wire<Out, { address }>,
    /// The element in that place.
    pub element: Wire<In, { width }>,
    /// Elements that left the memory, in gray code.
    pub pointer: Wire<Out, { pointer }>,
    /// This side is in reset.
    pub resting: Wire<Out, bool>,
    /// Elements that came in, in gray code, from the other clock.
    pub far_pointer: Wire<In, { pointer }>,
    /// The other side is in reset, from the other clock.
    pub far_resting: Wire<In, bool>,
    far: FarView<{ pointer }>,
    /// Both sides are in reset, so a change in more than one bit is not read.
    clear: Wire<Local, bool>,
    #[clock(clk, clear)]
    count: Reg<{ pointer }, Reset>,
    #[clock(clk, clear)]
    #[new(Reg::word_reset(pointer).with(RegAttribute::DontTouch))]
    gray: Reg,
    held: Reg<bool, Reset>,
    data: Reg<{ width }>,
    #[new(source(true))]
    rests: Reg<bool>,
}

#[kernel(
    FifoReader {
        rst, m, place, element, pointer, resting, far_pointer, far_resting, far, clear, count, gray, held, data, rests,
        address
    },
    parameters(DEPTH = 1 << self._address, WIDTH = self._width),
    numbers(ADDRESS = clog2(DEPTH), POINTER = clog2(DEPTH) + 1)
)]
fn update() {
    far.pointer = far_pointer;
    far.resting = far_resting;
    rests = rst;
    clear = rst && far.resting_seen;

    /// An element goes from the memory to the output register.
    let fetch = gray != far.pointer_seen && (!held || m.ready) && !rst;
    let next = if fetch { count + 1 } else { count };
    count = next;
    gray = gray_code(next);
    if fetch {
        data = element;
        held = true;
    } else if m.ready {
        held = false;
    }

    place = count.slice(0, address);
    m.valid = held;
    m.data = data;
    pointer = gray;
    resting = rests;
}
