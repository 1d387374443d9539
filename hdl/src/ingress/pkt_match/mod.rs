//! The matching engine: sorts packets by rules, one beat a clock.
//!
//! ```text
//!                    +-> beat buffer (FIFO) ------------+
//! s_axis_nic_rx -> reg                                  +-> demultiplexer -> m_axis_nic_rx
//!                    +-> MatchEngine -> decision queue -+                 -> m_axis_pspin_rx
//!                    |        |
//!                    +-> FrameMeter -> metadata queue -------------------> packet_meta
//! ```
//!
//! With the option `ip_relative`, a `PayloadFinder` parallel to the input register tells the engine and the meter where the
//! IP payload of the frame starts.
//!
//! # Contract
//! - **Behaviour**: a rule takes the 32-bit word at bytes 4*idx to 4*idx+3 of the frame in network
//!   order, masks it, and matches if it lies between start and end. All rules but the last of a
//!   ruleset decide, joined by AND or OR; the last marks the end of a message. The lowest ruleset that
//!   matches wins. Source: FPsPIN, section III, and the public design's port list.
//! - **IP payload** (option `ip_relative`): a rule whose bit of `match_relative` is set takes the word at bytes 4*idx
//!   to 4*idx+3 of the payload of IPv4 or IPv6, after up to two VLAN tags, and never matches a frame without one;
//!   [`PayloadFinder`] says what has a payload. The message id is that of bytes 10 to 13 of the payload, and that of
//!   bytes 44 to 47 of frames without one; 0 if the frame ends before it. Nothing else changes, latency included.
//! - **Throughput**: one beat a clock for every frame length, matched or not, alternating or not.
//! - **Latency**: a frame of one beat leaves 5 clocks after it came in; in general the first beat
//!   leaves 5 clocks after the beat that decides (the last inspected beat or the last of the frame).
//!   Metadata is there at most 2 clocks after the last beat left, and may be there before it.
//! - **Backpressure**: `s_axis_nic_rx_tready` is a register; it falls while the buffer, the decision
//!   queue or the metadata queue is nearly full. A frame that waits at one output holds back the frames after it.
//! - **Order**: frames keep their order at each output; metadata is in the order of matched frames.
//! - **Rules** are taken while no frame is being evaluated and `match_valid` is 1. A change of
//!   `match_valid` itself, however short, pauses the input between two frames for a few clocks, so that it also takes
//!   effect under load. With `match_valid` 0 nothing matches.
//! - **Reset** (`rstn` low) empties the queues; frames inside are lost, and the next beat is the first of
//!   a frame.
//! - **Bad input**: words beyond the end of the frame (by tkeep) or beyond the inspected beats never
//!   match; frames of any length pass; a last beat with tkeep 0 adds nothing to the length.

mod engine;
mod entry;
mod meter;
mod payload;
mod rule;
mod select;
mod shape;

pub use engine::MatchEngine;
pub(crate) use entry::{ENTRY, SIMULATED};
pub use meter::FrameMeter;
pub use payload::PayloadFinder;
pub use rule::MatchRule;
pub use select::WordSelect;
pub use shape::MatchShape;

use crate::entry::ParameterError;
use crate::stream::{AxisIn, AxisOut, AxisPack, AxisUnpack, Fifo, FifoConfig, FrameDemux, OutputQueue};
use payload::HEADER_BITS;
use shape::HEADER_WORDS;
use spinneret_verilog::prelude::*;

/// Output of the demultiplexer for frames that no ruleset matches.
const NIC: usize = 0;
/// Output of the demultiplexer for matched frames.
const PSPIN: usize = 1;
/// Beats that still come when the buffer says that it is nearly full: one is in the input register, and one
/// is accepted before `ready`, which is a register, has fallen.
const BUFFER_MARGIN: usize = 2;
/// Matched frames that still come when the metadata queue says that it is nearly full: those two, and the
/// three that are in the meter.
const META_MARGIN: usize = 5;
/// Frames that still come when the decision queue says that it is nearly full: those of the first two, and the
/// two that are in the engine.
const DECISION_MARGIN: usize = 4;
/// Matched frames whose metadata can wait.
const META_DEPTH: usize = 32;
/// A buffer of more beats than this is block RAM.
const DISTRIBUTED_BEATS: usize = 64;

/// Sorts packets by rules: matched ones go to the cluster with their metadata, all others continue to
/// the NIC untouched. One beat a clock.
#[hardware(
    shape: MatchShape,
    error = ParameterError,
    packed = shape.axis().fields().width,
    vector = 32 * shape.all_rules(),
    option = shape.ip_relative,
    stored = FifoConfig::by_depth(packed, shape.buffer_beats(), DISTRIBUTED_BEATS).with_margin(BUFFER_MARGIN),
    ends = FifoConfig::distributed(1, shape.buffer_beats()).registered(),
    meta = FifoConfig::distributed(32 + shape.message_id_width + 3, META_DEPTH).registered().with_margin(META_MARGIN),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PspinPktMatch {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Packets from the wire.
    pub s_axis_nic_rx: AxisIn<{ shape.axis() }>,
    /// Packets that match nothing.
    pub m_axis_nic_rx: AxisOut<{ shape.axis() }>,
    /// Matched packets.
    pub m_axis_pspin_rx: AxisOut<{ shape.axis() }>,
    /// 1: the rules are in force; a change from 0 to 1 takes new ones.
    pub match_valid: Wire<In, bool>,
    /// Bit s: ruleset s joins its rules by OR (1) or AND (0).
    pub match_mode: Wire<In, { shape.rulesets }>,
    /// Word numbers, 32 bits a rule, ruleset-major.
    pub match_idx: Wire<In, { vector }>,
    /// Masks, byte-swapped.
    pub match_mask: Wire<In, { vector }>,
    /// Range starts, byte-swapped.
    pub match_start: Wire<In, { vector }>,
    /// Range ends, byte-swapped.
    pub match_end: Wire<In, { vector }>,
    /// Tag of a matched packet: {message id, end of message, ruleset (2 bits)}.
    pub packet_meta_tag: Wire<Out, { shape.tag_width }>,
    /// Exact length of a matched packet in bytes.
    pub packet_meta_size: Wire<Out, 32>,
    /// The metadata is there.
    pub packet_meta_valid: Wire<Out, bool>,
    /// The metadata is taken in this cycle.
    pub packet_meta_ready: Wire<In, bool>,
    /// Bit r of ruleset s, ruleset-major: the rule counts from the start of the IP payload, not of the frame.
    pub match_relative: Optional<Wire<In, { shape.all_rules() }>, { option }>,
    reset: Wire<Local, bool>,
    input: AxisPack<{ shape.axis() }>,
    /// The beat that came in, before anything looks at it.
    beat: Reg<{ packed }>,
    beat_last: Reg<bool>,
    beat_valid: Reg<bool, Reset>,
    beat_number: Reg<{ shape.beat_number_width() }>,
    next_number: Reg<{ shape.beat_number_width() }, Reset>,
    ready: Reg<bool, Reset>,
    in_frame: Reg<bool, Reset>,
    still_in_frame: Wire<Local, bool>,
    accept: Wire<Local, bool>,
    /// The rules that were loaded last are in force.
    active: Reg<bool, Reset>,
    /// `match_valid` was 0 since rules were loaded: those that are held are not those to be in force.
    stale: Reg<bool, Reset>,
    /// No frame is being evaluated, so that the rules may change.
    quiet: Wire<Local, bool>,
    payload: Optional<PayloadFinder<{ shape }>, { option }>,
    /// Lane of the message id, if the beat carries it.
    id_lane: Optional<Wire<Local, { shape.lane_width() }>, { option }>,
    /// The beat with every word in network order.
    swapped: Optional<Wire<Local, { shape.data }>, { option && shape.message_id_network_order }>,
    engine: MatchEngine<{ shape }>,
    meter: FrameMeter<{ shape }>,
    buffer: Checked<Fifo<{ stored }>>,
    /// Whether a beat is the last of its frame, parallel to the buffer: block RAM would tell the decisions too late.
    lasts: Checked<Fifo<{ ends }>>,
    // A decision waits until the last beat of its frame leaves the buffer, at a register, as what leaves depends on it.
    #[new(OutputQueue::with_margin(1, shape.buffer_beats(), DECISION_MARGIN)?)]
    decisions: OutputQueue,
    metas: Checked<Fifo<{ meta }>>,
    demux: Checked<FrameDemux<2, { packed }>>,
    nic: AxisUnpack<{ shape.axis() }>,
    pspin: AxisUnpack<{ shape.axis() }>,
}

impl Logic for PspinPktMatch {
    #[kernel]
    fn update(&mut self) {
        self.reset.next = !self.rstn.val();
        clocked!(self.clk, self.reset => self.beat, self.beat_last, self.beat_valid, self.beat_number,
            self.next_number, self.ready, self.in_frame, self.active, self.stale, self.payload, self.engine, self.meter,
            self.buffer, self.lasts, self.decisions, self.metas, self.demux);
        /// Input register, and the number of the beat within its frame.
        connect!(self.s_axis_nic_rx => self.input.s_axis);
        self.input.m.ready.next = self.ready.q.val();
        self.accept.next = self.input.m.valid.val() & self.ready.q.val();
        self.beat.d.next = self.input.m.data.val();
        self.beat_last.d.next = self.input.m.last.val();
        self.beat_valid.d.next = self.accept.val();
        self.beat_number.d.next = self.next_number.q.val();
        self.still_in_frame.next = self.in_frame.q.val();
        if self.accept.val() {
            self.still_in_frame.next = !self.input.m.last.val();
            if self.input.m.last.val() {
                self.next_number.d.next = 0.into();
            } else if self.next_number.q.val() != self._shape.last_beat_number() as u64 {
                self.next_number.d.next = self.next_number.q.val() + 1;
            }
        }
        self.in_frame.d.next = self.still_in_frame.val();
        /// Ready while there is room, except between frames when `match_valid` must take effect.
        self.ready.d.next = !self.buffer.almost_full.val()
            & !self.metas.almost_full.val()
            & !self.decisions.almost_full.val()
            & (self.still_in_frame.val()
                | ((self.match_valid.val() == self.active.q.val())
                    & !(self.match_valid.val() & self.stale.q.val())));
        /// Rules change only while no frame is being evaluated.
        self.quiet.next = !self.in_frame.q.val() & !self.engine.busy.val();
        if self.quiet.val() {
            self.active.d.next = self.match_valid.val();
            self.stale.d.next = false;
        }
        if !self.match_valid.val() {
            self.stale.d.next = true;
        }
        self.engine.load.next = self.quiet.val() & self.match_valid.val();
        self.engine.active.next = self.active.q.val();
        self.engine.mode.next = self.match_mode.val();
        self.engine.idx.next = self.match_idx.val();
        self.engine.mask.next = self.match_mask.val();
        self.engine.start.next = self.match_start.val();
        self.engine.limit.next = self.match_end.val();
        /// Engine, meter and buffer see the same beat.
        self.engine.beat_data.next = self.beat.q.val().slice(0, self._shape.data);
        self.engine.beat_keep.next = self.beat.q.val().field(self._shape.axis().fields().keep);
        self.engine.beat_number.next = self.beat_number.q.val();
        self.engine.beat_last.next = self.beat_last.q.val();
        self.engine.beat_valid.next = self.beat_valid.q.val();
        if self._shape.ip_relative {
            /// The place of the payload is known in the cycle in which the beat is in its register.
            for word in 0..HEADER_WORDS.len() {
                self.payload.beat_headers.next.set_slice(
                    HEADER_BITS * word,
                    HEADER_BITS,
                    self.input
                        .m
                        .data
                        .val()
                        .slice(32 * (HEADER_WORDS[word] % self._shape.lanes()), HEADER_BITS),
                );
            }
            self.payload.beat_number.next = self.next_number.q.val();
            self.payload.accept.next = self.accept.val();
            self.engine.relative.next = self.match_relative.val();
            self.engine.payload_found.next = self.payload.found.val();
            self.engine.payload_base.next = self.payload.base.val();
            self.engine.payload_back.next = self.payload.back_lane.val();
            self.meter.id_word.next = self.payload.id_word.val();
            self.id_lane.next = self.payload.id_word.val().slice(0, self._shape.lane_width());
        }
        if self._shape.ip_relative && self._shape.message_id_network_order {
            for lane in 0..self._shape.lanes() {
                self.swapped.next.set_slice(
                    32 * lane,
                    32,
                    self.beat.q.val().slice(32 * lane, 32).swap_bytes(),
                );
            }
            self.meter.beat_id.next = self
                .swapped
                .val()
                .slice(self.id_lane.val().index() * 32, self._shape.message_id_width);
        } else if self._shape.ip_relative {
            self.meter.beat_id.next = self
                .beat
                .q
                .val()
                .slice(self.id_lane.val().index() * 32, self._shape.message_id_width);
        } else if self._shape.message_id_network_order {
            self.meter.beat_id.next = self
                .beat
                .q
                .val()
                .slice(32 * self._shape.message_id_lane(), 32)
                .swap_bytes()
                .slice(0, self._shape.message_id_width);
        } else {
            self.meter.beat_id.next = self
                .beat
                .q
                .val()
                .slice(32 * self._shape.message_id_lane(), self._shape.message_id_width);
        }
        self.meter.beat_keep.next = self.beat.q.val().field(self._shape.axis().fields().keep);
        self.meter.beat_number.next = self.beat_number.q.val();
        self.meter.beat_last.next = self.beat_last.q.val();
        self.meter.beat_valid.next = self.beat_valid.q.val();
        self.buffer.s.data.next = self.beat.q.val();
        self.buffer.s.valid.next = self.beat_valid.q.val();
        self.lasts.s.data.next = word(self.beat_last.q.val());
        self.lasts.s.valid.next = self.beat_valid.q.val();
        /// None of the queues can be full here: the input stops in time.
        self.decisions.s.data.next = word(self.engine.decide_matched.val());
        self.decisions.s.valid.next = self.engine.decide.val();
        self.metas.s.data.next = cat!(
            self.meter.size.val(),
            self.meter.message_id.val(),
            self.engine.end_of_message.val(),
            self.engine.ruleset.val()
        );
        self.metas.s.valid.next = self.meter.done.val() & self.engine.matched.val();
        /// A beat leaves when its frame is decided.
        connect!(self.buffer.m => self.demux.s, except last);
        self.demux.s.last.next = self.lasts.m.data.val().get_bit(0);
        self.lasts.m.ready.next = self.demux.s.ready.val();
        connect!(self.decisions.m => self.demux.select);
        connect!(self.demux.m[NIC] => self.nic.s);
        connect!(self.nic.m_axis => self.m_axis_nic_rx);
        connect!(self.demux.m[PSPIN] => self.pspin.s);
        connect!(self.pspin.m_axis => self.m_axis_pspin_rx);
        /// Metadata: {size, message id, end of message, ruleset} in the queue.
        self.packet_meta_tag.next = self
            .metas
            .m
            .data
            .val()
            .slice(0, self._shape.message_id_width + 3)
            .resize(self._shape.tag_width);
        self.packet_meta_size.next = self
            .metas
            .m
            .data
            .val()
            .slice(self._shape.message_id_width + 3, 32);
        self.packet_meta_valid.next = self.metas.m.valid.val();
        self.metas.m.ready.next = self.packet_meta_ready.val();
    }
}
