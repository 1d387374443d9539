//! Chooses a slot for the next packet.

use super::DatapathShape;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Gives the next packet a slot as soon as its class is known: a small one if the frame ends within that many
/// beats and one is free, else a large one. No clock of latency.
///
/// A packet that finds no slot is told so, and is discarded; with `stall` it waits.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct SlotChooser {
    /// As many beats as a small slot has are there; the first is that of a frame when a slot is taken.
    pub enough: Wire<In, bool>,
    /// Bit n: the n-th of them is there and ends its frame.
    pub last: Wire<In>,
    /// Free small slots.
    pub small: StreamIn,
    /// Free large slots.
    pub large: StreamIn,
    /// The slot of the next packet: {there is none, address}.
    pub m: StreamOut,
    short: Wire<Local, bool>,
    known: Wire<Local, bool>,
    use_small: Wire<Local, bool>,
    use_large: Wire<Local, bool>,
    none: Wire<Local, bool>,
    _shape: DatapathShape,
}

impl SlotChooser {
    /// A chooser for a datapath of the given shape.
    pub fn new(shape: DatapathShape) -> Self {
        let address = shape.dma.address;
        Self {
            enough: Wire::bit(),
            last: Wire::word(shape.small_beats),
            small: StreamIn::new(address),
            large: StreamIn::new(address),
            m: StreamOut::new(1 + address),
            short: Wire::bit(),
            known: Wire::bit(),
            use_small: Wire::bit(),
            use_large: Wire::bit(),
            none: Wire::bit(),
            _shape: shape,
        }
    }
}

impl Logic for SlotChooser {
    #[kernel]
    fn update(&mut self) {
        self.short.next = self.last.val().any();
        self.known.next = self.short.val() || self.enough.val();
        self.use_small.next = self.short.val() && self.small.valid.val();
        self.use_large.next = !self.use_small.val() && self.large.valid.val();
        self.none.next = !self.use_small.val() && !self.large.valid.val();
        if self._shape.stall {
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
