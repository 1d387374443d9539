//! Chooses a slot for the next packet.

use super::DatapathShape;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Gives the next packet a slot as soon as its class is known: a small one if the frame ends within that many
/// beats and one is free, else a large one. No clock of latency.
///
/// A packet that finds no slot is marked and discarded; with `stall` it waits.
#[module(no_clock, shape: DatapathShape, address = shape.dma.address)]
pub struct SlotChooser {
    /// As many beats as a small slot has are there; the first is that of a frame when a slot is taken.
    pub enough: Wire<In, bool>,
    /// Bit n: the n-th of them is there and ends its frame.
    pub last: Wire<In, { shape.small_beats() }>,
    /// Free small slots.
    pub small: StreamIn<{ address }>,
    /// Free large slots.
    pub large: StreamIn<{ address }>,
    /// The slot of the next packet: {there is none, address}.
    pub m: StreamOut<{ 1 + address }>,
}

#[kernel(SlotChooser)]
fn update() {
    let short = last.any();
    let known = short || enough;
    let use_small = short && small.valid;
    let use_large = !use_small && large.valid;
    let none = !use_small && !large.valid;
    m.valid = if shape.path.stall { known && !none } else { known };
    m.data = cat!(none, if use_small { small.data } else { large.data });
    small.ready = m.ready && use_small;
    large.ready = m.ready && use_large;
}
