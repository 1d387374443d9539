use spinneret_verilog::prelude::*;

/// Bits of a quotient that a slot finds.
const STEPS: usize = 2;
/// The slot of a division that gives its result.
const LAST: usize = 32 / STEPS;

/// Divides: each thread on its own, two bits of the quotient in a slot, so no thread waits for another one.
///
/// ```text
///  stage 4        5               6      7      8
///  read --> |x|, |y|, or --> step ---> step --> write
///           what was left            8: result
/// ```
///
/// # Contract
/// - A division takes 17 slots of its thread, with the same operands in each; the last has its `result`. Stages are those of the
///   pipeline: in which clock of a slot a port is read or valid.
/// - A slot of the thread with `ends` before the last one abandons the division, and one with neither leaves it as it is.
/// - **Division by zero:** the quotient is all ones, the remainder the dividend. -2^31 / -1 is -2^31, the remainder 0.
#[module(threads: usize, index: usize = address_width(threads))]
pub struct HpuDivider {
    /// Thread, in stage 4.
    pub thread: Wire<In, { index }>,
    /// Dividend, in stage 5.
    pub x: Wire<In, 32>,
    /// Divisor, in stage 5.
    pub y: Wire<In, 32>,
    /// Bit 0: unsigned; bit 1: the remainder is asked for. In stage 5.
    pub funct3: Wire<In, 2>,
    /// The slot goes on with a division, in stage 7.
    pub goes_on: Wire<In, bool>,
    /// The slot has no division to go on with, in stage 7.
    pub ends: Wire<In, bool>,
    /// This slot has the result, in stage 7.
    pub is_last: Wire<Out, bool>,
    /// The result, in stage 8.
    pub result: Wire<Out, 32>,
    /// Slots that the division has had, in stage 5.
    slots: Reg<5, Reset>,
    /// {remainder, quotient} so far.
    #[new(Ram::new(RamStyle::Distributed, threads, 64))]
    left: Ram,
}

/// Finds a bit of the quotient.
#[kernel]
fn step(remainder: Sig, quotient: Sig, divisor: Sig) -> (Sig, Sig) {
    let shifted = cat!(remainder, quotient[31]);
    let difference = shifted - divisor.resize(33);
    let fits = !difference[32];
    let kept = if fits { difference } else { shifted };
    (kept.slice(0, 32), cat!(quotient.slice(0, 31), fits))
}

#[kernel(HpuDivider, suffix = threads)]
fn update() {
    let had = staged("had", 5, slots).reset_to(0);
    let (old_quotient, old_remainder) = reg(left.read(0, thread)).split_at(32);
    let negates = |word: Sig| !funct3[0] && word[31];
    let positive = |word: Sig| if negates(word) { word.negate() } else { word };
    let is_first = !had.at(5).any();
    let divisor = staged("divisor", 6, reg(positive(y)));
    let (mut remainder, mut quotient) = (
        reg(if is_first { lit(0, 32) } else { old_remainder }),
        reg(if is_first { positive(x) } else { old_quotient }),
    );

    /// The result has the sign that it should have.
    let asked = reg(if funct3[1] { old_remainder } else { old_quotient });
    let sign = if funct3[1] {
        negates(x)
    } else {
        (negates(x) != negates(y)) && y.any()
    };
    let is_negative = reg(sign);
    result = reg(reg(if is_negative { asked.negate() } else { asked }));

    for number in 0..STEPS {
        let (next_remainder, next_quotient) = step(remainder, quotient, divisor.at(6 + number));
        remainder = reg(next_remainder);
        quotient = reg(next_quotient);
    }
    let thread = staged("thread", 4, thread);
    let goes_on_now = staged("goes_on", 7, goes_on);
    left.write(
        goes_on_now.at(6 + STEPS),
        thread.at(6 + STEPS),
        cat!(remainder, quotient),
    );

    is_last = had.at(7) == LAST;
    let next = if goes_on {
        if is_last { lit(0, 5) } else { had.at(7) + 1 }
    } else if ends {
        lit(0, 5)
    } else {
        had.at(7)
    };
    let mut ring = next;
    for _ in 0..threads - 3 {
        ring = reg_reset(ring, 0);
    }
    slots = ring;
}
