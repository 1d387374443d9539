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
//! With the option `payload_sum`, a `PayloadSum` next to the meter gives the sum of each frame's IP payload to the metadata, as
//! `packet_meta_sum`.
//!
//! With the option `side_band`, `packet_meta_side` has what tuser (without its error bit), tdest and tid were in the last beat.
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
mod meter;
mod payload;
mod payload_sum;
mod rule;
mod shape;

pub use engine::MatchEngine;
pub use meter::FrameMeter;
pub use payload::PayloadFinder;
pub(crate) use payload_sum::SUM;
pub use payload_sum::{ColumnCounter, PayloadSum};
pub use rule::{MatchRule, RuleIn};
pub use shape::MatchShape;
pub(crate) use shape::{ENTRY, SIMULATED};

use crate::entry::ParameterError;
use crate::ingress::slots::delayed;
use crate::stream::{
    AxisIn, AxisOut, AxisPack, AxisUnpack, Fifo, FifoConfig, FrameDemux, OutputQueue, SideFields,
};
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
/// Cycles from the last beat in its register to the measures of its frame.
const METER_CYCLES: usize = 3;
/// Matched frames whose metadata can wait.
const META_DEPTH: usize = 32;
/// A buffer of more beats than this is block RAM.
const DISTRIBUTED_BEATS: usize = 64;

/// Sorts packets by rules: matched ones go to the cluster with their metadata, all others continue to
/// the NIC untouched. One beat a clock.
#[module(
    shape: MatchShape,
    error = ParameterError,
    packed = shape.axis().fields().width,
    vector = 32 * shape.all_rules(),
    option = shape.ip_relative,
    stored = FifoConfig::by_depth(packed, shape.buffer_beats(), DISTRIBUTED_BEATS).with_margin(BUFFER_MARGIN),
    ends = FifoConfig::distributed(1, shape.buffer_beats()).registered(),
    meta = FifoConfig::distributed(shape.side_width() + shape.sum_width() + 32 + shape.message_id_width + 3, META_DEPTH).registered().with_margin(META_MARGIN),
)]
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
    /// Side band of a matched packet in its last beat, as [`SideFields`] says; only with `side_band`.
    pub packet_meta_side: Optional<Wire<Out, { shape.side_width() }>, { shape.side_band }>,
    /// Sum of the IP payload of a matched packet, as [`PayloadSum`] says; only with `payload_sum`.
    pub packet_meta_sum: Optional<Wire<Out, { shape.sum_width() }>, { shape.payload_sum }>,
    input: AxisPack<{ shape.axis() }>,
    /// The beat that came in, before anything looks at it.
    beat: Reg<{ packed }>,
    beat_last: Reg<bool>,
    beat_valid: Reg<bool, Reset>,
    beat_number: Reg<{ shape.beat_number_width() }>,
    next_number: Reg<{ shape.beat_number_width() }, Reset>,
    ready: Reg<bool, Reset>,
    in_frame: Reg<bool, Reset>,
    /// The rules that were loaded last are in force.
    active: Reg<bool, Reset>,
    /// `match_valid` was 0 since rules were loaded: those that are held are not those to be in force.
    stale: Reg<bool, Reset>,
    payload: Optional<PayloadFinder<{ shape }>, { option }>,
    engine: MatchEngine<{ shape }>,
    meter: FrameMeter<{ shape }>,
    adder: Optional<PayloadSum<{ shape }>, { shape.payload_sum }>,
    buffer: Checked<Fifo<{ stored }>>,
    /// Whether a beat is the last of its frame, parallel to the buffer: block RAM would tell the decisions too late.
    lasts: Checked<Fifo<{ ends }>>,
    // A decision waits until the last beat of its frame leaves the buffer, at a register, as what leaves depends on it.
    decisions: Checked<OutputQueue<1, { shape.buffer_beats() }, { DECISION_MARGIN }>>,
    metas: Checked<Fifo<{ meta }>>,
    demux: Checked<FrameDemux<2, { packed }>>,
    nic: AxisUnpack<{ shape.axis() }>,
    pspin: AxisUnpack<{ shape.axis() }>,
}

#[kernel(PspinPktMatch)]
fn update() {
    let fields = shape.axis().fields();
    /// Input register, and the number of the beat within its frame.
    input.s_axis = s_axis_nic_rx;
    input.m.ready = ready;
    let accept = input.m.valid & ready;
    beat = input.m.data;
    beat_last = input.m.last;
    beat_valid = accept;
    beat_number = next_number;
    if accept {
        if input.m.last {
            next_number = 0;
        } else if next_number != shape.last_beat_number() {
            next_number = next_number + 1;
        }
    }
    let still_in_frame = if accept { !input.m.last } else { in_frame };
    in_frame = still_in_frame;
    /// Ready while there is room, except between frames when `match_valid` must take effect.
    ready = !buffer.almost_full
        & !metas.almost_full
        & !decisions.almost_full
        & (still_in_frame | ((match_valid == active) & !(match_valid & stale)));
    /// No frame is being evaluated, so that the rules may change.
    let quiet = !in_frame & !engine.busy;
    if quiet {
        active = match_valid;
        stale = false;
    }
    if !match_valid {
        stale = true;
    }
    engine.load = quiet & match_valid;
    engine.active = active;
    engine.mode = match_mode;
    engine.idx = match_idx;
    engine.mask = match_mask;
    engine.start = match_start;
    engine.limit = match_end;
    /// Engine, meter and buffer see the same beat.
    engine.beat_data = beat.slice(0, shape.data);
    engine.beat_keep = beat.field(fields.keep);
    engine.beat_number = beat_number;
    engine.beat_last = beat_last;
    engine.beat_valid = beat_valid;
    if shape.ip_relative {
        /// The place of the payload is known in the cycle in which the beat is in its register.
        for (number, word) in HEADER_WORDS.into_iter().enumerate() {
            let low = 32 * (word % shape.lanes());
            payload.beat_headers.slice(HEADER_BITS * number, HEADER_BITS) =
                input.m.data.slice(low, HEADER_BITS);
        }
        payload.beat_number = next_number;
        payload.accept = accept;
        *engine.relative = *match_relative;
        *engine.payload_found = payload.found;
        *engine.payload_base = payload.base;
        *engine.payload_back = payload.back_lane;
        *meter.id_word = payload.id_word;
    }
    let id_word = if shape.ip_relative {
        /// The beat with every word in network order, if the id is.
        let words = if shape.message_id_network_order {
            swap_words(beat.slice(0, shape.data))
        } else {
            beat
        };
        words.at(cat!(payload.id_word.slice(0, shape.lane_width()), lit(0, 5)), 32)
    } else {
        let word = beat.slice(32 * shape.message_id_lane(), 32);
        if shape.message_id_network_order {
            word.swap_bytes()
        } else {
            word
        }
    };
    meter.beat_id = id_word.slice(0, shape.message_id_width);
    meter.beat_keep = beat.field(fields.keep);
    meter.beat_number = beat_number;
    meter.beat_last = beat_last;
    meter.beat_valid = beat_valid;
    if shape.payload_sum {
        adder.rst = !rstn;
        adder.beat_data = beat.slice(0, shape.data);
        adder.beat_keep = beat.field(fields.keep);
        adder.beat_number = beat_number;
        adder.beat_last = beat_last;
        adder.beat_valid = beat_valid;
        adder.found = payload.found;
        adder.base = payload.base;
    }
    buffer.s.data = beat;
    buffer.s.valid = beat_valid;
    lasts.s.data = beat_last.word();
    lasts.s.valid = beat_valid;
    /// None of the queues can be full here: the input stops in time.
    decisions.s.data = engine.decide_matched.word();
    decisions.s.valid = engine.decide;
    let mut meta = vec![
        meter.size,
        meter.message_id,
        engine.end_of_message.word(),
        engine.ruleset,
    ];
    if shape.payload_sum {
        // It is there as many cycles after the beat as the measures.
        meta.insert(0, adder.sum);
    }
    if shape.side_band {
        let side = SideFields::new(shape.axis());
        let last = pack!(side {
            id: beat.field(fields.id),
            dest: beat.field(fields.dest),
            user: beat.field(fields.user).slice(1, shape.user - 1),
        });
        // The meter measures as many cycles after the beat.
        meta.insert(0, delayed(last, METER_CYCLES, reg)[METER_CYCLES - 1]);
    }
    metas.s.data = cat_all(&meta);
    metas.s.valid = meter.done & engine.matched;
    /// A beat leaves when its frame is decided.
    demux.s.data = buffer.m.data;
    demux.s.valid = buffer.m.valid;
    buffer.m.ready = demux.s.ready;
    demux.s.last = lasts.m.data[0];
    lasts.m.ready = demux.s.ready;
    demux.select = decisions.m;
    nic.s = demux.m[NIC];
    m_axis_nic_rx = nic.m_axis;
    pspin.s = demux.m[PSPIN];
    m_axis_pspin_rx = pspin.m_axis;
    /// Metadata: {side band, sum, size, message id, end of message, ruleset} in the queue.
    let tag_width = shape.message_id_width + 3;
    let measured = tag_width + 32;
    let (tag, size) = metas.m.data.slice(0, measured).split_at(tag_width);
    if shape.side_band {
        *packet_meta_side = metas
            .m
            .data
            .slice(measured + shape.sum_width(), shape.side_width());
    }
    if shape.payload_sum {
        *packet_meta_sum = metas.m.data.slice(measured, shape.sum_width());
    }
    packet_meta_tag = tag.resize(shape.tag_width);
    packet_meta_size = size;
    packet_meta_valid = metas.m.valid;
    metas.m.ready = packet_meta_ready;
}

/// Every word of 32 bits in network order.
fn swap_words(beat: Sig<Word>) -> Sig<Word> {
    let words: Vec<_> = (0..beat.width() / 32)
        .rev()
        .map(|lane| beat.slice(32 * lane, 32).swap_bytes())
        .collect();
    cat_all(&words)
}
