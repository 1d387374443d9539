//! Takes frames of one EtherType out of a stream.
//!
//! # Contract
//! - **Frames:** those of EtherType 0x88b5 leave at `control`, all others at `pass`, each whole, unchanged and in order. A frame of one
//!   beat has no EtherType.
//! - **Latency:** 2 clocks. The first beat of a frame waits for the second one, which has the EtherType.
//! - **Throughput:** a beat a clock, from frame to frame and from output to output too.
//! - **Backpressure:** an output that stalls holds the input only while a frame for it is next.
//! - **Paths:** `s_ready` depends on `s_valid`, `pass_ready` and `control_ready`; `pass` and `control` are registers.
//! - **Reset:** discards the beats inside; `s` starts with a new frame.

use super::ETHER_TYPE_BITS;
use crate::entry::Entry;
use crate::mac::{BEAT, BeatFields};
use crate::stream::{FrameIn, FrameOut};
use spinneret_regmap::ether::ETHER_TYPE;
use spinneret_verilog::prelude::*;

/// Takes frames of one EtherType out of a stream.
#[module]
pub struct EtherTypeDemux {
    /// Frames in.
    pub s: FrameIn<{ BEAT }>,
    /// Frames of other types.
    pub pass: FrameOut<{ BEAT }>,
    /// Frames of the type.
    pub control: FrameOut<{ BEAT }>,
    data: Reg<{ BEAT }>,
    last: Reg<bool>,
    valid: Reg<bool, Reset>,
    /// The held beat is the first of its frame.
    #[new(Reg::reset_to(true))]
    is_first: Reg<bool>,
    /// The frame of the held beat is of the type, if the beat is not its first one.
    is_control: Reg<bool>,
    out_data: Reg<{ BEAT }>,
    out_last: Reg<bool>,
    out_valid: Reg<bool, Reset>,
    out_control: Reg<bool>,
}

#[kernel(EtherTypeDemux)]
fn update() {
    let fields = BeatFields::new();
    let second = s.data.field(fields.data).slice(4 * 8, ETHER_TYPE_BITS);
    let is_type = second == ETHER_TYPE.swap_bytes() as u64;
    let goes_to_control = if is_first { is_type && !last } else { is_control };
    let is_free = !out_valid || if out_control { control.ready } else { pass.ready };
    /// The held beat moves on.
    let moves = valid && is_free && (!is_first || last || s.valid);
    s.ready = !valid || moves;
    if is_free {
        out_valid = moves;
    }
    if moves {
        out_data = data;
        out_last = last;
        out_control = goes_to_control;
        is_control = goes_to_control;
        is_first = last;
        valid = false;
    }
    if s.valid && s.ready {
        data = s.data;
        last = s.last;
        valid = true;
    }
    pass.data = out_data;
    pass.last = out_last;
    pass.valid = out_valid && !out_control;
    control.data = out_data;
    control.last = out_last;
    control.valid = out_valid && out_control;
}

/// [`EtherTypeDemux`].
pub(crate) const ENTRY: Entry = entry!(part "ether_type_demux", EtherTypeDemux():
    "takes frames of one EtherType out of a stream");
