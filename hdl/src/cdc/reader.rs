//! The side of an asynchronous FIFO where elements go out.

use super::far_view::FarView;
use crate::stream::StreamOut;
use spinneret_verilog::prelude::*;

/// The read side of an asynchronous FIFO: gives elements, from a register, as soon as it sees them.
#[hardware(width: usize, address: usize, pointer = address + 1)]
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    count: Reg<{ pointer }, Reset>,
    #[new(Reg::word_reset(pointer).with(RegAttribute::DontTouch))]
    gray: Reg,
    held: Reg<bool, Reset>,
    data: Reg<{ width }>,
    #[new(Reg::starting_with(true).with(RegAttribute::DontTouch))]
    rests: Reg<bool>,
    next: Wire<Local, { pointer }>,
    /// An element goes from the memory to the output register.
    fetch: Wire<Local, bool>,
    /// Both sides are in reset, so a change in more than one bit is not read.
    clear: Wire<Local, bool>,
}

impl Logic for FifoReader {
    #[kernel(
        parameters(DEPTH = 1 << self.place.width(), WIDTH = self.element.width()),
        numbers(ADDRESS = clog2(DEPTH), POINTER = clog2(DEPTH) + 1)
    )]
    fn update(&mut self) {
        let address = self.place.width();
        self.clear.next = self.rst.val() && self.far.resting_seen.val();
        clocked!(self.clk, self.clear => self.count, self.gray);
        clocked!(self.clk, self.rst => self.held);
        clocked!(self.clk => self.far, self.rests, self.data);

        self.far.pointer.next = self.far_pointer.val();
        self.far.resting.next = self.far_resting.val();
        self.rests.d.next = self.rst.val();

        self.fetch.next = self.gray.q.val() != self.far.pointer_seen.val()
            && (!self.held.q.val() || self.m.ready.val())
            && !self.rst.val();
        self.next.next = self.count.q.val();
        if self.fetch.val() {
            self.next.next = self.count.q.val() + 1;
        }
        self.count.d.next = self.next.val();
        self.gray.d.next = self.next.val() ^ (self.next.val() >> 1);
        if self.fetch.val() {
            self.data.d.next = self.element.val();
        }
        if self.fetch.val() {
            self.held.d.next = true;
        } else if self.m.ready.val() {
            self.held.d.next = false;
        }

        self.place.next = self.count.q.val().slice(0, address);
        self.m.valid.next = self.held.q.val();
        self.m.data.next = self.data.q.val();
        self.pointer.next = self.gray.q.val();
        self.resting.next = self.rests.q.val();
    }
}
