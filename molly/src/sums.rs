//! Sums over all ranks: arguments of functions to which bodies only add.
//!
//! [`Sum`] has the same bits on any grid of ranks as in a serial run, as nothing is rounded before the end. [`FastSum`]
//! adds in the type of its numbers, each rank its own part, so its last bits depend on the grid. In both cases each
//! rank adds the elements that live on it, and one reduction combines all sums of a run.

use crate::error::Result;
use crate::rank::Rank;
use std::ops::AddAssign;

/// A rank's part of a sum, as words.
pub trait Part {
    /// The words, as many on all ranks.
    fn words(&self) -> Vec<u64>;

    /// Adds what another rank has, of which there are the words.
    fn merge(&mut self, words: &[u64]);

    /// Forgets what was added.
    fn clear(&mut self);
}

/// Numbers that [`Sum`] adds.
pub trait Summand: Copy {
    /// The sum while it is made.
    type Exact: Part + Default + Clone + std::fmt::Debug + PartialEq;
    /// Its value: `f64` for floating-point numbers, `i128` for integers, which no sum leaves.
    type Total;

    /// Adds this number.
    fn add_to(self, sum: &mut Self::Exact);

    /// The value of a sum: of floating-point numbers the nearest one.
    fn total(sum: &Self::Exact) -> Self::Total;
}

impl Part for Exact {
    fn words(&self) -> Vec<u64> {
        Self::words(self)
    }

    fn merge(&mut self, words: &[u64]) {
        Self::merge(self, words);
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Part for i128 {
    fn words(&self) -> Vec<u64> {
        vec![*self as u64, (*self >> 64) as u64]
    }

    fn merge(&mut self, words: &[u64]) {
        if let [low, high] = *words {
            *self = self.wrapping_add((i128::from(high) << 64) | i128::from(low));
        }
    }

    fn clear(&mut self) {
        *self = 0;
    }
}

macro_rules! summands {
    ($exact:ty, $total:ty, |$sum:ident, $value:ident| $add:expr, $read:expr, $($type:ty)*) => { $(
        impl Summand for $type {
            type Exact = $exact;
            type Total = $total;

            fn add_to(self, $sum: &mut $exact) {
                let $value = <$total>::from(self);
                $add
            }

            fn total(sum: &$exact) -> $total {
                $read(sum)
            }
        }
    )* };
}
summands!(Exact, f64, |sum, value| sum.add(value), Exact::value, f32 f64);
summands!(i128, i128, |sum, value| *sum += value, i128::clone, i8 i16 i32 i64 u8 u16 u32 u64);

/// A sum whose value does not depend on the order in which it is made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sum<T: Summand>(T::Exact);

impl<T: Summand> Sum<T> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self(T::Exact::default())
    }

    /// The total: of floating-point numbers the nearest `f64` to the exact sum, of integers the sum.
    pub fn value(&self) -> T::Total {
        T::total(&self.0)
    }
}

impl<T: Summand> AddAssign<T> for Sum<T> {
    fn add_assign(&mut self, value: T) {
        value.add_to(&mut self.0);
    }
}

impl<T: Summand> Part for Sum<T> {
    fn words(&self) -> Vec<u64> {
        self.0.words()
    }

    fn merge(&mut self, words: &[u64]) {
        self.0.merge(words);
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// A sum in double precision: each rank adds its own part, in the order of its plan. Its last bits depend on the grid.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FastSum(f64);

impl FastSum {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The total.
    pub fn value(&self) -> f64 {
        self.0
    }
}

impl<T: Into<f64>> AddAssign<T> for FastSum {
    fn add_assign(&mut self, value: T) {
        self.0 += value.into();
    }
}

impl Part for FastSum {
    fn words(&self) -> Vec<u64> {
        vec![self.0.to_bits()]
    }

    fn merge(&mut self, words: &[u64]) {
        words.iter().for_each(|word| self.0 += f64::from_bits(*word));
    }

    fn clear(&mut self) {
        self.0 = 0.0;
    }
}

impl Rank {
    /// Combines the parts of all ranks, so that each rank has the sum. All ranks call it, with as many parts.
    ///
    /// Ranks form a tree: each takes the sums of those below it, in their order, and sends its own to the one above;
    /// then the total goes down again. These are two messages for each rank except the first.
    ///
    /// # Errors
    /// If another rank does not call it.
    pub fn reduce(&mut self, parts: &mut [&mut dyn Part]) -> Result<()> {
        self.reduced(parts).map_err(|error| self.located(error))
    }

    fn reduced(&mut self, parts: &mut [&mut dyn Part]) -> Result<()> {
        let (rank, ranks) = (self.rank(), self.geometry().ranks());
        // A rank that is a multiple of 2 n has the one that is n further below it.
        let below: Vec<usize> = (0..usize::BITS)
            .map(|bit| 1 << bit)
            .take_while(|step| rank & step == 0 && rank + step < ranks)
            .map(|step| rank + step)
            .collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.words().len()).collect();
        for &peer in &below {
            let words = self.receive_words(peer, lengths.iter().sum())?;
            merge(parts, &lengths, &words);
        }
        let mut whole: Vec<u64> = parts.iter().flat_map(|part| part.words()).collect();
        if rank != 0 {
            let above = rank & (rank - 1);
            self.send_words(above, &whole)?;
            whole = self.receive_words(above, whole.len())?;
        }
        for &peer in below.iter().rev() {
            self.send_words(peer, &whole)?;
        }
        parts.iter_mut().for_each(|part| part.clear());
        merge(parts, &lengths, &whole);
        Ok(())
    }
}

/// Adds to each part its words.
fn merge(parts: &mut [&mut dyn Part], lengths: &[usize], mut words: &[u64]) {
    for (part, &length) in parts.iter_mut().zip(lengths) {
        let (own, rest) = words.split_at(length.min(words.len()));
        part.merge(own);
        words = rest;
    }
}

// Sums of floating-point numbers without rounding.

/// Bits of a digit.
const BITS: usize = 32;

/// Digits: the largest number ends at bit 2098, and 2^60 of them are 60 bits longer.
const DIGITS: usize = 2098 / BITS + 3;

/// Numbers that can be added before carries have to move: each adds less than 2^32 to a digit.
const ROOM: u32 = 1 << 30;

/// An exact sum of floating-point numbers, while it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exact {
    /// Digit `i` counts 2^(32 i - 1074). Once carries have moved, all but the last are from 0 to 2^32 - 1.
    digits: [i64; DIGITS],
    /// Infinities of both signs, and what is no number.
    special: [u64; 3],
    room: u32,
}

impl Default for Exact {
    fn default() -> Self {
        Self {
            digits: [0; DIGITS],
            special: [0; 3],
            room: ROOM,
        }
    }
}

impl Exact {
    pub(crate) fn add(&mut self, value: f64) {
        let bits = value.to_bits();
        let (exponent, fraction) = ((bits >> 52) as usize & 0x7ff, bits & ((1 << 52) - 1));
        if exponent == 0x7ff {
            let which = if fraction != 0 {
                2
            } else {
                usize::from(value < 0.0)
            };
            self.special[which] += 1;
            return;
        }
        // Without its leading bit a number is one of the smallest, with the exponent of those of exponent 1.
        let (whole, at) = match exponent {
            0 => (fraction, 0),
            _ => (fraction | 1 << 52, exponent - 1),
        };
        let shifted = u128::from(whole) << (at % BITS);
        let sign = if value.is_sign_negative() { -1 } else { 1 };
        for (place, digit) in self.digits[at / BITS..].iter_mut().take(3).enumerate() {
            *digit += sign * i64::from((shifted >> (BITS * place)) as u32);
        }
        self.room -= 1;
        if self.room == 0 {
            self.carry();
        }
    }

    /// Moves carries, after which a sum has one form only.
    fn carry(&mut self) {
        let mut carry = 0;
        for digit in &mut self.digits[..DIGITS - 1] {
            *digit += carry;
            carry = *digit >> BITS;
            *digit &= (1 << BITS) - 1;
        }
        self.digits[DIGITS - 1] += carry;
        self.room = ROOM;
    }

    /// The sum as words.
    pub(crate) fn words(&self) -> Vec<u64> {
        let mut whole = self.clone();
        whole.carry();
        let digits = whole.digits.iter().map(|digit| digit.cast_unsigned());
        digits.chain(whole.special).collect()
    }

    /// Adds another sum, of which there are the words.
    pub(crate) fn merge(&mut self, words: &[u64]) {
        self.carry();
        let (digits, special) = words.split_at(DIGITS.min(words.len()));
        for (digit, word) in self.digits.iter_mut().zip(digits) {
            *digit += word.cast_signed();
        }
        for (count, word) in self.special.iter_mut().zip(special) {
            *count += word;
        }
        self.carry();
    }

    /// The sum as the nearest `f64`, of two the even one.
    pub(crate) fn value(&self) -> f64 {
        match self.special {
            [0, 0, 0] => {}
            [_, 0, 0] => return f64::INFINITY,
            [0, _, 0] => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        let mut whole = self.clone();
        whole.carry();
        let is_negative = whole.digits[DIGITS - 1] < 0;
        if is_negative {
            whole.digits = whole.digits.map(|digit| -digit);
            whole.carry();
        }
        let value = rounded(&whole.digits);
        if is_negative { -value } else { value }
    }
}

/// The nearest number to digits without carries.
fn rounded(digits: &[i64; DIGITS]) -> f64 {
    let Some(last) = digits.iter().rposition(|digit| *digit != 0) else {
        return 0.0;
    };
    let bit = |at: usize| digits[at / BITS] >> (at % BITS) & 1 != 0;
    let length = last * BITS + 64 - digits[last].leading_zeros() as usize;
    let leading = |count: usize| {
        (length - count..length).fold(0, |all, at| all | u64::from(bit(at)) << (at + count - length))
    };
    if length <= 53 {
        // Spaced as the smallest numbers are, whose bits are the integer itself.
        return f64::from_bits(leading(length));
    }
    let shift = length - 53;
    let rest = || (0..shift - 1).any(bit);
    let mut whole = leading(53);
    if bit(shift - 1) && (whole & 1 != 0 || rest()) {
        whole += 1;
    }
    // A carry out of all 53 bits is one into the exponent.
    let bits = ((shift as u64) << 52) + whole;
    f64::from_bits(bits.min(f64::INFINITY.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::seq::SliceRandom as _;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    fn sum(values: &[f64]) -> f64 {
        let mut sum = Exact::default();
        values.iter().for_each(|value| sum.add(*value));
        sum.value()
    }

    #[test]
    fn exact_sum_loses_no_bits() {
        assert_eq!(sum(&[1e308, 1.0, -1e308]), 1.0);
        assert_eq!(sum(&[1e308, 1e308, -1e308]), 1e308);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX, -f64::MAX, 3e-320]), 3e-320);
        let tiny = f64::from_bits(1);
        assert_eq!(sum(&[f64::MIN_POSITIVE, -tiny]), f64::from_bits((1 << 52) - 1));
        assert_eq!(sum(&[-1.0, f64::EPSILON / 4.0]), -1.0);
        assert_eq!(sum(&[-1.0, f64::EPSILON / 4.0, tiny]), -1.0 + f64::EPSILON / 2.0);
        assert_eq!(sum(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(sum(&[f64::NAN]).is_nan());
        assert_eq!(sum(&[]).to_bits(), 0);
    }

    #[test]
    fn exact_sum_of_one_number_is_the_number() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..20_000 {
            let value = f64::from_bits(rng.random());
            if value.is_finite() {
                assert_eq!(sum(&[value]).to_bits(), value.to_bits(), "{value:e}");
                assert_eq!(sum(&[value, value]), 2.0 * value);
            }
        }
    }

    #[test]
    fn exact_sum_rounds_like_integers() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for _ in 0..2000 {
            // Integers of up to 100 bits, whose sum fits into 128, in pieces that are numbers.
            let (mut values, mut whole) = (Vec::new(), 0i128);
            for _ in 0..rng.random_range(1..20) {
                let value = i128::from(rng.random_range(-(1i64 << 52)..1 << 52)) << rng.random_range(0..48);
                values.push(value as f64);
                whole += value;
            }
            assert_eq!(sum(&values), whole as f64, "{values:?}");
        }
    }

    #[test]
    fn exact_sum_is_independent_of_order_and_grouping() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let finite = |rng: &mut ChaCha8Rng| loop {
            let value = f64::from_bits(rng.random());
            if value.is_finite() {
                return value;
            }
        };
        let mut values: Vec<f64> = (0..1000).map(|_| finite(&mut rng)).collect();
        let whole = sum(&values);
        for parts in 1..8 {
            values.shuffle(&mut rng);
            let mut all = Exact::default();
            for part in values.chunks(values.len().div_ceil(parts)) {
                let mut sum = Exact::default();
                part.iter().for_each(|value| sum.add(*value));
                all.merge(&sum.words());
            }
            assert_eq!(all.value().to_bits(), whole.to_bits());
        }
    }
}
