//! Cuts packets into bursts.

use super::DmaShape;
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Bits of an address within the 4 KiB that a burst must not leave.
const PAGE_BITS: usize = 12;
/// Bits of AWLEN.
const BURST_BITS: usize = 8;

/// Cuts packets into bursts: one beat a clock, and one clock from input to output registers.
///
/// The first beat of a packet takes its descriptor, the first beat of a burst also loads the address
/// register, and the last one leaves a record of the burst. What is left of a frame behind the last beat of
/// its packet is discarded (`draining`), and only then its last record is left.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct BurstWriter {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Packets: {tag, length, address}.
    pub descriptor: StreamIn,
    /// Beats of their frames: {tlast, tkeep, tdata}.
    pub beat: StreamIn,
    /// Address of a burst.
    pub burst_address: Wire<Out>,
    /// Its beats, minus 1.
    pub burst_length: Wire<Out>,
    /// The burst is there.
    pub burst_valid: Wire<Out, bool>,
    /// The burst is taken in this cycle.
    pub burst_ready: Wire<In, bool>,
    /// Data of a beat.
    pub data: Wire<Out>,
    /// Its bytes that are written.
    pub strobes: Wire<Out>,
    /// It is the last of its burst.
    pub data_last: Wire<Out, bool>,
    /// The beat is there.
    pub data_valid: Wire<Out, bool>,
    /// The beat is taken in this cycle.
    pub data_ready: Wire<In, bool>,
    /// Bursts whose beats have all left: {last of its packet, the packet is bad, packet}.
    pub record: StreamOut,
    address_reg: Reg,
    length_reg: Reg,
    burst_valid_reg: Reg<bool>,
    data_reg: Reg,
    strobes_reg: Reg,
    last_reg: Reg<bool>,
    data_valid_reg: Reg<bool>,
    /// Within a packet, behind its first beat.
    busy: Reg<bool>,
    /// Behind the last beat of a packet, but not of its frame.
    draining: Reg<bool>,
    /// The next beat is the first of a burst.
    next_starts: Reg<bool>,
    /// The frame ended, the packet did not.
    ended: Reg<bool>,
    bad: Reg<bool>,
    /// Nothing of this packet is written.
    mute: Reg<bool>,
    packet: Reg,
    next_page: Reg,
    /// Bytes of the last beat of the packet.
    tail: Reg,
    /// Beats of the packet behind the next one.
    left: Reg,
    /// Beats of the burst behind the next one.
    burst_left: Reg,
    keep: Wire<Local>,
    frame_last: Wire<Local, bool>,
    first: Wire<Local, bool>,
    starts: Wire<Local, bool>,
    padding: Wire<Local, bool>,
    packet_now: Wire<Local>,
    whole: Wire<Local>,
    rest: Wire<Local>,
    ones: Wire<Local>,
    tail_now: Wire<Local>,
    wanted: Wire<Local>,
    left_now: Wire<Local>,
    room: Wire<Local>,
    burst_left_now: Wire<Local>,
    page: Wire<Local>,
    burst_last: Wire<Local, bool>,
    packet_last: Wire<Local, bool>,
    frame_done: Wire<Local, bool>,
    mute_now: Wire<Local, bool>,
    bad_now: Wire<Local, bool>,
    can_send: Wire<Local, bool>,
    can_start: Wire<Local, bool>,
    go: Wire<Local, bool>,
    drain: Wire<Local, bool>,
    _shape: DmaShape,
}

impl BurstWriter {
    /// A writer for packets of the given shape.
    pub fn new(shape: DmaShape) -> Self {
        let (data, keep, packet) = (shape.axis.data, shape.axis.keep(), shape.packet());
        let beats = shape.length - shape.beat_bits();
        let page = shape.address - PAGE_BITS;
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            descriptor: StreamIn::new(packet),
            beat: StreamIn::new(shape.beat()),
            burst_address: Wire::word(shape.address),
            burst_length: Wire::word(BURST_BITS),
            burst_valid: Wire::bit(),
            burst_ready: Wire::bit(),
            data: Wire::word(data),
            strobes: Wire::word(keep),
            data_last: Wire::bit(),
            data_valid: Wire::bit(),
            data_ready: Wire::bit(),
            record: StreamOut::new(packet + 2),
            address_reg: Reg::word(shape.address),
            length_reg: Reg::word(BURST_BITS),
            burst_valid_reg: Reg::bit_reset(),
            data_reg: Reg::word(data),
            strobes_reg: Reg::word(keep),
            last_reg: Reg::bit(),
            data_valid_reg: Reg::bit_reset(),
            busy: Reg::bit_reset(),
            draining: Reg::bit_reset(),
            next_starts: Reg::bit(),
            ended: Reg::bit(),
            bad: Reg::bit(),
            mute: Reg::bit(),
            packet: Reg::word(packet),
            next_page: Reg::word(page),
            tail: Reg::word(keep),
            left: Reg::word(beats),
            burst_left: Reg::word(BURST_BITS),
            keep: Wire::word(keep),
            frame_last: Wire::bit(),
            first: Wire::bit(),
            starts: Wire::bit(),
            padding: Wire::bit(),
            packet_now: Wire::word(packet),
            whole: Wire::word(beats),
            rest: Wire::word(shape.beat_bits()),
            ones: Wire::word(keep),
            tail_now: Wire::word(keep),
            wanted: Wire::word(keep),
            left_now: Wire::word(beats),
            room: Wire::word(PAGE_BITS - shape.beat_bits()),
            burst_left_now: Wire::word(BURST_BITS),
            page: Wire::word(page),
            burst_last: Wire::bit(),
            packet_last: Wire::bit(),
            frame_done: Wire::bit(),
            mute_now: Wire::bit(),
            bad_now: Wire::bit(),
            can_send: Wire::bit(),
            can_start: Wire::bit(),
            go: Wire::bit(),
            drain: Wire::bit(),
            _shape: shape,
        }
    }
}

impl Logic for BurstWriter {
    #[kernel]
    fn update(&mut self) {
        let (data, keep, bits) = (
            self._shape.axis.data,
            self._shape.axis.keep(),
            self._shape.beat_bits(),
        );
        let (address, length) = (self._shape.address, self._shape.length);
        let room = PAGE_BITS - bits;
        clocked!(self.clk, self.rst => self.burst_valid_reg, self.data_valid_reg, self.busy, self.draining);
        clocked!(self.clk => self.address_reg, self.length_reg, self.data_reg, self.strobes_reg, self.last_reg);
        clocked!(self.clk => self.next_starts, self.ended, self.bad, self.mute, self.packet, self.next_page,
            self.tail, self.left, self.burst_left);
        self.keep.next = self.beat.data.val().slice(data, keep);
        self.frame_last.next = self.beat.data.val().get_bit(data + keep);
        /// The packet: its descriptor in the first beat, what was kept of it later.
        self.first.next = !self.busy.q.val() && !self.draining.q.val();
        self.starts.next = self.first.val() || self.next_starts.q.val();
        self.padding.next = !self.first.val() && self.ended.q.val();
        self.whole.next = self.descriptor.data.val().slice(address + bits, length - bits);
        self.rest.next = self.descriptor.data.val().slice(address, bits);
        self.ones.next = fill(true, keep);
        if self.first.val() {
            self.packet_now.next = self.descriptor.data.val();
            self.mute_now.next = self.descriptor.data.val().slice(0, bits).any();
            self.page.next = self.descriptor.data.val().slice(PAGE_BITS, address - PAGE_BITS);
            self.room.next = !self.descriptor.data.val().slice(bits, room);
            /// A length of whole beats ends with a full one; no length at all is one beat without bytes.
            if !self.rest.val().any() && self.whole.val().any() {
                self.tail_now.next = self.ones.val();
                self.left_now.next = self.whole.val() - 1;
            } else {
                self.tail_now.next = !(self.ones.val() << self.rest.val());
                self.left_now.next = self.whole.val();
            }
        } else {
            self.packet_now.next = self.packet.q.val();
            self.mute_now.next = self.mute.q.val();
            self.page.next = self.next_page.q.val();
            self.room.next = fill(true, room);
            self.tail_now.next = self.tail.q.val();
            self.left_now.next = self.left.q.val();
        }
        /// The burst: up to the end of the packet or of the page.
        if !self.starts.val() {
            self.burst_left_now.next = self.burst_left.q.val();
        } else if self.left_now.val().slice(room, length - bits - room).any()
            || self.left_now.val().slice(0, room) > self.room.val()
        {
            self.burst_left_now.next = self.room.val().resize(BURST_BITS);
        } else {
            self.burst_left_now.next = self.left_now.val().slice(0, room).resize(BURST_BITS);
        }
        self.burst_last.next = self.burst_left_now.val() == 0;
        self.packet_last.next = self.left_now.val() == 0;
        /// The beat must have exactly the bytes that the length says, and end the frame only at its end.
        if self.packet_last.val() {
            self.wanted.next = self.tail_now.val();
        } else {
            self.wanted.next = self.ones.val();
        }
        self.frame_done.next = self.padding.val() || self.frame_last.val();
        self.bad_now.next = self.mute_now.val()
            || self.padding.val()
            || (!self.first.val() && self.bad.q.val())
            || self.keep.val() != self.wanted.val()
            || (self.frame_last.val() && !self.packet_last.val());
        /// A beat goes when everything it needs is there.
        self.can_send.next = (self.descriptor.valid.val() || !self.first.val())
            && (self.beat.valid.val() || self.padding.val())
            && (!self.data_valid_reg.q.val() || self.data_ready.val());
        self.can_start.next = !self.starts.val() || !self.burst_valid_reg.q.val() || self.burst_ready.val();
        self.go.next =
            !self.draining.q.val() && self.can_send.val() && self.can_start.val() && self.record.ready.val();
        self.drain.next = self.draining.q.val() && self.beat.valid.val() && self.record.ready.val();
        self.descriptor.ready.next = self.go.val() && self.first.val();
        self.beat.ready.next = (self.go.val() && !self.padding.val()) || self.drain.val();
        /// Output registers.
        if self.burst_ready.val() {
            self.burst_valid_reg.d.next = false;
        }
        if self.data_ready.val() {
            self.data_valid_reg.d.next = false;
        }
        if self.go.val() && self.starts.val() {
            self.burst_valid_reg.d.next = true;
            self.length_reg.d.next = self.burst_left_now.val();
            self.next_page.d.next = self.page.val() + 1;
            if self.first.val() {
                self.address_reg.d.next = cat!(
                    self.descriptor.data.val().slice(bits, address - bits),
                    lit(0, bits)
                );
            } else {
                self.address_reg.d.next = cat!(self.page.val(), lit(0, PAGE_BITS));
            }
        }
        if self.go.val() {
            self.data_valid_reg.d.next = true;
            self.data_reg.d.next = self.beat.data.val().slice(0, data);
            self.strobes_reg.d.next =
                self.keep.val() & self.wanted.val() & fill(!self.padding.val() && !self.mute_now.val(), keep);
            self.last_reg.d.next = self.burst_last.val();
            self.busy.d.next = !self.packet_last.val();
            self.draining.d.next = self.packet_last.val() && !self.frame_done.val();
            self.next_starts.d.next = self.burst_last.val();
            self.ended.d.next = self.frame_done.val();
            self.bad.d.next = self.bad_now.val();
            self.mute.d.next = self.mute_now.val();
            self.packet.d.next = self.packet_now.val();
            self.tail.d.next = self.tail_now.val();
            self.left.d.next = self.left_now.val() - 1;
            self.burst_left.d.next = self.burst_left_now.val() - 1;
        }
        if self.drain.val() {
            self.draining.d.next = !self.frame_last.val();
            self.bad.d.next = self.bad.q.val() || self.keep.val().any();
        }
        /// The record of a burst; that of the last one needs the end of the frame.
        if self.draining.q.val() {
            self.record.valid.next = self.drain.val() && self.frame_last.val();
            self.record.data.next = cat!(
                true,
                self.bad.q.val() || self.keep.val().any(),
                self.packet.q.val()
            );
        } else {
            self.record.valid.next =
                self.go.val() && self.burst_last.val() && (!self.packet_last.val() || self.frame_done.val());
            self.record.data.next = cat!(self.packet_last.val(), self.bad_now.val(), self.packet_now.val());
        }
        self.burst_address.next = self.address_reg.q.val();
        self.burst_length.next = self.length_reg.q.val();
        self.burst_valid.next = self.burst_valid_reg.q.val();
        self.data.next = self.data_reg.q.val();
        self.strobes.next = self.strobes_reg.q.val();
        self.data_last.next = self.last_reg.q.val();
        self.data_valid.next = self.data_valid_reg.q.val();
    }
}
