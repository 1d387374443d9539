//! AXI4 from one clock to another.
//!
//! ```text
//!  s ==AW, W, AR==> 3 AsyncFifo ====> m
//!    <====B, R===== 2 AsyncFifo <====
//! ```
//!
//! # Contract
//! - **Channels** are passed on as they are, with what [`AxiExtras`] names, each through an [`AsyncFifo`], so all of that block's contract holds for
//!   each of them: latency, paths, order, reset, rule of use. W and R have `depth` places, AW, AR and B
//!   have `depth` as well but 16 at most.
//! - **Throughput:** a beat a clock of the slower side in every channel, from a `depth` of 16 on.
//! - **Order between channels:** data may come out before its address, as AXI lets it.
//! - **Bad input:** none; what comes in goes out.

use super::AsyncFifo;
use super::limits;
use super::places::places;
use crate::axi::{ATOP_BITS, AxiMaster, AxiShape, AxiTarget, KIND_BITS, LENGTH_BITS, SIZE_BITS};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// Most places of the channels that have one element a burst.
const MAX_BURSTS: usize = 16;
/// Bits of a memory type.
const CACHE: usize = 4;
/// Bits of a protection type.
const PROTECTION: usize = 3;
/// Bits of a response.
const RESPONSE: usize = 2;

/// Signals of addresses that only some ports have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxiExtras {
    /// Atomic operations.
    pub atop: bool,
    /// Width of the user signals of addresses in bits; 0: there are none.
    pub user: usize,
}

impl AxiExtras {
    /// None of them.
    pub const NONE: Self = Self { atop: false, user: 0 };
}

/// Passes AXI4 bursts from one clock to another.
/// # Parameters
/// `depth`, of data and answers, is a power of two from 4 to 1024; data are a power of two of bytes.
#[hardware(
    shape: AxiShape,
    depth: usize,
    extras: AxiExtras,
    error = ParameterError,
    _ = limits::ADDRESS.check("axi_crossing", shape.address)?,
    _ = limits::DATA.check("axi_crossing", shape.data)?,
    _ = limits::ID.check("axi_crossing", shape.id)?,
    _ = limits::DEPTH.check("axi_crossing", depth)?,
    _ = limits::USER.check("axi_crossing", extras.user)?,
    atop = extras.atop,
    user = extras.user,
    bursts = depth.min(MAX_BURSTS),
    address = shape.id + shape.address + LENGTH_BITS + SIZE_BITS + KIND_BITS + 1 + CACHE + PROTECTION,
    address = address + user,
    operation = if atop { ATOP_BITS } else { 0 },
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct AxiCrossing {
    /// Clock of the side that asks.
    pub s_clk: Signal<In, Clock>,
    /// Synchronous reset of that side.
    pub s_rst: Wire<In, bool>,
    /// Clock of the side that is asked.
    pub m_clk: Signal<In, Clock>,
    /// Synchronous reset of that side.
    pub m_rst: Wire<In, bool>,
    /// Bursts in.
    pub s: AxiTarget<{ shape }>,
    /// Atomic operation.
    pub s_awatop: Optional<Wire<In, { ATOP_BITS }>, { atop }>,
    /// User signal of a write.
    pub s_awuser: Optional<Wire<In, { user }>, { user > 0 }>,
    /// User signal of a read.
    pub s_aruser: Optional<Wire<In, { user }>, { user > 0 }>,
    /// Bursts out.
    pub m: AxiMaster<{ shape }>,
    /// Atomic operation.
    pub m_awatop: Optional<Wire<Out, { ATOP_BITS }>, { atop }>,
    /// User signal of a write.
    pub m_awuser: Optional<Wire<Out, { user }>, { user > 0 }>,
    /// User signal of a read.
    pub m_aruser: Optional<Wire<Out, { user }>, { user > 0 }>,
    aw: Checked<AsyncFifo<{ address + operation }, { bursts }>>,
    w: Checked<AsyncFifo<{ shape.data + shape.strobes() + 1 }, { depth }>>,
    b: Checked<AsyncFifo<{ shape.id + RESPONSE }, { bursts }>>,
    ar: Checked<AsyncFifo<{ address }, { bursts }>>,
    r: Checked<AsyncFifo<{ shape.id + shape.data + RESPONSE + 1 }, { depth }>>,
}

impl AxiCrossing {
    /// What follows `axi_crossing_` in the name of the module.
    fn variant(&self) -> String {
        let AxiShape { address, data, id } = self._shape;
        let atop = if self._extras.atop { "_atop" } else { "" };
        let user = match self._extras.user {
            0 => String::new(),
            width => format!("_user{width}"),
        };
        format!("{}_{address}x{data}x{id}{atop}{user}", self._depth)
    }
}

impl Logic for AxiCrossing {
    #[kernel(suffix = self.variant())]
    fn update(&mut self) {
        let AxiShape { address, data, id } = self._shape;
        let strobes = self._shape.strobes();
        let AxiExtras { atop, user } = self._extras;
        let [
            id_at,
            address_at,
            length_at,
            size_at,
            kind_at,
            lock_at,
            cache_at,
            prot_at,
            user_at,
            atop_at,
        ] = places([
            id,
            address,
            LENGTH_BITS,
            SIZE_BITS,
            KIND_BITS,
            1,
            CACHE,
            PROTECTION,
            user,
            ATOP_BITS,
        ]);
        let [data_at, strobes_at, last_at] = places([data, strobes, 1]);
        let [rid_at, rdata_at, rresp_at, rlast_at] = places([id, data, RESPONSE, 1]);

        self.aw.s_clk.next = self.s_clk.val();
        self.w.s_clk.next = self.s_clk.val();
        self.ar.s_clk.next = self.s_clk.val();
        self.b.m_clk.next = self.s_clk.val();
        self.r.m_clk.next = self.s_clk.val();
        self.aw.s_rst.next = self.s_rst.val();
        self.w.s_rst.next = self.s_rst.val();
        self.ar.s_rst.next = self.s_rst.val();
        self.b.m_rst.next = self.s_rst.val();
        self.r.m_rst.next = self.s_rst.val();
        self.aw.m_clk.next = self.m_clk.val();
        self.w.m_clk.next = self.m_clk.val();
        self.ar.m_clk.next = self.m_clk.val();
        self.b.s_clk.next = self.m_clk.val();
        self.r.s_clk.next = self.m_clk.val();
        self.aw.m_rst.next = self.m_rst.val();
        self.w.m_rst.next = self.m_rst.val();
        self.ar.m_rst.next = self.m_rst.val();
        self.b.s_rst.next = self.m_rst.val();
        self.r.s_rst.next = self.m_rst.val();

        self.aw.s.data.next = cat!(
            self.s.awprot.val(),
            self.s.awcache.val(),
            self.s.awlock.val(),
            self.s.awburst.val(),
            self.s.awsize.val(),
            self.s.awlen.val(),
            self.s.awaddr.val(),
            self.s.awid.val()
        )
        .resize(self.aw.s.data.width());
        self.ar.s.data.next = cat!(
            self.s.arprot.val(),
            self.s.arcache.val(),
            self.s.arlock.val(),
            self.s.arburst.val(),
            self.s.arsize.val(),
            self.s.arlen.val(),
            self.s.araddr.val(),
            self.s.arid.val()
        )
        .resize(self.ar.s.data.width());
        if atop {
            self.aw
                .s
                .data
                .next
                .set_slice(atop_at, ATOP_BITS, self.s_awatop.val());
            self.m_awatop.next = self.aw.m.data.val().slice(atop_at, ATOP_BITS);
        }
        if user > 0 {
            self.aw.s.data.next.set_slice(user_at, user, self.s_awuser.val());
            self.m_awuser.next = self.aw.m.data.val().slice(user_at, user);
            self.ar.s.data.next.set_slice(user_at, user, self.s_aruser.val());
            self.m_aruser.next = self.ar.m.data.val().slice(user_at, user);
        }
        self.aw.s.valid.next = self.s.awvalid.val();
        self.s.awready.next = self.aw.s.ready.val();
        self.m.awid.next = self.aw.m.data.val().slice(id_at, id);
        self.m.awaddr.next = self.aw.m.data.val().slice(address_at, address);
        self.m.awlen.next = self.aw.m.data.val().slice(length_at, LENGTH_BITS);
        self.m.awsize.next = self.aw.m.data.val().slice(size_at, SIZE_BITS);
        self.m.awburst.next = self.aw.m.data.val().slice(kind_at, KIND_BITS);
        self.m.awlock.next = self.aw.m.data.val().get_bit(lock_at);
        self.m.awcache.next = self.aw.m.data.val().slice(cache_at, CACHE);
        self.m.awprot.next = self.aw.m.data.val().slice(prot_at, PROTECTION);
        self.m.awvalid.next = self.aw.m.valid.val();
        self.aw.m.ready.next = self.m.awready.val();

        self.w.s.data.next = cat!(self.s.wlast.val(), self.s.wstrb.val(), self.s.wdata.val());
        self.w.s.valid.next = self.s.wvalid.val();
        self.s.wready.next = self.w.s.ready.val();
        self.m.wdata.next = self.w.m.data.val().slice(data_at, data);
        self.m.wstrb.next = self.w.m.data.val().slice(strobes_at, strobes);
        self.m.wlast.next = self.w.m.data.val().get_bit(last_at);
        self.m.wvalid.next = self.w.m.valid.val();
        self.w.m.ready.next = self.m.wready.val();

        self.b.s.data.next = cat!(self.m.bresp.val(), self.m.bid.val());
        self.b.s.valid.next = self.m.bvalid.val();
        self.m.bready.next = self.b.s.ready.val();
        self.s.bid.next = self.b.m.data.val().slice(0, id);
        self.s.bresp.next = self.b.m.data.val().slice(id, RESPONSE);
        self.s.bvalid.next = self.b.m.valid.val();
        self.b.m.ready.next = self.s.bready.val();

        self.ar.s.valid.next = self.s.arvalid.val();
        self.s.arready.next = self.ar.s.ready.val();
        self.m.arid.next = self.ar.m.data.val().slice(id_at, id);
        self.m.araddr.next = self.ar.m.data.val().slice(address_at, address);
        self.m.arlen.next = self.ar.m.data.val().slice(length_at, LENGTH_BITS);
        self.m.arsize.next = self.ar.m.data.val().slice(size_at, SIZE_BITS);
        self.m.arburst.next = self.ar.m.data.val().slice(kind_at, KIND_BITS);
        self.m.arlock.next = self.ar.m.data.val().get_bit(lock_at);
        self.m.arcache.next = self.ar.m.data.val().slice(cache_at, CACHE);
        self.m.arprot.next = self.ar.m.data.val().slice(prot_at, PROTECTION);
        self.m.arvalid.next = self.ar.m.valid.val();
        self.ar.m.ready.next = self.m.arready.val();

        self.r.s.data.next = cat!(
            self.m.rlast.val(),
            self.m.rresp.val(),
            self.m.rdata.val(),
            self.m.rid.val()
        );
        self.r.s.valid.next = self.m.rvalid.val();
        self.m.rready.next = self.r.s.ready.val();
        self.s.rid.next = self.r.m.data.val().slice(rid_at, id);
        self.s.rdata.next = self.r.m.data.val().slice(rdata_at, data);
        self.s.rresp.next = self.r.m.data.val().slice(rresp_at, RESPONSE);
        self.s.rlast.next = self.r.m.data.val().get_bit(rlast_at);
        self.s.rvalid.next = self.r.m.valid.val();
        self.r.m.ready.next = self.s.rready.val();
    }
}
