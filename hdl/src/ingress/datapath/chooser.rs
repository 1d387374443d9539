//! Chooses a slot for the next packet.

use super::DatapathShape;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Gives the next packet a slot as soon as its class is known: a small one if the frame ends within that many
/// beats and one is free, else a large one. No clock of latency.
///
/// A packet that finds no slot is marked and discarded; with `stall` it waits.
#[hardware(shape: DatapathShape, address = shape.dma.address)]
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    short: Wire<Local, bool>,
    known: Wire<Local, bool>,
    use_small: Wire<Local, bool>,
    use_large: Wire<Local, bool>,
    none: Wire<Local, bool>,
}

impl Logic for SlotChooser {
    #[kernel]
    fn update(&mut self) {
        self.short.next = self.last.val().any();
        self.known.next = self.short.val() || self.enough.val();
        self.use_small.next = self.short.val() && self.small.valid.val();
        self.use_large.next = !self.use_small.val() && self.large.valid.val();
        self.none.next = !self.use_small.val() && !self.large.valid.val();
        if self._shape.path.stall {
            self.m.valid.next = self.known.val() && !self.none.val();
        } else {
            self.m.valid.next = self.known.val();
        }
        if self.use_small.val() {
            self.m.data.next = cat!(self.none.val(), self.small.data.val());
        } else {
            self.m.data.next = cat!(self.none.val(), self.large.data.val());
        }
        self.small.ready.next = self.m.ready.val() && self.use_small.val();
        self.large.ready.next = self.m.ready.val() && self.use_large.val();
    }
}
