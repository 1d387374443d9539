//! The AXI ports of PsPIN's wrapper, `pspin_wrap`, seen from the application: names as there, without `_i` and `_o`.

use crate::axi::{ATOP_BITS, AxiMaster, AxiShape, AxiTarget, KIND_BITS, LENGTH_BITS, SIZE_BITS};
use spinneret_verilog::prelude::*;

/// Width of all user signals in bits.
pub const USER_BITS: usize = 4;

/// The type of a port: one bit, or a word.
macro_rules! port_type {
    ($direction:ident bit) => { Wire<$direction, bool> };
    ($direction:ident $width:tt) => { Wire<$direction> };
}

macro_rules! port {
    ($shape:ident bit) => {
        Wire::bit()
    };
    ($shape:ident ($field:ident)) => {
        Wire::word($shape.$field)
    };
    ($shape:ident strobes) => {
        Wire::word($shape.strobes())
    };
    ($shape:ident $width:expr) => {
        Wire::word($width)
    };
}

/// A bundle of the ports of one AXI interface; the master drives `$master`, the slave `$slave`.
macro_rules! bundle {
    ($(#[$doc:meta])+ $name:ident, $master:ident, $slave:ident) => {
        bundle! { @ $(#[$doc])+ $name:
            aw_addr: $master (address), aw_prot: $master 3, aw_region: $master 4, aw_len: $master LENGTH_BITS,
            aw_size: $master SIZE_BITS, aw_burst: $master KIND_BITS, aw_lock: $master bit, aw_atop: $master ATOP_BITS,
            aw_cache: $master 4, aw_qos: $master 4, aw_id: $master (id), aw_user: $master USER_BITS,
            aw_valid: $master bit, aw_ready: $slave bit,
            ar_addr: $master (address), ar_prot: $master 3, ar_region: $master 4, ar_len: $master LENGTH_BITS,
            ar_size: $master SIZE_BITS, ar_burst: $master KIND_BITS, ar_lock: $master bit, ar_cache: $master 4,
            ar_qos: $master 4, ar_id: $master (id), ar_user: $master USER_BITS,
            ar_valid: $master bit, ar_ready: $slave bit,
            w_data: $master (data), w_strb: $master strobes, w_user: $master USER_BITS, w_last: $master bit,
            w_valid: $master bit, w_ready: $slave bit,
            r_data: $slave (data), r_resp: $slave 2, r_last: $slave bit, r_id: $slave (id), r_user: $slave USER_BITS,
            r_valid: $slave bit, r_ready: $master bit,
            b_resp: $slave 2, b_id: $slave (id), b_user: $slave USER_BITS, b_valid: $slave bit, b_ready: $master bit,
        }
    };
    (@ $(#[$doc:meta])+ $name:ident: $($port:ident: $direction:ident $width:tt,)+) => {
        $(#[$doc])+
        #[derive(LogicInterface, Clone, Debug)]
        #[allow(missing_docs)] // The names are those of AMBA IHI 0022, whose signals they are.
        pub struct $name {
            $(pub $port: port_type!($direction $width),)+
        }

        impl $name {
            /// Ports of the given widths.
            pub fn new(shape: AxiShape) -> Self {
                Self { $($port: port!(shape $width),)+ }
            }
        }
    };
}

bundle! {
    /// To a slave port of the cluster.
    WrapSlave, Out, In
}

bundle! {
    /// From a master port of the cluster.
    WrapMaster, In, Out
}

/// Gives an AXI4 master the names of a slave port of the cluster; combinational.
#[hardware(shape: AxiShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ToWrapSlave {
    /// From a master.
    pub s: AxiTarget<{ shape }>,
    /// To the cluster.
    pub m: WrapSlave<{ shape }>,
}

impl Logic for ToWrapSlave {
    #[kernel(suffix = self.m.aw_addr.width())]
    fn update(&mut self) {
        self.m.aw_addr.next = self.s.awaddr.val();
        self.m.aw_prot.next = self.s.awprot.val();
        self.m.aw_region.next = 0.into();
        self.m.aw_len.next = self.s.awlen.val();
        self.m.aw_size.next = self.s.awsize.val();
        self.m.aw_burst.next = self.s.awburst.val();
        self.m.aw_lock.next = self.s.awlock.val();
        self.m.aw_atop.next = 0.into();
        self.m.aw_cache.next = self.s.awcache.val();
        self.m.aw_qos.next = 0.into();
        self.m.aw_id.next = self.s.awid.val();
        self.m.aw_user.next = 0.into();
        self.m.aw_valid.next = self.s.awvalid.val();
        self.s.awready.next = self.m.aw_ready.val();
        self.m.ar_addr.next = self.s.araddr.val();
        self.m.ar_prot.next = self.s.arprot.val();
        self.m.ar_region.next = 0.into();
        self.m.ar_len.next = self.s.arlen.val();
        self.m.ar_size.next = self.s.arsize.val();
        self.m.ar_burst.next = self.s.arburst.val();
        self.m.ar_lock.next = self.s.arlock.val();
        self.m.ar_cache.next = self.s.arcache.val();
        self.m.ar_qos.next = 0.into();
        self.m.ar_id.next = self.s.arid.val();
        self.m.ar_user.next = 0.into();
        self.m.ar_valid.next = self.s.arvalid.val();
        self.s.arready.next = self.m.ar_ready.val();
        self.m.w_data.next = self.s.wdata.val();
        self.m.w_strb.next = self.s.wstrb.val();
        self.m.w_user.next = 0.into();
        self.m.w_last.next = self.s.wlast.val();
        self.m.w_valid.next = self.s.wvalid.val();
        self.s.wready.next = self.m.w_ready.val();
        self.s.rdata.next = self.m.r_data.val();
        self.s.rresp.next = self.m.r_resp.val();
        self.s.rlast.next = self.m.r_last.val();
        self.s.rid.next = self.m.r_id.val();
        self.s.rvalid.next = self.m.r_valid.val();
        self.m.r_ready.next = self.s.rready.val();
        self.s.bresp.next = self.m.b_resp.val();
        self.s.bid.next = self.m.b_id.val();
        self.s.bvalid.next = self.m.b_valid.val();
        self.m.b_ready.next = self.s.bready.val();
    }
}

/// Gives a master port of the cluster the names of an AXI4 master, with AWATOP and the user signals of addresses beside;
/// combinational.
#[hardware(shape: AxiShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FromWrapMaster {
    /// From the cluster.
    pub s: WrapMaster<{ shape }>,
    /// To a slave.
    pub m: AxiMaster<{ shape }>,
    /// Atomic operation.
    pub m_awatop: Wire<Out, { ATOP_BITS }>,
    /// User signal of a write.
    pub m_awuser: Wire<Out, { USER_BITS }>,
    /// User signal of a read.
    pub m_aruser: Wire<Out, { USER_BITS }>,
}

impl Logic for FromWrapMaster {
    #[kernel]
    fn update(&mut self) {
        self.m.awaddr.next = self.s.aw_addr.val();
        self.m.awprot.next = self.s.aw_prot.val();
        self.m.awlen.next = self.s.aw_len.val();
        self.m.awsize.next = self.s.aw_size.val();
        self.m.awburst.next = self.s.aw_burst.val();
        self.m.awlock.next = self.s.aw_lock.val();
        self.m_awatop.next = self.s.aw_atop.val();
        self.m_awuser.next = self.s.aw_user.val();
        self.m.awcache.next = self.s.aw_cache.val();
        self.m.awid.next = self.s.aw_id.val();
        self.m.awvalid.next = self.s.aw_valid.val();
        self.s.aw_ready.next = self.m.awready.val();
        self.m.araddr.next = self.s.ar_addr.val();
        self.m.arprot.next = self.s.ar_prot.val();
        self.m.arlen.next = self.s.ar_len.val();
        self.m.arsize.next = self.s.ar_size.val();
        self.m.arburst.next = self.s.ar_burst.val();
        self.m.arlock.next = self.s.ar_lock.val();
        self.m.arcache.next = self.s.ar_cache.val();
        self.m.arid.next = self.s.ar_id.val();
        self.m_aruser.next = self.s.ar_user.val();
        self.m.arvalid.next = self.s.ar_valid.val();
        self.s.ar_ready.next = self.m.arready.val();
        self.m.wdata.next = self.s.w_data.val();
        self.m.wstrb.next = self.s.w_strb.val();
        self.m.wlast.next = self.s.w_last.val();
        self.m.wvalid.next = self.s.w_valid.val();
        self.s.w_ready.next = self.m.wready.val();
        self.s.r_data.next = self.m.rdata.val();
        self.s.r_resp.next = self.m.rresp.val();
        self.s.r_last.next = self.m.rlast.val();
        self.s.r_id.next = self.m.rid.val();
        self.s.r_user.next = 0.into();
        self.s.r_valid.next = self.m.rvalid.val();
        self.m.rready.next = self.s.r_ready.val();
        self.s.b_resp.next = self.m.bresp.val();
        self.s.b_id.next = self.m.bid.val();
        self.s.b_user.next = 0.into();
        self.s.b_valid.next = self.m.bvalid.val();
        self.m.bready.next = self.s.b_ready.val();
    }
}
