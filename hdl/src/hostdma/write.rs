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

use super::events::{ERROR_CODES, HalfCounters};
use super::layout::{
    AtomicFields, BurstFields, DataFields, DoneFields, PieceFields, TransferFields, TransferShape,
    WritePayload,
};
use super::pieces::{PieceAssembler, RunSplitter, WriteIntake};
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
#[module(
    shape: HostDmaShape,
    error = ParameterError,
    atomic = AtomicFields::new(shape),
    burst: BurstFields = BurstFields::new(shape, shape.atomics),
    piece: PieceFields = PieceFields::new(shape),
    in_flight: TransferShape = TransferShape::new(shape, shape.writes, WritePayload::new(shape)),
)]
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
    /// Transfers from before a reset are in flight.
    #[new(Optional::new(shape.drain, || Reg::reset_to(true)))]
    draining: Optional<Reg<bool>>,
    /// Writes that the RAM has not done yet.
    account: Optional<RamAccount<{ shape.segments }, { shape.position() }>, { shape.drain }>,
    bursts: Checked<OutputQueue<{ burst.width }, { BURSTS }, 0>>,
    intake: Checked<WriteIntake<{ shape }>>,
    splitter: RunSplitter<{ shape }>,
    assembler: PieceAssembler<{ shape }>,
    pieces: Checked<OutputQueue<{ piece.width }, { PIECES }, { PIECE_MARGIN }>>,
    host_guard: Optional<HostGuard<{ shape.guard_shape() }>, { shape.guard }>,
    /// Position of the piece whose descriptor is waiting.
    held_position: Reg<{ shape.position() }>,
    /// Position in the ring of the oldest line in use.
    freed: Reg<{ shape.position() }, Reset>,
    transfers: TransferQueue<{ shape }, { in_flight }>,
    /// The burst whose pieces are being retired.
    failed: Reg<bool, Reset>,
    refused: Reg<bool, Reset>,
    outside: Reg<bool, Reset>,
    response_id: Reg<{ shape.id }>,
    response_code: Reg<2>,
    response_valid: Reg<bool, Reset>,
    arrived: Optional<Reg<bool, Reset>, { shape.guard }>,
    counters: HalfCounters,
}

#[kernel(
    PspinHostmemDmaWr {
        rstn, m_axis_write_desc, s_axis_write_desc_status, ram_wr, s_axi, wr_bursts_o, wr_refused_o, wr_outside_o,
        wr_stray_status_o, wr_dma_errors_o, wr_arrived_o, wr_arrived_context_o, m_atomic, guard, dma_rstn, draining,
        account, bursts, intake, splitter, assembler, pieces, host_guard, held_position, freed, transfers, failed,
        refused, outside, response_id, response_code, response_valid, arrived, counters, shape, burst, piece, in_flight
    },
)]
fn update() {
    let (aw, w, b) = (s_axi.aw, s_axi.w, s_axi.b);
    // The reset of all but the transfers in flight, that of these, and that of the parts in front of them.
    let (restart, forget, hold) = if shape.drain {
        let forget = !*dma_rstn;
        let restart = !rstn || forget;
        *draining = *draining && !(transfers.idle && account.settled);
        draining.reset_by(restart);
        account.rst = forget;
        account.taken = intake.ram.cmd_valid & ram_wr.cmd_ready;
        account.answered = ram_wr.done;
        /// After a reset the front stays in reset until what was in flight is answered.
        let hold = restart || *draining;
        (restart, forget, hold)
    } else {
        (!rstn, !rstn, !rstn)
    };
    for rst in [bursts.rst, intake.rst, splitter.rst, assembler.rst, pieces.rst] {
        rst = hold;
    }
    for register in [failed, refused, outside, response_valid] {
        register.reset_by(restart);
    }
    freed.reset_by(restart);
    transfers.rst = restart;
    transfers.forget = forget;
    counters.rst = forget;
    /// An atomic operation is refused as a burst of no kind.
    let (kind, atop) = if shape.atomics {
        (*aw.burst | aw.atop.any().repeat(KIND_BITS), *aw.atop)
    } else {
        (*aw.burst, constant(lit(0, 0)))
    };
    bursts.s.data = pack!(burst {
        address: aw.addr,
        length: *aw.len,
        size: *aw.size,
        kind,
        id: *aw.id,
        asker: aw.user.slice(0, shape.context()),
        atop,
    });
    bursts.s.valid = aw.valid;
    aw.ready = bursts.s.ready;
    let data = DataFields::new(shape);
    intake.w.data = pack!(data {
        data: w.data,
        strobes: w.strb,
        last: *w.last
    });
    intake.w.valid = w.valid;
    w.ready = intake.w.ready;
    intake.freed = freed;
    ram_wr = intake.ram;
    splitter.burst = bursts.m;
    splitter.beat = intake.beat;
    m_atomic = splitter.atomic;
    assembler.run = splitter.run;
    pieces.s.data = assembler.piece;
    pieces.s.valid = assembler.piece_valid;
    assembler.room = !pieces.almost_full;
    /// A descriptor is given when its data is in the RAM: its position is after that up to which all is written.
    let is_written = |position: Sig| !(intake.written - position - 1)[shape.position() - 1];
    let next = piece.of(pieces.m.data);
    transfers.clear = is_written(next.position);
    transfers.held_clear = is_written(held_position);
    if transfers.s.ready {
        held_position = next.position;
    }
    let first_byte = cat!(next.page, next.start);
    let allowed = if shape.guard {
        host_guard.windows = *guard;
        host_guard.asker = next.asker;
        host_guard.first = first_byte;
        host_guard.last = cat!(next.page, next.stop);
        host_guard.allowed
    } else {
        true
    };
    let payload = WritePayload::new(shape);
    let transfer = TransferFields::new(shape.address, in_flight);
    transfers.s.valid = pieces.m.valid;
    pieces.m.ready = transfers.s.ready;
    transfers.s.data = pack!(transfer {
        host_address: first_byte,
        ram_address: cat!(next.line, next.start.slice(0, shape.lane())),
        length: next.stop.resize(PAGE_BITS + 1) - next.start.resize(PAGE_BITS + 1) + 1,
        moves: next.moves && allowed,
        payload: pack!(payload {
            id: next.id,
            position: next.position,
            whole: next.whole,
            last: next.last,
            fault: next.fault,
            outside: next.moves && !allowed,
            asker: next.asker,
        }),
    });
    let (desc, given) = (m_axis_write_desc, transfers.desc);
    desc.dma_addr = given.dma_addr;
    desc.ram_sel = given.ram_sel;
    desc.ram_addr = given.ram_addr;
    desc.imm = 0;
    desc.imm_en = false;
    desc.len = given.len;
    desc.tag = given.tag;
    desc.valid = given.valid;
    given.ready = desc.ready;
    transfers.status = s_axis_write_desc_status;
    /// A completed transfer frees its lines; the last piece of a burst answers it.
    let done = DoneFields::new(payload.into()).of(transfers.m.data);
    let end = payload.of(done.payload);
    let failed_now = failed || done.error.any();
    let refused_now = refused || end.fault;
    let outside_now = outside || end.outside;
    transfers.m.ready = !end.last || !response_valid || b.ready;
    let retire = transfers.m.valid && transfers.m.ready;
    let answer = retire && end.last;
    if b.ready {
        response_valid = false;
    }
    if retire {
        freed = end.position + end.whole.word().resize(shape.position());
        failed = failed_now && !end.last;
        refused = refused_now && !end.last;
        outside = outside_now && !end.last;
    }
    if answer {
        response_valid = true;
        response_id = end.id;
        response_code = if outside_now {
            DECERR
        } else if refused_now || failed_now {
            SLVERR
        } else {
            OKAY
        };
    }
    *b.id = response_id;
    b.resp = response_code;
    *b.user = 0;
    b.valid = response_valid;
    if shape.guard {
        *arrived = answer;
        arrived.reset_by(restart);
        *wr_arrived_o = *arrived;
        *wr_arrived_context_o = reg(end.asker);
    }
    /// Events are counted.
    counters.in_reset = restart;
    counters.retired = retire;
    counters.error = done.error;
    counters.answered = answer;
    counters.refused = refused_now;
    counters.outside = outside_now;
    counters.stray = transfers.stray;
    wr_bursts_o = counters.bursts_count;
    wr_refused_o = counters.refused_count;
    wr_outside_o = counters.outside_count;
    wr_stray_status_o = counters.stray_count;
    wr_dma_errors_o = counters.error_counts;
}
