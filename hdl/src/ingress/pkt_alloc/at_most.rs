//! Comparison with a constant.

use spinneret_verilog::prelude::*;

/// Tells whether a number is at most a constant, which is at least 1 and fits it.
///
/// A comparison of the whole number is a chain of carries. The bits below the lowest and above the
/// highest one of the constant need none: they only must be zero or not.
#[kernel]
pub(super) fn is_at_most(number: Sig, limit: u64) -> Sig<bool> {
    let (low, high) = (
        limit.trailing_zeros() as usize,
        (u64::BITS - limit.leading_zeros()) as usize,
    );
    let is_zero = |from: usize, to: usize| {
        if from < to {
            number.slice(from, to - from) == 0
        } else {
            true
        }
    };
    let middle = number.slice(low, high - low);
    let odd = limit >> low;
    is_zero(high, number.width()) & ((middle < odd) | ((middle == odd) & is_zero(0, low)))
}
