//! Joins responses with the records of their bursts.

use super::DmaShape;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Decides about every packet when the response of its last burst comes: good, or failed and counted.
///
/// One response a clock, no clock of latency. A response waits while the queue it leads to is full.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct BurstJudge {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: forgets errors, counts from zero.
    pub rst: Wire<In, bool>,
    /// Bursts that wait for their response: {last of its packet, the packet is bad, packet}.
    pub record: StreamIn,
    /// Responses (BRESP), in the order of the bursts.
    pub response: StreamIn,
    /// Packets that are written.
    pub good: StreamOut,
    /// Addresses of packets that are not.
    pub failed: StreamOut,
    /// Packets with a response that was not OKAY.
    pub write_errors: Wire<Out>,
    /// Other packets that failed.
    pub bad_frames: Wire<Out>,
    /// An earlier burst of this packet failed.
    error: Reg<bool>,
    write_error_count: Reg,
    bad_frame_count: Reg,
    both: Wire<Local, bool>,
    last: Wire<Local, bool>,
    bad: Wire<Local, bool>,
    error_now: Wire<Local, bool>,
    fails: Wire<Local, bool>,
    take: Wire<Local, bool>,
    _shape: DmaShape,
}

impl BurstJudge {
    /// A judge for packets of the given shape.
    pub fn new(shape: DmaShape) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            record: StreamIn::new(shape.packet() + 2),
            response: StreamIn::new(2),
            good: StreamOut::new(shape.packet()),
            failed: StreamOut::new(shape.address),
            write_errors: Wire::word(32),
            bad_frames: Wire::word(32),
            error: Reg::bit_reset(),
            write_error_count: Reg::word_reset(32),
            bad_frame_count: Reg::word_reset(32),
            both: Wire::bit(),
            last: Wire::bit(),
            bad: Wire::bit(),
            error_now: Wire::bit(),
            fails: Wire::bit(),
            take: Wire::bit(),
            _shape: shape,
        }
    }
}

impl Logic for BurstJudge {
    #[kernel]
    fn update(&mut self) {
        let packet = self._shape.packet();
        clocked!(self.clk, self.rst => self.error, self.write_error_count, self.bad_frame_count);
        self.both.next = self.record.valid.val() && self.response.valid.val();
        self.last.next = self.record.data.val().get_bit(packet + 1);
        self.bad.next = self.record.data.val().get_bit(packet);
        self.error_now.next = self.error.q.val() || self.response.data.val().any();
        self.fails.next = self.error_now.val() || self.bad.val();
        if self.last.val() {
            if self.fails.val() {
                self.take.next = self.both.val() && self.failed.ready.val();
            } else {
                self.take.next = self.both.val() && self.good.ready.val();
            }
        } else {
            self.take.next = self.both.val();
        }
        self.record.ready.next = self.take.val();
        self.response.ready.next = self.take.val();
        self.good.valid.next = self.both.val() && self.last.val() && !self.fails.val();
        self.good.data.next = self.record.data.val().slice(0, packet);
        self.failed.valid.next = self.both.val() && self.last.val() && self.fails.val();
        self.failed.data.next = self.record.data.val().slice(0, self._shape.address);
        if self.take.val() {
            self.error.d.next = self.error_now.val() && !self.last.val();
            if self.last.val() {
                if self.error_now.val() {
                    self.write_error_count.d.next = self.write_error_count.q.val() + 1;
                } else if self.bad.val() {
                    self.bad_frame_count.d.next = self.bad_frame_count.q.val() + 1;
                }
            }
        }
        self.write_errors.next = self.write_error_count.q.val();
        self.bad_frames.next = self.bad_frame_count.q.val();
    }
}
