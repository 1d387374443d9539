//! The half of the host DMA that reads: the cluster's AXI reads become descriptors of Corundum's DMA.
//!
//! ```text
//! s_axi_ar -> OutputQueue -> ReadPlanner -> LineReserve -> TransferQueue -> desc
//!                             HostGuard        ^            ^   |
//!                                              |   status --+   v
//! s_axi_r <--- ReadSequencer <-- OutputQueue <-|----------------+
//!                 ^    +---- lines free again -+
//!              ram_rd
//! ```
//!
//! # Contract
//! - **Behaviour**: a read takes as many lines of a ring in the RAM as it touches lines of memory, and becomes one
//!   descriptor, or two if the ring's end lies within. When all are done its beats are read from the ring.
//!   All beats carry SLVERR if one of them failed or the burst cannot be done, DECERR if the guard refused it;
//!   their data is 0 then.
//! - **Throughput**: one beat a clock, from burst to burst too; one burst a clock.
//! - **Latency**: AR to descriptor 5 clocks, status to the first beat 7 with a RAM that answers after 2; so a read of one
//!   beat takes 13 clocks from AR to R when its status comes in the clock after its descriptor.
//! - **Backpressure**: AR waits for lines and for a free tag. Statuses and the RAM's data never wait.
//! - **Order**: beats in the order of AR, whatever the ids, never interleaved.
//! - **Registers**: all outputs are registered.
//! - **Reset** (`rstn` low) discards everything inside: Corundum's DMA must be reset as well. With `drain`,
//!   only `dma_rstn`, the reset of Corundum's DMA and of the RAM, discards descriptors, and all the rest with them;
//!   after `rstn` alone descriptors and reads of the RAM that are in flight are waited for, with ARREADY low, so
//!   that no late status, and no late data or answer of the RAM, meets a new transfer, and counters continue.
//! - **Bad input**: FIXED, WRAP and reserved bursts, beats wider than the port and bursts across 4 KiB are answered
//!   with as many beats of SLVERR, and nothing is read. A status for a tag that is not in flight is ignored
//!   and counted.

use super::events::{ERROR_CODES, HalfCounters};
use super::layout::{AtomicFields, BurstFields, DoneFields, JobFields, ReadPayload};
use super::{
    GuardIn, HostDmaShape, LineReserve, RamAccount, RamReadOut, ReadDescOut, ReadPlanner, ReadSequencer,
    StatusIn, TransferQueue, ring,
};
use crate::COUNTER_WIDTH;
use crate::axi::{AxiReadTarget, DECERR, SLVERR};
use crate::entry::ParameterError;
use crate::stream::{OutputQueue, StreamIn};
use spinneret_verilog::prelude::*;

/// Bursts that can wait for lines or a tag.
const BURSTS: usize = 16;
/// Reads that can wait to be answered, in addition to those in flight.
const JOBS: usize = 4;

/// Carries the cluster's AXI reads to host memory, many in flight.
#[module(
    shape: HostDmaShape,
    error = ParameterError,
    job: JobFields = JobFields::new(shape),
    atomic = AtomicFields::new(shape).width,
    burst: BurstFields = BurstFields::new(shape, false),
)]
pub struct PspinHostmemDmaRd {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Descriptors.
    pub m_axis_read_desc: ReadDescOut<{ shape }>,
    /// Their statuses.
    pub s_axis_read_desc_status: StatusIn<{ shape.tag }>,
    /// To the RAM that Corundum's DMA writes.
    pub ram_rd: RamReadOut<{ shape.ram() }>,
    /// From the cluster.
    pub s_axi: AxiReadTarget<{ shape.axi() }>,
    /// Bursts that are answered, modulo 2^32; this and all below beyond the public design.
    pub rd_bursts_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Bursts that cannot be done.
    pub rd_refused_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Bursts with bytes outside of all windows.
    pub rd_outside_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Statuses for tags that were not in flight.
    pub rd_stray_status_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Statuses by error: 1 in the lowest word, and so on to 11; errors without meaning count as 3.
    pub rd_dma_errors_o: Wire<Out, { ERROR_CODES * COUNTER_WIDTH }>,
    /// Atomic operations that want data, as [`AtomicFields`] says; only with `atop`.
    pub s_atomic: Optional<StreamIn<{ atomic }>, { shape.atomics }>,
    /// The windows of host memory; only with `guard`.
    pub guard: Optional<GuardIn<{ shape.guard_shape() }>, { shape.guard }>,
    /// Synchronous reset of Corundum's DMA and of the RAM, active low; only with `drain`.
    pub dma_rstn: Optional<Wire<In, bool>, { shape.drain }>,
    /// Transfers from before a reset are in flight.
    #[new(Optional::new(shape.drain, || Reg::reset_to(true)))]
    draining: Optional<Reg<bool>>,
    /// Reads that the RAM has not answered yet.
    account: Optional<RamAccount<{ shape.segments }, { shape.position() }>, { shape.drain }>,
    bursts: Checked<OutputQueue<{ burst.width }, { BURSTS }, 0>>,
    atomics: Optional<Checked<OutputQueue<{ atomic }, { BURSTS }, 0>>, { shape.atomics }>,
    planner: Checked<ReadPlanner<{ shape }>>,
    reserve: LineReserve<{ shape }>,
    transfers: TransferQueue<{ shape }, { ring::transfers(shape) }>,
    /// A part of the read that is being retired failed.
    failed: Reg<bool, Reset>,
    jobs: Checked<OutputQueue<{ job.width }, { JOBS }, 0>>,
    sequencer: Checked<ReadSequencer<{ shape }>>,
    counters: HalfCounters,
}

#[kernel(
    PspinHostmemDmaRd {
        rstn, m_axis_read_desc, s_axis_read_desc_status, ram_rd, s_axi, rd_bursts_o, rd_refused_o, rd_outside_o,
        rd_stray_status_o, rd_dma_errors_o, s_atomic, guard, dma_rstn, draining, account, bursts, atomics, planner,
        reserve, transfers, failed, jobs, sequencer, counters, shape, job, burst
    },
)]
fn update() {
    let ar = s_axi.ar;
    // The reset of all but the transfers in flight, that of these, and that of the parts in front of them.
    let (restart, forget, hold) = if shape.drain {
        let forget = !*dma_rstn;
        let restart = !rstn || forget;
        *draining = *draining && !(transfers.idle && account.settled);
        draining.reset_by(restart);
        account.rst = forget;
        account.taken = sequencer.ram.cmd_valid & ram_rd.cmd_ready;
        account.answered = ram_rd.resp_valid;
        /// After a reset the front stays in reset until what was in flight is answered.
        let hold = restart || *draining;
        (restart, forget, hold)
    } else {
        (!rstn, !rstn, !rstn)
    };
    for rst in [bursts.rst, planner.rst, reserve.rst, sequencer.rst] {
        rst = hold;
    }
    for rst in [transfers.rst, jobs.rst] {
        rst = restart;
    }
    failed.reset_by(restart);
    transfers.forget = forget;
    counters.rst = forget;
    /// Reads become plans.
    bursts.s.data = pack!(burst {
        address: ar.addr,
        length: *ar.len,
        size: *ar.size,
        kind: *ar.burst,
        id: *ar.id,
        asker: ar.user.slice(0, shape.context()),
    });
    bursts.s.valid = ar.valid;
    ar.ready = bursts.s.ready;
    planner.burst = bursts.m;
    if shape.atomics {
        atomics.rst = hold;
        atomics.s = s_atomic;
        planner.atomic = atomics.m;
    }
    planner.windows = guard;
    reserve.plan = planner.plan;
    reserve.freed = sequencer.freed;
    transfers.s = reserve.transfer;
    transfers.clear = true;
    transfers.held_clear = true;
    m_axis_read_desc = transfers.desc;
    transfers.status = s_axis_read_desc_status;
    /// A read is answered when its last part is there.
    let payload = ReadPayload::new(shape);
    let done = DoneFields::new(payload.into()).of(transfers.m.data);
    let part = payload.of(done.payload);
    let response = job.of(part.job).response;
    let failed_now = failed || done.error.any();
    let retire = transfers.m.valid && jobs.s.ready;
    if retire {
        failed = failed_now && !part.last;
    }
    transfers.m.ready = jobs.s.ready;
    jobs.s.valid = transfers.m.valid && part.last;
    jobs.s.data = part.job;
    jobs.s.data.field(job.response) = response | cat!(failed_now, false);
    sequencer.job = jobs.m;
    ram_rd = sequencer.ram;
    s_axi.r = sequencer.r;
    /// Events are counted.
    counters.in_reset = restart;
    counters.retired = retire;
    counters.error = done.error;
    counters.answered = retire && part.last;
    counters.refused = response == SLVERR;
    counters.outside = response == DECERR;
    counters.stray = transfers.stray;
    rd_bursts_o = counters.bursts_count;
    rd_refused_o = counters.refused_count;
    rd_outside_o = counters.outside_count;
    rd_stray_status_o = counters.stray_count;
    rd_dma_errors_o = counters.error_counts;
}
