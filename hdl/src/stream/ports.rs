//! Port bundles of packed streams and frame streams.
//!
//! Inside the design a stream carries one packed word a beat; AXI4-Stream signals are packed and
//! unpacked at the border of the big blocks ([`super::axis`]). All streams obey the ready/valid
//! rules of AXI4-Stream (AMBA IHI 0051, section 2.2): valid never waits for ready, and the payload
//! is stable while valid is high and ready is low.

use spinneret_verilog::prelude::*;

/// A stream out of a block.
#[interface(StreamIn, width: usize)]
pub struct StreamOut {
    /// Payload.
    pub data: Wire<Out, { width }>,
    /// The payload is there.
    pub valid: Wire<Out, bool>,
    /// The payload is taken in this cycle.
    pub ready: Wire<In, bool>,
}

/// A stream of frames out of a block.
#[interface(FrameIn, width: usize)]
pub struct FrameOut {
    /// Payload of the beat.
    pub data: Wire<Out, { width }>,
    /// The beat is the last of its frame.
    pub last: Wire<Out, bool>,
    /// The beat is there.
    pub valid: Wire<Out, bool>,
    /// The beat is taken in this cycle.
    pub ready: Wire<In, bool>,
}
