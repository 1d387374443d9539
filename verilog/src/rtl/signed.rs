//! Words in two's complement, whose comparisons, shifts and extensions depend on the sign.

use super::control::{It, Merge};
use super::sig::{Operand, Places, Sig};
use super::tree;
use crate::emit::ir::{Arithmetic, Relation};
use crate::lang::Word;
use num_bigint::BigUint;
use std::ops::{Add, Mul, Neg, Shr, Sub};
use std::panic::Location;

/// A signed word: `a.signed()`. [`Signed::word`] is the same bits as a [`Sig`].
#[derive(Clone, Copy, Debug)]
pub struct Signed(Sig);

impl Sig<Word> {
    /// The same bits in two's complement.
    pub fn signed(self) -> Signed {
        Signed(self)
    }
}

/// The other operand of a signed word: a signed word, or a number, which may be negative.
pub trait SignedOperand {
    /// The value as `width` bits.
    fn bits(&self, width: usize, at: tree::At) -> Sig;
}

impl SignedOperand for Signed {
    fn bits(&self, width: usize, at: tree::At) -> Sig {
        self.0.operand(width, at)
    }
}

impl SignedOperand for i32 {
    fn bits(&self, width: usize, at: tree::At) -> Sig {
        let fits = width >= 32 || (-(1_i64 << (width - 1))..1_i64 << (width - 1)).contains(&i64::from(*self));
        if !fits {
            let message = format!("the number {self} does not fit into {width} signed bits");
            tree::with(|tree| tree.refuse(&message, at));
        }
        let magnitude = BigUint::from(self.unsigned_abs());
        let modulus = BigUint::from(1_u32) << width;
        let value = if *self < 0 && fits {
            modulus - magnitude
        } else {
            magnitude % modulus
        };
        Word::from_biguint(value, width).operand(width, at)
    }
}

impl Signed {
    /// The bits as a word.
    pub fn word(self) -> Sig {
        self.0
    }

    /// Width in bits.
    pub fn width(self) -> usize {
        self.0.width()
    }

    /// Extends with the sign, or truncates.
    #[must_use]
    pub fn resize(self, width: usize) -> Self {
        match width == self.width() {
            true => self,
            false => Self(self.0.sign_extend(width)),
        }
    }

    #[track_caller]
    fn compare(self, relation: Relation, other: &impl SignedOperand) -> Sig<bool> {
        let other = other.bits(self.width(), Location::caller());
        let signed = !matches!(relation, Relation::Equal | Relation::Unequal);
        self.0.compare(relation, signed, other)
    }
}

macro_rules! operators {
    ($($operator:ident $function:ident)+) => {$(
        impl<O: SignedOperand> $operator<O> for Signed {
            type Output = Self;
            #[track_caller]
            fn $function(self, other: O) -> Self {
                Self(self.0.$function(other.bits(self.width(), Location::caller())))
            }
        }
    )+};
}
operators! { Add add  Sub sub }

impl<O: SignedOperand> Mul<O> for Signed {
    type Output = Self;
    #[track_caller]
    fn mul(self, other: O) -> Self {
        let other = other.bits(self.width(), Location::caller());
        Self(self.0.binary(Arithmetic::MultiplySigned, other))
    }
}

impl Neg for Signed {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.negate())
    }
}

impl<P: Places> Shr<P> for Signed {
    type Output = Self;
    /// Copies of the sign come in: those of a negative number are the zeros of its complement.
    fn shr(self, places: P) -> Self {
        let sign = self.0[self.width() - 1].repeat(self.width());
        Self(((self.0 ^ sign) >> places) ^ sign)
    }
}

impl Merge for Signed {
    #[track_caller]
    fn merge(test: Sig<bool>, then: Self, otherwise: Self) -> Self {
        Self(Merge::merge(test, then.0, otherwise.0))
    }
}

/// The operations into which `#[kernel]` turns comparisons and `let`s of signed words.
pub trait OnSigned {
    /// `==`
    fn eq_(&self, other: &impl SignedOperand) -> Sig<bool>;
    /// `!=`
    fn ne_(&self, other: &impl SignedOperand) -> Sig<bool>;
    /// `<`
    fn lt_(&self, other: &impl SignedOperand) -> Sig<bool>;
    /// `<=`
    fn le_(&self, other: &impl SignedOperand) -> Sig<bool>;
    /// `>`
    fn gt_(&self, other: &impl SignedOperand) -> Sig<bool>;
    /// `>=`
    fn ge_(&self, other: &impl SignedOperand) -> Sig<bool>;
    /// The name of a `let`.
    fn name_(&self, name: &str);
}

macro_rules! relations {
    ($($function:ident $relation:ident)+) => {$(
        #[track_caller]
        fn $function(&self, other: &impl SignedOperand) -> Sig<bool> {
            self.0.compare(Relation::$relation, other)
        }
    )+};
}

impl OnSigned for It<'_, Signed> {
    relations! { eq_ Equal  ne_ Unequal  lt_ Less  le_ LessOrEqual  gt_ Greater  ge_ GreaterOrEqual }

    fn name_(&self, name: &str) {
        tree::with(|tree| tree.name(self.0.0.id, name));
    }
}
