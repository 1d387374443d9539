//! The operators of [`Word`], which wrap at the width of their operands.

use super::word::{Word, mask};
use num_bigint::BigUint;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Neg, Not, Shl, Shr, Sub};

/// The common width of two operands; None if both are unsized.
fn common(a: &Word, b: &Word) -> Option<usize> {
    match (a.width, b.width) {
        (Some(a), Some(b)) => {
            assert!(a == b, "operands of {a} and {b} bits do not mix: use resize");
            Some(a)
        }
        (a, b) => a.or(b),
    }
}

/// The number of an operand, which must fit into the common width.
fn operand(word: Word, width: Option<usize>) -> BigUint {
    match width {
        Some(width) => word.sized(width).value,
        None => word.value,
    }
}

fn wrapped(value: BigUint, width: Option<usize>) -> Word {
    let value = width.map_or(value.clone(), |width| value & mask(width));
    Word { width, value }
}

macro_rules! binary {
    ($($trait:ident :: $method:ident = $compute:expr;)+) => {$(
        impl $trait for Word {
            type Output = Word;
            fn $method(self, other: Word) -> Word {
                let width = common(&self, &other);
                let compute: fn(BigUint, BigUint, Option<usize>) -> BigUint = $compute;
                wrapped(compute(operand(self, width), operand(other, width), width), width)
            }
        }
        impl $trait<u64> for Word {
            type Output = Word;
            fn $method(self, other: u64) -> Word {
                let other = Word::from(other);
                $trait::$method(self, other)
            }
        }
    )+};
}

binary! {
    BitAnd::bitand = |a, b, _| a & b;
    BitOr::bitor = |a, b, _| a | b;
    BitXor::bitxor = |a, b, _| a ^ b;
    Add::add = |a, b, _| a + b;
    Sub::sub = |a, b, width| match width {
        Some(width) => a + (BigUint::from(1_u8) << width) - b,
        None => a - b,
    };
    Mul::mul = |a, b, _| a * b;
}

macro_rules! shift {
    ($($trait:ident :: $method:ident = $compute:expr;)+) => {$(
        impl $trait<u64> for Word {
            type Output = Word;
            fn $method(self, amount: u64) -> Word {
                let compute: fn(BigUint, u64) -> BigUint = $compute;
                // Beyond the width nothing is left; the check also keeps the intermediate small.
                if self.width.is_some_and(|width| amount >= width as u64) {
                    return Word { value: BigUint::ZERO, ..self };
                }
                wrapped(compute(self.value, amount), self.width)
            }
        }
        impl $trait for Word {
            type Output = Word;
            fn $method(self, amount: Word) -> Word {
                let amount = u64::try_from(&amount.value).unwrap_or(u64::MAX);
                $trait::$method(self, amount)
            }
        }
    )+};
}

shift! {
    Shl::shl = |a, amount| a << amount;
    Shr::shr = |a, amount| a >> amount;
}

impl Not for Word {
    type Output = Word;
    fn not(self) -> Word {
        let width = self.width();
        Word {
            value: mask(width) ^ self.value,
            width: Some(width),
        }
    }
}

impl Neg for Word {
    type Output = Word;
    fn neg(self) -> Word {
        Word::zero(self.width()) - self
    }
}

impl PartialEq<u64> for Word {
    fn eq(&self, other: &u64) -> bool {
        self.value == BigUint::from(*other)
    }
}

impl PartialOrd for Word {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        common(self, other);
        self.value.partial_cmp(&other.value)
    }
}

impl PartialOrd<u64> for Word {
    fn partial_cmp(&self, other: &u64) -> Option<std::cmp::Ordering> {
        self.value.partial_cmp(&BigUint::from(*other))
    }
}
