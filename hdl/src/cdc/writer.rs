//! The side of an asynchronous FIFO where elements come in.

use super::far_view::FarView;
use spinneret_verilog::prelude::*;

/// The write side of an asynchronous FIFO: takes elements while it sees room.
#[hardware(address: usize, pointer = address + 1)]
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
    count: Reg<{ pointer }, Reset>,
    #[new(Reg::word_reset(pointer).with(RegAttribute::DontTouch))]
    gray: Reg,
    not_full: Reg<bool, Reset>,
    #[new(Reg::starting_with(true).with(RegAttribute::DontTouch))]
    rests: Reg<bool>,
    next: Wire<Local, { pointer }>,
    next_gray: Wire<Local, { pointer }>,
    /// Both sides are in reset, so a change in more than one bit is not read.
    clear: Wire<Local, bool>,
}

impl Logic for FifoWriter {
    #[kernel(
        parameters(DEPTH = 1 << self.place.width()),
        numbers(ADDRESS = clog2(DEPTH), POINTER = clog2(DEPTH) + 1)
    )]
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
