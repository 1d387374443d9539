//! AXI4 or AXI4-Lite from one clock to another.
//!
//! ```text
//!  s ==AW, W, AR==> 3 AsyncFifo ====> m
//!    <====B, R===== 2 AsyncFifo <====
//! ```
//!
//! # Contract
//! - **Channels** are passed on as they are, each through an [`AsyncFifo`], so all of that block's contract holds for
//!   each of them: latency, paths, order, reset, rule of use. W and R have `depth` places, AW, AR and B
//!   have `depth` as well but 16 at most.
//! - **Throughput:** a beat a clock of the slower side in every channel, from a `depth` of 16 on.
//! - **Order between channels:** data may come out before its address, as AXI lets it.
//! - **Bad input:** none; what comes in goes out.

use super::async_fifo::{AsyncFifo, cross};
use super::entries as limits;
use crate::axi::{AxiAddressOut, AxiDataOut, AxiMaster, AxiReadOut, AxiResponseOut, AxiShape, AxiTarget};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// Most places of the channels that have one element a burst.
const MAX_BURSTS: usize = 16;

/// Passes AXI4 bursts, or AXI4-Lite accesses, from one clock to another.
/// # Parameters
/// `depth`, of data and answers, is a power of two from 4 to 1024; data are a power of two of bytes.
#[module(
    no_clock,
    shape: AxiShape,
    depth: usize,
    error = ParameterError,
    _ = limits::ADDRESS.check("axi_crossing", shape.address)?,
    _ = limits::DATA.check("axi_crossing", shape.data)?,
    _ = shape.has_bursts().then(|| limits::ID.check("axi_crossing", shape.id)).transpose()?,
    _ = limits::DEPTH.check("axi_crossing", depth)?,
    _ = limits::USER.check("axi_crossing", shape.extras.user.aw)?,
    bursts = depth.min(MAX_BURSTS),
    user = shape.extras.user,
    write = AxiAddressOut::place(shape, user.aw, shape.extras.atop).width,
    read = AxiAddressOut::place(shape, user.ar, false).width,
)]
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
    /// Bursts out.
    pub m: AxiMaster<{ shape }>,
    aw: Checked<AsyncFifo<{ write }, { bursts }>>,
    w: Checked<AsyncFifo<{ AxiDataOut::place(shape).width }, { depth }>>,
    b: Checked<AsyncFifo<{ AxiResponseOut::place(shape).width }, { bursts }>>,
    ar: Checked<AsyncFifo<{ read }, { bursts }>>,
    r: Checked<AsyncFifo<{ AxiReadOut::place(shape).width }, { depth }>>,
}

impl AxiCrossing {
    /// The part of the module's name after `axi_crossing_`.
    fn variant(&self) -> String {
        let AxiShape {
            address,
            data,
            id,
            extras,
        } = self._shape;
        let atop = if extras.atop { "_atop" } else { "" };
        let user = match extras.user.aw {
            0 => String::new(),
            width => format!("_user{width}"),
        };
        match id {
            0 => format!("lite_{address}x{data}"),
            _ => format!("{address}x{data}x{id}{atop}{user}"),
        }
    }
}

#[kernel(
    AxiCrossing { s_clk, s_rst, m_clk, m_rst, s, m, aw, w, b, ar, r },
    parameters(DEPTH = self._depth),
    suffix = self.variant()
)]
fn update() {
    let s_side = (s_clk, s_rst);
    let m_side = (m_clk, m_rst);
    cross(&aw, s_side, &s.aw, m_side, &m.aw);
    cross(&w, s_side, &s.w, m_side, &m.w);
    cross(&b, m_side, &m.b, s_side, &s.b);
    cross(&ar, s_side, &s.ar, m_side, &m.ar);
    cross(&r, m_side, &m.r, s_side, &s.r);
}
