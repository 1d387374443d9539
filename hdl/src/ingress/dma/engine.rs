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
//! - **Reset** discards everything inside, also bursts in flight: the other side of the bus must be reset as
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
    /// Metadata of the packets without their address, in order: {tag, length}.
    pub meta: StreamIn<{ shape.meta() }>,
    /// Port into the packet buffer; nothing is read.
    pub m_axi: AxiMaster<{ shape.axi() }>,
    /// Packets that are written: {tag, length, address}.
    pub good: StreamOut<{ shape.packet() }>,
    /// Slots of packets that are not.
    pub failed: StreamOut<{ shape.address }>,
    /// Bit n: event n of the packet checker happens in this cycle.
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
        connect!(self.beat => self.writer.beat);
        connect!(self.slot => self.writer.slot);
        connect!(self.meta => self.judge.meta);
        connect!(self.writer => self; seen, last);
        /// Constants: one id, whole beats, no reads.
        self.m_axi.aw.id.next = 0.into();
        self.m_axi.aw.size.next = size.into();
        self.m_axi.aw.burst.next = INCR.into();
        self.m_axi.aw.lock.next = false;
        self.m_axi.aw.cache.next = BUFFERABLE.into();
        self.m_axi.aw.prot.next = UNPRIVILEGED.into();
        self.m_axi.ar.id.next = 0.into();
        self.m_axi.ar.addr.next = 0.into();
        self.m_axi.ar.len.next = 0.into();
        self.m_axi.ar.size.next = size.into();
        self.m_axi.ar.burst.next = INCR.into();
        self.m_axi.ar.lock.next = false;
        self.m_axi.ar.cache.next = BUFFERABLE.into();
        self.m_axi.ar.prot.next = UNPRIVILEGED.into();
        self.m_axi.ar.valid.next = false;
        self.m_axi.r.ready.next = false;
        /// Bursts.
        self.m_axi.aw.addr.next = self.writer.burst_address.val();
        self.m_axi.aw.len.next = self.writer.burst_length.val();
        self.m_axi.aw.valid.next = self.writer.burst_valid.val();
        self.writer.burst_ready.next = self.m_axi.aw.ready.val();
        self.m_axi.w.data.next = self.writer.data.val();
        self.m_axi.w.strb.next = self.writer.strobes.val();
        self.m_axi.w.last.next = self.writer.data_last.val();
        self.m_axi.w.valid.next = self.writer.data_valid.val();
        self.writer.data_ready.next = self.m_axi.w.ready.val();
        /// A record for every burst waits for its response; there is always room for one that comes.
        self.records.s.data.next = self.writer.record.val();
        self.records.s.valid.next = self.writer.record_valid.val();
        self.writer.record_room.next = !self.records.almost_full.val();
        connect!(self.records.m => self.judge.record);
        self.responses.s.data.next = self.m_axi.b.resp.val();
        connect!(self.m_axi.b => self.responses.s; valid, ready);
        connect!(self.responses.m => self.judge.response);
        connect!(self.judge.good => self.good);
        connect!(self.judge.failed => self.failed);
        self.events.next = self.judge.events.val();
    }
}
