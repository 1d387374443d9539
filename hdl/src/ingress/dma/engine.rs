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

use super::{DmaShape, FrameWriter};
use crate::axi::{AxiMaster, BUFFERABLE, INCR, UNPRIVILEGED};
use crate::entry::ParameterError;
use crate::stream::{OutputQueue, ReadySlice, StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Event of [`PacketJudge`]: the packet had no slot.
pub const NO_SLOT: usize = 0;
/// Event of [`PacketJudge`]: a response was not OKAY.
pub const WRITE_ERROR: usize = 1;
/// Event of [`PacketJudge`]: the frame was bad.
pub const BAD_FRAME: usize = 2;
/// Event of [`PacketJudge`]: the frame was longer than its slot.
pub const OVERSIZE: usize = 3;
/// Number of events; of a packet that fails, the lowest that applies happens.
pub const EVENTS: usize = 4;

/// Records that still come when the writer sees that there is no more room: the one in its register.
const RECORD_MARGIN: usize = 1;

/// Writes packets into slots, several in flight, and tells which are written.
#[module(
    shape: DmaShape,
    error = ParameterError,
)]
pub struct WriteEngine {
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
    pub events: Wire<Out, { EVENTS }>,
    writer: FrameWriter<{ shape }>,
    #[new(OutputQueue::new(shape.record_width(), shape.bursts, RECORD_MARGIN)?)]
    records: OutputQueue,
    responses: ReadySlice<2>,
    judge: PacketJudge<{ shape }>,
}

#[kernel(
    WriteEngine,
    parameters(ADDRESS = shape.address, META = shape.meta()),
    numbers(PACKET = ADDRESS + META),
)]
fn update() {
    writer.beat = beat;
    writer.slot = slot;
    judge.meta = meta;
    seen = writer.seen;
    last = writer.last;
    /// Constants: one id, whole beats, no reads.
    for channel in [m_axi.aw, m_axi.ar] {
        *channel.id = 0;
        *channel.size = shape.beat_bits();
        *channel.burst = INCR;
        *channel.lock = false;
        *channel.cache = BUFFERABLE;
        channel.prot = UNPRIVILEGED;
    }
    m_axi.ar.addr = 0;
    *m_axi.ar.len = 0;
    m_axi.ar.valid = false;
    m_axi.r.ready = false;
    /// Bursts.
    m_axi.aw.addr = writer.burst_address;
    *m_axi.aw.len = writer.burst_length;
    m_axi.aw.valid = writer.burst_valid;
    writer.burst_ready = m_axi.aw.ready;
    m_axi.w.data = writer.data;
    m_axi.w.strb = writer.strobes;
    *m_axi.w.last = writer.data_last;
    m_axi.w.valid = writer.data_valid;
    writer.data_ready = m_axi.w.ready;
    /// A record for every burst waits for its response; there is always room for one that comes.
    records.s.data = writer.record;
    records.s.valid = writer.record_valid;
    writer.record_room = !records.almost_full;
    judge.record = records.m;
    responses.s.data = m_axi.b.resp;
    responses.s.valid = m_axi.b.valid;
    m_axi.b.ready = responses.s.ready;
    judge.response = responses.m;
    good = judge.good;
    failed = judge.failed;
    events = judge.events;
}

/// Joins records with responses and metadata, and passes packets on that are written.
///
/// One record a clock, no clock of latency. A packet waits while the queue it leads to is full.
#[module(shape: DmaShape)]
pub struct PacketJudge {
    /// Synchronous reset: discards errors.
    pub rst: Wire<In, bool>,
    /// Records of the writer, as [`DmaShape::record_width`] says.
    pub record: StreamIn<{ shape.record_width() }>,
    /// Responses (BRESP), in the order of the bursts.
    pub response: StreamIn<2>,
    /// Metadata of the packets without their address: {tag, length}.
    pub meta: StreamIn<{ shape.meta() }>,
    /// Packets that are written: {tag, length, address}.
    pub good: StreamOut<{ shape.packet() }>,
    /// Slots of packets that are not.
    pub failed: StreamOut<{ shape.address }>,
    /// Bit n: event n happens in this cycle.
    pub events: Wire<Out, { EVENTS }>,
    /// An earlier burst of this packet failed.
    error: Reg<bool, Reset>,
}

#[kernel(
    PacketJudge,
    parameters(ADDRESS = shape.address, META = shape.meta()),
    numbers(PACKET = ADDRESS + META),
)]
fn update() {
    let address = record.data.slice(0, shape.address);
    let flag = |number: usize| record.data[shape.address + number];
    let (answered, last, slotless, bad, over) = (flag(0), flag(1), flag(2), flag(3), flag(4));
    let error_now = error || (answered && response.data.any());
    let fails = slotless || error_now || bad || over;
    let complete = record.valid && (response.valid || !answered) && (meta.valid || !last);
    let ends = complete && last;
    good.valid = ends && !fails;
    good.data = cat!(meta.data, address);
    failed.valid = ends && fails && !slotless;
    failed.data = address;
    let take = complete && (!last || slotless || if fails { failed.ready } else { good.ready });
    record.ready = take;
    response.ready = take && answered;
    meta.ready = take && last;
    if take {
        error = error_now && !last;
    }
    events = 0;
    if take && last {
        if slotless {
            events[NO_SLOT] = true;
        } else if error_now {
            events[WRITE_ERROR] = true;
        } else if bad {
            events[BAD_FRAME] = true;
        } else if over {
            events[OVERSIZE] = true;
        }
    }
}
