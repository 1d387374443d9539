//! Port bundles of packed streams and frame streams.
//!
//! Inside the design a stream carries one packed word a beat; AXI4-Stream signals are packed and
//! unpacked at the border of the big blocks ([`super::axis`]). All streams obey the ready/valid
//! rules of AXI4-Stream (AMBA IHI 0051, section 2.2): valid never waits for ready, and the payload
//! is stable while valid is high and ready is low.

use spinneret_verilog::prelude::*;

/// A stream into a block.
#[derive(LogicInterface, Clone, Debug)]
pub struct StreamIn {
    /// Payload.
    pub data: Wire<In, Word>,
    /// The payload is there.
    pub valid: Wire<In, bool>,
    /// The block takes the payload in this cycle.
    pub ready: Wire<Out, bool>,
}

/// A stream out of a block.
#[derive(LogicInterface, Clone, Debug)]
pub struct StreamOut {
    /// Payload.
    pub data: Wire<Out, Word>,
    /// The payload is there.
    pub valid: Wire<Out, bool>,
    /// The other side takes the payload in this cycle.
    pub ready: Wire<In, bool>,
}

/// A stream of frames into a block.
#[derive(LogicInterface, Clone, Debug)]
pub struct FrameIn {
    /// Payload of the beat.
    pub data: Wire<In, Word>,
    /// The beat is the last of its frame.
    pub last: Wire<In, bool>,
    /// The beat is there.
    pub valid: Wire<In, bool>,
    /// The block takes the beat in this cycle.
    pub ready: Wire<Out, bool>,
}

/// A stream of frames out of a block.
#[derive(LogicInterface, Clone, Debug)]
pub struct FrameOut {
    /// Payload of the beat.
    pub data: Wire<Out, Word>,
    /// The beat is the last of its frame.
    pub last: Wire<Out, bool>,
    /// The beat is there.
    pub valid: Wire<Out, bool>,
    /// The other side takes the beat in this cycle.
    pub ready: Wire<In, bool>,
}

macro_rules! bundle {
    ($($name:ident { $($flag:ident)* })+) => {$(
        impl $name {
            /// Ports for a payload of `width` bits.
            pub fn new(width: usize) -> Self {
                Self { data: Wire::word(width), $($flag: Wire::bit(),)* valid: Wire::bit(), ready: Wire::bit() }
            }
        }
    )+};
}

bundle! {
    StreamIn {}
    StreamOut {}
    FrameIn { last }
    FrameOut { last }
}

impl StreamOut {
    /// Feeds the other side.
    pub fn join(&mut self, other: &mut StreamIn) {
        self.data.join(&mut other.data);
        self.valid.join(&mut other.valid);
        self.ready.join(&mut other.ready);
    }
}

impl FrameOut {
    /// Feeds the other side.
    pub fn join(&mut self, other: &mut FrameIn) {
        self.data.join(&mut other.data);
        self.last.join(&mut other.last);
        self.valid.join(&mut other.valid);
        self.ready.join(&mut other.ready);
    }
}
