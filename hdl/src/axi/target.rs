//! The AXI4 port of a block that passes on what a master asks.

use super::AxiShape;
use spinneret_verilog::prelude::*;

/// The slave's side of an [`AxiMaster`](super::AxiMaster), for blocks that pass bursts on.
///
/// It has no user signals, quality of service and regions, as the master has none.
#[hardware(shape: AxiShape)]
#[derive(LogicInterface, Clone, Debug)]
pub struct AxiTarget {
    /// Id of the burst.
    pub awid: Wire<In, { shape.id }>,
    /// Address of its first byte.
    pub awaddr: Wire<In, { shape.address }>,
    /// Its beats, minus 1.
    pub awlen: Wire<In, 8>,
    /// Bytes of a beat, as a power of two.
    pub awsize: Wire<In, 3>,
    /// Kind of burst.
    pub awburst: Wire<In, 2>,
    /// Exclusive access.
    pub awlock: Wire<In, bool>,
    /// Memory type.
    pub awcache: Wire<In, 4>,
    /// Protection type.
    pub awprot: Wire<In, 3>,
    /// The address is there.
    pub awvalid: Wire<In, bool>,
    /// The address is taken in this cycle.
    pub awready: Wire<Out, bool>,
    /// Data.
    pub wdata: Wire<In, { shape.data }>,
    /// Bytes of the beat that are written.
    pub wstrb: Wire<In, { shape.strobes() }>,
    /// The beat is the last of its burst.
    pub wlast: Wire<In, bool>,
    /// The beat is there.
    pub wvalid: Wire<In, bool>,
    /// The beat is taken in this cycle.
    pub wready: Wire<Out, bool>,
    /// Id of the burst that is answered.
    pub bid: Wire<Out, { shape.id }>,
    /// How it went; 0 is OKAY.
    pub bresp: Wire<Out, 2>,
    /// The response is there.
    pub bvalid: Wire<Out, bool>,
    /// The response is taken in this cycle.
    pub bready: Wire<In, bool>,
    /// Id of a read.
    pub arid: Wire<In, { shape.id }>,
    /// Address of a read.
    pub araddr: Wire<In, { shape.address }>,
    /// Beats of a read, minus 1.
    pub arlen: Wire<In, 8>,
    /// Bytes of a beat of a read, as a power of two.
    pub arsize: Wire<In, 3>,
    /// Kind of read.
    pub arburst: Wire<In, 2>,
    /// Exclusive read.
    pub arlock: Wire<In, bool>,
    /// Memory type of a read.
    pub arcache: Wire<In, 4>,
    /// Protection type of a read.
    pub arprot: Wire<In, 3>,
    /// The read is there.
    pub arvalid: Wire<In, bool>,
    /// The read is taken in this cycle.
    pub arready: Wire<Out, bool>,
    /// Id of the read that is answered.
    pub rid: Wire<Out, { shape.id }>,
    /// Data that was read.
    pub rdata: Wire<Out, { shape.data }>,
    /// How the read went.
    pub rresp: Wire<Out, 2>,
    /// The beat is the last of its read.
    pub rlast: Wire<Out, bool>,
    /// The beat that was read is there.
    pub rvalid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub rready: Wire<In, bool>,
}
