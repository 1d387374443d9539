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
#[hardware(shape: DmaShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PacketJudge {
    /// Clock.
    pub clk: Signal<In, Clock>,
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
    answered: Wire<Local, bool>,
    last: Wire<Local, bool>,
    slotless: Wire<Local, bool>,
    bad: Wire<Local, bool>,
    over: Wire<Local, bool>,
    error_now: Wire<Local, bool>,
    fails: Wire<Local, bool>,
    complete: Wire<Local, bool>,
    ends: Wire<Local, bool>,
    take: Wire<Local, bool>,
}

impl Logic for PacketJudge {
    #[kernel(
        parameters(ADDRESS = self._shape.address, META = self._shape.meta()),
        numbers(PACKET = ADDRESS + META)
    )]
    fn update(&mut self) {
        let address = self._shape.address;
        clocked!(self.clk, self.rst => self.error);
        self.answered.next = self.record.data.val().get_bit(address);
        self.last.next = self.record.data.val().get_bit(address + 1);
        self.slotless.next = self.record.data.val().get_bit(address + 2);
        self.bad.next = self.record.data.val().get_bit(address + 3);
        self.over.next = self.record.data.val().get_bit(address + 4);
        self.error_now.next = self.error.q.val() || (self.answered.val() && self.response.data.val().any());
        self.fails.next = self.slotless.val() || self.error_now.val() || self.bad.val() || self.over.val();
        self.complete.next = self.record.valid.val()
            && (self.response.valid.val() || !self.answered.val())
            && (self.meta.valid.val() || !self.last.val());
        self.ends.next = self.complete.val() && self.last.val();
        self.good.valid.next = self.ends.val() && !self.fails.val();
        self.good.data.next = cat!(self.meta.data.val(), self.record.data.val().slice(0, address));
        self.failed.valid.next = self.ends.val() && self.fails.val() && !self.slotless.val();
        self.failed.data.next = self.record.data.val().slice(0, address);
        if !self.last.val() || self.slotless.val() {
            self.take.next = self.complete.val();
        } else if self.fails.val() {
            self.take.next = self.complete.val() && self.failed.ready.val();
        } else {
            self.take.next = self.complete.val() && self.good.ready.val();
        }
        self.record.ready.next = self.take.val();
        self.response.ready.next = self.take.val() && self.answered.val();
        self.meta.ready.next = self.take.val() && self.last.val();
        if self.take.val() {
            self.error.d.next = self.error_now.val() && !self.last.val();
        }
        self.events.next = 0.into();
        if self.take.val() && self.last.val() {
            if self.slotless.val() {
                self.events.next.set_bit(NO_SLOT, true);
            } else if self.error_now.val() {
                self.events.next.set_bit(WRITE_ERROR, true);
            } else if self.bad.val() {
                self.events.next.set_bit(BAD_FRAME, true);
            } else if self.over.val() {
                self.events.next.set_bit(OVERSIZE, true);
            }
        }
    }
}
