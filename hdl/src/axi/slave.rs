//! The AXI4 ports of a block that is asked for data, in the order of the public design's ports.

use super::AxiShape;
use spinneret_verilog::prelude::*;

/// Widths of the user signals in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserWidths {
    /// AWUSER.
    pub aw: usize,
    /// WUSER.
    pub w: usize,
    /// BUSER.
    pub b: usize,
    /// ARUSER.
    pub ar: usize,
    /// RUSER.
    pub r: usize,
}

/// A port of one bit, or a word whose width a function of the port's widths gives.
macro_rules! port {
    ($direction:ident bit) => { Wire<$direction, bool> };
    ($direction:ident $width:tt) => { Wire<$direction> };
    ($shape:ident $user:ident bit) => { Wire::bit() };
    ($shape:ident $user:ident $width:tt) => { Wire::word(evaluate($width, $shape, $user)) };
}

/// A bundle of the ports behind its name.
macro_rules! bundle {
    ($(#[$doc:meta])+ $name:ident; $($(#[$port_doc:meta])+ $port:ident: $direction:ident $kind:tt,)+) => {
        $(#[$doc])+
        #[derive(LogicInterface, Clone, Debug)]
        pub struct $name {
            $($(#[$port_doc])+ pub $port: port!($direction $kind),)+
        }

        impl $name {
            /// Ports of the given widths.
            pub fn new(shape: AxiShape, user: UserWidths) -> Self {
                Self { $($port: port!(shape user $kind),)+ }
            }
        }
    };
}

/// Passes the ports of the write channels on to another macro, behind what it is given.
macro_rules! write_channels {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*
            /// Id of a write burst.
            awid: In (|shape, _| shape.id),
            /// Address of its first byte.
            awaddr: In (|shape, _| shape.address),
            /// Its beats, minus 1.
            awlen: In (|_, _| 8),
            /// Bytes of a beat, as a power of two.
            awsize: In (|_, _| 3),
            /// Kind of burst.
            awburst: In (|_, _| 2),
            /// Exclusive access; not looked at.
            awlock: In bit,
            /// Memory type; not looked at.
            awcache: In (|_, _| 4),
            /// Protection type; not looked at.
            awprot: In (|_, _| 3),
            /// Quality of service; not looked at.
            awqos: In (|_, _| 4),
            /// Region; not looked at.
            awregion: In (|_, _| 4),
            /// Not looked at.
            awuser: In (|_, user| user.aw),
            /// The address is there.
            awvalid: In bit,
            /// The address is taken in this cycle.
            awready: Out bit,
            /// Data.
            wdata: In (|shape, _| shape.data),
            /// Bytes of the beat that are written.
            wstrb: In (|shape, _| shape.strobes()),
            /// The beat is the last of its burst.
            wlast: In bit,
            /// Not looked at.
            wuser: In (|_, user| user.w),
            /// The beat is there.
            wvalid: In bit,
            /// The beat is taken in this cycle.
            wready: Out bit,
            /// Id of the burst that is answered.
            bid: Out (|shape, _| shape.id),
            /// How it went; 0 is OKAY.
            bresp: Out (|_, _| 2),
            /// Always 0.
            buser: Out (|_, user| user.b),
            /// The response is there.
            bvalid: Out bit,
            /// The response is taken in this cycle.
            bready: In bit,
        }
    };
}

/// Passes the ports of the read channels on to another macro, behind what it is given.
macro_rules! read_channels {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*
            /// Id of a read burst.
            arid: In (|shape, _| shape.id),
            /// Address of its first byte.
            araddr: In (|shape, _| shape.address),
            /// Its beats, minus 1.
            arlen: In (|_, _| 8),
            /// Bytes of a beat, as a power of two.
            arsize: In (|_, _| 3),
            /// Kind of burst.
            arburst: In (|_, _| 2),
            /// Exclusive access; not looked at.
            arlock: In bit,
            /// Memory type; not looked at.
            arcache: In (|_, _| 4),
            /// Protection type; not looked at.
            arprot: In (|_, _| 3),
            /// Quality of service; not looked at.
            arqos: In (|_, _| 4),
            /// Region; not looked at.
            arregion: In (|_, _| 4),
            /// Not looked at.
            aruser: In (|_, user| user.ar),
            /// The address is there.
            arvalid: In bit,
            /// The address is taken in this cycle.
            arready: Out bit,
            /// Id of the read that is answered.
            rid: Out (|shape, _| shape.id),
            /// Data.
            rdata: Out (|shape, _| shape.data),
            /// How the read went; 0 is OKAY.
            rresp: Out (|_, _| 2),
            /// The beat is the last of its read.
            rlast: Out bit,
            /// Always 0.
            ruser: Out (|_, user| user.r),
            /// The beat is there.
            rvalid: Out bit,
            /// The beat is taken in this cycle.
            rready: In bit,
        }
    };
}

write_channels! {
    bundle
    /// The write channels of an AXI4 slave.
    AxiWriteSlave;
}

read_channels! {
    bundle
    /// The read channels of an AXI4 slave.
    AxiReadSlave;
}

write_channels! {
    read_channels bundle
    /// An AXI4 slave.
    AxiSlave;
}

/// The width that a function of the port's widths gives.
fn evaluate(width: impl Fn(AxiShape, UserWidths) -> usize, shape: AxiShape, user: UserWidths) -> usize {
    width(shape, user)
}
