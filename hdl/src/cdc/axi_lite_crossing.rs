//! AXI4-Lite from one clock to another.
//!
//! ```text
//!  s ==AW, W, AR==> 3 AsyncFifo ====> m
//!    <====B, R===== 2 AsyncFifo <====
//! ```
//!
//! # Contract
//! - **Channels** are passed on as they are, each through an [`AsyncFifo`] of 4 places, so all of that block's
//!   contract holds for each of them: latency, paths, order, reset, rule of use.
//! - **Throughput:** several accesses may be on their way, so it is that of the slower side as far as 4 places of
//!   each channel allow; a master that waits for each answer waits for the way there and back.
//! - **Bad input:** none; what comes in goes out.

use super::AsyncFifo;
use super::limits;
use super::places::places;
use crate::axi::{AxiLiteMaster, AxiLiteSlave};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// Places of each channel.
const DEPTH: usize = 4;
/// Bits of a protection type.
const PROTECTION: usize = 3;
/// Bits of a response.
const RESPONSE: usize = 2;

/// Passes AXI4-Lite accesses from one clock to another.
#[hardware(
    address: usize,
    data: usize,
    error = ParameterError,
    _ = limits::ADDRESS.check("axi_lite_crossing", address)?,
    _ = limits::DATA.check("axi_lite_crossing", data)?,
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct AxiLiteCrossing {
    /// Clock of the side that asks.
    pub s_clk: Signal<In, Clock>,
    /// Synchronous reset of that side.
    pub s_rst: Wire<In, bool>,
    /// Clock of the side that is asked.
    pub m_clk: Signal<In, Clock>,
    /// Synchronous reset of that side.
    pub m_rst: Wire<In, bool>,
    /// Accesses in.
    pub s: AxiLiteSlave<{ address }, { data }>,
    /// Accesses out.
    pub m: AxiLiteMaster<{ address }, { data }>,
    aw: Checked<AsyncFifo<{ address + PROTECTION }, { DEPTH }>>,
    w: Checked<AsyncFifo<{ data + data / 8 }, { DEPTH }>>,
    b: Checked<AsyncFifo<{ RESPONSE }, { DEPTH }>>,
    ar: Checked<AsyncFifo<{ address + PROTECTION }, { DEPTH }>>,
    r: Checked<AsyncFifo<{ data + RESPONSE }, { DEPTH }>>,
}

impl Logic for AxiLiteCrossing {
    #[kernel(suffix = format!("{}x{}", self._address, self._data))]
    fn update(&mut self) {
        let (address, data, strobes) = (self._address, self._data, self._data / 8);
        let [address_at, prot_at] = places([address, PROTECTION]);
        let [data_at, strobes_at] = places([data, strobes]);
        let resp_at = data;
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

        self.aw.s.data.next = cat!(self.s.awprot.val(), self.s.awaddr.val());
        self.aw.s.valid.next = self.s.awvalid.val();
        self.s.awready.next = self.aw.s.ready.val();
        self.m.awaddr.next = self.aw.m.data.val().slice(address_at, address);
        self.m.awprot.next = self.aw.m.data.val().slice(prot_at, PROTECTION);
        self.m.awvalid.next = self.aw.m.valid.val();
        self.aw.m.ready.next = self.m.awready.val();

        self.w.s.data.next = cat!(self.s.wstrb.val(), self.s.wdata.val());
        self.w.s.valid.next = self.s.wvalid.val();
        self.s.wready.next = self.w.s.ready.val();
        self.m.wdata.next = self.w.m.data.val().slice(data_at, data);
        self.m.wstrb.next = self.w.m.data.val().slice(strobes_at, strobes);
        self.m.wvalid.next = self.w.m.valid.val();
        self.w.m.ready.next = self.m.wready.val();

        self.b.s.data.next = self.m.bresp.val();
        self.b.s.valid.next = self.m.bvalid.val();
        self.m.bready.next = self.b.s.ready.val();
        self.s.bresp.next = self.b.m.data.val();
        self.s.bvalid.next = self.b.m.valid.val();
        self.b.m.ready.next = self.s.bready.val();

        self.ar.s.data.next = cat!(self.s.arprot.val(), self.s.araddr.val());
        self.ar.s.valid.next = self.s.arvalid.val();
        self.s.arready.next = self.ar.s.ready.val();
        self.m.araddr.next = self.ar.m.data.val().slice(address_at, address);
        self.m.arprot.next = self.ar.m.data.val().slice(prot_at, PROTECTION);
        self.m.arvalid.next = self.ar.m.valid.val();
        self.ar.m.ready.next = self.m.arready.val();

        self.r.s.data.next = cat!(self.m.rresp.val(), self.m.rdata.val());
        self.r.s.valid.next = self.m.rvalid.val();
        self.m.rready.next = self.r.s.ready.val();
        self.s.rdata.next = self.r.m.data.val().slice(data_at, data);
        self.s.rresp.next = self.r.m.data.val().slice(resp_at, RESPONSE);
        self.s.rvalid.next = self.r.m.valid.val();
        self.r.m.ready.next = self.s.rready.val();
    }
}
