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

mod halves;
mod shape;

pub use halves::{BarAccess, BarRead, BarWrite};
pub use shape::BarShape;
use shape::EVENTS;
pub(crate) use shape::{ENTRY, SIMULATED};

use crate::axi::{AxiMaster, AxiTarget};
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// Leads the host's accesses to the control registers and to the cluster.
#[module(shape: BarShape)]
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
    write: BarWrite<{ shape }>,
    read: BarRead<{ shape }>,
    counters: EventCounters<{ EVENTS }>,
    /// Events of both halves in one clock: the second one is counted in the next, in which neither half can
    /// report another.
    pending: Reg<{ EVENTS }, Reset>,
}

#[kernel(
    SpinneretBar {
        s_axil, m_axil, m_axi, cluster_held, outside_o, held_o, timeout_o, errors_o, write, read, counters, pending
    },
)]
fn update() {
    write.held = cluster_held;
    read.held = cluster_held;
    // The host.
    write.s.aw = s_axil.aw;
    write.s.w = s_axil.w;
    s_axil.b = write.s.b;
    read.s.ar = s_axil.ar;
    s_axil.r = read.s.r;
    // The registers.
    m_axil.aw = write.r.aw;
    m_axil.w = write.r.w;
    write.r.b = m_axil.b;
    m_axil.ar = read.r.ar;
    read.r.r = m_axil.r;
    // The cluster.
    m_axi.aw = write.c.aw;
    m_axi.w = write.c.w;
    write.c.b = m_axi.b;
    m_axi.ar = read.c.ar;
    read.c.r = m_axi.r;
    /// Counters.
    pending = write.events & read.events;
    counters.events = write.events | read.events | pending;
    outside_o = counters.counts[0];
    held_o = counters.counts[1];
    timeout_o = counters.counts[2];
    errors_o = counters.counts[3];
}
