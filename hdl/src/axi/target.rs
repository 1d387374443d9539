//! The AXI4 port of a block that passes on what a master asks.

use super::AxiShape;
use spinneret_verilog::prelude::*;

/// The slave's side of an [`AxiMaster`](super::AxiMaster), for blocks that pass bursts on.
///
/// It has no user signals, quality of service and regions, as the master has none.
#[derive(LogicInterface, Clone, Debug)]
pub struct AxiTarget {
    /// Id of the burst.
    pub awid: Wire<In>,
    /// Address of its first byte.
    pub awaddr: Wire<In>,
    /// Its beats, minus 1.
    pub awlen: Wire<In>,
    /// Bytes of a beat, as a power of two.
    pub awsize: Wire<In>,
    /// Kind of burst.
    pub awburst: Wire<In>,
    /// Exclusive access.
    pub awlock: Wire<In, bool>,
    /// Memory type.
    pub awcache: Wire<In>,
    /// Protection type.
    pub awprot: Wire<In>,
    /// The address is there.
    pub awvalid: Wire<In, bool>,
    /// The address is taken in this cycle.
    pub awready: Wire<Out, bool>,
    /// Data.
    pub wdata: Wire<In>,
    /// Bytes of the beat that are written.
    pub wstrb: Wire<In>,
    /// The beat is the last of its burst.
    pub wlast: Wire<In, bool>,
    /// The beat is there.
    pub wvalid: Wire<In, bool>,
    /// The beat is taken in this cycle.
    pub wready: Wire<Out, bool>,
    /// Id of the burst that is answered.
    pub bid: Wire<Out>,
    /// How it went; 0 is OKAY.
    pub bresp: Wire<Out>,
    /// The response is there.
    pub bvalid: Wire<Out, bool>,
    /// The response is taken in this cycle.
    pub bready: Wire<In, bool>,
    /// Id of a read.
    pub arid: Wire<In>,
    /// Address of a read.
    pub araddr: Wire<In>,
    /// Beats of a read, minus 1.
    pub arlen: Wire<In>,
    /// Bytes of a beat of a read, as a power of two.
    pub arsize: Wire<In>,
    /// Kind of read.
    pub arburst: Wire<In>,
    /// Exclusive read.
    pub arlock: Wire<In, bool>,
    /// Memory type of a read.
    pub arcache: Wire<In>,
    /// Protection type of a read.
    pub arprot: Wire<In>,
    /// The read is there.
    pub arvalid: Wire<In, bool>,
    /// The read is taken in this cycle.
    pub arready: Wire<Out, bool>,
    /// Id of the read that is answered.
    pub rid: Wire<Out>,
    /// Data that was read.
    pub rdata: Wire<Out>,
    /// How the read went.
    pub rresp: Wire<Out>,
    /// The beat is the last of its read.
    pub rlast: Wire<Out, bool>,
    /// The beat that was read is there.
    pub rvalid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub rready: Wire<In, bool>,
}

impl AxiTarget {
    /// Ports of the given widths.
    pub fn new(shape: AxiShape) -> Self {
        Self {
            awid: Wire::word(shape.id),
            awaddr: Wire::word(shape.address),
            awlen: Wire::word(8),
            awsize: Wire::word(3),
            awburst: Wire::word(2),
            awlock: Wire::bit(),
            awcache: Wire::word(4),
            awprot: Wire::word(3),
            awvalid: Wire::bit(),
            awready: Wire::bit(),
            wdata: Wire::word(shape.data),
            wstrb: Wire::word(shape.strobes()),
            wlast: Wire::bit(),
            wvalid: Wire::bit(),
            wready: Wire::bit(),
            bid: Wire::word(shape.id),
            bresp: Wire::word(2),
            bvalid: Wire::bit(),
            bready: Wire::bit(),
            arid: Wire::word(shape.id),
            araddr: Wire::word(shape.address),
            arlen: Wire::word(8),
            arsize: Wire::word(3),
            arburst: Wire::word(2),
            arlock: Wire::bit(),
            arcache: Wire::word(4),
            arprot: Wire::word(3),
            arvalid: Wire::bit(),
            arready: Wire::bit(),
            rid: Wire::word(shape.id),
            rdata: Wire::word(shape.data),
            rresp: Wire::word(2),
            rlast: Wire::bit(),
            rvalid: Wire::bit(),
            rready: Wire::bit(),
        }
    }
}
