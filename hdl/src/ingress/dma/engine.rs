//! The write engine: everything between marked beats and packets that are written.
//!
//! ```text
//! slot ----+                +-> registers -> m_axi_aw
//!          +-> FrameWriter -+-> registers -> m_axi_w
//! beat ----+                +-> records (FIFO, in order)
//!                                      |             +-> good
//! m_axi_b --> ReadySlice ---------> PacketJudge -----+-> failed
//! meta -------------------------------^              +-> events
//! ```
//!
//! # Contract
//! - **Behaviour**: the beats of a packet are written from the address of its slot on. When all its responses
//!   are there, a packet with nothing wrong leaves at `good` with its metadata, in order; one that failed
//!   leaves its slot at `failed` and happens as one of the events. A packet without slot leaves nothing
//!   but its event.
//! - **Throughput**: one beat a clock, from packet to packet too, while the slave is ready and responses come
//!   within about `bursts` clocks.
//! - **Latency**: a beat to WVALID 1 clock, if the rest of its burst is there; response to `good` or `failed`
//!   none.
//! - **Backpressure**: beats wait for slots, for the bus and for room for records, responses for metadata and
//!   for `good` and `failed`.
//! - **Order**: all bursts have id 0, so responses come in the order of the bursts.
//! - **Reset** forgets everything inside, also bursts under way: the other side of the bus has to be reset as
//!   well.

use super::{DmaShape, FrameWriter, PacketJudge, judge};
use crate::axi::{AxiMaster, BUFFERABLE, INCR, UNPRIVILEGED};
use crate::entry::ParameterError;
use crate::stream::{OutputQueue, ReadySlice, StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Records that still come when the writer sees that there is no more room: the one in its register.
const RECORD_MARGIN: usize = 1;

/// Writes packets into slots, several in flight, and tells which are written.
#[hardware(
    shape: DmaShape,
    error = ParameterError,
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct WriteEngine {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Marked beats.
    pub beat: StreamIn<{ shape.beat().width }>,
    /// Bit n: the n-th beat from now is there.
    pub seen: Wire<Out, { shape.burst_beats }>,
    /// Bit n: the n-th beat from now is there and ends its frame.
    pub last: Wire<Out, { shape.burst_beats }>,
    /// Where the next packet goes: {there is no slot, address}.
    pub slot: StreamIn<{ 1 + shape.address }>,
    /// What is known of the packets beside their place, in order: {tag, length}.
    pub meta: StreamIn<{ shape.meta() }>,
    /// Port into the packet buffer; nothing is read.
    pub m_axi: AxiMaster<{ shape.axi() }>,
    /// Packets that are written: {tag, length, address}.
    pub good: StreamOut<{ shape.packet() }>,
    /// Slots of packets that are not.
    pub failed: StreamOut<{ shape.address }>,
    /// Bit n: event n of the judge happens in this cycle.
    pub events: Wire<Out, { judge::EVENTS }>,
    writer: FrameWriter<{ shape }>,
    #[new(OutputQueue::with_margin(shape.record_width(), shape.bursts, RECORD_MARGIN)?)]
    records: OutputQueue,
    responses: ReadySlice<2>,
    judge: PacketJudge<{ shape }>,
}

impl Logic for WriteEngine {
    #[kernel(
        parameters(ADDRESS = self._shape.address, META = self._shape.meta()),
        numbers(PACKET = ADDRESS + META)
    )]
    fn update(&mut self) {
        let size = self._shape.beat_bits() as u64;
        clocked!(self.clk, self.rst => self.writer, self.records, self.responses, self.judge);
        StreamIn::link(&mut self.beat, &mut self.writer.beat);
        StreamIn::link(&mut self.slot, &mut self.writer.slot);
        StreamIn::link(&mut self.meta, &mut self.judge.meta);
        self.seen.next = self.writer.seen.val();
        self.last.next = self.writer.last.val();
        /// What never changes: one id, whole beats, no reads.
        self.m_axi.awid.next = 0.into();
        self.m_axi.awsize.next = size.into();
        self.m_axi.awburst.next = INCR.into();
        self.m_axi.awlock.next = false;
        self.m_axi.awcache.next = BUFFERABLE.into();
        self.m_axi.awprot.next = UNPRIVILEGED.into();
        self.m_axi.arid.next = 0.into();
        self.m_axi.araddr.next = 0.into();
        self.m_axi.arlen.next = 0.into();
        self.m_axi.arsize.next = size.into();
        self.m_axi.arburst.next = INCR.into();
        self.m_axi.arlock.next = false;
        self.m_axi.arcache.next = BUFFERABLE.into();
        self.m_axi.arprot.next = UNPRIVILEGED.into();
        self.m_axi.arvalid.next = false;
        self.m_axi.rready.next = false;
        /// Bursts.
        self.m_axi.awaddr.next = self.writer.burst_address.val();
        self.m_axi.awlen.next = self.writer.burst_length.val();
        self.m_axi.awvalid.next = self.writer.burst_valid.val();
        self.writer.burst_ready.next = self.m_axi.awready.val();
        self.m_axi.wdata.next = self.writer.data.val();
        self.m_axi.wstrb.next = self.writer.strobes.val();
        self.m_axi.wlast.next = self.writer.data_last.val();
        self.m_axi.wvalid.next = self.writer.data_valid.val();
        self.writer.data_ready.next = self.m_axi.wready.val();
        /// A record for every burst waits for its response; there is always room for one that comes.
        self.records.s.data.next = self.writer.record.val();
        self.records.s.valid.next = self.writer.record_valid.val();
        self.writer.record_room.next = !self.records.almost_full.val();
        StreamOut::join(&mut self.records.m, &mut self.judge.record);
        self.responses.s.data.next = self.m_axi.bresp.val();
        self.responses.s.valid.next = self.m_axi.bvalid.val();
        self.m_axi.bready.next = self.responses.s.ready.val();
        StreamOut::join(&mut self.responses.m, &mut self.judge.response);
        StreamOut::link(&mut self.good, &mut self.judge.good);
        StreamOut::link(&mut self.failed, &mut self.judge.failed);
        self.events.next = self.judge.events.val();
    }
}
