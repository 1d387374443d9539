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
    /// The result, if it is none of these; else 0.
    other: Sig,
}

#[kernel]
fn reversed(word: Sig) -> Sig {
    word_of((0..word.width()).rev().map(|bit| word[bit]))
}

/// A shift to the left is one to the right of the reversed word.
#[kernel]
fn shift(operands: Operands) -> Sig {
    let is_left = !operands.function[2];
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
    let moved = if operands.y[4] { by(word, 16) } else { word }.named("moved");
    if is_left { reversed(moved) } else { moved }
}

/// Stage 5. `link` is the result of a jump, which has function 0.
#[kernel]
pub(super) fn execute(operands: Operands, is_jump: Sig<bool>, link: Sig) -> Found {
    let Operands {
        x, y, a, b, function, ..
    } = operands;
    /// The carry into the lowest bit subtracts with the inverted operand.
    let sum = a.resize(33) + b.resize(33) + operands.subtracts.word().resize(33);
    let flip = !operands.is_unsigned;
    let comparable = |word: Sig| cat!(word[31] != flip, word.slice(0, 31));
    let is_less = comparable(x) < comparable(y);
    let is_equal = x == y;
    let no_shift = function.slice(0, 2) != 1;
    let no_logic = !is_jump && (function.slice(0, 2) == 1 || !function[2]);
    let logic = match cat!(is_jump, function.slice(0, 2)) {
        0 => x ^ y,
        2 => x | y,
        3 => x & y,
        _ => link,
    };
    // Words that are 0 by the reset of their registers need no multiplexer behind these.
    let logic_or_link = reg(if no_logic { lit(0, 32) } else { logic });
    let shifted = reg(if no_shift { lit(0, 32) } else { shift(operands) });
    Found {
        sum: reg(sum),
        is_less: reg(is_less),
        is_equal: reg(is_equal),
        other: logic_or_link | shifted,
    }
}

/// Result of instructions that take no longer, stage 6. That of the custom instruction is the ones' complement sum, for checksums
/// of the internet (RFC 1071).
#[kernel]
pub(super) fn result(found: Found, function: Sig, is_jump: Sig<bool>, is_custom: Sig<bool>) -> Sig {
    let sum = found.sum.slice(0, 32);
    let end_around = sum + found.sum[32].word().resize(32);
    let computed = if is_custom {
        end_around
    } else if function == 0 && !is_jump {
        sum
    } else {
        (found.is_less && function.slice(1, 2) == 1).word().resize(32)
    };
    found.other | computed
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

/// Product of operands in stage 5; its lower or upper word in stage 8, 0 with `is_none` in stage 7.
///
/// Four products of signed halves of 17 bits, each of which is one multiplier of an FPGA.
#[kernel]
pub(super) fn product(x: Sig, y: Sig, function: Sig, is_none: Sig<bool>) -> Sig {
    let function = staged("multiply", 5, function.slice(0, 2));
    let [x_low, x_high] = halves(x, !function.at(5).all());
    let [y_low, y_high] = halves(y, !function.at(5)[1]);
    let times = |a: Sig, b: Sig, width: usize| {
        let product = a.signed().resize(width) * b.signed().resize(width);
        reg(product.word())
    };
    let outer = reg(cat!(times(x_high, y_high, 32), times(x_low, y_low, 32)));
    let cross = reg(times(x_low, y_high, 34) + times(x_high, y_low, 34));
    let total = outer.slice(16, 48) + cross.sign_extend(48);
    let above = reg(if is_none { lit(0, 48) } else { total });
    let lowest = reg(if is_none { lit(0, 16) } else { outer.slice(0, 16) });
    if function.at(8).any() {
        above.slice(16, 32)
    } else {
        cat!(above.slice(0, 16), lowest)
    }
}

/// The lower and the upper half of a word, as signed numbers of 17 bits.
#[kernel]
fn halves(word: Sig, is_signed: Sig<bool>) -> [Sig; 2] {
    let (low, high) = word.split_at(16);
    [cat!(lit(0, 1), low), cat!(is_signed && word[31], high)]
}

/// The word with each of four lanes moved up by a number of lanes, around its end.
#[kernel]
pub(super) fn rotated(word: Sig, lanes_up: Sig) -> Sig {
    let lane = word.width() / 4;
    let by = |lanes: usize| {
        let (low, high) = word.split_at((4 - lanes) * lane);
        cat!(low, high)
    };
    match lanes_up {
        0 => word,
        1 => by(1),
        2 => by(2),
        _ => by(3),
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

/// Value of a load, one clock after its data: the bytes of all lanes but some, and the sign above them. Other bytes are 0.
#[kernel]
pub(super) fn loaded(data: Sig, unread: Sig, offset: Sig, function: Sig) -> (Sig, Sig) {
    let bytes = rotated(data, offset.negate());
    let is_unread = rotated(unread, offset.negate());
    let parts = [3, 2, 1, 0].map(|byte| {
        let part = bytes.slice(8 * byte, 8);
        reg(if is_unread[byte] { lit(0, 8) } else { part })
    });
    let has_sign = |size: u64, top: usize| function == size && !is_unread[top] && bytes[8 * top + 7];
    let byte_sign = has_sign(0, 0);
    let sign = reg(byte_sign || has_sign(1, 1));
    let above = cat!(sign.repeat(16), reg(byte_sign).repeat(8), lit(0, 8));
    (cat_all(&parts), above)
}
