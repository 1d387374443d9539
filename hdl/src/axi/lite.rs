//! AXI4-Lite (AMBA IHI 0022, section B1): accesses of one word, without ids or bursts.

use spinneret_verilog::prelude::*;

/// An AXI4-Lite master: the side that asks.
#[interface(AxiLiteSlave, address: usize, data: usize)]
pub struct AxiLiteMaster {
    /// Address of a write.
    pub awaddr: Wire<Out, { address }>,
    /// Protection type of a write.
    pub awprot: Wire<Out, 3>,
    /// The address is there.
    pub awvalid: Wire<Out, bool>,
    /// The address is taken in this cycle.
    pub awready: Wire<In, bool>,
    /// Data.
    pub wdata: Wire<Out, { data }>,
    /// Bytes of the word that are written.
    pub wstrb: Wire<Out, { data / 8 }>,
    /// The data is there.
    pub wvalid: Wire<Out, bool>,
    /// The data is taken in this cycle.
    pub wready: Wire<In, bool>,
    /// How the write went; 0 is OKAY.
    pub bresp: Wire<In, 2>,
    /// The response is there.
    pub bvalid: Wire<In, bool>,
    /// The response is taken in this cycle.
    pub bready: Wire<Out, bool>,
    /// Address of a read.
    pub araddr: Wire<Out, { address }>,
    /// Protection type of a read.
    pub arprot: Wire<Out, 3>,
    /// The address is there.
    pub arvalid: Wire<Out, bool>,
    /// The address is taken in this cycle.
    pub arready: Wire<In, bool>,
    /// Data that was read.
    pub rdata: Wire<In, { data }>,
    /// How the read went; 0 is OKAY.
    pub rresp: Wire<In, 2>,
    /// The data is there.
    pub rvalid: Wire<In, bool>,
    /// The data is taken in this cycle.
    pub rready: Wire<Out, bool>,
}
