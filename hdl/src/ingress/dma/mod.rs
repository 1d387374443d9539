//! The ingress DMA: writes matched packets into their slots, and tells the HER generator when they are there.
//!
//! ```text
//!               +-> plan (FIFO) ---+
//! write_desc ---+-> slot (FIFO) ---|-----> WriteEngine <-> m_axi_pspin
//!               +-> meta (FIFO) ---|-----> ^   |   |
//! s_axis_pspin_rx ------------> FrameMarker ---+   +-> OutputQueue -> her_gen
//!                                              |
//!                                              +-----> OutputQueue -> m_free
//! ```
//!
//! # Contract
//! - **Behaviour**: a descriptor {address, length, tag} and the next frame of the stream make a packet. Its
//!   bytes are written from the address on by INCR bursts of whole beats, with strobes for exactly `length`
//!   bytes. A burst ends where a block of `burst_beats` beats does, so none crosses 4 KiB. When all its
//!   responses are OKAY, {address, length, tag} goes to the HER generator; else the address goes to
//!   `m_free`, and the packet is counted.
//! - **Throughput**: one beat a clock, from packet to packet and from burst to burst; 64-byte packets one a
//!   clock. `bursts` bursts may wait for their response, so responses may take that many clocks (minus 1)
//!   before they slow down packets of one beat.
//! - **Latency**: descriptor and first beat to AWVALID and WVALID 2 clocks if the packet has one beat, and 3
//!   if it has more (with `burst_beats` 2); response to `her_gen_valid` or `m_free_valid` 1 clock.
//! - **Backpressure**: descriptor and stream wait for one another. `her_gen` holds `her_queue` packets and
//!   one more; when it is full, responses wait and then the stream; nothing is overwritten. `m_free` is
//!   likewise.
//! - **Order**: all bursts have id 0, so responses come in order, and so do the packets at `her_gen`.
//! - **Registers**: all outputs are registers, ready signals too.
//! - **Reset** (`rstn` low) discards everything inside, also bursts in flight: the other side of the AXI port
//!   must be reset as well.
//! - **Bad input**: a frame that is not as long as its descriptor says, or whose bytes are not in the lowest
//!   lanes, fails: nothing is written beyond its length, what is left of it is discarded, and the slot goes
//!   to `m_free`. So it does, without any byte written, if the address is not a multiple of a beat. A last
//!   beat without bytes is no error, and neither is length 0: one beat without strobes.

mod beat;
mod engine;
mod engine_entry;
mod entry;
pub mod judge;
mod marker;
mod shape;
mod window;
mod writer;

pub use beat::BeatFields;
pub use engine::WriteEngine;
pub(crate) use engine_entry::ENTRY as ENGINE_ENTRY;
pub(crate) use entry::{ENTRY, SIMULATED};
pub use judge::PacketJudge;
pub use marker::{FrameMarker, FramePlan};
pub use shape::DmaShape;
pub use window::Window;
pub use writer::FrameWriter;

use crate::axi::AxiMaster;
use crate::entry::ParameterError;
use crate::stream::{AxisIn, Fifo, FifoConfig, OutputQueue, ReadySlice};
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// Descriptors that can wait for their frames.
const DESCRIPTORS: usize = 8;

/// Writes matched packets into their slots by AXI4 bursts, several packets in flight.
#[hardware(
    shape: DmaShape,
    error = ParameterError,
    metas = FifoConfig::distributed(shape.meta(), 2 * shape.bursts.max(DESCRIPTORS)),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PspinIngressDma {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Where the packet goes: a multiple of the bytes of a beat.
    pub write_desc_addr: Wire<In, { shape.address }>,
    /// Its length in bytes.
    pub write_desc_len: Wire<In, { shape.length }>,
    /// Its tag, passed on.
    pub write_desc_tag: Wire<In, { shape.tag }>,
    /// The descriptor is there.
    pub write_desc_valid: Wire<In, bool>,
    /// The descriptor is taken in this cycle.
    pub write_desc_ready: Wire<Out, bool>,
    /// The packets, in the order of their descriptors.
    pub s_axis_pspin_rx: AxisIn<{ shape.axis() }>,
    /// Port into the packet buffer; nothing is read.
    pub m_axi_pspin: AxiMaster<{ shape.axi() }>,
    /// Address of a packet that is written.
    pub her_gen_addr: Wire<Out, { shape.address }>,
    /// Its length in bytes.
    pub her_gen_len: Wire<Out, { shape.length }>,
    /// Its tag.
    pub her_gen_tag: Wire<Out, { shape.tag }>,
    /// The packet is there.
    pub her_gen_valid: Wire<Out, bool>,
    /// The HER generator takes it in this cycle.
    pub her_gen_ready: Wire<In, bool>,
    /// Address of a slot whose packet failed; beyond the public design.
    pub m_free_addr: Wire<Out, { shape.address }>,
    /// The slot is free.
    pub m_free_valid: Wire<Out, bool>,
    /// The allocator takes it in this cycle; tie it to 1 if it is unused.
    pub m_free_ready: Wire<In, bool>,
    /// Packets that failed because a response was not OKAY, modulo 2^32; beyond the public design.
    pub write_error_pkts_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Packets that failed because of their frame or address, modulo 2^32; beyond the public design.
    pub bad_frame_pkts_o: Wire<Out, { COUNTER_WIDTH }>,
    reset: Wire<Local, bool>,
    descriptors: ReadySlice<{ shape.packet() }>,
    planner: FramePlan<{ shape }>,
    plans: Checked<OutputQueue<{ shape.plan() }, { DESCRIPTORS }>>,
    slots: Checked<OutputQueue<{ 1 + shape.address }, { DESCRIPTORS }>>,
    // A packet is known from its descriptor on until its last response has come.
    metas: Checked<Fifo<{ metas }>>,
    room: Wire<Local, bool>,
    beats: ReadySlice<{ shape.data + shape.axis().keep() + 1 }>,
    marker: FrameMarker<{ shape }>,
    engine: Checked<WriteEngine<{ shape }>>,
    hers: Checked<OutputQueue<{ shape.packet() }, { shape.her_queue }>>,
    frees: Checked<OutputQueue<{ shape.address }, { shape.free_queue }>>,
    counters: EventCounters<{ judge::EVENTS }>,
}

impl Logic for PspinIngressDma {
    #[kernel]
    fn update(&mut self) {
        let (address, length) = (self._shape.address, self._shape.length);
        self.reset.next = !self.rstn.val();
        clocked!(self.clk, self.reset => self.descriptors, self.plans, self.slots, self.metas, self.beats,
            self.marker, self.engine, self.hers, self.frees, self.counters);
        /// Descriptors are {tag, length, address}; each goes into three queues at once.
        self.descriptors.s.data.next = cat!(
            self.write_desc_tag.val(),
            self.write_desc_len.val(),
            self.write_desc_addr.val()
        );
        self.descriptors.s.valid.next = self.write_desc_valid.val();
        self.write_desc_ready.next = self.descriptors.s.ready.val();
        self.room.next = self.plans.s.ready.val() && self.slots.s.ready.val() && self.metas.s.ready.val();
        self.descriptors.m.ready.next = self.room.val();
        self.planner.address.next = self.descriptors.m.data.val().slice(0, self._shape.beat_bits());
        self.planner.length.next = self.descriptors.m.data.val().slice(address, length);
        self.plans.s.data.next = self.planner.plan.val();
        self.plans.s.valid.next = self.descriptors.m.valid.val() && self.room.val();
        self.slots.s.data.next = cat!(false, self.descriptors.m.data.val().slice(0, address));
        self.slots.s.valid.next = self.descriptors.m.valid.val() && self.room.val();
        self.metas.s.data.next = self.descriptors.m.data.val().slice(address, self._shape.meta());
        self.metas.s.valid.next = self.descriptors.m.valid.val() && self.room.val();
        /// Beats are {tlast, tkeep, tdata}; the side band ends here.
        self.beats.s.data.next = cat!(
            self.s_axis_pspin_rx.tlast.val(),
            self.s_axis_pspin_rx.tkeep.val(),
            self.s_axis_pspin_rx.tdata.val()
        );
        self.beats.s.valid.next = self.s_axis_pspin_rx.tvalid.val();
        self.s_axis_pspin_rx.tready.next = self.beats.s.ready.val();
        connect!(self.beats.m => self.marker.s);
        connect!(self.plans.m => self.marker.plan);
        connect!(self.marker.m => self.engine.beat);
        connect!(self.slots.m => self.engine.slot);
        connect!(self.metas.m => self.engine.meta);
        connect!(self.engine.m_axi => self.m_axi_pspin);
        connect!(self.engine.good => self.hers.s);
        connect!(self.engine.failed => self.frees.s);
        /// Packets that are written, and slots of those that are not.
        self.her_gen_addr.next = self.hers.m.data.val().slice(0, address);
        self.her_gen_len.next = self.hers.m.data.val().slice(address, length);
        self.her_gen_tag.next = self.hers.m.data.val().slice(address + length, self._shape.tag);
        self.her_gen_valid.next = self.hers.m.valid.val();
        self.hers.m.ready.next = self.her_gen_ready.val();
        self.m_free_addr.next = self.frees.m.data.val();
        self.m_free_valid.next = self.frees.m.valid.val();
        self.frees.m.ready.next = self.m_free_ready.val();
        self.counters.events.next = self.engine.events.val();
        self.write_error_pkts_o.next = self.counters.counts[judge::WRITE_ERROR].val();
        self.bad_frame_pkts_o.next = self.counters.counts[judge::BAD_FRAME].val();
    }
}
