//! The application BAR: leads the host's accesses to the control registers and to the cluster.
//!
//! ```text
//!             +-----------------+---> m_axil: control registers
//! s_axil ===> | BarWrite        |
//!             | BarRead         |---> m_axi: memory of the cluster, one word a burst
//!             +-----------------+
//!                 cluster_held ^
//! ```
//!
//! # Contract
//! - **Map**: that of `spinneret_regmap::bar`. An access to the registers keeps its offset in their window with
//!   its lowest bits, AxPROT and WSTRB. One to the cluster becomes a burst of one beat: id 0, INCR, 4 bytes,
//!   at the address of the word that contains the access; a write has its data in every lane, and strobes in
//!   its own lane only, also if it has none. A read takes the lane of its word.
//! - **Errors**: outside of all windows DECERR, with data 0. Answers of the registers are passed on. So are those of
//!   the cluster, but EXOKAY becomes SLVERR, and data without OKAY is 0.
//! - **Cluster in reset**: while `cluster_held` is high, accesses to the cluster are answered with SLVERR at
//!   once, one that is in flight as well. Nothing is remembered: the link to the cluster must be reset with it,
//!   so that no late response comes, and a valid of `m_axi` may fall.
//! - **Timeout**: an access to the cluster that is not answered within `timeout_cycles` clocks from its first valid
//!   on is answered with SLVERR. Its valids stay until they are taken. Until its late answer has come, which is
//!   dropped, accesses of the same direction to the cluster are answered with SLVERR at once.
//! - **Latency**: address and data to the registers 1 clock, their response back 1 clock; outside, while
//!   `cluster_held` is high and while a late answer is outstanding the response comes in the next clock. To the
//!   cluster and back 1 clock each; with a timeout, `timeout_cycles` + 1 clocks from address and data to the
//!   response. So no access waits forever, as long as the registers answer.
//! - **Throughput**: one write and one read in flight, each independent of the other. The next one is
//!   taken in the clock after the response. Address and data of a write come in any order.
//! - **Registers**: all outputs are registers, except for the constants.
//! - **Counters**: modulo 2^32, of writes and reads; an event is counted within 4 clocks.
//! - **Reset** (`rstn` low) discards everything. The registers and the link to the cluster are reset with it.

mod cluster_access;
mod entry;
mod read;
mod shape;
mod window;
mod write;

pub use cluster_access::ClusterAccess;
pub(crate) use entry::{ENTRY, SIMULATED};
pub use read::BarRead;
pub use shape::{BarShape, EVENTS, PROTECTION_BITS, WORD_BITS, WORD_BYTES};
pub use window::{BYTE_BITS, CLUSTER_ADDRESS_BITS, WindowDecoder};
pub use write::BarWrite;

use crate::axi::{AxiMaster, AxiTarget, BUFFERABLE, INCR};
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// AxSIZE of a word of the host.
const WORD_SIZE: u64 = WORD_BYTES.trailing_zeros() as u64;

/// Leads the host's accesses to the control registers and to the cluster.
#[hardware(shape: BarShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct SpinneretBar {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// From the host.
    pub s_axil: AxiTarget<{ shape.host() }>,
    /// To the control registers.
    pub m_axil: AxiMaster<{ shape.registers() }>,
    /// To the cluster.
    pub m_axi: AxiMaster<{ shape.axi() }>,
    /// The cluster or the link to it is held in reset.
    pub cluster_held: Wire<In, bool>,
    /// Accesses outside of all windows, modulo 2^32.
    pub outside_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Accesses that were refused or ended because the cluster was held in reset.
    pub held_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Accesses whose time was over, and those that were refused because of a late answer.
    pub timeout_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Accesses that the cluster answered with an error.
    pub errors_o: Wire<Out, { COUNTER_WIDTH }>,
    reset: Wire<Local, bool>,
    write: BarWrite<{ shape }>,
    read: BarRead<{ shape }>,
    counters: EventCounters<{ EVENTS }>,
    /// Events of both halves in one clock: the second one is counted in the next, in which neither half can
    /// report another.
    pending: Reg<{ EVENTS }, Reset>,
}

impl Logic for SpinneretBar {
    #[kernel]
    fn update(&mut self) {
        let lanes = self._shape.lanes();
        self.reset.next = !self.rstn.val();
        clocked!(self.clk, self.reset => self.write, self.read, self.counters, self.pending);
        self.write.held.next = self.cluster_held.val();
        self.read.held.next = self.cluster_held.val();
        /// The host.
        connect!(self.s_axil => self.write.s; aw, w, b);
        connect!(self.s_axil => self.read.s; ar, r);
        /// The registers.
        connect!(self.write.r_aw => self.m_axil.aw);
        connect!(self.write.r_w => self.m_axil.w);
        connect!(self.m_axil.b.resp => self.write.r_bresp);
        connect!(self.m_axil.b.valid => self.write.r_bvalid);
        self.m_axil.b.ready.next = true;
        connect!(self.read.r_ar => self.m_axil.ar);
        connect!(self.m_axil.r.data => self.read.r_rdata);
        connect!(self.m_axil.r.resp => self.read.r_rresp);
        connect!(self.m_axil.r.valid => self.read.r_rvalid);
        self.m_axil.r.ready.next = true;
        /// The cluster: one word a burst.
        connect!(self.write.c_aw => self.m_axi.aw, except size, burst, lock, cache);
        self.m_axi.aw.size.next = WORD_SIZE.into();
        self.m_axi.aw.burst.next = INCR.into();
        self.m_axi.aw.lock.next = false;
        self.m_axi.aw.cache.next = BUFFERABLE.into();
        for lane in 0..lanes {
            self.m_axi
                .w
                .data
                .next
                .set_slice(WORD_BITS * lane, WORD_BITS, self.write.c_wdata.val());
        }
        self.m_axi.w.strb.next = self.write.c_wstrb.val();
        self.m_axi.w.last.next = true;
        self.m_axi.w.valid.next = self.write.c_wvalid.val();
        self.write.c_wready.next = self.m_axi.w.ready.val();
        connect!(self.m_axi.b.resp => self.write.c_bresp);
        connect!(self.m_axi.b.valid => self.write.c_bvalid);
        self.m_axi.b.ready.next = true;
        connect!(self.read.c_ar => self.m_axi.ar, except size, burst, lock, cache);
        self.m_axi.ar.size.next = WORD_SIZE.into();
        self.m_axi.ar.burst.next = INCR.into();
        self.m_axi.ar.lock.next = false;
        self.m_axi.ar.cache.next = BUFFERABLE.into();
        connect!(self.m_axi.r.data => self.read.c_rdata);
        connect!(self.m_axi.r.resp => self.read.c_rresp);
        connect!(self.m_axi.r.valid => self.read.c_rvalid);
        self.m_axi.r.ready.next = true;
        /// Counters.
        self.pending.d.next = self.write.events.val() & self.read.events.val();
        self.counters.events.next = self.write.events.val() | self.read.events.val() | self.pending.q.val();
        self.outside_o.next = self.counters.counts[0].val();
        self.held_o.next = self.counters.counts[1].val();
        self.timeout_o.next = self.counters.counts[2].val();
        self.errors_o.next = self.counters.counts[3].val();
    }
}
