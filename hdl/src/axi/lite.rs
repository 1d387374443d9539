//! AXI4-Lite (AMBA IHI 0022, section B1): accesses of one word, without ids or bursts.

use spinneret_verilog::prelude::*;

/// The type of a port: one bit, or a word.
macro_rules! port_type {
    ($direction:ident bit) => { Wire<$direction, bool> };
    ($direction:ident $width:expr) => { Wire<$direction> };
}

/// A port: one bit, or a word whose width follows from the widths of an address and of data.
macro_rules! port {
    (bit) => {
        Wire::bit()
    };
    ($width:expr) => {
        Wire::word($width)
    };
}

/// A bundle of the ports, and its constructor.
///
/// A macro cannot see the names of its caller's variables, so the caller names the two widths.
macro_rules! bundle {
    (
        $(#[$doc:meta])+ $name:ident($address:ident, $data:ident);
        $($(#[$port_doc:meta])+ $port:ident: $direction:ident [$($kind:tt)+],)+
    ) => {
        $(#[$doc])+
        #[derive(LogicInterface, Clone, Debug)]
        pub struct $name {
            $($(#[$port_doc])+ pub $port: port_type!($direction $($kind)+),)+
        }

        impl $name {
            /// Ports for an address and data of the given widths in bits.
            pub fn new($address: usize, $data: usize) -> Self {
                Self { $($port: port!($($kind)+),)+ }
            }
        }
    };
}

bundle! {
    /// An AXI4-Lite slave: the side that is asked.
    AxiLiteSlave(address, data);
    /// Address of a write.
    awaddr: In [address],
    /// Protection type of a write.
    awprot: In [3],
    /// The address is there.
    awvalid: In [bit],
    /// The address is taken in this cycle.
    awready: Out [bit],
    /// Data.
    wdata: In [data],
    /// Bytes of the word that are written.
    wstrb: In [data / 8],
    /// The data is there.
    wvalid: In [bit],
    /// The data is taken in this cycle.
    wready: Out [bit],
    /// How the write went; 0 is OKAY.
    bresp: Out [2],
    /// The response is there.
    bvalid: Out [bit],
    /// The response is taken in this cycle.
    bready: In [bit],
    /// Address of a read.
    araddr: In [address],
    /// Protection type of a read.
    arprot: In [3],
    /// The address is there.
    arvalid: In [bit],
    /// The address is taken in this cycle.
    arready: Out [bit],
    /// Data that was read.
    rdata: Out [data],
    /// How the read went; 0 is OKAY.
    rresp: Out [2],
    /// The data is there.
    rvalid: Out [bit],
    /// The data is taken in this cycle.
    rready: In [bit],
}

bundle! {
    /// An AXI4-Lite master: the side that asks.
    AxiLiteMaster(address, data);
    /// Address of a write.
    awaddr: Out [address],
    /// Protection type of a write.
    awprot: Out [3],
    /// The address is there.
    awvalid: Out [bit],
    /// The slave takes the address in this cycle.
    awready: In [bit],
    /// Data.
    wdata: Out [data],
    /// Bytes of the word that are written.
    wstrb: Out [data / 8],
    /// The data is there.
    wvalid: Out [bit],
    /// The slave takes the data in this cycle.
    wready: In [bit],
    /// How the write went; 0 is OKAY.
    bresp: In [2],
    /// The response is there.
    bvalid: In [bit],
    /// The response is taken in this cycle.
    bready: Out [bit],
    /// Address of a read.
    araddr: Out [address],
    /// Protection type of a read.
    arprot: Out [3],
    /// The address is there.
    arvalid: Out [bit],
    /// The slave takes the address in this cycle.
    arready: In [bit],
    /// Data that was read.
    rdata: In [data],
    /// How the read went; 0 is OKAY.
    rresp: In [2],
    /// The data is there.
    rvalid: In [bit],
    /// The data is taken in this cycle.
    rready: Out [bit],
}

/// Does the same to every port of a master and the port of the same name of a slave.
macro_rules! each_port {
    ($master:ident $method:ident $slave:ident) => {
        each_port! { $master $method $slave:
            awaddr awprot awvalid awready wdata wstrb wvalid wready bresp bvalid bready
            araddr arprot arvalid arready rdata rresp rvalid rready
        }
    };
    ($master:ident $method:ident $slave:ident: $($port:ident)+) => {
        $($master.$port.$method(&mut $slave.$port);)+
    };
}

impl AxiLiteMaster {
    /// Feeds the other side.
    pub fn join(&mut self, other: &mut AxiLiteSlave) {
        each_port!(self join other);
    }
}
