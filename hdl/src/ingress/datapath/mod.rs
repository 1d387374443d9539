//! The ingress path: from the wire to the cluster.
//!
//! ```text
//! s_axis_nic_rx -> PspinPktMatch ---------------------------------------------> m_axis_nic_rx
//!                      |  matched frames, metadata
//!                 AdmissionGate
//!                      |                       +-> m_axi_pspin_ni (packet buffer)
//!   SlotPool -> SlotChooser -> WriteEngine ----+
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
//! - **Early start**: the first beats of a frame determine its class, so writing starts before its end. A frame that turns
//!   out bad or too long frees its slot.
//! - **Drops**, by the first cause that applies: no room in the queue when the frame begins (`dropped_overload_o`), no slot
//!   (`dropped_no_slot_o`), a write response other than OKAY (`dropped_write_error_o`), a bad frame
//!   (`dropped_bad_frame_o`), more bytes than a large slot (`dropped_oversize_o`), no context (`dropped_no_context_o`). A
//!   frame is bad if bit 0 of tuser is 1 in its last beat, or if its bytes have gaps. A last beat without bytes is no error.
//! - **Throughput**: one beat a clock for all sizes and destinations, while the slave takes the beats and responses come
//!   within about 60 clocks.
//! - **Latency**: first beat in to HER 8 clocks for one beat, 9 + beats for more, if the response comes one clock after the
//!   last beat.
//! - **Backpressure**: only unmatched frames can stall the input. With `stall` a matched frame without room or slot does,
//!   too, instead of being dropped.
//! - **Order**: frames at `m_axis_nic_rx` and HERs are in the order in which the frames came.
//! - **Registers**: all outputs are registers.
//! - **Reset** (`rstn` low) discards everything and frees all slots; reset the packet buffer's side of the AXI port and the
//!   cluster as well. Slots are available after as many clocks as the larger class has slots, plus three.
//! - **Reset of the cluster**: with `cluster_reset`, `cluster_held` resets everything after the matching engine, while
//!   unmatched frames pass. Matched packets in flight, and those that come during the reset, are dropped whole and counted
//!   (`dropped_reset_o`); levels and peaks of slots restart, all counters continue.
//! - **Counters** are 32 bits wide, wrap, and show an event a few clocks later.

mod chooser;
mod entry;
mod gate;
mod gate_entry;
mod shape;
mod valve;
mod valve_entry;

pub use chooser::SlotChooser;
pub(crate) use entry::{ENTRY, SIMULATED};
pub use gate::AdmissionGate;
pub(crate) use gate_entry::{ENTRY as GATE_ENTRY, SIMULATED as GATE_SIMULATED};
pub use shape::{DatapathShape, GateShape, PathShape};
pub use valve::FrameValve;
pub(crate) use valve_entry::ENTRY as VALVE_ENTRY;

use crate::axi::AxiMaster;
use crate::entry::ParameterError;
use crate::ingress::dma::{WriteEngine, judge};
use crate::ingress::her_gen::{ContextsIn, FeedbackIn, HerOut, PspinHerGen};
use crate::ingress::pkt_match::PspinPktMatch;
use crate::ingress::slots::SlotPool;
use crate::stream::{AxisIn, AxisOut, Fifo, FifoConfig, FrameArbiter, PassFifo, ReadySlice};
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// Events that are counted after those of the write engine: frames that left the matching engine, frames that found no
/// room, HERs that the cluster took, and packets without a context.
const MATCHED: usize = judge::EVENTS;
const BYPASSED: usize = judge::EVENTS + 1;
const OVERLOAD: usize = judge::EVENTS + 2;
const HER: usize = judge::EVENTS + 3;
const NO_CONTEXT: usize = judge::EVENTS + 4;
const EVENTS: usize = judge::EVENTS + 5;

/// Sources of freed slots, in the order of the arbiter's inputs.
const FROM_CLUSTER: usize = 0;
const FROM_ENGINE: usize = 1;
const FROM_HER: usize = 2;
const SOURCES: usize = 3;

/// Matches packets, writes matched ones into slots of the packet buffer, and makes HERs of them.
#[hardware(
    shape: DatapathShape,
    error = ParameterError,
    matcher = shape.matcher,
    dma = shape.dma,
    her = shape.her,
    queue = FifoConfig::distributed,
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    reset: Wire<Local, bool>,
    /// Reset of what lies after the matching engine.
    path_reset: Wire<Local, bool>,
    path_rstn: Wire<Local, bool>,
    matcher: Checked<PspinPktMatch<{ matcher }>>,
    valve: Optional<FrameValve<{ matcher.data }, { dma.meta() }>, { shape.path.cluster_reset }>,
    gate: Checked<AdmissionGate<{ shape.gate() }>>,
    pool: Checked<SlotPool<{ shape.slots }, { true }>>,
    chooser: SlotChooser<{ shape }>,
    engine: Checked<WriteEngine<{ dma }>>,
    hers: Checked<PassFifo<{ queue(dma.packet(), dma.her_queue) }>>,
    generator: PspinHerGen<{ her }>,
    /// Slots of packets that failed.
    failed: Checked<Fifo<{ queue(dma.address, dma.free_queue) }>>,
    /// Slots from the cluster.
    returned: ReadySlice<{ dma.address }>,
    frees: Checked<FrameArbiter<{ SOURCES }, { dma.address }>>,
    counters: EventCounters<{ EVENTS }>,
    alloc_dropped: Reg<{ COUNTER_WIDTH }, Reset>,
    matched: Wire<Local, { matcher.data + matcher.data / 8 + 2 }>,
    known: Wire<Local, { dma.meta() }>,
    matched_ready: Wire<Local, bool>,
    her_taken: Wire<Local, bool>,
    unserved: Wire<Local, bool>,
}

impl Logic for PspinIngressDatapath {
    #[kernel]
    fn update(&mut self) {
        let (address, length, tag) = (
            self._shape.dma.address,
            self._shape.dma.length,
            self._shape.dma.tag,
        );
        let small_beats = self._shape.small_beats();
        self.reset.next = !self.rstn.val();
        if self._shape.path.cluster_reset {
            self.path_reset.next = !self.rstn.val() || self.cluster_held.val();
        } else {
            self.path_reset.next = !self.rstn.val();
        }
        self.path_rstn.next = !self.path_reset.val();
        clocked!(self.clk, self.reset => self.counters, self.alloc_dropped);
        clocked!(self.clk, self.path_reset => self.gate, self.pool, self.engine, self.hers, self.failed,
            self.returned, self.frees);
        if self._shape.path.cluster_reset {
            clocked!(self.clk, self.reset => self.valve);
        }
        self.pool.counters_rst.next = self.reset.val();
        connect!(self => self.matcher; clk, rstn);
        self.generator.clk.next = self.clk.val();
        self.generator.rstn.next = self.path_rstn.val();
        self.her_taken.next = self.generator.her.valid.val() && self.her.ready.val();
        self.unserved.next = self.generator.m_free_valid.val() && self.frees.s[FROM_HER].ready.val();
        /// Matching.
        connect!(self => self.matcher;
            match_valid, match_mode, match_idx, match_mask, match_start, match_end);
        if self._shape.matcher.ip_relative {
            self.matcher.match_relative.next = self.match_relative.val();
        }
        connect!(self.s_axis_nic_rx => self.matcher.s_axis_nic_rx);
        connect!(self.matcher.m_axis_nic_rx => self.m_axis_nic_rx);
        /// Matched frames: {bad, tlast, tkeep, tdata}, and what is known of them.
        self.matched.next = cat!(
            self.matcher.m_axis_pspin_rx.tuser.val().get_bit(0),
            self.matcher.m_axis_pspin_rx.tlast.val(),
            self.matcher.m_axis_pspin_rx.tkeep.val(),
            self.matcher.m_axis_pspin_rx.tdata.val()
        );
        self.known.next = cat!(
            self.matcher.packet_meta_tag.val().slice(0, tag),
            self.matcher.packet_meta_size.val().slice(0, length)
        );
        if self._shape.path.cluster_reset {
            self.valve.held.next = self.cluster_held.val();
            self.valve.s.data.next = self.matched.val();
            self.valve.s.valid.next = self.matcher.m_axis_pspin_rx.tvalid.val();
            self.matched_ready.next = self.valve.s.ready.val();
            self.valve.meta_s.data.next = self.known.val();
            self.valve.meta_s.valid.next = self.matcher.packet_meta_valid.val();
            self.matcher.packet_meta_ready.next = self.valve.meta_s.ready.val();
            connect!(self.valve.m => self.gate.s);
            connect!(self.valve.meta_m => self.gate.meta_s);
            self.valve.left.next = cat!(
                self.her_taken.val(),
                self.unserved.val(),
                self.engine.events.val().any(),
                self.gate.dropped.val()
            );
            self.dropped_reset_o.next = self.valve.lost.val();
        } else {
            self.gate.s.data.next = self.matched.val();
            self.gate.s.valid.next = self.matcher.m_axis_pspin_rx.tvalid.val();
            self.matched_ready.next = self.gate.s.ready.val();
            self.gate.meta_s.data.next = self.known.val();
            self.gate.meta_s.valid.next = self.matcher.packet_meta_valid.val();
            self.matcher.packet_meta_ready.next = self.gate.meta_s.ready.val();
        }
        self.matcher.m_axis_pspin_rx.tready.next = self.matched_ready.val();
        /// Into slots.
        self.chooser.enough.next = self.engine.seen.val().get_bit(small_beats - 1);
        self.chooser.last.next = self.engine.last.val().slice(0, small_beats);
        connect!(self.pool.small => self.chooser.small);
        connect!(self.pool.large => self.chooser.large);
        connect!(self.chooser.m => self.engine.slot);
        connect!(self.gate.m => self.engine.beat);
        connect!(self.gate.meta_m => self.engine.meta);
        connect!(self.engine.m_axi => self.m_axi_pspin_ni);
        /// To the cluster.
        connect!(self.engine.good => self.hers.s);
        self.generator.gen_addr.next = self.hers.m.data.val().slice(0, address);
        self.generator.gen_len.next = self.hers.m.data.val().slice(address, length);
        self.generator.gen_tag.next = self.hers.m.data.val().slice(address + length, tag);
        self.generator.gen_valid.next = self.hers.m.valid.val();
        self.hers.m.ready.next = self.generator.gen_ready.val();
        connect!(self.her_gen => self.generator.conf);
        self.generator.conf_valid.next = self.her_gen_valid.val();
        self.generator.conf_ctx_enabled.next = self.her_gen_ctx_enabled.val();
        connect!(self.generator.her => self.her);
        /// Slots come back from three sides, one a clock.
        self.returned.s.data.next = self.feedback.her_addr.val();
        connect!(self.feedback => self.returned.s; valid, ready);
        connect!(self.engine.failed => self.failed.s);
        self.frees.s[FROM_CLUSTER].data.next = self.returned.m.data.val();
        self.frees.s[FROM_CLUSTER].last.next = true;
        connect!(self.returned.m => self.frees.s[FROM_CLUSTER]; valid, ready);
        self.frees.s[FROM_ENGINE].data.next = self.failed.m.data.val();
        self.frees.s[FROM_ENGINE].last.next = true;
        connect!(self.failed.m => self.frees.s[FROM_ENGINE]; valid, ready);
        self.frees.s[FROM_HER].data.next = self.generator.m_free_addr.val();
        self.frees.s[FROM_HER].last.next = true;
        self.frees.s[FROM_HER].valid.next = self.generator.m_free_valid.val();
        self.generator.m_free_ready.next = self.frees.s[FROM_HER].ready.val();
        connect!(self.frees.m => self.pool.free; data, valid, ready);
        /// The cluster can free what it has, and nothing that is still on its way to it.
        self.pool.free_trusted.next = self.frees.source.val() != FROM_CLUSTER as u64;
        self.pool.hand_valid.next = self.her_taken.val();
        self.pool.hand_address.next = self.generator.her.addr.val();
        /// Events, the one with the highest number first.
        self.counters.events.next = cat!(
            self.unserved.val(),
            self.her_taken.val(),
            self.gate.dropped.val(),
            self.matcher.m_axis_nic_rx.tvalid.val()
                && self.m_axis_nic_rx.tready.val()
                && self.matcher.m_axis_nic_rx.tlast.val(),
            self.matcher.m_axis_pspin_rx.tvalid.val()
                && self.matched_ready.val()
                && self.matcher.m_axis_pspin_rx.tlast.val(),
            self.engine.events.val()
        );
        self.matched_pkts_o.next = self.counters.counts[MATCHED].val();
        self.bypassed_pkts_o.next = self.counters.counts[BYPASSED].val();
        self.her_pkts_o.next = self.counters.counts[HER].val();
        self.dropped_overload_o.next = self.counters.counts[OVERLOAD].val();
        self.dropped_no_slot_o.next = self.counters.counts[judge::NO_SLOT].val();
        self.dropped_oversize_o.next = self.counters.counts[judge::OVERSIZE].val();
        self.dropped_bad_frame_o.next = self.counters.counts[judge::BAD_FRAME].val();
        self.dropped_write_error_o.next = self.counters.counts[judge::WRITE_ERROR].val();
        self.dropped_no_context_o.next = self.counters.counts[NO_CONTEXT].val();
        self.alloc_dropped.d.next = self.counters.counts[OVERLOAD].val()
            + self.counters.counts[judge::NO_SLOT].val()
            + self.counters.counts[judge::OVERSIZE].val();
        self.alloc_dropped_pkts.next = self.alloc_dropped.q.val();
        self.refused_no_start_o.next = self.pool.refused_no_start.val();
        self.refused_not_out_o.next = self.pool.refused_not_out.val();
        self.refused_early_o.next = self.pool.refused_early.val();
        self.large_used_o.next = self.pool.large_used.val();
        self.large_peak_o.next = self.pool.large_peak.val();
        self.small_used_o.next = self.pool.small_used.val();
        self.small_peak_o.next = self.pool.small_peak.val();
    }
}
