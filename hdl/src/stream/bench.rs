//! Runs kernels in Rust, cycle by cycle, for the tests of the stream primitives.
//!
//! These tests say what a kernel means; the testbenches in `tb/` check the generated text at length.

use super::{Fifo, FrameArbiter, FrameDemux, FrameFifo, OutputQueue, PassFifo, ReadySlice, SkidBuffer};
use spinneret_verilog::prelude::*;

/// Passes over a block until nothing changes; a block of these here needs fewer than ten.
const PASSES: usize = 100;

/// A block with clock and reset.
pub(super) trait Clocking: Block {
    fn clk(&mut self) -> &mut Signal<In, Clock>;
    fn rst(&mut self) -> &mut Wire<In, Bit>;
}

macro_rules! clocking {
    ($($block:ty)+) => {$(
        impl Clocking for $block {
            fn clk(&mut self) -> &mut Signal<In, Clock> {
                &mut self.clk
            }
            fn rst(&mut self) -> &mut Wire<In, Bit> {
                &mut self.rst
            }
        }
    )+};
}

clocking! { Fifo FrameArbiter FrameDemux FrameFifo OutputQueue PassFifo ReadySlice SkidBuffer }

/// Lets the block follow its inputs; afterwards its outputs are those before the rising edge.
pub(super) fn settle(block: &mut impl Clocking) {
    block.clk().next = false.into();
    assert!(simulate(block, PASSES), "the block does not settle");
}

/// The rising edge.
pub(super) fn edge(block: &mut impl Clocking) {
    block.clk().next = true.into();
    assert!(simulate(block, PASSES), "the block does not settle");
}

/// Two cycles of reset and one after it, in which registered ready signals rise.
pub(super) fn reset(block: &mut impl Clocking) {
    block.connect_all();
    for level in [true, true, false] {
        block.rst().next = level;
        settle(block);
        edge(block);
    }
}

/// Sends elements through a block with ports `s` and `m`, valid and ready whenever possible, and returns
/// each element that came out with the number of the cycle.
macro_rules! stream_through {
    ($block:expr, $elements:expr, $cycles:expr) => {{
        let mut elements = $elements.into_iter().peekable();
        let mut received = Vec::new();
        for cycle in 0..$cycles {
            $block.s.valid.next = elements.peek().is_some();
            $block.s.data.next = elements.peek().copied().unwrap_or(0_u64).into();
            $block.m.ready.next = true;
            bench::settle(&mut $block);
            if $block.s.ready.val() {
                elements.next();
            }
            if $block.m.valid.val() {
                received.push((cycle, $block.m.data.val().low_u64()));
            }
            bench::edge(&mut $block);
        }
        received
    }};
}
pub(super) use stream_through;
