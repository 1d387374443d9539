//! The ingress DMA: writes matched packets into their slots, and tells the HER generator when they are there.
//!
//! ```text
//! write_desc -----> ReadySlice -+                +-> registers -> m_axi_pspin_aw
//!                               +-> BurstWriter -+-> registers -> m_axi_pspin_w
//! s_axis_pspin_rx > ReadySlice -+        |
//!                                  record of the burst
//!                                        |
//!                              records (FIFO, in order)
//!                                        |              +-> OutputQueue -> her_gen
//! m_axi_pspin_b --> ReadySlice ----> BurstJudge --------+-> OutputQueue -> m_free
//! ```
//!
//! # Contract
//! - **Behaviour**: a descriptor {address, length, tag} and the next frame of the stream make a packet. Its
//!   bytes are written from the address on by INCR bursts of whole beats, with strobes for exactly `length`
//!   bytes; no burst crosses 4 KiB. When all its responses are OKAY, {address, length, tag} goes to the HER
//!   generator; else the address goes to `m_free`, and the packet is counted.
//! - **Throughput**: one beat a clock, from packet to packet and from burst to burst; 64-byte packets one a
//!   clock. `bursts` bursts may wait for their response, so responses may take that many clocks (minus 2)
//!   before they slow down packets of one beat.
//! - **Latency**: descriptor and first beat to AWVALID and WVALID 1 clock, response to `her_gen_valid` or
//!   `m_free_valid` 1 clock.
//! - **Backpressure**: descriptor and stream wait for one another. `her_gen` holds `her_queue` packets and
//!   one more; when it is full, responses wait and then the stream; nothing is overwritten. `m_free` is
//!   likewise.
//! - **Order**: all bursts have id 0, so responses come in order, and so do the packets at `her_gen`.
//! - **Registers**: all outputs are registers, ready signals too.
//! - **Reset** (`rstn` low) forgets everything inside, also bursts under way: the other side of the AXI port
//!   has to be reset as well.
//! - **Bad input**: a frame that is not as long as its descriptor says, or whose bytes are not in the lowest
//!   lanes, fails: it takes exactly the beats of its descriptor (without strobes beyond its end), what is
//!   left of it is discarded, and the slot goes to `m_free`. So it does, without any byte written, if the
//!   address is not a multiple of a beat. A last beat without bytes is no error, and neither is length 0: one
//!   beat without strobes.

mod entry;
mod judge;
mod output_queue;
mod ports;
mod shape;
mod writer;

pub(crate) use entry::{ENTRY, simulated};
pub use judge::BurstJudge;
pub use output_queue::OutputQueue;
pub use ports::AxiMaster;
pub use shape::DmaShape;
pub use writer::BurstWriter;

use crate::catalog::{ParameterError, Values};
use crate::stream::{AxisIn, Fifo, FifoConfig, ReadySlice, StreamOut};
use spinneret_verilog::prelude::*;

/// AWBURST of an incrementing burst.
const INCR: u64 = 1;
/// AWCACHE: normal memory, bufferable, not cached.
const BUFFERABLE: u64 = 0b0011;
/// AWPROT: unprivileged, not secure, data.
const UNPRIVILEGED: u64 = 0b010;

/// Writes matched packets into their slots by AXI4 bursts, several packets in flight.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PspinIngressDma {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Where the packet goes: a multiple of the bytes of a beat.
    pub write_desc_addr: Wire<In>,
    /// Its length in bytes.
    pub write_desc_len: Wire<In>,
    /// Its tag, passed on.
    pub write_desc_tag: Wire<In>,
    /// The descriptor is there.
    pub write_desc_valid: Wire<In, bool>,
    /// The descriptor is taken in this cycle.
    pub write_desc_ready: Wire<Out, bool>,
    /// The packets, in the order of their descriptors.
    pub s_axis_pspin_rx: AxisIn,
    /// Port into the packet buffer; nothing is read.
    pub m_axi_pspin: AxiMaster,
    /// Address of a packet that is written.
    pub her_gen_addr: Wire<Out>,
    /// Its length in bytes.
    pub her_gen_len: Wire<Out>,
    /// Its tag.
    pub her_gen_tag: Wire<Out>,
    /// The packet is there.
    pub her_gen_valid: Wire<Out, bool>,
    /// The HER generator takes it in this cycle.
    pub her_gen_ready: Wire<In, bool>,
    /// Address of a slot whose packet failed; beyond the public design.
    pub m_free_addr: Wire<Out>,
    /// The slot is free.
    pub m_free_valid: Wire<Out, bool>,
    /// The allocator takes it in this cycle; tie it to 1 if there is nobody to tell.
    pub m_free_ready: Wire<In, bool>,
    /// Packets that failed because a response was not OKAY, modulo 2^32; beyond the public design.
    pub write_error_pkts_o: Wire<Out>,
    /// Packets that failed because of their frame or address, modulo 2^32; beyond the public design.
    pub bad_frame_pkts_o: Wire<Out>,
    reset: Wire<Local, bool>,
    descriptors: ReadySlice,
    beats: ReadySlice,
    responses: ReadySlice,
    writer: BurstWriter,
    records: Fifo,
    judge: BurstJudge,
    hers: OutputQueue,
    frees: OutputQueue,
    _shape: DmaShape,
}

impl PspinIngressDma {
    /// A DMA of the given shape.
    ///
    /// # Errors
    /// If a queue cannot be built with these parameters.
    pub fn new(shape: DmaShape) -> Result<Self, ParameterError> {
        Ok(Self {
            clk: Signal::default(),
            rstn: Wire::bit(),
            write_desc_addr: Wire::word(shape.address),
            write_desc_len: Wire::word(shape.length),
            write_desc_tag: Wire::word(shape.tag),
            write_desc_valid: Wire::bit(),
            write_desc_ready: Wire::bit(),
            s_axis_pspin_rx: AxisIn::new(shape.axis),
            m_axi_pspin: AxiMaster::new(shape),
            her_gen_addr: Wire::word(shape.address),
            her_gen_len: Wire::word(shape.length),
            her_gen_tag: Wire::word(shape.tag),
            her_gen_valid: Wire::bit(),
            her_gen_ready: Wire::bit(),
            m_free_addr: Wire::word(shape.address),
            m_free_valid: Wire::bit(),
            m_free_ready: Wire::bit(),
            write_error_pkts_o: Wire::word(32),
            bad_frame_pkts_o: Wire::word(32),
            reset: Wire::bit(),
            descriptors: ReadySlice::new(shape.packet()),
            beats: ReadySlice::new(shape.beat()),
            responses: ReadySlice::new(2),
            writer: BurstWriter::new(shape),
            records: Fifo::new(FifoConfig::distributed(shape.packet() + 2, shape.bursts))?,
            judge: BurstJudge::new(shape),
            hers: OutputQueue::new(shape.packet(), shape.her_queue)?,
            frees: OutputQueue::new(shape.address, shape.free_queue)?,
            _shape: shape,
        })
    }

    /// A DMA with parameter values by name.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn build(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
        Ok(Box::new(Self::new(DmaShape::new(values)?)?))
    }
}

impl Logic for PspinIngressDma {
    #[kernel]
    fn update(&mut self) {
        let (address, length) = (self._shape.address, self._shape.length);
        self.reset.next = !self.rstn.val();
        clocked!(self.clk, self.reset => self.descriptors, self.beats, self.responses, self.writer,
            self.records, self.judge, self.hers, self.frees);
        /// Descriptors are {tag, length, address}.
        self.descriptors.s.data.next = cat!(
            self.write_desc_tag.val(),
            self.write_desc_len.val(),
            self.write_desc_addr.val()
        );
        self.descriptors.s.valid.next = self.write_desc_valid.val();
        self.write_desc_ready.next = self.descriptors.s.ready.val();
        StreamOut::join(&mut self.descriptors.m, &mut self.writer.descriptor);
        /// Beats are {tlast, tkeep, tdata}; the side band ends here.
        self.beats.s.data.next = cat!(
            self.s_axis_pspin_rx.tlast.val(),
            self.s_axis_pspin_rx.tkeep.val(),
            self.s_axis_pspin_rx.tdata.val()
        );
        self.beats.s.valid.next = self.s_axis_pspin_rx.tvalid.val();
        self.s_axis_pspin_rx.tready.next = self.beats.s.ready.val();
        StreamOut::join(&mut self.beats.m, &mut self.writer.beat);
        /// What never changes: one id, whole beats, no reads.
        self.m_axi_pspin.awid.next = 0.into();
        self.m_axi_pspin.awsize.next = (self._shape.beat_bits() as u64).into();
        self.m_axi_pspin.awburst.next = INCR.into();
        self.m_axi_pspin.awlock.next = false;
        self.m_axi_pspin.awcache.next = BUFFERABLE.into();
        self.m_axi_pspin.awprot.next = UNPRIVILEGED.into();
        self.m_axi_pspin.arid.next = 0.into();
        self.m_axi_pspin.araddr.next = 0.into();
        self.m_axi_pspin.arlen.next = 0.into();
        self.m_axi_pspin.arsize.next = (self._shape.beat_bits() as u64).into();
        self.m_axi_pspin.arburst.next = INCR.into();
        self.m_axi_pspin.arlock.next = false;
        self.m_axi_pspin.arcache.next = BUFFERABLE.into();
        self.m_axi_pspin.arprot.next = UNPRIVILEGED.into();
        self.m_axi_pspin.arvalid.next = false;
        self.m_axi_pspin.rready.next = false;
        /// Bursts.
        self.m_axi_pspin.awaddr.next = self.writer.burst_address.val();
        self.m_axi_pspin.awlen.next = self.writer.burst_length.val();
        self.m_axi_pspin.awvalid.next = self.writer.burst_valid.val();
        self.writer.burst_ready.next = self.m_axi_pspin.awready.val();
        self.m_axi_pspin.wdata.next = self.writer.data.val();
        self.m_axi_pspin.wstrb.next = self.writer.strobes.val();
        self.m_axi_pspin.wlast.next = self.writer.data_last.val();
        self.m_axi_pspin.wvalid.next = self.writer.data_valid.val();
        self.writer.data_ready.next = self.m_axi_pspin.wready.val();
        /// A record for every burst waits for its response.
        StreamOut::join(&mut self.writer.record, &mut self.records.s);
        StreamOut::join(&mut self.records.m, &mut self.judge.record);
        self.responses.s.data.next = self.m_axi_pspin.bresp.val();
        self.responses.s.valid.next = self.m_axi_pspin.bvalid.val();
        self.m_axi_pspin.bready.next = self.responses.s.ready.val();
        StreamOut::join(&mut self.responses.m, &mut self.judge.response);
        StreamOut::join(&mut self.judge.good, &mut self.hers.s);
        StreamOut::join(&mut self.judge.failed, &mut self.frees.s);
        /// Packets that are written, and slots of those that are not.
        self.her_gen_addr.next = self.hers.m.data.val().slice(0, address);
        self.her_gen_len.next = self.hers.m.data.val().slice(address, length);
        self.her_gen_tag.next = self.hers.m.data.val().slice(address + length, self._shape.tag);
        self.her_gen_valid.next = self.hers.m.valid.val();
        self.hers.m.ready.next = self.her_gen_ready.val();
        self.m_free_addr.next = self.frees.m.data.val();
        self.m_free_valid.next = self.frees.m.valid.val();
        self.frees.m.ready.next = self.m_free_ready.val();
        self.write_error_pkts_o.next = self.judge.write_errors.val();
        self.bad_frame_pkts_o.next = self.judge.bad_frames.val();
    }
}
