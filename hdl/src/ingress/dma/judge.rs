//! Decides about a packet when all its responses have come.

use super::DmaShape;
use crate::stream::{StreamIn, StreamOut};
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

#[kernel(PacketJudge,
    parameters(ADDRESS = self._shape.address, META = self._shape.meta()),
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
