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
use super::planner::ReadPlanner;
use super::reserve::{self, LineReserve};
use super::sequencer::ReadSequencer;
use super::transfers::TransferQueue;
use super::{GuardIn, HostDmaShape, RamAccount, RamReadOut, ReadDescOut, StatusIn};
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
#[hardware(
    shape: HostDmaShape,
    error = ParameterError,
    job: JobFields = JobFields::new(shape),
    atomic = AtomicFields::new(shape).width,
    burst: BurstFields = BurstFields::new(shape, false),
    done: DoneFields = DoneFields::new(ReadPayload::new(shape).into()),
    payload: ReadPayload = ReadPayload::new(shape),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    reset: Wire<Local, bool>,
    forget: Wire<Local, bool>,
    /// Transfers from before a reset are in flight.
    #[new(Optional::new(shape.drain, || Reg::reset_to(true)))]
    draining: Optional<Reg<bool>>,
    /// Reads that the RAM has not answered yet.
    account: Optional<RamAccount<{ shape.segments }, { shape.position() }>, { shape.drain }>,
    hold: Wire<Local, bool>,
    bursts: Checked<OutputQueue<{ burst.width }, { BURSTS }, 0>>,
    atomics: Optional<Checked<OutputQueue<{ atomic }, { BURSTS }, 0>>, { shape.atomics }>,
    planner: Checked<ReadPlanner<{ shape }>>,
    reserve: LineReserve<{ shape }>,
    transfers: TransferQueue<{ shape }, { reserve::transfers(shape) }>,
    /// A part of the read that is being retired failed.
    failed: Reg<bool, Reset>,
    failed_now: Wire<Local, bool>,
    last: Wire<Local, bool>,
    retire: Wire<Local, bool>,
    response: Wire<Local, 2>,
    jobs: Checked<OutputQueue<{ job.width }, { JOBS }, 0>>,
    sequencer: Checked<ReadSequencer<{ shape }>>,
    counters: HalfCounters,
}

impl Logic for PspinHostmemDmaRd {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape;
        let (burst, job, payload, done) = (self._burst, self._job, self._payload, self._done);
        if shape.drain {
            self.forget.next = !self.dma_rstn.val();
            self.reset.next = !self.rstn.val() || !self.dma_rstn.val();
        } else {
            self.forget.next = !self.rstn.val();
            self.reset.next = !self.rstn.val();
        }
        /// After a reset the front stays in reset until what was in flight is answered.
        if shape.drain {
            self.hold.next = self.reset.val() || self.draining.q.val();
        } else {
            self.hold.next = self.reset.val();
        }
        clocked!(self.clk, self.hold => self.bursts, self.atomics, self.planner, self.reserve, self.sequencer);
        clocked!(self.clk, self.reset => self.draining, self.transfers, self.failed, self.jobs);
        clocked!(self.clk, self.forget => self.counters);
        self.transfers.forget.next = self.forget.val();
        if shape.drain {
            clocked!(self.clk, self.forget => self.account);
            self.account.taken.next = self.sequencer.ram.cmd_valid.val() & self.ram_rd.cmd_ready.val();
            self.account.answered.next = self.ram_rd.resp_valid.val();
            self.draining.d.next =
                self.draining.q.val() && !(self.transfers.idle.val() && self.account.settled.val());
        }
        connect!(self.s_axi.ar => self.bursts.s; valid, ready);
        self.bursts.s.data.next = pack!(burst {
            address: self.s_axi.ar.addr.val(),
            length: self.s_axi.ar.len.val(),
            size: self.s_axi.ar.size.val(),
            kind: self.s_axi.ar.burst.val(),
            id: self.s_axi.ar.id.val(),
            asker: self.s_axi.ar.user.val().slice(0, shape.context()),
        });
        connect!(self.bursts.m => self.planner.burst);
        if shape.atomics {
            connect!(self.s_atomic => self.atomics.s);
            connect!(self.atomics.m => self.planner.atomic);
        }
        if shape.guard {
            connect!(self.guard => self.planner.windows);
        }
        connect!(self.planner.plan => self.reserve.plan);
        connect!(self.reserve.transfer => self.transfers.s);
        self.transfers.clear.next = true;
        self.transfers.held_clear.next = true;
        connect!(self.transfers.desc => self.m_axis_read_desc);
        connect!(self.s_axis_read_desc_status => self.transfers.status);
        /// A read is answered when its last part is there.
        self.last.next = self.transfers.m.data.val().field(done.payload).flag(payload.last);
        self.failed_now.next = self.failed.q.val() || self.transfers.m.data.val().field(done.error).any();
        self.response.next = self
            .transfers
            .m
            .data
            .val()
            .field(done.payload)
            .field(payload.job)
            .field(job.response);
        self.transfers.m.ready.next = self.jobs.s.ready.val();
        self.retire.next = self.transfers.m.valid.val() && self.jobs.s.ready.val();
        if self.retire.val() {
            self.failed.d.next = self.failed_now.val() && !self.last.val();
        }
        self.jobs.s.valid.next = self.transfers.m.valid.val() && self.last.val();
        self.jobs.s.data.next = self.transfers.m.data.val().field(done.payload).field(payload.job);
        self.jobs.s.data.next.set_field(
            job.response,
            self.response.val() | cat!(self.failed_now.val(), false),
        );
        connect!(self.jobs.m => self.sequencer.job);
        connect!(self.sequencer.ram => self.ram_rd);
        self.reserve.freed.next = self.sequencer.freed.val();
        connect!(self.sequencer => self.s_axi.r; id, data);
        self.s_axi.r.resp.next = self.sequencer.response.val();
        self.s_axi.r.last.next = self.sequencer.last.val();
        self.s_axi.r.user.next = 0.into();
        connect!(self.sequencer => self.s_axi.r; valid, ready);
        /// Events are counted.
        self.counters.in_reset.next = self.reset.val();
        self.counters.retired.next = self.retire.val();
        self.counters.error.next = self.transfers.m.data.val().field(done.error);
        self.counters.answered.next = self.retire.val() && self.last.val();
        self.counters.refused.next = self.response.val() == SLVERR;
        self.counters.outside.next = self.response.val() == DECERR;
        self.counters.stray.next = self.transfers.stray.val();
        self.rd_bursts_o.next = self.counters.bursts_count.val();
        self.rd_refused_o.next = self.counters.refused_count.val();
        self.rd_outside_o.next = self.counters.outside_count.val();
        self.rd_stray_status_o.next = self.counters.stray_count.val();
        self.rd_dma_errors_o.next = self.counters.error_counts.val();
    }
}
