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

use crate::entry::{Checked, Entry, ParameterError, Values, Variant};
use crate::stream::{
    AxisIn, AxisOut, AxisPack, AxisShape, AxisUnpack, FrameArbiter, FrameInHandles, FrameOutHandles,
    ReadySlice, ReadySliceHandles, SkidBuffer,
};
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// The block that joins our frames with Corundum's.
pub(crate) const ENTRY: Entry = entry!(shipped TxInjectShape::BLOCK, PspinTxInject(TxInjectShape)?:
    "joins our frames with Corundum's, and keeps the completions of ours from it")
.derives(derived);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    // Odd widths, and bits of tuser above the tag.
    ENTRY.variant(
        "pspin_tx_inject_odd",
        "data_width=64 id_width=3 dest_width=1 user_width=9 tag_width=6 timestamp_width=48",
    ),
    ENTRY.variant("pspin_tx_inject_w128", "data_width=128"),
    ENTRY.variant("pspin_tx_inject_w256", "data_width=256"),
];

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let data = values.get("data_width").copied().unwrap_or(0);
    vec![("AXIS_IF_KEEP_WIDTH", data / 8)]
}

/// Widths of the block that joins our frames with Corundum's, in bits.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "pspin_tx_inject", check)]
pub struct TxInjectShape {
    /// Width of tdata in bits, a multiple of 8.
    #[parameter(512, range = 8..=1024, name = "data_width", verilog = "AXIS_IF_DATA_WIDTH")]
    pub data: usize,
    /// Width of tid in bits.
    #[parameter(12, range = 1..=64, name = "id_width", verilog = "AXIS_IF_TX_ID_WIDTH")]
    pub tid: usize,
    /// Width of tdest in bits.
    #[parameter(4, range = 1..=64, name = "dest_width", verilog = "AXIS_IF_TX_DEST_WIDTH")]
    pub tdest: usize,
    /// Width of tuser in bits: error bit and tag.
    #[parameter(17, range = 3..=128, name = "user_width", verilog = "AXIS_IF_TX_USER_WIDTH")]
    pub tuser: usize,
    /// Width of the tag in bits; the highest one says whose frame it is.
    #[parameter(16, range = 2..=64, name = "tag_width", verilog = "TX_TAG_WIDTH")]
    pub tag: usize,
    /// Width of a completion's timestamp in bits.
    #[parameter(96, range = 1..=128, name = "timestamp_width", verilog = "PTP_TS_WIDTH")]
    pub timestamp: usize,
}

impl TxInjectShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        checked.multiple_of("data_width", 8, "a byte")?;
        let needed = self.tag + 1;
        if self.tuser < needed {
            let reason = format!(
                "it must be at least {needed}: tag ({}) and error bit (1)",
                self.tag
            );
            return Err(checked.refuse("user_width", reason));
        }
        Ok(())
    }

    /// The frames.
    pub fn axis(self) -> AxisShape {
        AxisShape {
            data: self.data,
            id: self.tid,
            dest: self.tdest,
            user: self.tuser,
        }
    }

    /// The error bit in a packed beat.
    pub fn error_at(self) -> usize {
        self.axis().fields().user.at
    }

    /// The highest bit of the tag in a packed beat.
    pub fn tag_top_at(self) -> usize {
        self.axis().fields().user.at + self.tag
    }
}

/// Input of the arbiter for the host's frames.
pub(super) const HOST: usize = 0;
/// Input of the arbiter for ours.
pub(super) const OURS: usize = 1;
/// Inputs of the arbiter.
pub(super) const STREAMS: usize = 2;

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

/// A stream to the arbiter, through a slice that makes its ready a register.
#[kernel]
pub(super) fn through_slice(packed: &FrameOutHandles, slice: &ReadySliceHandles, input: &FrameInHandles) {
    slice.s.data = cat!(packed.last, packed.data);
    slice.s.valid = packed.valid;
    packed.ready = slice.s.ready;
    input.data = slice.m.data.slice(0, packed.data.width());
    input.last = slice.m.data[packed.data.width()];
    input.valid = slice.m.valid;
    slice.m.ready = input.ready;
}

/// Joins the cluster's frames with Corundum's, and hides their completions from Corundum.
#[module(shape: TxInjectShape, error = ParameterError, beat = shape.axis().fields().width)]
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
    host: AxisPack<{ shape.axis() }>,
    ours: AxisPack<{ shape.axis() }>,
    /// Makes ready of each stream a register: {last, beat}.
    slices: [ReadySlice<{ 1 + beat }>; STREAMS],
    arbiter: Checked<FrameArbiter<{ STREAMS }, { beat }>>,
    joined: AxisUnpack<{ shape.axis() }>,
    /// Completions that are not ours: {tag, timestamp}.
    completions: Checked<SkidBuffer<{ shape.tag + shape.timestamp }>>,
    counters: EventCounters<{ EVENTS }>,
}

#[kernel(
    PspinTxInject {
        s_axis_nic_tx, s_axis_pspin_tx, m_axis_nic_tx, s_axis_tx_cpl, m_axis_tx_cpl, tx_cpl_ours_o,
        tx_host_tag_conflict_o, host, ours, slices, arbiter, joined, completions, counters, shape
    },
)]
fn update() {
    /// Both streams to the arbiter.
    host.s_axis = s_axis_nic_tx;
    ours.s_axis = s_axis_pspin_tx;
    for (number, packed) in [(HOST, host.m), (OURS, ours.m)] {
        through_slice(&packed, &slices[number], &arbiter.s[number]);
    }
    /// Of our frames the error bit and the highest bit of the tag are 0.
    slices[OURS].s.data[shape.error_at()] = false;
    slices[OURS].s.data[shape.tag_top_at()] = false;
    joined.s = arbiter.m;
    m_axis_nic_tx = joined.m_axis;
    /// Completions of the cluster's frames end here.
    let cpl_host = s_axis_tx_cpl.tag[shape.tag - 1];
    completions.s.data = cat!(s_axis_tx_cpl.tag, s_axis_tx_cpl.ts);
    completions.s.valid = s_axis_tx_cpl.valid && cpl_host;
    s_axis_tx_cpl.ready = completions.s.ready;
    let (ts, tag) = completions.m.data.split_at(shape.timestamp);
    m_axis_tx_cpl.ts = ts;
    m_axis_tx_cpl.tag = tag;
    m_axis_tx_cpl.valid = completions.m.valid;
    completions.m.ready = m_axis_tx_cpl.ready;
    /// Events, the one with the highest number first.
    counters.events = cat!(
        host.m.valid && slices[HOST].s.ready && host.m.last && !host.m.data[shape.tag_top_at()],
        s_axis_tx_cpl.valid && completions.s.ready && !cpl_host
    );
    tx_cpl_ours_o = counters.counts[CPL_OURS];
    tx_host_tag_conflict_o = counters.counts[HOST_TAG_CONFLICT];
}
