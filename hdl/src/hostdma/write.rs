//! The half of the host DMA that writes: the cluster's AXI writes become descriptors of Corundum's DMA.
//!
//! ```text
//! s_axi_aw -> OutputQueue ----------+
//!                                   v
//! s_axi_w --> WriteIntake -----> RunSplitter -> PieceAssembler -> queue -> HostGuard -> TransferQueue -> desc
//!                 |    ^                                                                 ^   |
//!                 v    +---- lines that are free ----------------------+        status --+   |
//!                ram_wr                                                +------- s_axi_b <----+
//! ```
//!
//! # Contract
//! - **Behaviour**: every beat of data takes one line of a ring in the RAM. Runs of strobed bytes that follow
//!   one another become one descriptor; one is only given when its bytes are in the RAM. A burst is
//!   answered when all its descriptors are: OKAY, SLVERR if one of them failed or the burst cannot be done,
//!   DECERR if the guard refused some of its bytes, which are then not written.
//! - **Throughput**: one beat a clock, from burst to burst too, with one run of strobed bytes a beat. A
//!   beat with n > 1 runs takes n + 1 clocks.
//! - **Latency**: AW and W to descriptor 4 clocks, status to B 2; so a write of one beat takes 7 clocks from
//!   AW to B when its status comes in the clock after its descriptor.
//! - **Backpressure**: AW and W wait for one another, for a free line, and for a free tag. Statuses never wait.
//! - **Order**: B in the order of AW, whatever the ids. Descriptors in the order of the bytes of the bursts.
//! - **Registers**: all outputs are registered.
//! - **Reset** (`rstn` low) discards everything inside: Corundum's DMA must be reset as well. With `drain`,
//!   only `dma_rstn`, the reset of Corundum's DMA and of the RAM, discards descriptors, and all the rest with them;
//!   after `rstn` alone descriptors and writes of the RAM that are in flight are waited for, with AWREADY and WREADY
//!   low, so that no late status, and no late read or answer of the RAM, meets a new transfer, and counters continue.
//! - **Bad input**: FIXED, WRAP and reserved bursts, beats wider than the port, bursts across 4 KiB and atomic
//!   operations are answered with SLVERR after all their beats, and nothing is written. So is a burst whose
//!   WLAST is not with its last beat (AWLEN counts), and one that strobes bytes which it does not address; of
//!   these, the other bytes may be written. A status for a tag that is not in flight is ignored and counted.

use super::runs::{PieceAssembler, RunSplitter};
use super::events::{ERROR_CODES, HalfCounters};
use super::intake::WriteIntake;
use super::layout::TransferShape;
use super::layout::{
    AtomicFields, BurstFields, DataFields, DoneFields, PieceFields, TransferFields, WritePayload,
};
use super::transfers::TransferQueue;
use super::{GuardIn, HostDmaShape, HostGuard, RamAccount, RamWriteOut, StatusIn, WriteDescOut};
use crate::COUNTER_WIDTH;
use crate::axi::{AxiWriteTarget, DECERR, KIND_BITS, OKAY, PAGE_BITS, SLVERR};
use crate::entry::ParameterError;
use crate::stream::{OutputQueue, StreamOut};
use spinneret_verilog::prelude::*;

/// Bursts that can wait for their data.
const BURSTS: usize = 16;
/// Pieces that can wait for their data to be in the RAM, or for a tag.
const PIECES: usize = 16;
/// Pieces that still come when the assembler sees that there is no more room.
const PIECE_MARGIN: usize = 1;

/// Carries the cluster's AXI writes to host memory, many in flight.
#[hardware(
    shape: HostDmaShape,
    error = ParameterError,
    atomic = AtomicFields::new(shape),
    data: DataFields = DataFields::new(shape),
    burst: BurstFields = BurstFields::new(shape, shape.atomics),
    piece: PieceFields = PieceFields::new(shape),
    payload: WritePayload = WritePayload::new(shape),
    transfers = transfers(shape),
    transfer: TransferFields = TransferFields::new(shape.address, transfers),
    done: DoneFields = DoneFields::new(payload.into()),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PspinHostmemDmaWr {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Descriptors.
    pub m_axis_write_desc: WriteDescOut<{ shape }>,
    /// Their statuses.
    pub s_axis_write_desc_status: StatusIn<{ shape.tag }>,
    /// To the RAM that Corundum's DMA reads.
    pub ram_wr: RamWriteOut<{ shape.ram() }>,
    /// From the cluster.
    pub s_axi: AxiWriteTarget<{ shape.axi() }>,
    /// Bursts that were answered, modulo 2^32; this and all below beyond the public design.
    pub wr_bursts_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Bursts that cannot be done.
    pub wr_refused_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Bursts with bytes outside of all windows.
    pub wr_outside_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Statuses for tags that were not in flight.
    pub wr_stray_status_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Statuses by error: 1 in the lowest word, and so on to 11; errors without meaning count as 3.
    pub wr_dma_errors_o: Wire<Out, { ERROR_CODES * COUNTER_WIDTH }>,
    /// A burst was answered in the clock before, so what it wrote is in host memory; only with `guard`.
    pub wr_arrived_o: Optional<Wire<Out, bool>, { shape.guard }>,
    /// The context that asked for it.
    pub wr_arrived_context_o: Optional<Wire<Out, { shape.context() }>, { shape.guard }>,
    /// Atomic operations that want data, as [`AtomicFields`] says; only with `atop`.
    pub m_atomic: Optional<StreamOut<{ atomic.width }>, { shape.atomics }>,
    /// The windows of host memory; only with `guard`.
    pub guard: Optional<GuardIn<{ shape.guard_shape() }>, { shape.guard }>,
    /// Synchronous reset of Corundum's DMA and of the RAM, active low; only with `drain`.
    pub dma_rstn: Optional<Wire<In, bool>, { shape.drain }>,
    reset: Wire<Local, bool>,
    forget: Wire<Local, bool>,
    /// Transfers from before a reset are in flight.
    #[new(Optional::new(shape.drain, || Reg::reset_to(true)))]
    draining: Optional<Reg<bool>>,
    /// Writes that the RAM has not done yet.
    account: Optional<RamAccount<{ shape.segments }, { shape.position() }>, { shape.drain }>,
    hold: Wire<Local, bool>,
    bursts: Checked<OutputQueue<{ burst.width }, { BURSTS }, 0>>,
    intake: Checked<WriteIntake<{ shape }>>,
    splitter: RunSplitter<{ shape }>,
    assembler: PieceAssembler<{ shape }>,
    #[new(OutputQueue::new(piece.width, PIECES, PIECE_MARGIN)?)]
    pieces: OutputQueue,
    host_guard: Optional<HostGuard<{ shape.guard_shape() }>, { shape.guard }>,
    allowed: Wire<Local, bool>,
    moves: Wire<Local, bool>,
    /// Position of the piece whose descriptor is waiting.
    held_position: Reg<{ shape.position() }>,
    /// Position in the ring of the oldest line in use.
    freed: Reg<{ shape.position() }, Reset>,
    transfers: TransferQueue<{ shape }, { transfers }>,
    /// The burst whose pieces are being retired.
    failed: Reg<bool, Reset>,
    refused: Reg<bool, Reset>,
    outside: Reg<bool, Reset>,
    failed_now: Wire<Local, bool>,
    refused_now: Wire<Local, bool>,
    outside_now: Wire<Local, bool>,
    last: Wire<Local, bool>,
    retire: Wire<Local, bool>,
    answer: Wire<Local, bool>,
    response_id: Reg<{ shape.id }>,
    response_code: Reg<2>,
    response_valid: Reg<bool, Reset>,
    arrived: Optional<Reg<bool, Reset>, { shape.guard }>,
    arrived_context: Optional<Reg<{ shape.context() }>, { shape.guard }>,
    counters: HalfCounters,
}

fn transfers(shape: HostDmaShape) -> TransferShape {
    TransferShape {
        entries: shape.writes,
        payload: WritePayload::new(shape).into(),
        ram: shape.line() + shape.lane(),
        length: PAGE_BITS + 1,
    }
}

impl Logic for PspinHostmemDmaWr {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape;
        let (data, burst, piece) = (self._data, self._burst, self._piece);
        let (transfer, payload, done) = (self._transfer, self._payload, self._done);
        let position = shape.position();
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
        clocked!(self.clk, self.hold => self.bursts, self.intake, self.splitter, self.assembler, self.pieces);
        clocked!(self.clk, self.reset => self.draining, self.freed, self.transfers, self.failed, self.refused,
            self.outside, self.response_valid, self.arrived);
        clocked!(self.clk, self.forget => self.counters);
        clocked!(self.clk => self.held_position, self.response_id, self.response_code, self.arrived_context);
        self.transfers.forget.next = self.forget.val();
        if shape.drain {
            clocked!(self.clk, self.forget => self.account);
            self.account.taken.next = self.intake.ram.cmd_valid.val() & self.ram_wr.cmd_ready.val();
            self.account.answered.next = self.ram_wr.done.val();
            self.draining.d.next =
                self.draining.q.val() && !(self.transfers.idle.val() && self.account.settled.val());
        }
        /// Bursts and their data.
        connect!(self.s_axi.aw => self.bursts.s; valid, ready);
        self.bursts.s.data.next = pack!(burst {
            address: self.s_axi.aw.addr.val(),
            length: self.s_axi.aw.len.val(),
            size: self.s_axi.aw.size.val(),
            kind: self.s_axi.aw.burst.val(),
            id: self.s_axi.aw.id.val(),
            asker: self.s_axi.aw.user.val().slice(0, shape.context()),
            atop: lit(0, burst.atop.width),
        });
        if shape.atomics {
            self.bursts
                .s
                .data
                .next
                .set_field(burst.atop, self.s_axi.aw.atop.val());
            /// An atomic operation is refused as a burst of no kind.
            self.bursts.s.data.next.set_field(
                burst.kind,
                self.s_axi.aw.burst.val() | fill(self.s_axi.aw.atop.val().any(), KIND_BITS),
            );
            connect!(self.splitter.atomic => self.m_atomic);
        }
        self.intake.freed.next = self.freed.q.val();
        self.intake.w.data.next = pack!(data {
            data: self.s_axi.w.data.val(),
            strobes: self.s_axi.w.strb.val(),
            last: self.s_axi.w.last.val(),
        });
        connect!(self.s_axi.w => self.intake.w; valid, ready);
        connect!(self.intake.ram => self.ram_wr);
        connect!(self.bursts.m => self.splitter.burst);
        connect!(self.intake.beat => self.splitter.beat);
        connect!(self.splitter.run => self.assembler.run);
        /// A descriptor is given when its data is in the RAM: its position is after that up to which all is written.
        self.pieces.s.data.next = self.assembler.piece.val();
        self.pieces.s.valid.next = self.assembler.piece_valid.val();
        self.assembler.room.next = !self.pieces.almost_full.val();
        self.transfers.clear.next =
            !(self.intake.written.val() - self.pieces.m.data.val().field(piece.position) - 1)
                .get_bit(position - 1);
        self.transfers.held_clear.next =
            !(self.intake.written.val() - self.held_position.q.val() - 1).get_bit(position - 1);
        if self.transfers.s.ready.val() {
            self.held_position.d.next = self.pieces.m.data.val().field(piece.position);
        }
        self.allowed.next = true;
        if shape.guard {
            connect!(self.guard => self.host_guard.windows);
            self.host_guard.clk.next = self.clk.val();
            self.host_guard.asker.next = self.pieces.m.data.val().field(piece.asker);
            self.host_guard.first.next = cat!(
                self.pieces.m.data.val().field(piece.page),
                self.pieces.m.data.val().field(piece.start)
            );
            self.host_guard.last.next = cat!(
                self.pieces.m.data.val().field(piece.page),
                self.pieces.m.data.val().field(piece.stop)
            );
            self.allowed.next = self.host_guard.allowed.val();
        }
        self.moves.next = self.pieces.m.data.val().flag(piece.moves);
        connect!(self.pieces.m => self.transfers.s; valid, ready);
        self.transfers.s.data.next = pack!(transfer {
            host_address: cat!(
                self.pieces.m.data.val().field(piece.page),
                self.pieces.m.data.val().field(piece.start)
            ),
            ram_address: cat!(
                self.pieces.m.data.val().field(piece.line),
                self.pieces.m.data.val().field(piece.start).slice(0, shape.lane())
            ),
            length: self.pieces.m.data.val().field(piece.stop).resize(PAGE_BITS + 1)
                - self.pieces.m.data.val().field(piece.start).resize(PAGE_BITS + 1)
                + 1,
            moves: self.moves.val() && self.allowed.val(),
            payload: pack!(payload {
                id: self.pieces.m.data.val().field(piece.id),
                position: self.pieces.m.data.val().field(piece.position),
                whole: self.pieces.m.data.val().flag(piece.whole),
                last: self.pieces.m.data.val().flag(piece.last),
                fault: self.pieces.m.data.val().flag(piece.fault),
                outside: self.moves.val() && !self.allowed.val(),
                asker: self.pieces.m.data.val().field(piece.asker),
            }),
        });
        connect!(self.transfers.desc => self.m_axis_write_desc; dma_addr, ram_sel, ram_addr);
        self.m_axis_write_desc.imm.next = 0.into();
        self.m_axis_write_desc.imm_en.next = false;
        connect!(self.transfers.desc => self.m_axis_write_desc; len, tag, valid, ready);
        connect!(self.s_axis_write_desc_status => self.transfers.status);
        /// A completed transfer frees its lines; the last piece of a burst answers it.
        self.last.next = self.transfers.m.data.val().field(done.payload).flag(payload.last);
        self.failed_now.next = self.failed.q.val() || self.transfers.m.data.val().field(done.error).any();
        self.refused_now.next = self.refused.q.val()
            || self
                .transfers
                .m
                .data
                .val()
                .field(done.payload)
                .flag(payload.fault);
        self.outside_now.next = self.outside.q.val()
            || self
                .transfers
                .m
                .data
                .val()
                .field(done.payload)
                .flag(payload.outside);
        self.transfers.m.ready.next =
            !self.last.val() || !self.response_valid.q.val() || self.s_axi.b.ready.val();
        self.retire.next = self.transfers.m.valid.val() && self.transfers.m.ready.val();
        self.answer.next = self.retire.val() && self.last.val();
        if self.s_axi.b.ready.val() {
            self.response_valid.d.next = false;
        }
        if self.retire.val() {
            self.freed.d.next = self
                .transfers
                .m
                .data
                .val()
                .field(done.payload)
                .field(payload.position)
                + self
                    .transfers
                    .m
                    .data
                    .val()
                    .field(done.payload)
                    .field(payload.whole)
                    .resize(position);
            self.failed.d.next = self.failed_now.val() && !self.last.val();
            self.refused.d.next = self.refused_now.val() && !self.last.val();
            self.outside.d.next = self.outside_now.val() && !self.last.val();
        }
        if self.answer.val() {
            self.response_valid.d.next = true;
            self.response_id.d.next = self.transfers.m.data.val().field(done.payload).field(payload.id);
            if self.outside_now.val() {
                self.response_code.d.next = DECERR.into();
            } else if self.refused_now.val() || self.failed_now.val() {
                self.response_code.d.next = SLVERR.into();
            } else {
                self.response_code.d.next = OKAY.into();
            }
        }
        self.s_axi.b.id.next = self.response_id.q.val();
        self.s_axi.b.resp.next = self.response_code.q.val();
        self.s_axi.b.user.next = 0.into();
        self.s_axi.b.valid.next = self.response_valid.q.val();
        if shape.guard {
            self.arrived.d.next = self.answer.val();
            self.arrived_context.d.next = self
                .transfers
                .m
                .data
                .val()
                .field(done.payload)
                .field(payload.asker);
            self.wr_arrived_o.next = self.arrived.q.val();
            self.wr_arrived_context_o.next = self.arrived_context.q.val();
        }
        /// Events are counted.
        self.counters.in_reset.next = self.reset.val();
        self.counters.retired.next = self.retire.val();
        self.counters.error.next = self.transfers.m.data.val().field(done.error);
        self.counters.answered.next = self.answer.val();
        self.counters.refused.next = self.refused_now.val();
        self.counters.outside.next = self.outside_now.val();
        self.counters.stray.next = self.transfers.stray.val();
        self.wr_bursts_o.next = self.counters.bursts_count.val();
        self.wr_refused_o.next = self.counters.refused_count.val();
        self.wr_outside_o.next = self.counters.outside_count.val();
        self.wr_stray_status_o.next = self.counters.stray_count.val();
        self.wr_dma_errors_o.next = self.counters.error_counts.val();
    }
}
