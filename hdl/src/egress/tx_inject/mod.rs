//! Joins the cluster's frames with those of Corundum's TX engine, and hides their completions from it.
//!
//! ```text
//!  s_axis_nic_tx   ==> ReadySlice =====================>+--------------+
//!                                                       | FrameArbiter |==> m_axis_nic_tx
//!  s_axis_pspin_tx ==> tag, no error ==> ReadySlice ===>+--------------+
//!
//!  s_axis_tx_cpl ==> [tag's highest bit 1] ==> SkidBuffer ==> m_axis_tx_cpl
//!                    [tag's highest bit 0] ==> tx_cpl_ours_o
//! ```
//!
//! `tuser` of a frame is {tag, error bit}. Corundum's TX engine numbers its frames: the tag is {1, place in its
//! table of descriptors}. It takes a completion for its own only if the highest bit of the tag is 1, and that bit
//! is there to tell its frames from others: `TX_TAG_WIDTH` is $clog2(TX_DESC_TABLE_SIZE) + 1 at least. So the
//! frames with 0 in that bit are ours.
//!
//! # Contract
//! - **Frames** leave whole, in the order of their stream, with data and side band as they came. Of our frames
//!   the highest bit of the tag becomes 0 and the error bit 0; all else stays.
//! - **Fairness:** round robin by frame, so a frame waits for at most one frame of the other stream.
//! - **Latency:** 1 clock for a beat whose turn it is, 1 for a completion.
//! - **Throughput:** one beat a clock, also from frame to frame; one completion a clock.
//! - **Backpressure:** `m_axis_nic_tx_tready` low stops both streams; a stream that pauses within its frame holds
//!   the output. `m_axis_tx_cpl.ready` low stops the completions; frames and completions never wait for each other.
//! - **Completions:** those of the cluster's frames are dropped, one a clock, and counted by `tx_cpl_ours_o`. All others leave
//!   unchanged, in their order; dropped ones before them cost one clock each and never stop them.
//! - **Bad input:** a frame of the host with 0 in the highest bit of its tag passes unchanged and is counted by
//!   `tx_host_tag_conflict_o`, by its last beat. Its completion looks like one of the cluster's: it is dropped and
//!   counted as such, as Corundum's engine would ignore it.
//! - **Registers:** all outputs are registers; no path leads from input to output.
//! - **Counters** are 32 bits wide, wrap, and show an event two clocks later.
//! - **Reset** (`rstn` low) discards everything that is inside. Both streams must start with a new frame.
//!
//! # Source
//! Corundum, `fpga/common/rtl/tx_engine.v`: `m_axis_tx_desc_user_next[1+TX_TAG_WIDTH-1 +: 1] = 1'b1` where a
//! frame starts, and `s_axis_tx_cpl.valid && s_axis_tx_cpl.tag[TX_TAG_WIDTH-1]` where a completion comes back;
//! `fpga/common/rtl/mqnic_interface_tx.v` for `TX_TAG_WIDTH`.

mod entry;
mod shape;

pub(crate) use entry::{ENTRY, SIMULATED};
pub use shape::TxInjectShape;

use crate::entry::ParameterError;
use crate::stream::{AxisIn, AxisOut, AxisPack, AxisUnpack, FrameArbiter, ReadySlice, SkidBuffer};
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// Inputs of the arbiter: the host's frames and ours.
const HOST: usize = 0;
const OURS: usize = 1;
const STREAMS: usize = 2;

/// Events that are counted.
const CPL_OURS: usize = 0;
const HOST_TAG_CONFLICT: usize = 1;
const EVENTS: usize = 2;

/// Completions of frames that were sent.
#[interface(CompletionIn, shape: TxInjectShape)]
pub struct CompletionOut {
    /// When the frame was sent.
    pub ts: Wire<Out, { shape.timestamp }>,
    /// Its tag.
    pub tag: Wire<Out, { shape.tag }>,
    /// The completion is there.
    pub valid: Wire<Out, bool>,
    /// The completion is taken in this cycle.
    pub ready: Wire<In, bool>,
}

/// Joins the cluster's frames with Corundum's, and hides their completions from Corundum.
#[hardware(shape: TxInjectShape, error = ParameterError, beat = shape.axis().fields().width)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PspinTxInject {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Frames of Corundum's TX engine.
    pub s_axis_nic_tx: AxisIn<{ shape.axis() }>,
    /// Our frames.
    pub s_axis_pspin_tx: AxisIn<{ shape.axis() }>,
    /// All frames, to the wire.
    pub m_axis_nic_tx: AxisOut<{ shape.axis() }>,
    /// Completions from the wire.
    pub s_axis_tx_cpl: CompletionIn<{ shape }>,
    /// Completions to Corundum's TX engine.
    pub m_axis_tx_cpl: CompletionOut<{ shape }>,
    /// Completions of our frames, which were dropped.
    pub tx_cpl_ours_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Frames of the host with a tag of the cluster's frames.
    pub tx_host_tag_conflict_o: Wire<Out, { COUNTER_WIDTH }>,
    reset: Wire<Local, bool>,
    host: AxisPack<{ shape.axis() }>,
    ours: AxisPack<{ shape.axis() }>,
    /// Makes ready of each stream a register: {last, beat}.
    slices: [ReadySlice<{ 1 + beat }>; STREAMS],
    arbiter: Checked<FrameArbiter<{ STREAMS }, { beat }>>,
    joined: AxisUnpack<{ shape.axis() }>,
    /// Completions that are not ours: {tag, timestamp}.
    completions: Checked<SkidBuffer<{ shape.tag + shape.timestamp }>>,
    /// The completion at the input belongs to the host.
    cpl_host: Wire<Local, bool>,
    counters: EventCounters<{ EVENTS }>,
}

impl Logic for PspinTxInject {
    #[kernel]
    fn update(&mut self) {
        let (beat, tag, timestamp) = (
            self._shape.axis().fields().width,
            self._shape.tag,
            self._shape.timestamp,
        );
        let (error_at, top_at) = (self._shape.error_at(), self._shape.tag_top_at());
        self.reset.next = !self.rstn.val();
        clocked!(self.clk, self.reset => self.slices, self.arbiter, self.completions, self.counters);
        /// Both streams to the arbiter; of our frames the error bit and the highest bit of the tag are 0.
        connect!(self.s_axis_nic_tx => self.host.s_axis);
        connect!(self.s_axis_pspin_tx => self.ours.s_axis);
        self.slices[HOST].s.data.next = cat!(self.host.m.last.val(), self.host.m.data.val());
        connect!(self.host.m => self.slices[HOST].s; valid, ready);
        self.slices[OURS].s.data.next = cat!(self.ours.m.last.val(), self.ours.m.data.val());
        self.slices[OURS].s.data.next.set_bit(error_at, false);
        self.slices[OURS].s.data.next.set_bit(top_at, false);
        connect!(self.ours.m => self.slices[OURS].s; valid, ready);
        for stream in 0..STREAMS {
            self.arbiter.s[stream].data.next = self.slices[stream].m.data.val().slice(0, beat);
            self.arbiter.s[stream].last.next = self.slices[stream].m.data.val().get_bit(beat);
            connect!(self.slices[stream].m => self.arbiter.s[stream]; valid, ready);
        }
        connect!(self.arbiter.m => self.joined.s);
        connect!(self.joined.m_axis => self.m_axis_nic_tx);
        /// Completions of the cluster's frames end here.
        self.cpl_host.next = self.s_axis_tx_cpl.tag.val().get_bit(tag - 1);
        self.completions.s.data.next = cat!(self.s_axis_tx_cpl.tag.val(), self.s_axis_tx_cpl.ts.val());
        self.completions.s.valid.next = self.s_axis_tx_cpl.valid.val() && self.cpl_host.val();
        self.s_axis_tx_cpl.ready.next = self.completions.s.ready.val();
        self.m_axis_tx_cpl.ts.next = self.completions.m.data.val().slice(0, timestamp);
        self.m_axis_tx_cpl.tag.next = self.completions.m.data.val().slice(timestamp, tag);
        connect!(self.completions.m => self.m_axis_tx_cpl; valid, ready);
        /// Events, the one with the highest number first.
        self.counters.events.next = cat!(
            self.host.m.valid.val()
                && self.slices[HOST].s.ready.val()
                && self.host.m.last.val()
                && !self.host.m.data.val().get_bit(top_at),
            self.s_axis_tx_cpl.valid.val() && self.completions.s.ready.val() && !self.cpl_host.val()
        );
        self.tx_cpl_ours_o.next = self.counters.counts[CPL_OURS].val();
        self.tx_host_tag_conflict_o.next = self.counters.counts[HOST_TAG_CONFLICT].val();
    }
}
