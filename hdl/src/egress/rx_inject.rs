//! Joins the frames that handlers pass with those that match no rule, on their way to the host.
//!
//! ```text
//!  s_axis_nic_rx   ==> ReadySlice ==>+--------------+
//!                                    | FrameArbiter |==> m_axis_nic_rx
//!  s_axis_pspin_rx ==> ReadySlice ==>+--------------+
//! ```
//!
//! # Contract
//! - **Frames** leave whole, in the order of their stream, with data and side band as they came.
//! - **Fairness**: round robin by frame, so a frame waits for at most one frame of the other stream. A passed frame never
//!   pauses, so it delays an unmatched frame by at most as many clocks as it has beats, of those in which the host takes a beat:
//!   150 with the longest frame of [`PspinEgressDatapath`](super::PspinEgressDatapath), 9600 bytes.
//! - **Latency**: 1 clock for a beat whose turn it is.
//! - **Throughput**: one beat a clock, also from frame to frame and from stream to stream.
//! - **Backpressure**: `m_axis_nic_rx_tready` low stops both streams; a stream that pauses within its frame holds the output.
//! - **Registers**: all outputs are registers; no path leads from input to output.
//! - **Reset** (`rstn` low) discards everything that is inside. Both streams must start with a new frame.

use super::tx_inject::{HOST, OURS, STREAMS, through_slice};
use crate::entry::{Checked, Entry, ParameterError, Parameters as _, Variant};
use crate::stream::{AxisIn, AxisOut, AxisPack, AxisShape, AxisUnpack, FrameArbiter, ReadySlice};
use spinneret_verilog::prelude::*;

/// The block that joins passed frames with unmatched ones.
pub(crate) const ENTRY: Entry = Entry::part(
    RxInjectShape::BLOCK,
    "joins the frames that handlers pass to the host with unmatched ones",
    RxInjectShape::parameters,
    |values| Ok(Box::new(PspinRxInject::new(RxInjectShape::new(values)?.axis())?)),
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[ENTRY.variant(ENTRY.name, "")];

/// Widths of the block that joins passed frames with unmatched ones, in bits.
#[derive(Parameters, Clone, Copy, Debug)]
#[parameters(block = "pspin_rx_inject", check)]
pub struct RxInjectShape {
    /// Width of tdata in bits, a multiple of 8.
    #[parameter(512, range = 8..=1024, name = "data_width")]
    pub data: usize,
    /// Width of tid in bits.
    #[parameter(8, range = 1..=64, name = "id_width")]
    pub tid: usize,
    /// Width of tdest in bits.
    #[parameter(16, range = 1..=64, name = "dest_width")]
    pub tdest: usize,
    /// Width of tuser in bits.
    #[parameter(97, range = 1..=256, name = "user_width")]
    pub tuser: usize,
}

impl RxInjectShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        checked.multiple_of("data_width", 8, "a byte")
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
}

/// Joins the frames that handlers pass with those that match no rule.
#[module(shape: AxisShape, error = ParameterError, beat = shape.fields().width)]
pub struct PspinRxInject {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Unmatched frames.
    pub s_axis_nic_rx: AxisIn<{ shape }>,
    /// Frames that handlers pass.
    pub s_axis_pspin_rx: AxisIn<{ shape }>,
    /// All frames, to the host.
    pub m_axis_nic_rx: AxisOut<{ shape }>,
    host: AxisPack<{ shape }>,
    ours: AxisPack<{ shape }>,
    slices: [ReadySlice<{ 1 + beat }>; STREAMS],
    arbiter: Checked<FrameArbiter<{ STREAMS }, { beat }>>,
    joined: AxisUnpack<{ shape }>,
}

#[kernel(
    PspinRxInject {
        s_axis_nic_rx, s_axis_pspin_rx, m_axis_nic_rx, host, ours, slices, arbiter, joined
    },
)]
fn update() {
    host.s_axis = s_axis_nic_rx;
    ours.s_axis = s_axis_pspin_rx;
    for (number, packed) in [(HOST, host.m), (OURS, ours.m)] {
        through_slice(&packed, &slices[number], &arbiter.s[number]);
    }
    joined.s = arbiter.m;
    m_axis_nic_rx = joined.m_axis;
}
