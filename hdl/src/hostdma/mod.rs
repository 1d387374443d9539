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
//! The halves work by themselves; their contracts are in [`PspinHostmemDmaWr`] and [`PspinHostmemDmaRd`]. An atomic
//! operation is refused by the half that writes; one that wants data gets its beats from the half that reads.
//!
//! Source: the public FPsPIN design's block of the same name, which has one transfer in flight; the segmented DMA
//! interface is Corundum's.

mod account;
mod assembler;
mod entry;
pub mod events;
mod guard;
mod guard_entry;
mod intake;
pub mod layout;
mod planner;
mod ports;
pub mod psdpram;
mod read;
mod reserve;
mod sequencer;
mod shape;
mod splitter;
mod strobes;
mod transfers;
mod write;

pub use account::RamAccount;
pub use assembler::PieceAssembler;
pub(crate) use entry::{ENTRY, READ_ENTRY, SIMULATED, WRITE_ENTRY};
pub use guard::HostGuard;
pub(crate) use guard_entry::GUARD_ENTRY;
pub use intake::WriteIntake;
pub use planner::ReadPlanner;
pub use ports::{ERROR_BITS, GuardIn, RamReadOut, RamWriteOut, ReadDescOut, StatusIn, WriteDescOut};
pub use read::PspinHostmemDmaRd;
pub use reserve::LineReserve;
pub use sequencer::ReadSequencer;
pub use shape::{GuardShape, HostDmaShape, WINDOW_SIZE_BITS};
pub use splitter::RunSplitter;
pub use strobes::StrobeEdges;
pub use transfers::{TransferQueue, TransferShape};
pub use write::PspinHostmemDmaWr;

use crate::COUNTER_WIDTH;
use crate::axi::{ATOP_BITS, AxiSlave};
use crate::entry::ParameterError;
use crate::stream::StreamOut;
use spinneret_verilog::prelude::*;

/// Carries the cluster's AXI bursts to host memory and back, many in flight.
#[hardware(shape: HostDmaShape, error = ParameterError)]
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    pub ram_wr: RamWriteOut<{ shape }>,
    /// To the RAM that Corundum's DMA writes.
    pub ram_rd: RamReadOut<{ shape }>,
    /// From the cluster.
    pub s_axi: AxiSlave<{ shape.axi() }, { shape.user() }>,
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
    /// Atomic operation; only with `atop`.
    pub s_axi_awatop: Optional<Wire<In, { ATOP_BITS }>, { shape.atomics }>,
    /// The windows of host memory; only with `guard`.
    pub guard: Optional<GuardIn<{ shape.guard_shape() }>, { shape.guard }>,
    /// Synchronous reset of Corundum's DMA and of the RAM, active low; only with `drain`.
    pub dma_rstn: Optional<Wire<In, bool>, { shape.drain }>,
    write: Checked<PspinHostmemDmaWr<{ shape }>>,
    read: Checked<PspinHostmemDmaRd<{ shape }>>,
}

impl Logic for PspinHostmemDma {
    #[kernel]
    fn update(&mut self) {
        self.write.clk.next = self.clk.val();
        self.write.rstn.next = self.rstn.val();
        self.read.clk.next = self.clk.val();
        self.read.rstn.next = self.rstn.val();
        WriteDescOut::link(&mut self.m_axis_write_desc, &mut self.write.m_axis_write_desc);
        StatusIn::link(
            &mut self.s_axis_write_desc_status,
            &mut self.write.s_axis_write_desc_status,
        );
        RamWriteOut::link(&mut self.ram_wr, &mut self.write.ram_wr);
        ReadDescOut::link(&mut self.m_axis_read_desc, &mut self.read.m_axis_read_desc);
        StatusIn::link(
            &mut self.s_axis_read_desc_status,
            &mut self.read.s_axis_read_desc_status,
        );
        RamReadOut::link(&mut self.ram_rd, &mut self.read.ram_rd);
        /// The write channels.
        self.write.s_axi.awid.next = self.s_axi.awid.val();
        self.write.s_axi.awaddr.next = self.s_axi.awaddr.val();
        self.write.s_axi.awlen.next = self.s_axi.awlen.val();
        self.write.s_axi.awsize.next = self.s_axi.awsize.val();
        self.write.s_axi.awburst.next = self.s_axi.awburst.val();
        self.write.s_axi.awlock.next = self.s_axi.awlock.val();
        self.write.s_axi.awcache.next = self.s_axi.awcache.val();
        self.write.s_axi.awprot.next = self.s_axi.awprot.val();
        self.write.s_axi.awqos.next = self.s_axi.awqos.val();
        self.write.s_axi.awregion.next = self.s_axi.awregion.val();
        self.write.s_axi.awuser.next = self.s_axi.awuser.val();
        self.write.s_axi.awvalid.next = self.s_axi.awvalid.val();
        self.s_axi.awready.next = self.write.s_axi.awready.val();
        self.write.s_axi.wdata.next = self.s_axi.wdata.val();
        self.write.s_axi.wstrb.next = self.s_axi.wstrb.val();
        self.write.s_axi.wlast.next = self.s_axi.wlast.val();
        self.write.s_axi.wuser.next = self.s_axi.wuser.val();
        self.write.s_axi.wvalid.next = self.s_axi.wvalid.val();
        self.s_axi.wready.next = self.write.s_axi.wready.val();
        self.s_axi.bid.next = self.write.s_axi.bid.val();
        self.s_axi.bresp.next = self.write.s_axi.bresp.val();
        self.s_axi.buser.next = self.write.s_axi.buser.val();
        self.s_axi.bvalid.next = self.write.s_axi.bvalid.val();
        self.write.s_axi.bready.next = self.s_axi.bready.val();
        /// The read channels.
        self.read.s_axi.arid.next = self.s_axi.arid.val();
        self.read.s_axi.araddr.next = self.s_axi.araddr.val();
        self.read.s_axi.arlen.next = self.s_axi.arlen.val();
        self.read.s_axi.arsize.next = self.s_axi.arsize.val();
        self.read.s_axi.arburst.next = self.s_axi.arburst.val();
        self.read.s_axi.arlock.next = self.s_axi.arlock.val();
        self.read.s_axi.arcache.next = self.s_axi.arcache.val();
        self.read.s_axi.arprot.next = self.s_axi.arprot.val();
        self.read.s_axi.arqos.next = self.s_axi.arqos.val();
        self.read.s_axi.arregion.next = self.s_axi.arregion.val();
        self.read.s_axi.aruser.next = self.s_axi.aruser.val();
        self.read.s_axi.arvalid.next = self.s_axi.arvalid.val();
        self.s_axi.arready.next = self.read.s_axi.arready.val();
        self.s_axi.rid.next = self.read.s_axi.rid.val();
        self.s_axi.rdata.next = self.read.s_axi.rdata.val();
        self.s_axi.rresp.next = self.read.s_axi.rresp.val();
        self.s_axi.rlast.next = self.read.s_axi.rlast.val();
        self.s_axi.ruser.next = self.read.s_axi.ruser.val();
        self.s_axi.rvalid.next = self.read.s_axi.rvalid.val();
        self.read.s_axi.rready.next = self.s_axi.rready.val();
        /// What only some variants have.
        if self._shape.atomics {
            self.write.s_axi_awatop.next = self.s_axi_awatop.val();
            StreamOut::join(&mut self.write.m_atomic, &mut self.read.s_atomic);
        }
        if self._shape.guard {
            self.write.guard.open.next = self.guard.open.val();
            self.write.guard.by_context.next = self.guard.by_context.val();
            self.write.guard.enabled.next = self.guard.enabled.val();
            self.write.guard.base.next = self.guard.base.val();
            self.write.guard.size.next = self.guard.size.val();
            self.read.guard.open.next = self.guard.open.val();
            self.read.guard.by_context.next = self.guard.by_context.val();
            self.read.guard.enabled.next = self.guard.enabled.val();
            self.read.guard.base.next = self.guard.base.val();
            self.read.guard.size.next = self.guard.size.val();
        }
        if self._shape.drain {
            self.write.dma_rstn.next = self.dma_rstn.val();
            self.read.dma_rstn.next = self.dma_rstn.val();
        }
        /// Counters.
        self.wr_bursts_o.next = self.write.wr_bursts_o.val();
        self.wr_refused_o.next = self.write.wr_refused_o.val();
        self.wr_outside_o.next = self.write.wr_outside_o.val();
        self.wr_stray_status_o.next = self.write.wr_stray_status_o.val();
        self.wr_dma_errors_o.next = self.write.wr_dma_errors_o.val();
        self.rd_bursts_o.next = self.read.rd_bursts_o.val();
        self.rd_refused_o.next = self.read.rd_refused_o.val();
        self.rd_outside_o.next = self.read.rd_outside_o.val();
        self.rd_stray_status_o.next = self.read.rd_stray_status_o.val();
        self.rd_dma_errors_o.next = self.read.rd_dma_errors_o.val();
    }
}
