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

use super::far_view::FarView;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Brings words from one clock to another, one at a time.
/// # Parameters
/// `width` is at least 1.
#[hardware(width: usize)]
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    reader: FarView<1>,
    /// Changes with every word that comes in.
    #[new(Reg::word_reset(1).with(RegAttribute::DontTouch))]
    sent: Reg,
    #[new(Reg::word(width).with(RegAttribute::DontTouch))]
    word: Reg,
    free: Reg<bool, Reset>,
    #[new(Reg::starting_with(true).with(RegAttribute::DontTouch))]
    s_rests: Reg<bool>,
    push: Wire<Local, bool>,
    s_clear: Wire<Local, bool>,
    /// The write side as the read side sees it.
    writer: FarView<1>,
    /// Changes with every word that reaches the output register.
    #[new(Reg::word_reset(1).with(RegAttribute::DontTouch))]
    seen: Reg,
    held: Reg<bool, Reset>,
    data: Reg<{ width }>,
    #[new(Reg::starting_with(true).with(RegAttribute::DontTouch))]
    m_rests: Reg<bool>,
    fetch: Wire<Local, bool>,
    m_clear: Wire<Local, bool>,
}

impl Logic for BusSync {
    #[kernel(parameters(WIDTH = self.s.data.width()))]
    fn update(&mut self) {
        self.s_clear.next = self.s_rst.val() && self.reader.resting_seen.val();
        self.m_clear.next = self.m_rst.val() && self.writer.resting_seen.val();
        clocked!(self.s_clk, self.s_clear => self.sent);
        clocked!(self.s_clk, self.s_rst => self.free);
        clocked!(self.s_clk => self.word, self.s_rests, self.reader);
        clocked!(self.m_clk, self.m_clear => self.seen);
        clocked!(self.m_clk, self.m_rst => self.held);
        clocked!(self.m_clk => self.data, self.m_rests, self.writer);

        self.reader.pointer.next = self.seen.q.val();
        self.reader.resting.next = self.m_rests.q.val();
        self.s_rests.d.next = self.s_rst.val();
        self.push.next = self.s.valid.val() && self.free.q.val() && !self.s_rst.val();
        if self.push.val() {
            self.sent.d.next = !self.sent.q.val();
            self.word.d.next = self.s.data.val();
            self.free.d.next = false;
        } else {
            self.free.d.next = self.sent.q.val() == self.reader.pointer_seen.val();
        }
        self.s.ready.next = self.free.q.val();

        self.writer.pointer.next = self.sent.q.val();
        self.writer.resting.next = self.s_rests.q.val();
        self.m_rests.d.next = self.m_rst.val();
        self.fetch.next = self.seen.q.val() != self.writer.pointer_seen.val()
            && (!self.held.q.val() || self.m.ready.val())
            && !self.m_rst.val();
        if self.fetch.val() {
            self.seen.d.next = !self.seen.q.val();
            self.data.d.next = self.word.q.val();
            self.held.d.next = true;
        } else if self.m.ready.val() {
            self.held.d.next = false;
        }
        self.m.valid.next = self.held.q.val();
        self.m.data.next = self.data.q.val();
    }
}
