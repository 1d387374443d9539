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

use super::{AxisIn, AxisOut, AxisPack, AxisShape, AxisUnpack, ReadySlice};
use crate::entry::{Checked, Entry, ParameterError, Parameters as _, Variant};
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
#[module(
    shape: RateLimiterShape,
    beat: usize = shape.axis().fields().width,
    bytes: usize = shape.bytes_width(),
    rate: usize = shape.rate_width(),
    steps: usize = shape.credit_steps_width(),
)]
pub struct SpinneretRateLimiter {
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
    counted: [Reg<{ bit_width(GROUP.min(shape.axis().keep())) }>; shape.groups()],
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
    credit: Reg<{ steps }, Reset>,
    /// The credit was above the burst in the clock before.
    full: Reg<bool, Reset>,
    counters: EventCounters<{ EVENTS }>,
    happened_bytes: Reg<{ bytes }, Reset>,
    total_bytes: Reg<{ BYTES_WIDTH }, Reset>,
}

#[kernel(SpinneretRateLimiter)]
fn update() {
    let fraction = shape.fraction();
    let in_debt = credit[steps - 1];
    /// Ready from the output to the input. The output register is free, or empties in this clock.
    let free = !valid || m_axis.tready;
    /// The beat at the gate need not wait for credit.
    let open = within_frame || !limit_enforce || !in_debt;
    let passes = gate_valid && open && free;
    let gate_ready = !gate_valid || passes;
    let counted_ready = !counted_valid || gate_ready;

    packed.s_axis = s_axis;
    slice.s.data = cat!(packed.m.last, packed.m.data);
    slice.s.valid = packed.m.valid;
    packed.m.ready = slice.s.ready;
    slice.m.ready = counted_ready;

    /// The bytes of a beat are counted in two clocks, as one sum of all would be too deep.
    if counted_ready {
        counted_valid = slice.m.valid;
        counted_last = slice.m.data[beat];
        counted_beat = slice.m.data.slice(0, beat);
        let keep = slice
            .m
            .data
            .slice(shape.axis().fields().keep.at, shape.axis().keep());
        for (group, counted) in counted.iter().enumerate() {
            *counted = keep[group * GROUP..shape.group_end(group)].count_ones(counted.width());
        }
    }
    if gate_ready {
        gate_valid = counted_valid;
        gate_last = counted_last;
        gate_beat = counted_beat;
        gate_bytes = sum(counted, bytes);
    }
    if free {
        valid = passes;
        last = gate_last;
        data = gate_beat;
    }
    if passes {
        within_frame = !gate_last;
    }
    output.s.data = data;
    output.s.last = last;
    output.s.valid = valid;
    m_axis = output.m_axis;

    /// Bytes that are paid for in this clock.
    let fee = gate_bytes & (passes && limit_enforce).repeat(bytes);
    let income = limit_rate & (!full).repeat(rate);
    /// The next credit; it has one bit more.
    let balance =
        cat!(in_debt, credit) + income.resize(steps + 1) - cat!(fee, lit(0, fraction)).resize(steps + 1);
    credit = balance.slice(0, steps);
    /// A debt never leaves what its bits can say: more is forgiven.
    if balance[steps] && !balance[steps - 1] {
        credit = cat!(lit(1, 1), lit(0, steps - 1));
    }
    full = !in_debt && credit > cat!(limit_burst, lit(0, fraction)).resize(steps);

    /// Events, the one with the highest number first.
    counters.events = cat!(gate_valid && free && !open, passes && gate_last);
    happened_bytes = gate_bytes & passes.repeat(bytes);
    total_bytes = total_bytes + happened_bytes.resize(BYTES_WIDTH);
    frames_passed = counters.counts[FRAME];
    cycles_held = counters.counts[HELD];
    bytes_passed = total_bytes;
}

/// Widths of the rate limiter, and the unit of its rate.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "spinneret_rate_limiter", check)]
pub struct RateLimiterShape {
    /// Width of tdata in bits, a multiple of 8.
    #[parameter(512, range = 8..=1024, name = "data_width")]
    pub data: usize,
    /// Width of tid in bits.
    #[parameter(12, range = 1..=64, name = "id_width")]
    pub tid: usize,
    /// Width of tdest in bits.
    #[parameter(4, range = 1..=64, name = "dest_width")]
    pub tdest: usize,
    /// Width of tuser in bits.
    #[parameter(17, range = 1..=128, name = "user_width")]
    pub tuser: usize,
    /// Clocks in which the bytes of the rate may pass, a power of two.
    #[parameter(1024, range = 2..=65536, power_of_two)]
    pub period: usize,
    /// Width of the burst in bytes; a debt may have one bit more.
    #[parameter(18, range = 2..=24, name = "credit_width")]
    pub credit: usize,
}

impl RateLimiterShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        checked.multiple_of("data_width", 8, "a byte")?;
        // Two clocks at the highest rate may come in above the burst.
        let needed = self.bytes_width() + 1;
        if self.credit < needed {
            let reason = format!("it must be at least {needed}, for two beats");
            return Err(checked.refuse("credit_width", reason));
        }
        Ok(())
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

    /// Width of the number of bytes in a beat.
    pub fn bytes_width(self) -> usize {
        bit_width(self.axis().keep())
    }

    /// Bits of the credit below a byte.
    pub fn fraction(self) -> usize {
        self.period.ilog2() as usize
    }

    /// Width of the rate: it can say a beat in every clock.
    pub fn rate_width(self) -> usize {
        self.bytes_width() + self.fraction()
    }

    /// Width of the credit in steps: with its sign, and room for what comes in above the burst.
    pub fn credit_steps_width(self) -> usize {
        2 + self.credit + self.fraction()
    }

    /// Groups of lanes whose bytes are counted together.
    pub fn groups(self) -> usize {
        self.axis().keep().div_ceil(GROUP)
    }

    /// The lane after those of a group.
    pub fn group_end(self, group: usize) -> usize {
        (group * GROUP + GROUP).min(self.axis().keep())
    }
}

/// [`SpinneretRateLimiter`].
pub(crate) const ENTRY: Entry = Entry::shipped(
    RateLimiterShape::BLOCK,
    "passes frames at a rate that is set, none of them cut",
    RateLimiterShape::parameters,
    |values| {
        Ok(Box::new(SpinneretRateLimiter::new(RateLimiterShape::new(
            values,
        )?)))
    },
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    // A period and a credit that a test gets to the end of, and a group that is not full.
    ENTRY.variant(
        "spinneret_rate_limiter_small",
        "data_width=32 id_width=1 dest_width=1 user_width=1 period=8 credit_width=7",
    ),
];

#[cfg(test)]
mod tests {
    use super::ENTRY;
    use crate::entry::Config;

    #[test]
    fn refuses_widths_that_do_not_fit() {
        let refused = |settings: &[(&str, u64)]| {
            let values = ENTRY.with(Config::Reference, settings);
            (ENTRY.build)(&values).err().map(|error| error.to_string())
        };
        assert_eq!(
            refused(&[("data_width", 12)]).as_deref(),
            Some(
                "spinneret_rate_limiter: data_width = 12 is not possible: it must be a multiple of 8, a byte"
            )
        );
        assert_eq!(
            refused(&[("credit_width", 7)]).as_deref(),
            Some(
                "spinneret_rate_limiter: credit_width = 7 is not possible: it must be at least 8, for two beats"
            )
        );
        assert_eq!(refused(&[("data_width", 8), ("credit_width", 2)]), None);
    }
}
