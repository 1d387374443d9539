//! The ingress path: from the wire to the cluster.
//!
//! ```text
//! s_axis_nic_rx -> PspinPktMatch ---------------------------------------------> m_axis_nic_rx
//!                      |  matched frames, metadata
//!                 AdmissionGate
//!                      |                       +-> m_axi_pspin_ni (packet buffer)
//!   SlotPool -----------------> WriteEngine ----+
//!      ^                           |  packets that are written
//!      |                       PassFifo -> PspinHerGen -----------------------> her
//!      |                           |            |
//!      +----- FrameArbiter <-------+------------+---- feedback
//!                     slots of packets that failed
//! ```
//!
//! # Contract
//! - **Behaviour**: a frame that matches no ruleset leaves at `m_axis_nic_rx` unchanged. A matched frame is written into a
//!   slot of the packet buffer and becomes a HER, or is dropped whole and counted by cause. `feedback` frees its slot; frees
//!   of slots that the cluster does not own are refused.
//! - **Slots**: a frame with at most as many beats as a small slot takes a small one, or a large one while no small one is
//!   free; others take a large one.
//! - **Bounds**: with `slot_bounds`, a context has at most `slot_bound` slots at the cluster (0: any number). A packet of a context at its
//!   bound is dropped when its HER would be made, and counted for the context (`dropped_bound_o`); it has a slot while it is
//!   written. The context is the one that serves the packet. Its slot counts as free some ten clocks after its
//!   feedback.
//! - **Early start**: the first beats of a frame determine its class, so writing starts before its end. A frame that turns
//!   out bad or too long frees its slot.
//! - **Drops**, by the first cause that applies: no room in the queue when the frame begins (`dropped_overload_o`), no slot
//!   (`dropped_no_slot_o`), a write response other than OKAY (`dropped_write_error_o`), a bad frame
//!   (`dropped_bad_frame_o`), more bytes than a large slot (`dropped_oversize_o`), no context (`dropped_no_context_o`), a
//!   context at its bound (`dropped_bound_o`). A
//!   frame is bad if bit 0 of tuser is 1 in its last beat, or if its bytes have gaps. A last beat without bytes is no error.
//! - **Throughput**: one beat a clock for all sizes and destinations, while the slave takes the beats and responses come
//!   within about 60 clocks.
//! - **Latency**: first beat in to HER 8 clocks and the beats of the frame, if the response comes one clock after the last
//!   beat. A frame of several beats takes two clocks more with beats of 64 bytes, in general the beats after the first that rules
//!   look at, and those after the first that a small slot has, as far as the frame has them.
//! - **Backpressure**: only unmatched frames can stall the input. With `stall` a matched frame without room or slot does,
//!   too, instead of being dropped.
//! - **Side band**: with `side_band`, `packet` announces slot, tuser, tdest and tid of each packet, at the latest in the clock in
//!   which its HER is there.
//! - **Sum**: with `payload_sum`, `her_size` has the sum of the packet's IP payload, as [`PspinHerGen`] and
//!   [`PayloadSum`](crate::ingress::pkt_match::PayloadSum) say.
//! - **Order**: frames at `m_axis_nic_rx` and HERs are in the order in which the frames came.
//! - **Registers**: all outputs are registers.
//! - **Reset** (`rstn` low) discards everything and frees all slots; reset the packet buffer's side of the AXI port and the
//!   cluster as well. Slots are available after as many clocks as the larger class has slots, plus three.
//! - **Reset of the cluster**: with `cluster_reset`, `cluster_held` resets everything after the matching engine, while
//!   unmatched frames pass. Matched packets in flight, and those that come during the reset, are dropped whole and counted
//!   (`dropped_reset_o`); levels and peaks of slots restart, all counters continue.
//! - **Counters** are 32 bits wide, wrap, and show an event a few clocks later.

mod bounds;
mod gate;
mod shape;
mod valve;

pub use bounds::{SLOTS, SlotBounds};
pub use gate::{AdmissionGate, GateShape};
pub(crate) use gate::{GATE_ENTRY, GATE_SIMULATED};
pub use shape::{DatapathShape, PathShape};
pub(crate) use shape::{ENTRY, SIMULATED};
pub use valve::FrameValve;
pub(crate) use valve::VALVE_ENTRY;

use crate::axi::AxiMaster;
use crate::entry::ParameterError;
use crate::ingress::dma::WriteEngine;
use crate::ingress::dma::engine as judge;
use crate::ingress::her_gen::{ContextsIn, FeedbackIn, HerOut, PspinHerGen};
use crate::ingress::pkt_match::PspinPktMatch;
use crate::ingress::slots::SlotPool;
use crate::stream::{AxisIn, AxisOut, Fifo, FifoConfig, FrameArbiter, PacketSideOut, PassFifo, ReadySlice};
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// Events that are counted after those of the write engine: frames that left the matching engine, frames that found no
/// room, HERs that the cluster took, and packets without a context.
const MATCHED: usize = judge::EVENTS;
const BYPASSED: usize = judge::EVENTS + 1;
const OVERLOAD: usize = judge::EVENTS + 2;
const HER: usize = judge::EVENTS + 3;
const NO_CONTEXT: usize = judge::EVENTS + 4;
/// The first of those for packets of contexts at their bound, one for each.
const BOUND: usize = judge::EVENTS + 5;

/// Sources of freed slots, in the order of the arbiter's inputs.
const FROM_CLUSTER: usize = 0;
const FROM_ENGINE: usize = 1;
const FROM_HER: usize = 2;
const SOURCES: usize = 3;

/// Matches packets, writes matched ones into slots of the packet buffer, and makes HERs of them.
#[module(
    shape: DatapathShape,
    error = ParameterError,
    matcher = shape.matcher,
    dma = shape.dma,
    her = shape.her,
    queue = FifoConfig::distributed,
)]
pub struct PspinIngressDatapath {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// 1: the rules are in force; a change from 0 to 1 takes new ones.
    pub match_valid: Wire<In, bool>,
    /// Bit s: ruleset s joins its rules by OR (1) or AND (0).
    pub match_mode: Wire<In, { matcher.rulesets }>,
    /// Word numbers, 32 bits a rule, ruleset-major.
    pub match_idx: Wire<In, { 32 * matcher.all_rules() }>,
    /// Masks, byte-swapped.
    pub match_mask: Wire<In, { 32 * matcher.all_rules() }>,
    /// Range starts, byte-swapped.
    pub match_start: Wire<In, { 32 * matcher.all_rules() }>,
    /// Range ends, byte-swapped.
    pub match_end: Wire<In, { 32 * matcher.all_rules() }>,
    /// The contexts, context 0 in the lowest bits of each field.
    pub her_gen: ContextsIn<{ her.contexts }, { her.host_address }>,
    /// 1: contexts are taken, 0: those taken last stay in force.
    pub her_gen_valid: Wire<In, bool>,
    /// Bit n: context n is enabled.
    pub her_gen_ctx_enabled: Wire<In, { her.contexts }>,
    /// Packets from the wire.
    pub s_axis_nic_rx: AxisIn<{ matcher.axis() }>,
    /// Packets that match nothing.
    pub m_axis_nic_rx: AxisOut<{ matcher.axis() }>,
    /// Port into the packet buffer; nothing is read.
    pub m_axi_pspin_ni: AxiMaster<{ dma.axi() }>,
    /// To the cluster.
    pub her: HerOut<{ her.address }, { her.host_address }, { her.message_id }>,
    /// Freed slots; only their address matters.
    pub feedback: FeedbackIn<{ dma.address }, { dma.length }, { her.message_id }>,
    /// Matched packets that the buffer did not take: the sum of overload, no slot and oversize.
    pub alloc_dropped_pkts: Wire<Out, { COUNTER_WIDTH }>,
    /// Frames that left the matching engine for the cluster; this and all below beyond the public design.
    pub matched_pkts_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Frames that left it for the NIC.
    pub bypassed_pkts_o: Wire<Out, { COUNTER_WIDTH }>,
    /// HERs that were taken; those of them that are on their way to the cluster when it is reset count as well.
    pub her_pkts_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Matched packets that were dropped because the bus or the cluster did not keep up.
    pub dropped_overload_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Matched packets that were dropped because no slot was free.
    pub dropped_no_slot_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Matched packets that were dropped because they are longer than a large slot.
    pub dropped_oversize_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Matched packets that were dropped because their frame was bad.
    pub dropped_bad_frame_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Matched packets that were dropped because a write response was not OKAY.
    pub dropped_write_error_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Matched packets that were dropped because neither their context nor context 0 is enabled.
    pub dropped_no_context_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Frees that were refused because no slot starts at their address.
    pub refused_no_start_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Frees that were refused because their slot was not out.
    pub refused_not_out_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Frees that were refused because they came before all slots were in their lists.
    pub refused_early_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Large slots that are out.
    pub large_used_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Most large slots that were out at the same time.
    pub large_peak_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Small slots that are out.
    pub small_used_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Most small slots that were out at the same time.
    pub small_peak_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Bit (rules * s + r): rule r of ruleset s counts its word from the start of the IP payload; only with
    /// `ip_relative`.
    pub match_relative: Optional<Wire<In, { matcher.all_rules() }>, { matcher.ip_relative }>,
    /// The cluster is held in reset; only with `cluster_reset`.
    pub cluster_held: Optional<Wire<In, bool>, { shape.path.cluster_reset }>,
    /// Matched packets that a reset of the cluster took; only with `cluster_reset`.
    pub dropped_reset_o: Optional<Wire<Out, { COUNTER_WIDTH }>, { shape.path.cluster_reset }>,
    /// Most slots of each context, [`SLOTS`] bits each, that of context 0 lowest; 0: no bound. This and the next two only with
    /// `slot_bounds`.
    pub slot_bound: Optional<Wire<In, { her.contexts * SLOTS }>, { her.slot_bounds }>,
    /// Slots of each context that the cluster has, [`SLOTS`] bits each.
    pub slots_used_o: Optional<Wire<Out, { her.contexts * SLOTS }>, { her.slot_bounds }>,
    /// Packets of each context that were dropped because it was at its bound.
    pub dropped_bound_o: Optional<Wire<Out, { her.contexts * COUNTER_WIDTH }>, { her.slot_bounds }>,
    /// Side band of every packet that is on its way to a HER, before the HER; only with `side_band`.
    pub packet:
        Optional<PacketSideOut<{ shape.slots.place().1 }, { matcher.side_width() }>, { matcher.side_band }>,
    matcher: Checked<PspinPktMatch<{ matcher }>>,
    valve: Optional<FrameValve<{ matcher.data }, { dma.meta() }>, { shape.path.cluster_reset }>,
    gate: Checked<AdmissionGate<{ shape.gate() }>>,
    pool: Checked<SlotPool<{ shape.slots }, { true }, { shape.context() }>>,
    engine: Checked<WriteEngine<{ dma }>>,
    hers: Checked<PassFifo<{ queue(dma.packet() - matcher.side_width(), dma.her_queue) }>>,
    generator: PspinHerGen<{ her }>,
    /// Slots of packets that failed.
    failed: Checked<Fifo<{ queue(dma.address, dma.free_queue) }>>,
    /// Slots from the cluster.
    returned: ReadySlice<{ dma.address }>,
    frees: Checked<FrameArbiter<{ SOURCES }, { dma.address }>>,
    bounds: Optional<SlotBounds<{ her.contexts }>, { her.slot_bounds }>,
    counters: EventCounters<{ BOUND + if her.slot_bounds { her.contexts } else { 0 } }>,
}

#[kernel(PspinIngressDatapath)]
fn update() {
    let (address, length, tag) = (shape.dma.address, shape.dma.length, shape.tag());
    let (small_beats, cluster_reset) = (shape.small_beats(), shape.path.cluster_reset);
    /// Reset of what lies after the matching engine.
    let path_reset = if cluster_reset {
        !rstn || *cluster_held
    } else {
        !rstn
    };
    for rst in [
        gate.rst,
        pool.rst,
        engine.rst,
        hers.rst,
        failed.rst,
        returned.rst,
        frees.rst,
    ] {
        rst = path_reset;
    }
    if shape.her.slot_bounds {
        bounds.rst = path_reset;
    }
    generator.rstn = !path_reset;
    matcher.rstn = rstn;
    pool.counters_rst = !rstn;
    let her_taken = generator.her.valid && her.ready;
    let unserved = generator.m_free_valid && frees.s[FROM_HER].ready;
    /// Matching.
    matcher.match_valid = match_valid;
    matcher.match_mode = match_mode;
    matcher.match_idx = match_idx;
    matcher.match_mask = match_mask;
    matcher.match_start = match_start;
    matcher.match_end = match_end;
    if shape.matcher.ip_relative {
        *matcher.match_relative = *match_relative;
    }
    matcher.s_axis_nic_rx = s_axis_nic_rx;
    m_axis_nic_rx = matcher.m_axis_nic_rx;
    /// Matched frames: {bad, tlast, tkeep, tdata}, and what is known of them. They pass the valve, if there is one.
    let rx = matcher.m_axis_pspin_rx;
    let (matched, known) = if cluster_reset {
        (valve.s, valve.meta_s)
    } else {
        (gate.s, gate.meta_s)
    };
    matched.data = cat!(rx.tuser[0], rx.tlast, rx.tkeep, rx.tdata);
    matched.valid = rx.tvalid;
    rx.tready = matched.ready;
    let measured = cat!(
        matcher.packet_meta_tag.slice(0, tag),
        matcher.packet_meta_size.slice(0, length)
    );
    let measured = if shape.matcher.payload_sum {
        cat!(*matcher.packet_meta_sum, measured)
    } else {
        measured
    };
    known.data = if shape.matcher.side_band {
        cat!(*matcher.packet_meta_side, measured)
    } else {
        measured
    };
    known.valid = matcher.packet_meta_valid;
    matcher.packet_meta_ready = known.ready;
    if cluster_reset {
        valve.held = *cluster_held;
        gate.s = valve.m;
        gate.meta_s = valve.meta_m;
        valve.left = cat!(her_taken, unserved, engine.events.any(), gate.dropped);
        *dropped_reset_o = valve.lost;
    }
    /// A packet gets a slot as soon as its class is known: a small one if the frame ends within that many beats and one is
    /// free, else a large one. One that finds no slot is marked and discarded; with `stall` it waits.
    let is_short = engine.last.slice(0, small_beats).any();
    let use_small = is_short && pool.small.valid;
    let no_slot = !use_small && !pool.large.valid;
    let class_known = is_short || engine.seen[small_beats - 1];
    engine.slot.data = cat!(
        no_slot,
        if use_small {
            pool.small.data
        } else {
            pool.large.data
        }
    );
    engine.slot.valid = if shape.path.stall {
        class_known && !no_slot
    } else {
        class_known
    };
    pool.small.ready = engine.slot.ready && use_small;
    pool.large.ready = engine.slot.ready && !use_small && pool.large.valid;
    engine.beat = gate.m;
    engine.meta = gate.meta_m;
    m_axi_pspin_ni = engine.m_axi;
    /// To the cluster.
    let described = address + length + tag + shape.matcher.sum_width();
    hers.s.data = engine.good.data.slice(0, described);
    hers.s.handshake() = engine.good.handshake();
    if shape.matcher.side_band {
        let (unit, places) = shape.slots.place();
        packet.place = reg(engine.good.data.slice(unit, places));
        packet.side = reg(engine.good.data.slice(described, shape.matcher.side_width()));
        packet.valid = reg_reset(engine.good.valid && hers.s.ready, false);
    }
    generator.gen_addr = hers.m.data.slice(0, address);
    generator.gen_len = hers.m.data.slice(address, length);
    generator.gen_tag = hers.m.data.slice(address + length, tag);
    if shape.matcher.payload_sum {
        *generator.gen_sum = hers
            .m
            .data
            .slice(address + length + tag, shape.matcher.sum_width());
    }
    generator.gen_valid = hers.m.valid;
    hers.m.ready = generator.gen_ready;
    generator.conf = her_gen;
    generator.conf_valid = her_gen_valid;
    generator.conf_ctx_enabled = her_gen_ctx_enabled;
    her = generator.her;
    /// Slots come back from three sides, one a clock.
    returned.s.data = feedback.her_addr;
    returned.s.valid = feedback.valid;
    feedback.ready = returned.s.ready;
    failed.s = engine.failed;
    for (source, freed) in [(FROM_CLUSTER, returned.m), (FROM_ENGINE, failed.m)] {
        frees.s[source].data = freed.data;
        frees.s[source].last = true;
        frees.s[source].valid = freed.valid;
        freed.ready = frees.s[source].ready;
    }
    frees.s[FROM_HER].data = generator.m_free_addr;
    frees.s[FROM_HER].last = true;
    frees.s[FROM_HER].valid = generator.m_free_valid;
    generator.m_free_ready = frees.s[FROM_HER].ready;
    pool.free.data = frees.m.data;
    pool.free.valid = frees.m.valid;
    frees.m.ready = pool.free.ready;
    /// The cluster can free what it has, and nothing that is still on its way to it.
    *pool.free_trusted = frees.source != FROM_CLUSTER;
    *pool.hand_valid = her_taken;
    *pool.hand_address = generator.her.addr;
    let mut without_context = unserved;
    if shape.her.slot_bounds {
        without_context = unserved && !generator.m_free_full.any();
    }
    /// Events, the one with the highest number first.
    let events = cat!(
        without_context,
        her_taken,
        gate.dropped,
        matcher.m_axis_nic_rx.tvalid && m_axis_nic_rx.tready && matcher.m_axis_nic_rx.tlast,
        rx.tvalid && matched.ready && rx.tlast,
        engine.events
    );
    let counts = &counters.counts;
    counters.events = if shape.her.slot_bounds {
        let contexts = shape.her.contexts;
        bounds.bound = *slot_bound;
        *slots_used_o = bounds.used;
        *generator.full = bounds.full;
        bounds.enters = *generator.enters;
        *pool.hand_note = *generator.her_owner;
        bounds.leaves = word_of((0..contexts).map(|context| *pool.freed && *pool.freed_note == context));
        *dropped_bound_o = cat_all(&counts[BOUND..].iter().rev().copied().collect::<Vec<_>>());
        cat!(*generator.m_free_full & unserved.repeat(contexts), events)
    } else {
        events
    };
    matched_pkts_o = counts[MATCHED];
    bypassed_pkts_o = counts[BYPASSED];
    her_pkts_o = counts[HER];
    dropped_overload_o = counts[OVERLOAD];
    dropped_no_slot_o = counts[judge::NO_SLOT];
    dropped_oversize_o = counts[judge::OVERSIZE];
    dropped_bad_frame_o = counts[judge::BAD_FRAME];
    dropped_write_error_o = counts[judge::WRITE_ERROR];
    dropped_no_context_o = counts[NO_CONTEXT];
    alloc_dropped_pkts = reg_reset(
        counts[OVERLOAD] + counts[judge::NO_SLOT] + counts[judge::OVERSIZE],
        0,
    );
    refused_no_start_o = pool.refused_no_start;
    refused_not_out_o = pool.refused_not_out;
    refused_early_o = pool.refused_early;
    large_used_o = pool.large_used;
    large_peak_o = pool.large_peak;
    small_used_o = pool.small_used;
    small_peak_o = pool.small_peak;
}
