//! Functions over signals: sums, comparisons, logic, shifts, products, the custom instruction, lanes of loads and stores.

use spinneret_verilog::prelude::*;

/// Operands of an instruction, and what is done with them.
#[derive(Clone, Copy)]
pub(super) struct Operands {
    /// First and second operand.
    pub(super) x: Sig,
    pub(super) y: Sig,
    /// Those of the adder: the first may be the program counter, the second an immediate; it is inverted to subtract.
    pub(super) a: Sig,
    pub(super) b: Sig,
    pub(super) subtracts: Sig<bool>,
    pub(super) function: Sig,
    /// Shifts to the right extend the sign.
    pub(super) is_arithmetic: Sig<bool>,
    pub(super) is_unsigned: Sig<bool>,
}

/// Results, one clock later.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// The sum, and its carry in bit 32.
    pub(super) sum: Sig,
    pub(super) is_less: Sig<bool>,
    pub(super) is_equal: Sig<bool>,
    logic: Sig,
    shifted: Sig,
}

#[kernel]
fn reversed(word: Sig) -> Sig {
    word_of((0..word.width()).rev().map(|bit| word[bit]))
}

/// A shift to the left is one to the right of the reversed word.
#[kernel]
fn shift(operands: Operands) -> Sig {
    let is_left = operands.function == 0b001;
    let sign = operands.is_arithmetic && operands.x[31];
    let word = if is_left { reversed(operands.x) } else { operands.x };
    let by = |word: Sig, amount: usize| match amount {
        0 => word,
        _ => cat!(sign.repeat(amount), word.slice(amount, 32 - amount)),
    };
    let by_4 = |word: Sig, amount: Sig, step: usize| match amount {
        0 => word,
        1 => by(word, step),
        2 => by(word, 2 * step),
        _ => by(word, 3 * step),
    };
    let word = by_4(word, operands.y.slice(0, 2), 1);
    let word = by_4(word, operands.y.slice(2, 2), 4);
    if operands.y[4] { by(word, 16) } else { word }
}

/// Stage 5.
#[kernel]
pub(super) fn execute(operands: Operands) -> Found {
    let Operands {
        x, y, a, b, function, ..
    } = operands;
    /// The carry into the lowest bit subtracts with the inverted operand.
    let sum = a.resize(33) + b.resize(33) + operands.subtracts.word().resize(33);
    let flip = !operands.is_unsigned;
    let comparable = |word: Sig| cat!(word[31] != flip, word.slice(0, 31));
    let is_less = comparable(x) < comparable(y);
    let is_equal = x == y;
    let logic = match function.slice(0, 2) {
        0 => x ^ y,
        2 => x | y,
        _ => x & y,
    };
    let shifted = shift(operands);
    Found {
        sum: reg(sum),
        is_less: reg(is_less),
        is_equal: reg(is_equal),
        logic: reg(logic),
        shifted: reg(shifted),
    }
}

/// Result of an instruction of the ALU, stage 6.
#[kernel]
pub(super) fn alu_result(found: Found, function: Sig) -> Sig {
    match function {
        0 => found.sum.slice(0, 32),
        1 => reversed(found.shifted),
        2 => found.is_less.word().resize(32),
        3 => found.is_less.word().resize(32),
        5 => found.shifted,
        _ => found.logic,
    }
}

/// Whether a branch is taken, stage 6.
#[kernel]
pub(super) fn is_taken(found: Found, function: Sig) -> Sig<bool> {
    let holds = if function[2] {
        found.is_less
    } else {
        found.is_equal
    };
    holds != function[0]
}

/// Result of the custom instruction, stage 6: the ones' complement sum of its operands, for checksums of the internet (RFC 1071).
#[kernel]
pub(super) fn custom_result(found: Found) -> Sig {
    found.sum.slice(0, 32) + found.sum[32].word().resize(32)
}

/// Product of operands in stage 5; its lower or upper word in stage 8.
///
/// Four products of 16 bits, each of which is one multiplier of an FPGA. A negative operand counts 2^32 too much, so the upper word
/// is too large by the other operand.
#[kernel]
pub(super) fn product(x: Sig, y: Sig, function: Sig) -> Sig {
    let function = staged("multiply", 5, function.slice(0, 2));
    let is_negative = |word: Sig, is_signed: Sig<bool>| (is_signed && word[31]).repeat(32);
    let x_excess = y & is_negative(x, function.at(5) == 1 || function.at(5) == 2);
    let y_excess = x & is_negative(y, function.at(5) == 1);
    let excess = reg(x_excess + y_excess);
    let ([x_low, x_high], [y_low, y_high]) = (halves(x), halves(y));
    let times = |a: Sig, b: Sig| reg(a.resize(32) * b.resize(32));
    let [low, cross_1, cross_2, high] = [
        times(x_low, y_low),
        times(x_low, y_high),
        times(x_high, y_low),
        times(x_high, y_high),
    ];
    let cross = reg(cross_1.resize(33) + cross_2.resize(33));
    let upper = reg(cat!(high - excess, low.slice(16, 16)));
    let lowest = staged("lowest", 7, reg(low.slice(0, 16)));
    let total = reg(upper + cross.resize(48));
    if function.at(8).any() {
        total.slice(16, 32)
    } else {
        cat!(total.slice(0, 16), lowest.at(8))
    }
}

/// The lower and the upper half of a word.
#[kernel]
fn halves(word: Sig) -> [Sig; 2] {
    let (low, high) = word.split_at(16);
    [low, high]
}

/// Bytes of a word, from bit 0.
#[kernel]
fn lanes(word: Sig) -> Vec<Sig> {
    (0..4).map(|lane| word.slice(8 * lane, 8)).collect()
}

/// The word with each byte moved by a number of lanes, around its end.
#[kernel]
pub(super) fn rotated(word: Sig, lanes_up: Sig) -> Sig {
    match lanes_up {
        0 => word,
        1 => cat!(word.slice(0, 24), word.slice(24, 8)),
        2 => cat!(word.slice(0, 16), word.slice(16, 16)),
        _ => cat!(word.slice(0, 8), word.slice(8, 24)),
    }
}

/// Lanes of an access, those of the next word in bits 7 to 4. `size` is 0 for a byte, 1 for two, 2 for four.
#[kernel]
pub(super) fn strobes(offset: Sig, size: Sig) -> Sig {
    let mask = match size {
        0 => constant(lit(1, 8)),
        1 => constant(lit(3, 8)),
        _ => constant(lit(15, 8)),
    };
    mask << offset
}

/// Value of a load; of an access in two parts `saved` is the word that came first.
#[kernel]
pub(super) fn loaded(data: Sig, saved: Sig, is_second: Sig<bool>, offset: Sig, function: Sig) -> Sig {
    let both = lanes(saved)
        .into_iter()
        .zip(lanes(data))
        .enumerate()
        .map(|(lane, (first, second))| {
            let is_first = is_second && offset <= lane;
            if is_first { first } else { second }
        });
    let joined: Vec<Sig> = both.collect();
    let word = rotated(
        cat_all(&joined.into_iter().rev().collect::<Vec<_>>()),
        offset.negate(),
    );
    let is_signed = !function[2];
    match function.slice(0, 2) {
        0 => cat!((is_signed && word[7]).repeat(24), word.slice(0, 8)),
        1 => cat!((is_signed && word[15]).repeat(16), word.slice(0, 16)),
        _ => word,
    }
}
