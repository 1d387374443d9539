//! Copies a packet to the host, whatever its alignment there.
//!
//! ```text
//!  line of the memory -> turn by (host - source) bytes -+-> lanes from there on ---+-> beat
//!                                                       +-> previous -> lanes below +
//! ```

use super::fetch::HOST_LINE;
use super::shape::{ADDRESS, DATA, HOST_ADDRESS, OFFSET, STROBES, StubShape};
use crate::axi::{LENGTH_BITS, OKAY, PAGE_BITS};
use crate::stream::StreamOut;
use spinneret_verilog::prelude::*;

/// Bits of the number of a line within 4 KiB.
const PAGE_LINE: usize = PAGE_BITS - OFFSET;
/// Bits of the number of a line of the longest packet.
const COUNT: usize = ADDRESS - OFFSET + 1;

/// Copies a packet to the host: full lines in bursts that end at 4 KiB, one burst after the other.
#[hardware(shape: StubShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct HostCopy {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// It begins; nothing is in flight.
    pub start: Wire<In, bool>,
    /// With `start`: place of the first byte in its line of the memory.
    pub source: Wire<In, { OFFSET }>,
    /// With `start`: its line.
    pub source_line: Wire<In, { shape.line() }>,
    /// With `start`: bytes of the packet, at least 1.
    pub size: Wire<In, { ADDRESS }>,
    /// With `start`: address in the host.
    pub host: Wire<In, { HOST_ADDRESS }>,
    /// It ends.
    pub done: Wire<Out, bool>,
    /// A burst ends with a response that is not OKAY.
    pub failed: Wire<Out, bool>,
    /// With `failed`: the response.
    pub code: Wire<Out, 2>,
    /// First line of a burst in the host.
    pub aw_line: Wire<Out, { HOST_LINE }>,
    /// Its beats, minus 1.
    pub aw_len: Wire<Out, { LENGTH_BITS }>,
    /// It is there.
    pub aw_valid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub aw_ready: Wire<In, bool>,
    /// A beat.
    pub w_data: Wire<Out, { DATA }>,
    /// Bytes of it that belong to the packet.
    pub w_strb: Wire<Out, { STROBES }>,
    /// Last beat of its burst.
    pub w_last: Wire<Out, bool>,
    /// It is there.
    pub w_valid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub w_ready: Wire<In, bool>,
    /// How a burst went.
    pub b_resp: Wire<In, 2>,
    /// The response is there; it is always taken.
    pub b_valid: Wire<In, bool>,
    /// Reads of the memory: line.
    pub read: StreamOut<{ shape.line() }>,
    /// The line that was asked for in the clock before.
    pub memory_data: Wire<In, { DATA }>,
    /// Bytes by which lines are turned.
    turn: Reg<{ OFFSET }>,
    /// Place of the first byte in its line of the host, and of the last one.
    first_byte: Reg<{ OFFSET }>,
    last_byte: Reg<{ OFFSET }>,
    /// The line of the memory that is read next.
    from: Reg<{ shape.line() }>,
    /// The line of the host that is written next, and lines that are left, minus 1.
    to: Reg<{ HOST_LINE }>,
    left: Reg<{ COUNT }>,
    /// The next beat is the first of the packet.
    first: Reg<bool>,
    /// The last beat of the packet is made.
    ended: Reg<bool>,
    /// A line of the memory is requested; it comes in this clock; it is not a beat of its own.
    asks: Reg<bool, Reset>,
    comes: Reg<bool, Reset>,
    filling: Reg<bool>,
    /// A burst must be opened, or waits for its response.
    opens: Reg<bool, Reset>,
    closes: Reg<bool, Reset>,
    burst_line: Reg<{ HOST_LINE }>,
    burst_length: Reg<{ PAGE_LINE }>,
    burst_valid: Reg<bool, Reset>,
    /// Beats of the burst that are left, minus 1.
    burst_left: Reg<{ PAGE_LINE }>,
    previous: Reg<{ DATA - 8 }>,
    beat: Reg<{ DATA }>,
    strobes: Reg<{ STROBES }>,
    beat_last: Reg<bool>,
    beat_valid: Reg<bool, Reset>,
    ending: Wire<Local, { ADDRESS + 1 }>,
    fills: Wire<Local, bool>,
    room: Wire<Local, { PAGE_LINE }>,
    length: Wire<Local, { PAGE_LINE }>,
    turned: [Wire<Local, { DATA }>; OFFSET + 1],
    answered: Wire<Local, bool>,
}

impl Logic for HostCopy {
    #[kernel(suffix = self._shape.lines())]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.asks, self.comes, self.opens, self.closes, self.burst_valid,
            self.beat_valid);
        clocked!(self.clk => self.turn, self.first_byte, self.last_byte, self.from, self.to, self.left, self.first,
            self.ended, self.filling, self.burst_line, self.burst_length, self.burst_left, self.previous, self.beat,
            self.strobes, self.beat_last);
        /// The answer to a burst opens the next one, unless it was the last.
        self.answered.next = self.closes.q.val() && self.b_valid.val();
        if self.answered.val() {
            self.closes.d.next = false;
            self.opens.d.next = !self.ended.q.val();
        }
        self.failed.next = self.answered.val() && self.b_resp.val() != OKAY;
        self.code.next = self.b_resp.val();
        self.done.next = self.answered.val() && self.ended.q.val();
        /// A burst ends with the packet or with its 4 KiB.
        self.room.next = !self.to.q.val().slice(0, PAGE_LINE);
        if self.left.q.val() < self.room.val().resize(COUNT) {
            self.length.next = self.left.q.val().slice(0, PAGE_LINE);
        } else {
            self.length.next = self.room.val();
        }
        if self.aw_ready.val() {
            self.burst_valid.d.next = false;
        }
        if self.opens.q.val() {
            self.opens.d.next = false;
            self.burst_line.d.next = self.to.q.val();
            self.burst_length.d.next = self.length.val();
            self.burst_left.d.next = self.length.val();
            self.burst_valid.d.next = true;
            self.asks.d.next = true;
        }
        self.aw_line.next = self.burst_line.q.val();
        self.aw_len.next = self.burst_length.q.val().resize(LENGTH_BITS);
        self.aw_valid.next = self.burst_valid.q.val();
        /// Every beat needs one more line of the memory.
        self.read.data.next = self.from.q.val();
        self.read.valid.next = self.asks.q.val();
        self.comes.d.next = self.asks.q.val() && self.read.ready.val();
        if self.asks.q.val() && self.read.ready.val() {
            self.asks.d.next = false;
            self.from.d.next = self.from.q.val() + 1;
        }
        self.turned[0].next = self.memory_data.val();
        for bit in 0..OFFSET {
            let bits = 8 << bit;
            if self.turn.q.val().get_bit(bit) {
                self.turned[bit + 1].next = cat!(
                    self.turned[bit].val().slice(0, DATA - bits),
                    self.turned[bit].val().slice(DATA - bits, bits)
                );
            } else {
                self.turned[bit + 1].next = self.turned[bit].val();
            }
        }
        if self.beat_valid.q.val() && self.w_ready.val() {
            self.beat_valid.d.next = false;
            self.burst_left.d.next = self.burst_left.q.val() - 1;
            if self.beat_last.q.val() {
                self.closes.d.next = true;
            } else {
                self.asks.d.next = true;
            }
        }
        if self.comes.q.val() {
            self.previous.d.next = self.turned[OFFSET].val().slice(0, DATA - 8);
            self.filling.d.next = false;
            if self.filling.q.val() {
                self.opens.d.next = true;
            } else {
                self.beat_valid.d.next = true;
                self.beat_last.d.next = self.burst_left.q.val() == 0;
                self.first.d.next = false;
                self.ended.d.next = self.left.q.val() == 0;
                self.left.d.next = self.left.q.val() - 1;
                self.to.d.next = self.to.q.val() + 1;
                /// Lines are turned by 63 bytes at most, so the last lane never comes from the line before.
                self.beat.d.next = self.turned[OFFSET].val();
                for lane in 0..STROBES - 1 {
                    if self.turn.q.val() > lane as u64 {
                        self.beat
                            .d
                            .next
                            .set_slice(8 * lane, 8, self.previous.q.val().slice(8 * lane, 8));
                    }
                }
                for lane in 0..STROBES {
                    self.strobes.d.next.set_bit(
                        lane,
                        (!self.first.q.val() || self.first_byte.q.val() <= lane as u64)
                            && (self.left.q.val() != 0 || self.last_byte.q.val() >= lane as u64),
                    );
                }
            }
        }
        self.w_data.next = self.beat.q.val();
        self.w_strb.next = self.strobes.q.val();
        self.w_last.next = self.beat_last.q.val();
        self.w_valid.next = self.beat_valid.q.val();
        /// The first line of the host needs bytes of two lines of the memory if the packet starts later in its line
        /// than in that of the host.
        self.ending.next =
            self.host.val().slice(0, OFFSET).resize(ADDRESS + 1) + self.size.val().resize(ADDRESS + 1) - 1;
        self.fills.next = self.host.val().slice(0, OFFSET) < self.source.val();
        if self.start.val() {
            self.turn.d.next = self.host.val().slice(0, OFFSET) - self.source.val();
            self.first_byte.d.next = self.host.val().slice(0, OFFSET);
            self.last_byte.d.next = self.ending.val().slice(0, OFFSET);
            self.from.d.next = self.source_line.val();
            self.to.d.next = self.host.val().slice(OFFSET, HOST_LINE);
            self.left.d.next = self.ending.val().slice(OFFSET, COUNT);
            self.first.d.next = true;
            self.filling.d.next = self.fills.val();
            self.asks.d.next = self.fills.val();
            self.opens.d.next = !self.fills.val();
        }
    }
}
