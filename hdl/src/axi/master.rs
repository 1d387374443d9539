//! The AXI4 port of a block that moves data.

use super::{AxiShape, AxiTarget};
use spinneret_verilog::prelude::*;

/// An AXI4 master (AMBA IHI 0022), in the order of the public design's ports.
#[derive(LogicInterface, Clone, Debug)]
pub struct AxiMaster {
    /// Id of the burst.
    pub awid: Wire<Out>,
    /// Address of its first byte.
    pub awaddr: Wire<Out>,
    /// Its beats, minus 1.
    pub awlen: Wire<Out>,
    /// Bytes of a beat, as a power of two.
    pub awsize: Wire<Out>,
    /// Kind of burst.
    pub awburst: Wire<Out>,
    /// Exclusive access.
    pub awlock: Wire<Out, bool>,
    /// Memory type.
    pub awcache: Wire<Out>,
    /// Protection type.
    pub awprot: Wire<Out>,
    /// The address is there.
    pub awvalid: Wire<Out, bool>,
    /// The slave takes the address in this cycle.
    pub awready: Wire<In, bool>,
    /// Data.
    pub wdata: Wire<Out>,
    /// Bytes of the beat that are written.
    pub wstrb: Wire<Out>,
    /// The beat is the last of its burst.
    pub wlast: Wire<Out, bool>,
    /// The beat is there.
    pub wvalid: Wire<Out, bool>,
    /// The slave takes the beat in this cycle.
    pub wready: Wire<In, bool>,
    /// Id of the burst that is answered.
    pub bid: Wire<In>,
    /// How it went; 0 is OKAY.
    pub bresp: Wire<In>,
    /// The response is there.
    pub bvalid: Wire<In, bool>,
    /// The response is taken in this cycle.
    pub bready: Wire<Out, bool>,
    /// Id of a read.
    pub arid: Wire<Out>,
    /// Address of a read.
    pub araddr: Wire<Out>,
    /// Beats of a read, minus 1.
    pub arlen: Wire<Out>,
    /// Bytes of a beat of a read, as a power of two.
    pub arsize: Wire<Out>,
    /// Kind of read.
    pub arburst: Wire<Out>,
    /// Exclusive read.
    pub arlock: Wire<Out, bool>,
    /// Memory type of a read.
    pub arcache: Wire<Out>,
    /// Protection type of a read.
    pub arprot: Wire<Out>,
    /// The read is there.
    pub arvalid: Wire<Out, bool>,
    /// The slave takes the read in this cycle.
    pub arready: Wire<In, bool>,
    /// Id of the read that is answered.
    pub rid: Wire<In>,
    /// Data that was read.
    pub rdata: Wire<In>,
    /// How the read went.
    pub rresp: Wire<In>,
    /// The beat is the last of its read.
    pub rlast: Wire<In, bool>,
    /// The beat that was read is there.
    pub rvalid: Wire<In, bool>,
    /// It is taken in this cycle.
    pub rready: Wire<Out, bool>,
}

/// Does the same to every port of a master and the port of the same name of its other side.
macro_rules! each_port {
    ($master:ident $method:ident $target:ident) => {
        each_port! { $master $method $target:
            awid awaddr awlen awsize awburst awlock awcache awprot awvalid awready wdata wstrb
            wlast wvalid wready bid bresp bvalid bready arid araddr arlen arsize arburst arlock
            arcache arprot arvalid arready rid rdata rresp rlast rvalid rready
        }
    };
    ($master:ident $method:ident $target:ident: $($port:ident)+) => {
        $($master.$port.$method(&mut $target.$port);)+
    };
}

impl AxiMaster {
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
    /// Feeds the other side.
    pub fn join(&mut self, other: &mut AxiTarget) {
        each_port!(self join other);
    }
}
