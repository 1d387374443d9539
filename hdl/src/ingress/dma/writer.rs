//! Cuts packets into bursts.

use super::{BeatFields, DmaShape, Window};
use crate::axi::LENGTH_BITS;
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Cuts packets into bursts: one beat a clock, and one clock from input to output registers.
///
/// A burst ends where a block of `burst_beats` beats of memory does, or with its packet, so it never
/// crosses 4 KiB. It starts when all its beats are in sight: the length of a packet need not be known.
///
/// The first beat of a packet takes its slot. A packet without one is discarded, and so is what lies after
/// the slot. One cycle after a burst has left, or a packet has ended without one, there is a record.
#[hardware(
    shape: DmaShape,
    beat = shape.beat(),
    depth = shape.burst_beats,
    places = shape.address - shape.beat_bits(),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FrameWriter {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Marked beats.
    pub beat: StreamIn<{ beat.width }>,
    /// Bit n: the n-th beat from now is there.
    pub seen: Wire<Out, { depth }>,
    /// Bit n: the n-th beat from now is there and ends its frame.
    pub last: Wire<Out, { depth }>,
    /// Where the next packet goes: {there is no slot, address}.
    pub slot: StreamIn<{ 1 + shape.address }>,
    /// Address of a burst.
    pub burst_address: Wire<Out, { shape.address }>,
    /// Its beats, minus 1.
    pub burst_length: Wire<Out, { LENGTH_BITS }>,
    /// The burst is there.
    pub burst_valid: Wire<Out, bool>,
    /// The burst is taken in this cycle.
    pub burst_ready: Wire<In, bool>,
    /// Data of a beat.
    pub data: Wire<Out, { beat.data.width }>,
    /// Its bytes that are written.
    pub strobes: Wire<Out, { beat.keep.width }>,
    /// It is the last of its burst.
    pub data_last: Wire<Out, bool>,
    /// The beat is there.
    pub data_valid: Wire<Out, bool>,
    /// The beat is taken in this cycle.
    pub data_ready: Wire<In, bool>,
    /// Record of a burst, as [`DmaShape::record_width`] says.
    pub record: Wire<Out, { shape.record_width() }>,
    /// The record is there.
    pub record_valid: Wire<Out, bool>,
    /// Two more records find room.
    pub record_room: Wire<In, bool>,
    window: Window<{ beat }, { depth }>,
    address_reg: Reg<{ places }>,
    length_reg: Reg<{ shape.block_bits() }>,
    burst_valid_reg: Reg<bool, Reset>,
    data_reg: Reg<{ beat.data.width }>,
    strobes_reg: Reg<{ beat.keep.width }>,
    last_reg: Reg<bool>,
    data_valid_reg: Reg<bool, Reset>,
    record_reg: Reg<{ shape.record_width() }>,
    record_valid_reg: Reg<bool, Reset>,
    /// After the first beat of a packet.
    in_frame: Reg<bool, Reset>,
    /// After the first beat of a burst.
    bursting: Reg<bool, Reset>,
    /// Beats of the burst after the next one.
    burst_left: Reg<{ shape.block_bits() }>,
    /// The packet has no slot.
    slotless: Reg<bool>,
    bad: Reg<bool>,
    /// Address of the packet.
    base: Reg<{ shape.address }>,
    /// Number of the beat in memory that was written last.
    place: Reg<{ places }>,
    /// Place of the next beat within its block.
    lane: Reg<{ shape.block_bits() }>,
    first: Wire<Local, bool>,
    place_now: Wire<Local, { places }>,
    lane_now: Wire<Local, { shape.block_bits() }>,
    /// The beat ends a block of memory, for each beat in sight.
    block_end: Wire<Local, { depth }>,
    stop: Wire<Local, { depth }>,
    length: Wire<Local, { shape.block_bits() }>,
    burst_left_now: Wire<Local, { shape.block_bits() }>,
    burst_last: Wire<Local, bool>,
    slotless_now: Wire<Local, bool>,
    discard: Wire<Local, bool>,
    bad_now: Wire<Local, bool>,
    base_now: Wire<Local, { shape.address }>,
    can_send: Wire<Local, bool>,
    can_start: Wire<Local, bool>,
    write: Wire<Local, bool>,
    drop: Wire<Local, bool>,
    go: Wire<Local, bool>,
    head_last: Wire<Local, bool>,
}

impl Logic for FrameWriter {
    #[kernel]
    fn update(&mut self) {
        let beat: BeatFields = self._shape.beat();
        let (address, bits) = (self._shape.address, self._shape.beat_bits());
        let (depth, block) = (self._shape.burst_beats, self._shape.block_bits());
        clocked!(self.clk, self.rst => self.window, self.burst_valid_reg, self.data_valid_reg,
            self.record_valid_reg, self.in_frame, self.bursting);
        clocked!(self.clk => self.address_reg, self.length_reg, self.data_reg, self.strobes_reg, self.last_reg,
            self.record_reg, self.burst_left, self.slotless, self.bad, self.base, self.place, self.lane);
        connect!(self.beat => self.window.s);
        connect!(self.window => self; seen, last);
        self.head_last.next = self.window.head.val().flag(beat.last);
        /// The packet: where it goes, and what is known of it so far.
        self.first.next = !self.in_frame.q.val();
        if self.first.val() {
            self.place_now.next = self.slot.data.val().slice(bits, address - bits);
            self.lane_now.next = self.slot.data.val().slice(bits, block);
            self.slotless_now.next = self.slot.data.val().get_bit(address);
            self.base_now.next = self.slot.data.val().slice(0, address);
            self.bad_now.next = self.window.head.val().flag(beat.bad);
        } else {
            self.place_now.next = self.place.q.val() + 1;
            self.lane_now.next = self.lane.q.val();
            self.slotless_now.next = self.slotless.q.val();
            self.base_now.next = self.base.q.val();
            self.bad_now.next = self.bad.q.val() || self.window.head.val().flag(beat.bad);
        }
        self.discard.next = self.slotless_now.val() || self.window.head.val().flag(beat.beyond);
        /// The burst: up to the first beat in sight that must end it.
        self.block_end.next = 0.into();
        for ahead in 0..depth {
            self.block_end
                .next
                .set_bit(ahead, self.lane_now.val() == (depth - 1 - ahead) as u64);
        }
        self.stop.next = self.window.cut.val() | (self.block_end.val() & self.window.seen.val());
        self.length.next = 0.into();
        for ahead in (0..depth).rev() {
            if self.stop.val().get_bit(ahead) {
                self.length.next = lit(ahead as u64, block);
            }
        }
        if self.bursting.q.val() {
            self.burst_left_now.next = self.burst_left.q.val();
        } else {
            self.burst_left_now.next = self.length.val();
        }
        self.burst_last.next = self.burst_left_now.val() == 0;
        /// A beat is written when its burst is in flight, or can start; it is dropped when it has no place.
        self.can_send.next = !self.data_valid_reg.q.val() || self.data_ready.val();
        self.can_start.next = self.stop.val().any()
            && self.record_room.val()
            && (!self.burst_valid_reg.q.val() || self.burst_ready.val());
        if self.bursting.q.val() {
            self.write.next = self.can_send.val();
            self.drop.next = false;
        } else if self.first.val() && !self.slot.valid.val() {
            self.write.next = false;
            self.drop.next = false;
        } else {
            self.write.next = self.can_send.val() && self.can_start.val() && !self.discard.val();
            self.drop.next =
                self.discard.val() && self.record_room.val() && self.window.seen.val().get_bit(0);
        }
        self.go.next = self.write.val() || self.drop.val();
        self.window.take.next = self.go.val();
        self.slot.ready.next = self.go.val() && self.first.val();
        /// Output registers. A beat follows the window while its register is free, also if it is not written: that is
        /// known late in a clock.
        if self.burst_ready.val() {
            self.burst_valid_reg.d.next = false;
        }
        if self.can_send.val() {
            self.data_valid_reg.d.next = self.write.val();
            self.data_reg.d.next = self.window.head.val().field(beat.data);
            self.strobes_reg.d.next = self.window.head.val().field(beat.keep);
            self.last_reg.d.next = self.burst_last.val();
        }
        if self.write.val() {
            self.place.d.next = self.place_now.val();
            self.lane.d.next = self.lane_now.val() + 1;
            self.burst_left.d.next = self.burst_left_now.val() - 1;
            self.bursting.d.next = !self.burst_last.val();
            if !self.bursting.q.val() {
                self.burst_valid_reg.d.next = true;
                self.address_reg.d.next = self.place_now.val();
                self.length_reg.d.next = self.length.val();
            }
        }
        if self.go.val() {
            self.in_frame.d.next = !self.head_last.val();
            self.bad.d.next = self.bad_now.val();
        }
        /// So does the packet's metadata, until its first beat has left.
        if self.first.val() {
            self.slotless.d.next = self.slotless_now.val();
            self.base.d.next = self.base_now.val();
        }
        /// The record: {over, bad, no slot, last of its packet, has a response, address of the packet}.
        self.record_valid_reg.d.next =
            (self.write.val() && self.burst_last.val()) || (self.drop.val() && self.head_last.val());
        self.record_reg.d.next = cat!(
            self.window.head.val().flag(beat.over),
            self.bad_now.val(),
            self.slotless_now.val(),
            self.head_last.val(),
            self.write.val(),
            self.base_now.val()
        );
        self.record.next = self.record_reg.q.val();
        self.record_valid.next = self.record_valid_reg.q.val();
        self.burst_address.next = cat!(self.address_reg.q.val(), lit(0, bits));
        self.burst_length.next = self.length_reg.q.val().resize(LENGTH_BITS);
        self.burst_valid.next = self.burst_valid_reg.q.val();
        self.data.next = self.data_reg.q.val();
        self.strobes.next = self.strobes_reg.q.val();
        self.data_last.next = self.last_reg.q.val();
        self.data_valid.next = self.data_valid_reg.q.val();
    }
}
