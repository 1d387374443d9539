//! Bytes of a packet, collected and given to the matching engine at once.

use crate::stream::{AxisOut, AxisShape};
use spinneret_verilog::prelude::*;

/// Bits of a byte.
const BYTE: usize = 8;
/// Bits of the number of a byte.
const NUMBER: usize = 8;
/// Bytes of the longest packet, and one more.
const BYTES: usize = 1 << NUMBER;

/// Collects bytes, and plays them as one packet on request.
///
/// A packet is played only when it is complete, so that one which breaks off never reaches the engine.
///
/// # Contract
/// - `store` puts `data` after what is there; `restart` discards everything.
/// - `play` plays `length` bytes, 1 to 255, which have been stored before: a beat every second clock at best. It
///   counts only while nothing is being played.
/// - A packet has tid, tdest and tuser 0.
#[hardware(shape: AxisShape, bytes = shape.keep(), beats = BYTES / bytes)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PacketBuffer {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub rst: Wire<In, bool>,
    /// The next byte is the first of a packet.
    pub restart: Wire<In, bool>,
    /// A byte.
    pub data: Wire<In, { BYTE }>,
    /// The byte is there.
    pub store: Wire<In, bool>,
    /// Plays what is there.
    pub play: Wire<In, bool>,
    /// Bytes that are played.
    pub length: Wire<In, { NUMBER }>,
    /// The packet.
    pub m: AxisOut<{ shape }>,
    memory: ByteRam<{ beats }, { bytes }>,
    /// Number of the next byte.
    next_byte: Reg<{ NUMBER }, Reset>,
    playing: Reg<bool, Reset>,
    /// The beat is at the output of the memory.
    there: Reg<bool, Reset>,
    /// Number of the beat.
    beat: Reg<{ address_width(beats) }>,
    lane: Wire<Local, { address_width(bytes) }>,
    last_byte: Wire<Local, { NUMBER }>,
    is_last: Wire<Local, bool>,
}

impl Logic for PacketBuffer {
    #[kernel]
    fn update(&mut self) {
        let bytes = self._shape.keep();
        let (lane, beat) = (address_width(bytes), self.beat.q.width());
        clocked!(self.clk, self.rst => self.next_byte, self.playing, self.there);
        clocked!(self.clk => self.memory, self.beat);
        /// A byte goes into its lane of its beat.
        self.lane.next = self.next_byte.q.val().slice(0, lane);
        self.memory.write_addr.next = self.next_byte.q.val().slice(lane, beat);
        self.memory.write_enable.next = 0.into();
        self.memory.write_data.next = 0.into();
        for byte in 0..bytes {
            self.memory
                .write_enable
                .next
                .set_bit(byte, self.store.val() & (self.lane.val() == byte as u64));
            self.memory
                .write_data
                .next
                .set_slice(BYTE * byte, BYTE, self.data.val());
        }
        if self.restart.val() {
            self.next_byte.d.next = 0.into();
        } else if self.store.val() {
            self.next_byte.d.next = self.next_byte.q.val() + 1;
        }
        /// A beat is fetched, then offered until it is taken.
        self.last_byte.next = self.length.val() - 1;
        self.is_last.next = self.beat.q.val() == self.last_byte.val().slice(lane, beat);
        self.memory.read_addr.next = self.beat.q.val();
        self.memory.read_enable.next = self.playing.q.val() & !self.there.q.val();
        if !self.playing.q.val() {
            self.playing.d.next = self.play.val();
            self.beat.d.next = 0.into();
        } else if !self.there.q.val() {
            self.there.d.next = true;
        } else if self.m.tready.val() {
            self.there.d.next = false;
            self.beat.d.next = self.beat.q.val() + 1;
            self.playing.d.next = !self.is_last.val();
        }
        self.m.tdata.next = self.memory.read_data.val();
        self.m.tkeep.next = 0.into();
        for byte in 0..bytes {
            self.m.tkeep.next.set_bit(
                byte,
                !self.is_last.val() | (self.last_byte.val().slice(0, lane) >= byte as u64),
            );
        }
        self.m.tvalid.next = self.there.q.val();
        self.m.tlast.next = self.is_last.val();
        self.m.tid.next = 0.into();
        self.m.tdest.next = 0.into();
        self.m.tuser.next = 0.into();
    }
}
