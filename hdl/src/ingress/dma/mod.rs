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
//! - **Latency**: descriptor and first beat to AWVALID and WVALID 2 clocks if the packet has one beat, and one clock more
//!   for each further beat of its first burst; response to `her_gen_valid` or `m_free_valid` 1 clock.
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

pub mod engine;
mod marker;
mod shape;
mod writer;

pub use engine::{PacketJudge, WriteEngine};
pub use marker::FrameMarker;
pub use shape::{BeatFields, DmaShape};
pub use writer::{FrameWriter, Window};

use crate::axi::AxiMaster;
use crate::entry::{Config, Entry, ParameterError, Parameters as _, Values, Variant};
use crate::stream::{AxisIn, Fifo, FifoConfig, OutputQueue, ReadySlice};
use crate::{COUNTER_WIDTH, EventCounters};
use engine::{BAD_FRAME, EVENTS, WRITE_ERROR};
use spinneret_verilog::prelude::*;

/// Descriptors that can wait for their frames.
const DESCRIPTORS: usize = 8;

/// Writes matched packets into their slots by AXI4 bursts, several packets in flight.
#[module(
    shape: DmaShape,
    error = ParameterError,
    metas = FifoConfig::distributed(shape.meta(), 2 * shape.bursts.max(DESCRIPTORS)),
)]
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
    descriptors: ReadySlice<{ shape.packet() }>,
    plans: Checked<OutputQueue<{ shape.plan() }, { DESCRIPTORS }, 0>>,
    slots: Checked<OutputQueue<{ 1 + shape.address }, { DESCRIPTORS }, 0>>,
    // A packet is known from its descriptor on until its last response has come.
    metas: Checked<Fifo<{ metas }>>,
    beats: ReadySlice<{ shape.data + shape.axis().keep() + 1 }>,
    marker: FrameMarker<{ shape }>,
    engine: Checked<WriteEngine<{ shape }>>,
    hers: Checked<OutputQueue<{ shape.packet() }, { shape.her_queue }, 0>>,
    frees: Checked<OutputQueue<{ shape.address }, { shape.free_queue }, 0>>,
    counters: EventCounters<{ EVENTS }>,
}

#[kernel(PspinIngressDma)]
fn update() {
    let (address, length) = (shape.address, shape.length);
    /// Descriptors are {tag, length, address}; each goes into three queues at once.
    descriptors.s.data = cat!(write_desc_tag, write_desc_len, write_desc_addr);
    descriptors.s.valid = write_desc_valid;
    write_desc_ready = descriptors.s.ready;
    let room = plans.s.ready && slots.s.ready && metas.s.ready;
    descriptors.m.ready = room;
    let within_beat = descriptors.m.data.slice(0, shape.beat_bits());
    let enters = descriptors.m.valid && room;
    plans.s.data = marker::plan(shape, within_beat, descriptors.m.data.slice(address, length));
    plans.s.valid = enters;
    slots.s.data = cat!(false, descriptors.m.data.slice(0, address));
    slots.s.valid = enters;
    metas.s.data = descriptors.m.data.slice(address, shape.meta());
    metas.s.valid = enters;
    /// Beats are {tlast, tkeep, tdata}; the side band ends here.
    beats.s.data = cat!(
        s_axis_pspin_rx.tlast,
        s_axis_pspin_rx.tkeep,
        s_axis_pspin_rx.tdata
    );
    beats.s.valid = s_axis_pspin_rx.tvalid;
    s_axis_pspin_rx.tready = beats.s.ready;
    marker.s = beats.m;
    marker.plan = plans.m;
    engine.beat = marker.m;
    engine.slot = slots.m;
    engine.meta = metas.m;
    m_axi_pspin = engine.m_axi;
    hers.s = engine.good;
    frees.s = engine.failed;
    /// Packets that are written, and slots of those that are not.
    her_gen_addr = hers.m.data.slice(0, address);
    her_gen_len = hers.m.data.slice(address, length);
    her_gen_tag = hers.m.data.slice(address + length, shape.tag);
    her_gen_valid = hers.m.valid;
    hers.m.ready = her_gen_ready;
    m_free_addr = frees.m.data;
    m_free_valid = frees.m.valid;
    frees.m.ready = m_free_ready;
    counters.events = engine.events;
    write_error_pkts_o = counters.counts[WRITE_ERROR];
    bad_frame_pkts_o = counters.counts[BAD_FRAME];
}

/// The ingress DMA.
pub(crate) const ENTRY: Entry = entry!(shipped DmaShape::BLOCK, PspinIngressDma(DmaShape)?:
    "writes packets into their slots, several in flight")
.derives(|values| {
    let data = values.get("data_width").copied().unwrap_or(0);
    vec![
        ("AXIS_IF_KEEP_WIDTH", data / 8),
        ("AXI_DATA_WIDTH", data),
        ("AXI_STRB_WIDTH", data / 8),
    ]
});

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    ENTRY.variant(
        "pspin_ingress_dma_small",
        "data_width=128 length_width=16 tag_width=32 burst_beats=8 bursts=4 her_queue=2 free_queue=2",
    ),
    ENTRY.variant("pspin_ingress_dma_w64", "data_width=64 burst_beats=16"),
    ENTRY.variant("pspin_ingress_dma_w256", "data_width=256 burst_beats=4"),
];

/// [`WriteEngine`].
pub(crate) const ENGINE_ENTRY: Entry = Entry::part(
    "write_engine",
    "writes marked beats into slots by AXI bursts, and tells which packets are written",
    EngineShape::parameters,
    build,
);

/// The parameters that matter inside; narrower than those of the blocks that are shipped, for small proofs.
#[derive(Parameters)]
#[parameters(block = ENGINE_ENTRY.name)]
struct EngineShape {
    /// Width of a beat in bits, a power of two.
    #[parameter(512, range = 16..=1024, power_of_two, name = "data_width")]
    data: usize,
    /// Width of an address in bits.
    #[parameter(32, range = 12..=64, name = "address_width")]
    address: usize,
    /// Width of a length in bits.
    #[parameter(32, range = 1..=32, name = "length_width")]
    length: usize,
    /// Width of a tag in bits.
    #[parameter(64, range = 1..=128, name = "tag_width")]
    tag: usize,
    /// Beats of a burst at most, a power of two.
    #[parameter(2, range = 2..=16, power_of_two)]
    burst_beats: usize,
    /// Bursts that can wait for their response, a power of two.
    #[parameter(64, range = 4..=1024, power_of_two)]
    bursts: usize,
}

/// An engine of the reference's DMA with other widths and depths.
fn build(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let inner = EngineShape::new(values)?;
    Ok(Box::new(WriteEngine::new(DmaShape {
        data: inner.data,
        address: inner.address,
        length: inner.length,
        tag: inner.tag,
        burst_beats: inner.burst_beats,
        bursts: inner.bursts,
        ..DmaShape::new(&ENTRY.values(Config::Reference))?
    })?))
}
