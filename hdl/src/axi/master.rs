//! The AXI4 port of a block that moves data.

use super::AxiShape;
use spinneret_verilog::prelude::*;

/// An AXI4 master (AMBA IHI 0022), in the order of the public design's ports.
///
/// It has no user signals, quality of service and regions. `AxiTarget` is for blocks that pass bursts on.
#[interface(AxiTarget, shape: AxiShape)]
pub struct AxiMaster {
    /// Id of the burst.
    pub awid: Wire<Out, { shape.id }>,
    /// Address of its first byte.
    pub awaddr: Wire<Out, { shape.address }>,
    /// Its beats, minus 1.
    pub awlen: Wire<Out, 8>,
    /// Bytes of a beat, as a power of two.
    pub awsize: Wire<Out, 3>,
    /// Kind of burst.
    pub awburst: Wire<Out, 2>,
    /// Exclusive access.
    pub awlock: Wire<Out, bool>,
    /// Memory type.
    pub awcache: Wire<Out, 4>,
    /// Protection type.
    pub awprot: Wire<Out, 3>,
    /// The address is there.
    pub awvalid: Wire<Out, bool>,
    /// The address is taken in this cycle.
    pub awready: Wire<In, bool>,
    /// Data.
    pub wdata: Wire<Out, { shape.data }>,
    /// Bytes of the beat that are written.
    pub wstrb: Wire<Out, { shape.strobes() }>,
    /// The beat is the last of its burst.
    pub wlast: Wire<Out, bool>,
    /// The beat is there.
    pub wvalid: Wire<Out, bool>,
    /// The beat is taken in this cycle.
    pub wready: Wire<In, bool>,
    /// Id of the burst that is answered.
    pub bid: Wire<In, { shape.id }>,
    /// How it went; 0 is OKAY.
    pub bresp: Wire<In, 2>,
    /// The response is there.
    pub bvalid: Wire<In, bool>,
    /// The response is taken in this cycle.
    pub bready: Wire<Out, bool>,
    /// Id of a read.
    pub arid: Wire<Out, { shape.id }>,
    /// Address of a read.
    pub araddr: Wire<Out, { shape.address }>,
    /// Beats of a read, minus 1.
    pub arlen: Wire<Out, 8>,
    /// Bytes of a beat of a read, as a power of two.
    pub arsize: Wire<Out, 3>,
    /// Kind of read.
    pub arburst: Wire<Out, 2>,
    /// Exclusive read.
    pub arlock: Wire<Out, bool>,
    /// Memory type of a read.
    pub arcache: Wire<Out, 4>,
    /// Protection type of a read.
    pub arprot: Wire<Out, 3>,
    /// The read is there.
    pub arvalid: Wire<Out, bool>,
    /// The read is taken in this cycle.
    pub arready: Wire<In, bool>,
    /// Id of the read that is answered.
    pub rid: Wire<In, { shape.id }>,
    /// Data that was read.
    pub rdata: Wire<In, { shape.data }>,
    /// How the read went.
    pub rresp: Wire<In, 2>,
    /// The beat is the last of its read.
    pub rlast: Wire<In, bool>,
    /// The beat that was read is there.
    pub rvalid: Wire<In, bool>,
    /// It is taken in this cycle.
    pub rready: Wire<Out, bool>,
}
