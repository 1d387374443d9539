//! Words from one clock to another, one after the other, at the cost of a few registers.
//!
//! ```text
//!        s_clk           |               m_clk
//!      +----------+      |       +-----------------+
//!  s =>| register |======|======>| output register |====> m
//!      +----------+      |       +-----------------+
//!      | toggle   |------|--> 2 registers --> new? |
//!      +----------+      |                         |
//!        free? <-- 2 registers <--|----- toggle ---+
//! ```
//!
//! # Contract
//! - **Latency:** a word that is taken at an edge of `s_clk` is valid at `m` after the third edge of `m_clk` that
//!   comes after it, if the output register is free; an edge at the same time may count or not.
//! - **Throughput:** a word needs the way there and back: `s_ready` rises after the third edge of `s_clk` after the
//!   clock in which the word reached the output register.
//! - **Capacity:** one word on its way and one in the output register.
//! - **Backpressure:** `s_ready` is a register: low while a word is on its way, and in the first cycle after reset.
//! - **Paths:** none from `s` to `m` or back; `m_valid` and `m_data` are registers.
//! - **Ordering:** words leave in the order in which they came.
//! - **Reset, rule of use, clocks:** as those of [`AsyncFifo`](super::AsyncFifo).
//! - **Constraints:** [`CrossingKind::BusSync`](super::CrossingKind::BusSync).

use super::synchronisers::{FarView, source};
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Brings words from one clock to another, one at a time.
/// # Parameters
/// `width` is at least 1.
#[module(no_clock, width: usize)]
pub struct BusSync {
    /// Clock of the side where words come in.
    pub s_clk: Signal<In, Clock>,
    /// Synchronous reset of that side.
    pub s_rst: Wire<In, bool>,
    /// Words in.
    pub s: StreamIn<{ width }>,
    /// Clock of the side where words go out.
    pub m_clk: Signal<In, Clock>,
    /// Synchronous reset of that side.
    pub m_rst: Wire<In, bool>,
    /// Words out.
    pub m: StreamOut<{ width }>,
    /// The read side as the write side sees it.
    #[clock(s_clk)]
    reader: FarView<1>,
    /// Both sides are in reset.
    s_clear: Wire<Local, bool>,
    /// Changes with every word that comes in.
    #[clock(s_clk, s_clear)]
    #[new(Reg::word_reset(1).with(RegAttribute::DontTouch))]
    sent: Reg,
    #[clock(s_clk)]
    #[new(Reg::word(width).with(RegAttribute::DontTouch))]
    word: Reg,
    #[clock(s_clk, s_rst)]
    free: Reg<bool, Reset>,
    #[clock(s_clk)]
    #[new(source(true))]
    s_rests: Reg<bool>,
    /// The write side as the read side sees it.
    #[clock(m_clk)]
    writer: FarView<1>,
    /// Both sides are in reset.
    m_clear: Wire<Local, bool>,
    /// Changes with every word that reaches the output register.
    #[clock(m_clk, m_clear)]
    #[new(Reg::word_reset(1).with(RegAttribute::DontTouch))]
    seen: Reg,
    #[clock(m_clk, m_rst)]
    held: Reg<bool, Reset>,
    #[clock(m_clk)]
    data: Reg<{ width }>,
    #[clock(m_clk)]
    #[new(source(true))]
    m_rests: Reg<bool>,
}

#[kernel(
    BusSync {
        s_rst, s, m_rst, m, reader, s_clear, sent, word, free, s_rests, writer, m_clear, seen, held, data, m_rests
    },
    parameters(WIDTH = self._width)
)]
fn update() {
    reader.pointer = seen;
    reader.resting = m_rests;
    s_rests = s_rst;
    s_clear = s_rst && reader.resting_seen;
    let push = s.valid && free && !s_rst;
    free = !push && sent == reader.pointer_seen;
    if push {
        sent = !sent;
        word = s.data;
    }
    s.ready = free;

    writer.pointer = sent;
    writer.resting = s_rests;
    m_rests = m_rst;
    m_clear = m_rst && writer.resting_seen;
    let fetch = seen != writer.pointer_seen && (!held || m.ready) && !m_rst;
    if fetch {
        seen = !seen;
        data = word;
        held = true;
    } else if m.ready {
        held = false;
    }
    m.valid = held;
    m.data = data;
}
