//! The channels of an AXI4 or AXI4-Lite port, each from the side that has something to say.
//!
//! An access of AXI4-Lite is a burst of one beat; what would say more about it is not there.

use super::{ATOP_BITS, AxiShape, KIND_BITS, LENGTH_BITS, SIZE_BITS};
use spinneret_verilog::prelude::*;

/// Bursts: AW, or AR without atomic operations.
#[interface(AxiAddressIn, shape: AxiShape, user: usize, atop: bool)]
pub struct AxiAddressOut {
    /// Id of the burst.
    pub id: Optional<Wire<Out, { shape.id }>, { shape.has_bursts() }>,
    /// Address of its first byte.
    pub addr: Wire<Out, { shape.address }>,
    /// Its beats, minus 1.
    pub len: Optional<Wire<Out, { LENGTH_BITS }>, { shape.has_bursts() }>,
    /// Bytes of a beat, as a power of two.
    pub size: Optional<Wire<Out, { SIZE_BITS }>, { shape.has_bursts() }>,
    /// Kind of burst.
    pub burst: Optional<Wire<Out, { KIND_BITS }>, { shape.has_bursts() }>,
    /// Exclusive access.
    pub lock: Optional<Wire<Out, bool>, { shape.has_bursts() }>,
    /// Memory type.
    pub cache: Optional<Wire<Out, 4>, { shape.has_bursts() }>,
    /// Protection type.
    pub prot: Wire<Out, 3>,
    /// Quality of service.
    pub qos: Optional<Wire<Out, 4>, { shape.extras.routing }>,
    /// Region.
    pub region: Optional<Wire<Out, 4>, { shape.extras.routing }>,
    /// User signal.
    pub user: Optional<Wire<Out, { user }>, { user > 0 }>,
    /// Atomic operation.
    pub atop: Optional<Wire<Out, { ATOP_BITS }>, { atop }>,
    /// The burst is there.
    pub valid: Wire<Out, bool>,
    /// The burst is taken in this cycle.
    pub ready: Wire<In, bool>,
}

/// Data of writes: W.
#[interface(AxiDataIn, shape: AxiShape)]
pub struct AxiDataOut {
    /// Data.
    pub data: Wire<Out, { shape.data }>,
    /// Bytes of the beat that are written.
    pub strb: Wire<Out, { shape.strobes() }>,
    /// The beat is the last of its burst.
    pub last: Optional<Wire<Out, bool>, { shape.has_bursts() }>,
    /// User signal.
    pub user: Optional<Wire<Out, { shape.extras.user.w }>, { shape.extras.user.w > 0 }>,
    /// The beat is there.
    pub valid: Wire<Out, bool>,
    /// The beat is taken in this cycle.
    pub ready: Wire<In, bool>,
}

/// Answers to writes: B.
#[interface(AxiResponseIn, shape: AxiShape)]
pub struct AxiResponseOut {
    /// Id of the burst that is answered.
    pub id: Optional<Wire<Out, { shape.id }>, { shape.has_bursts() }>,
    /// How it went; 0 is OKAY.
    pub resp: Wire<Out, 2>,
    /// User signal.
    pub user: Optional<Wire<Out, { shape.extras.user.b }>, { shape.extras.user.b > 0 }>,
    /// The response is there.
    pub valid: Wire<Out, bool>,
    /// The response is taken in this cycle.
    pub ready: Wire<In, bool>,
}

/// Answers to reads: R.
#[interface(AxiReadIn, shape: AxiShape)]
pub struct AxiReadOut {
    /// Id of the read that is answered.
    pub id: Optional<Wire<Out, { shape.id }>, { shape.has_bursts() }>,
    /// Data that was read.
    pub data: Wire<Out, { shape.data }>,
    /// How the read went; 0 is OKAY.
    pub resp: Wire<Out, 2>,
    /// The beat is the last of its read.
    pub last: Optional<Wire<Out, bool>, { shape.has_bursts() }>,
    /// User signal.
    pub user: Optional<Wire<Out, { shape.extras.user.r }>, { shape.extras.user.r > 0 }>,
    /// The beat is there.
    pub valid: Wire<Out, bool>,
    /// The beat is taken in this cycle.
    pub ready: Wire<In, bool>,
}
