//! The host DMA: carries the cluster's AXI bursts to host memory and back through Corundum's DMA.
//!
//! ```text
//!                                      +-> desc, <- status
//! s_axi aw, w, b <-> PspinHostmemDmaWr +-> ram_wr : RAM : -> Corundum's DMA writes to the host
//!                          | atomics that want data
//! s_axi ar, r <----> PspinHostmemDmaRd +-> ram_rd : RAM : <- Corundum's DMA reads from the host
//!                                      +-> desc, <- status
//! ```
//!
//! The halves work independently; their contracts are in [`PspinHostmemDmaWr`] and [`PspinHostmemDmaRd`]. An atomic
//! operation is refused by the half that writes; one that wants data gets its beats from the half that reads.
//!
//! Source: the public FPsPIN design's block of the same name, which has one transfer in flight; the segmented DMA
//! interface is Corundum's.

pub mod events;
mod guard;
pub mod layout;
mod pieces;
pub mod psdpram;
mod read;
mod ring;
mod shape;
mod transfers;
mod write;

pub(crate) use guard::GUARD_ENTRY;
pub use guard::HostGuard;
pub use layout::{
    CorundumRam, ERROR_BITS, GuardIn, RamReadIn, RamReadOut, RamWriteIn, RamWriteOut, ReadDescOut, StatusIn,
    TransferShape, WriteDescOut,
};
pub use pieces::{LowestOne, PieceAssembler, RunSplitter, WriteIntake};
pub use read::PspinHostmemDmaRd;
pub use ring::{LineReserve, ReadPlanner, ReadSequencer};
pub use shape::{GuardShape, HostDmaShape, RamShape, WINDOW_SIZE_BITS};
pub use transfers::{RamAccount, TransferQueue};
pub use write::PspinHostmemDmaWr;

use crate::COUNTER_WIDTH;
use crate::axi::AxiTarget;
use crate::entry::{Entry, ParameterError, Parameters as _, Values, Variant};
use spinneret_verilog::prelude::*;

/// Carries the cluster's AXI bursts to host memory and back, many in flight.
#[module(shape: HostDmaShape, error = ParameterError)]
pub struct PspinHostmemDma {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Descriptors of reads.
    pub m_axis_read_desc: ReadDescOut<{ shape }>,
    /// Their statuses.
    pub s_axis_read_desc_status: StatusIn<{ shape.tag }>,
    /// Descriptors of writes.
    pub m_axis_write_desc: WriteDescOut<{ shape }>,
    /// Their statuses.
    pub s_axis_write_desc_status: StatusIn<{ shape.tag }>,
    /// To the RAM that Corundum's DMA reads.
    pub ram_wr: RamWriteOut<{ shape.ram() }>,
    /// To the RAM that Corundum's DMA writes.
    pub ram_rd: RamReadOut<{ shape.ram() }>,
    /// From the cluster.
    pub s_axi: AxiTarget<{ shape.axi() }>,
    /// Write bursts that were answered, modulo 2^32; this and all below beyond the public design.
    pub wr_bursts_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Write bursts that cannot be done.
    pub wr_refused_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Write bursts with bytes outside of all windows.
    pub wr_outside_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Statuses of writes for tags that were not in flight.
    pub wr_stray_status_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Statuses of writes by error: 1 in the lowest word, and so on to 11; errors without meaning count as 3.
    pub wr_dma_errors_o: Wire<Out, { events::ERROR_CODES * COUNTER_WIDTH }>,
    /// Read bursts that were answered, modulo 2^32.
    pub rd_bursts_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Read bursts that cannot be done.
    pub rd_refused_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Read bursts with bytes outside of all windows.
    pub rd_outside_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Statuses of reads for tags that were not in flight.
    pub rd_stray_status_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Statuses of reads by error: 1 in the lowest word, and so on to 11; errors without meaning count as 3.
    pub rd_dma_errors_o: Wire<Out, { events::ERROR_CODES * COUNTER_WIDTH }>,
    /// A write burst was answered in the clock before, so what it wrote is in host memory; only with `guard`.
    pub wr_arrived_o: Optional<Wire<Out, bool>, { shape.guard }>,
    /// The context that asked for it.
    pub wr_arrived_context_o: Optional<Wire<Out, { shape.context() }>, { shape.guard }>,
    /// The windows of host memory; only with `guard`.
    pub guard: Optional<GuardIn<{ shape.guard_shape() }>, { shape.guard }>,
    /// Synchronous reset of Corundum's DMA and of the RAM, active low; only with `drain`.
    pub dma_rstn: Optional<Wire<In, bool>, { shape.drain }>,
    write: Checked<PspinHostmemDmaWr<{ shape }>>,
    read: Checked<PspinHostmemDmaRd<{ shape }>>,
}

#[kernel(
    PspinHostmemDma {
        rstn, m_axis_read_desc, s_axis_read_desc_status, m_axis_write_desc, s_axis_write_desc_status, ram_wr, ram_rd,
        s_axi, wr_bursts_o, wr_refused_o, wr_outside_o, wr_stray_status_o, wr_dma_errors_o, rd_bursts_o, rd_refused_o,
        rd_outside_o, rd_stray_status_o, rd_dma_errors_o, wr_arrived_o, wr_arrived_context_o, guard, dma_rstn, write,
        read, shape
    },
)]
fn update() {
    write.rstn = rstn;
    read.rstn = rstn;
    m_axis_write_desc = write.m_axis_write_desc;
    write.s_axis_write_desc_status = s_axis_write_desc_status;
    ram_wr = write.ram_wr;
    m_axis_read_desc = read.m_axis_read_desc;
    read.s_axis_read_desc_status = s_axis_read_desc_status;
    ram_rd = read.ram_rd;
    write.s_axi.aw = s_axi.aw;
    write.s_axi.w = s_axi.w;
    s_axi.b = write.s_axi.b;
    read.s_axi.ar = s_axi.ar;
    s_axi.r = read.s_axi.r;
    /// Ports of some variants only.
    if shape.atomics {
        read.s_atomic = write.m_atomic;
    }
    write.guard = guard;
    read.guard = guard;
    write.dma_rstn = dma_rstn;
    read.dma_rstn = dma_rstn;
    wr_arrived_o = write.wr_arrived_o;
    wr_arrived_context_o = write.wr_arrived_context_o;
    /// Counters.
    wr_bursts_o = write.wr_bursts_o;
    wr_refused_o = write.wr_refused_o;
    wr_outside_o = write.wr_outside_o;
    wr_stray_status_o = write.wr_stray_status_o;
    wr_dma_errors_o = write.wr_dma_errors_o;
    rd_bursts_o = read.rd_bursts_o;
    rd_refused_o = read.rd_refused_o;
    rd_outside_o = read.rd_outside_o;
    rd_stray_status_o = read.rd_stray_status_o;
    rd_dma_errors_o = read.rd_dma_errors_o;
}

/// The host DMA.
pub(crate) const ENTRY: Entry = Entry::shipped(
    "pspin_hostmem_dma",
    "carries the cluster's AXI bursts to host memory and back, many in flight",
    HostDmaShape::parameters,
    |values| {
        let shape = HostDmaShape::of(ENTRY.name, values)?;
        Ok(Box::new(PspinHostmemDma::new(shape)?))
    },
)
.derives(derived);

/// Its half that writes.
pub(crate) const WRITE_ENTRY: Entry = Entry::shipped(
    "pspin_hostmem_dma_wr",
    "carries the cluster's AXI writes to host memory, many in flight",
    HostDmaShape::parameters,
    |values| {
        let shape = HostDmaShape::of(WRITE_ENTRY.name, values)?;
        Ok(Box::new(PspinHostmemDmaWr::new(shape)?))
    },
)
.derives(derived_of_half);

/// Its half that reads.
pub(crate) const READ_ENTRY: Entry = Entry::shipped(
    "pspin_hostmem_dma_rd",
    "carries the cluster's AXI reads to host memory, many in flight",
    HostDmaShape::parameters,
    |values| {
        let shape = HostDmaShape::of(READ_ENTRY.name, values)?;
        Ok(Box::new(PspinHostmemDmaRd::new(shape)?))
    },
)
.derives(derived_of_half);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    ENTRY.variant("pspin_hostmem_dma_board", "").of_boards(),
    ENTRY.variant(
        "pspin_hostmem_dma_small",
        "data_width=128 ram_seg_data_width=64 ring_bytes=4096 writes=4 reads=4 \
         guard=1 awuser_width=3 aruser_width=2",
    ),
];

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let of = |shape: HostDmaShape| {
        vec![
            ("DMA_IMM_ENABLE", 0),
            ("RAM_SEG_BE_WIDTH", shape.segment_bytes() as u64),
            ("RAM_SEG_ADDR_WIDTH", shape.segment_address() as u64),
            ("STRB_WIDTH", shape.axi().strobes() as u64),
        ]
    };
    HostDmaShape::of(ENTRY.name, values).map(of).unwrap_or_default()
}

/// The same for one half, where the public design names the pipeline of its RAM; ours takes any.
fn derived_of_half(values: &Values) -> Vec<(&'static str, u64)> {
    let mut all = derived(values);
    all.push(("RAM_PIPELINE", 2));
    all
}
