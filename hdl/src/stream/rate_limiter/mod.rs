//! Passes frames at a rate that is set: a token bucket, which no frame is cut by.
//!
//! ```text
//!              t            t + 1          t + 2                 t + 3
//!  s_axis ==> ReadySlice ==> counted ====> gate =============> output ==> m_axis
//!                            bytes of      bytes of the beat |
//!                            each group      ^               +--> counters
//!                                            |
//!  limit_rate, limit_burst ------------> credit
//! ```
//!
//! # Contract
//! - **Credit** is a number of bytes, in steps of 1 / `period` of a byte, and 0 after reset. In every clock
//!   `limit_rate` steps come in, unless it was above `limit_burst` bytes in the clock before; so it is never above
//!   them by more than two clocks bring. A beat that passes the gate while `limit_enforce` is 1 costs its bytes, those
//!   that tkeep names.
//! - **Gate:** a frame begins to pass when the credit is not negative, or when `limit_enforce` is 0. A frame that has
//!   begun passes whole, and its credit may become negative: the next one waits until the debt is paid.
//! - **Rate:** with `limit_enforce` 1 and the same settings, in any n clocks at most `limit_burst` bytes and (n + 2) *
//!   `limit_rate` / `period` bytes and the longest frame pass.
//! - **Nothing is lost below the rate:** a frame waits only while the credit is negative, and credit is lost only
//!   above the burst. With a burst of two beats or more, a frame that comes when the rate has paid for those before it
//!   is not held. Frames of whole beats that wait, and whose beats the output takes, pass exactly at the rate if the
//!   burst is at least what comes in in one clock; with less, a frame that has waited costs one clock's credit more.
//! - **Settings** may change at any time, also within a frame. They are in force in the clock in which they are at the
//!   inputs, the burst one later; what was saved above a smaller burst stays until it is used. With a burst of 0 every
//!   frame is followed by the pause that it owes; with a rate of 0 nothing begins once the credit is negative.
//! - **Latency:** a beat that is taken in cycle t is at the gate in t + 2, and at the output in t + 3 if it passes.
//! - **Throughput:** one beat a clock, also from frame to frame.
//! - **Backpressure:** `m_axis_tready` low stops the gate, and the frames after it once four beats are inside. Credit
//!   continues coming in. A stream that pauses within its frame delays no other.
//! - **Ordering:** all beats leave in the order in which they came, data and side band unchanged.
//! - **Counters** wrap, and show an event two clocks after it: `frames_passed` a last beat at the gate that passes,
//!   `bytes_passed` the bytes of every beat that does, `cycles_held` a clock in which only the credit keeps the first
//!   beat of a frame from passing.
//! - **Bad input:** a debt is never larger than 2^(`credit_width` + 1) bytes: what a frame passes beyond it is not
//!   paid for. A beat whose tkeep is 0 costs nothing.
//! - **Registers:** all outputs are registers; no path leads from input to output.
//! - **Reset** (`rst` high) discards the beats inside, credit and counters: the input must start with a new frame.

mod entry;
mod shape;

pub(crate) use entry::{ENTRY, SIMULATED};
pub use shape::RateLimiterShape;

use super::{AxisIn, AxisOut, AxisPack, AxisUnpack, ReadySlice};
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// Bits of tkeep that are counted together in the first clock.
const GROUP: usize = 8;
/// Width of the counter of bytes: one of 32 bits wraps three times a second at 100 Gb/s.
const BYTES_WIDTH: usize = 64;

/// Events that are counted.
const FRAME: usize = 0;
const HELD: usize = 1;
const EVENTS: usize = 2;

/// Passes frames at a rate that is set: a token bucket, which no frame is cut by.
#[hardware(
    shape: RateLimiterShape,
    beat: usize = shape.axis().fields().width,
    bytes: usize = shape.bytes_width(),
    rate: usize = shape.rate_width(),
    credit: usize = shape.credit_steps_width(),
    group: usize = bit_width(GROUP.min(shape.axis().keep())),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct SpinneretRateLimiter {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub rst: Wire<In, bool>,
    /// Frames in.
    pub s_axis: AxisIn<{ shape.axis() }>,
    /// Frames out.
    pub m_axis: AxisOut<{ shape.axis() }>,
    /// 1: the rate is kept; 0: frames pass at once, and cost nothing.
    pub limit_enforce: Wire<In, bool>,
    /// Bytes that may pass in a period.
    pub limit_rate: Wire<In, { rate }>,
    /// Bytes that may be saved for later.
    pub limit_burst: Wire<In, { shape.credit }>,
    /// Frames that have passed.
    pub frames_passed: Wire<Out, { COUNTER_WIDTH }>,
    /// Bytes that have passed.
    pub bytes_passed: Wire<Out, { BYTES_WIDTH }>,
    /// Clocks in which a frame waited for credit alone.
    pub cycles_held: Wire<Out, { COUNTER_WIDTH }>,
    packed: AxisPack<{ shape.axis() }>,
    /// Makes ready a register: {last, beat}.
    slice: ReadySlice<{ 1 + beat }>,
    /// A beat, and how many bytes each group of its lanes has.
    counted_valid: Reg<bool, Reset>,
    counted_last: Reg<bool>,
    counted_beat: Reg<{ beat }>,
    counted: [Reg<{ group }>; shape.groups()],
    /// The beat at the gate, and how many bytes it has.
    gate_valid: Reg<bool, Reset>,
    gate_last: Reg<bool>,
    gate_beat: Reg<{ beat }>,
    gate_bytes: Reg<{ bytes }>,
    /// The beat at the output.
    valid: Reg<bool, Reset>,
    last: Reg<bool>,
    data: Reg<{ beat }>,
    output: AxisUnpack<{ shape.axis() }>,
    /// The frame at the gate has begun to pass.
    within_frame: Reg<bool, Reset>,
    /// Signed, in steps.
    credit: Reg<{ credit }, Reset>,
    /// The credit was above the burst in the clock before.
    full: Reg<bool, Reset>,
    /// Bytes that are paid for in this clock.
    fee: Wire<Local, { bytes }>,
    /// The next credit; it has one bit more.
    balance: Wire<Local, { credit + 1 }>,
    /// The output register is free, or empties in this clock.
    free: Wire<Local, bool>,
    /// The beat at the gate need not wait for credit.
    open: Wire<Local, bool>,
    passes: Wire<Local, bool>,
    gate_ready: Wire<Local, bool>,
    counted_ready: Wire<Local, bool>,
    /// Bytes of each group of the beat that comes, and of all groups.
    group_bytes: [Wire<Local, { group }>; shape.groups()],
    sum: Wire<Local, { bytes }>,
    counters: EventCounters<{ EVENTS }>,
    happened_bytes: Reg<{ bytes }, Reset>,
    total_bytes: Reg<{ BYTES_WIDTH }, Reset>,
}

impl Logic for SpinneretRateLimiter {
    #[kernel]
    fn update(&mut self) {
        let (beat, keep) = (self._beat, self._shape.axis().fields().keep);
        let (credit, fraction) = (self._credit, self._shape.fraction());
        clocked!(self.clk, self.rst => self.slice, self.counted_valid, self.gate_valid, self.valid, self.within_frame,
            self.credit, self.full, self.counters, self.happened_bytes, self.total_bytes);
        clocked!(self.clk => self.counted_last, self.counted_beat, self.counted, self.gate_last, self.gate_beat,
            self.gate_bytes, self.last, self.data);

        /// Stages that advance in this clock, from the output to the input.
        self.free.next = !self.valid.q.val() || self.m_axis.tready.val();
        self.open.next = self.within_frame.q.val()
            || !self.limit_enforce.val()
            || !self.credit.q.val().get_bit(credit - 1);
        self.passes.next = self.gate_valid.q.val() && self.open.val() && self.free.val();
        self.gate_ready.next = !self.gate_valid.q.val() || self.passes.val();
        self.counted_ready.next = !self.counted_valid.q.val() || self.gate_ready.val();

        connect!(self.s_axis => self.packed.s_axis);
        self.slice.s.data.next = cat!(self.packed.m.last.val(), self.packed.m.data.val());
        connect!(self.packed.m => self.slice.s; valid, ready);
        self.slice.m.ready.next = self.counted_ready.val();

        /// The bytes of a beat are counted in two clocks, as one sum of all would be too deep.
        for group in 0..self.group_bytes.len() {
            self.group_bytes[group].next = 0.into();
            for bit in group * GROUP..self._shape.group_end(group) {
                self.group_bytes[group].next = self.group_bytes[group].val()
                    + word(self.slice.m.data.val().get_bit(keep.at + bit)).resize(self._group);
            }
        }
        if self.counted_ready.val() {
            self.counted_valid.d.next = self.slice.m.valid.val();
            self.counted_last.d.next = self.slice.m.data.val().get_bit(beat);
            self.counted_beat.d.next = self.slice.m.data.val().slice(0, beat);
            for group in 0..self.group_bytes.len() {
                self.counted[group].d.next = self.group_bytes[group].val();
            }
        }
        self.sum.next = 0.into();
        for group in 0..self.group_bytes.len() {
            self.sum.next = self.sum.val() + self.counted[group].q.val().resize(self._bytes);
        }
        if self.gate_ready.val() {
            self.gate_valid.d.next = self.counted_valid.q.val();
            self.gate_last.d.next = self.counted_last.q.val();
            self.gate_beat.d.next = self.counted_beat.q.val();
            self.gate_bytes.d.next = self.sum.val();
        }

        if self.free.val() {
            self.valid.d.next = self.passes.val();
            self.last.d.next = self.gate_last.q.val();
            self.data.d.next = self.gate_beat.q.val();
        }
        if self.passes.val() {
            self.within_frame.d.next = !self.gate_last.q.val();
        }
        self.output.s.data.next = self.data.q.val();
        self.output.s.last.next = self.last.q.val();
        self.output.s.valid.next = self.valid.q.val();
        connect!(self.output.m_axis => self.m_axis);

        self.fee.next =
            self.gate_bytes.q.val() & fill(self.passes.val() && self.limit_enforce.val(), self._bytes);
        self.balance.next = cat!(self.credit.q.val().get_bit(credit - 1), self.credit.q.val())
            + (self.limit_rate.val() & fill(!self.full.q.val(), self._rate)).resize(credit + 1)
            - cat!(self.fee.val(), lit(0, fraction)).resize(credit + 1);
        self.credit.d.next = self.balance.val().slice(0, credit);
        /// A debt never leaves what its bits can say: more is forgiven.
        if self.balance.val().get_bit(credit) && !self.balance.val().get_bit(credit - 1) {
            self.credit.d.next = cat!(lit(1, 1), lit(0, credit - 1));
        }
        self.full.d.next = !self.credit.q.val().get_bit(credit - 1)
            && self.credit.q.val() > cat!(self.limit_burst.val(), lit(0, fraction)).resize(credit);

        /// Events, the one with the highest number first.
        self.counters.events.next = cat!(
            self.gate_valid.q.val() && self.free.val() && !self.open.val(),
            self.passes.val() && self.gate_last.q.val()
        );
        self.happened_bytes.d.next = self.gate_bytes.q.val() & fill(self.passes.val(), self._bytes);
        self.total_bytes.d.next = self.total_bytes.q.val() + self.happened_bytes.q.val().resize(BYTES_WIDTH);
        self.frames_passed.next = self.counters.counts[FRAME].val();
        self.cycles_held.next = self.counters.counts[HELD].val();
        self.bytes_passed.next = self.total_bytes.q.val();
    }
}
