//! The side of an asynchronous FIFO where elements come in.

use super::far_view::FarView;
use spinneret_verilog::prelude::*;

/// The write side of an asynchronous FIFO: takes elements while it sees room.
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    pub place: Wire<Out>,
    /// Elements that came in, in gray code.
    pub pointer: Wire<Out>,
    /// This side is in reset.
    pub resting: Wire<Out, bool>,
    /// Elements that left, in gray code, from the other clock.
    pub far_pointer: Wire<In>,
    /// The other side is in reset, from the other clock.
    pub far_resting: Wire<In, bool>,
    far: FarView,
    count: Reg,
    gray: Reg,
    not_full: Reg<bool>,
    rests: Reg<bool>,
    next: Wire<Local>,
    next_gray: Wire<Local>,
    /// Both sides are in reset, so nobody reads what changes in more than one bit.
    clear: Wire<Local, bool>,
}

impl FifoWriter {
    /// The write side for a memory with addresses of that many bits.
    pub(super) fn new(address: usize) -> Self {
        let pointer = address + 1;
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            valid: Wire::bit(),
            ready: Wire::bit(),
            push: Wire::bit(),
            place: Wire::word(address),
            pointer: Wire::word(pointer),
            resting: Wire::bit(),
            far_pointer: Wire::word(pointer),
            far_resting: Wire::bit(),
            far: FarView::new(pointer),
            count: Reg::word_reset(pointer),
            gray: Reg::word_reset(pointer).with(RegAttribute::DontTouch),
            not_full: Reg::bit_reset(),
            rests: Reg::starting_with(true).with(RegAttribute::DontTouch),
            next: Wire::word(pointer),
            next_gray: Wire::word(pointer),
            clear: Wire::bit(),
        }
    }
}

impl Logic for FifoWriter {
    #[kernel(suffix = self.place.width())]
    fn update(&mut self) {
        let (pointer, address) = (self.pointer.width(), self.place.width());
        self.clear.next = self.rst.val() && self.far.resting_seen.val();
        clocked!(self.clk, self.clear => self.count, self.gray);
        clocked!(self.clk, self.rst => self.not_full);
        clocked!(self.clk => self.far, self.rests);

        self.far.pointer.next = self.far_pointer.val();
        self.far.resting.next = self.far_resting.val();
        self.rests.d.next = self.rst.val();

        self.push.next = self.valid.val() && self.not_full.q.val() && !self.rst.val();
        self.next.next = self.count.q.val();
        if self.push.val() {
            self.next.next = self.count.q.val() + 1;
        }
        self.next_gray.next = self.next.val() ^ (self.next.val() >> 1);
        self.count.d.next = self.next.val();
        self.gray.d.next = self.next_gray.val();
        /// Full: the same place one round ahead, which in gray code differs in the two highest bits.
        self.not_full.d.next = self.next_gray.val()
            != cat!(
                !self.far.pointer_seen.val().slice(pointer - 2, 2),
                self.far.pointer_seen.val().slice(0, pointer - 2)
            );

        self.ready.next = self.not_full.q.val();
        self.place.next = self.count.q.val().slice(0, address);
        self.pointer.next = self.gray.q.val();
        self.resting.next = self.rests.q.val();
    }
}
