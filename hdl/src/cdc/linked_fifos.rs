//! A pair of queues between two clocks with the resets of both sides, as crossings are meant to be used.
//!
//! ```text
//!  near_s ====> AsyncFifo ====> far_m
//!  near_m <==== AsyncFifo <==== far_s
//!  request ---> LinkReset ----> far_rst
//! ```
//!
//! # Contract
//! - **Data:** as [`AsyncFifo`], each way.
//! - **Reset:** as [`LinkReset`]; both queues are emptied by it. No side ever sees an element that the other did not
//!   send, whatever comes when.

use super::{AsyncFifo, LinkReset};
use crate::entry::ParameterError;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Queues there and back between two clocks, with the resets of both sides.
#[hardware(width: usize, depth: usize, error = ParameterError)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct LinkedFifos {
    /// Clock of the near side.
    pub near_clk: Signal<In, Clock>,
    /// Reset of the near side's design.
    pub near_rst: Wire<In, bool>,
    /// Holds both sides in reset.
    pub request: Wire<In, bool>,
    /// Reset of the near side of the queues.
    pub near_link_rst: Wire<Out, bool>,
    /// Elements to the far side.
    pub near_s: StreamIn<{ width }>,
    /// Elements from the far side.
    pub near_m: StreamOut<{ width }>,
    /// Clock of the far side.
    pub far_clk: Signal<In, Clock>,
    /// Reset of the far side.
    pub far_rst: Wire<Out, bool>,
    /// Elements to the near side.
    pub far_s: StreamIn<{ width }>,
    /// Elements from the near side.
    pub far_m: StreamOut<{ width }>,
    link: LinkReset,
    there: Checked<AsyncFifo<{ width }, { depth }>>,
    back: Checked<AsyncFifo<{ width }, { depth }>>,
}

impl Logic for LinkedFifos {
    #[kernel]
    fn update(&mut self) {
        connect!(self => self.link; near_clk, near_rst, request, far_clk, near_link_rst, far_rst);

        self.there.s_clk.next = self.near_clk.val();
        self.there.s_rst.next = self.link.near_link_rst.val();
        self.there.m_clk.next = self.far_clk.val();
        self.there.m_rst.next = self.link.far_rst.val();
        connect!(self.near_s => self.there.s; data, valid, ready);
        connect!(self.there.m => self.far_m; data, valid, ready);

        self.back.s_clk.next = self.far_clk.val();
        self.back.s_rst.next = self.link.far_rst.val();
        self.back.m_clk.next = self.near_clk.val();
        self.back.m_rst.next = self.link.near_link_rst.val();
        connect!(self.far_s => self.back.s; data, valid, ready);
        connect!(self.back.m => self.near_m; data, valid, ready);
    }
}
