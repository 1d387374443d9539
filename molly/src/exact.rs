//! Sums of floating-point numbers without rounding, so that their order does not matter.
//!
//! Every finite `f64` is an integer times 2^-1074, and so is every sum of them. The integer is kept in digits of 32 bits, each in
//! 64 bits, so that carries can wait; it is rounded once, when somebody asks for the value.

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
    fn nothing_is_lost() {
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
    fn one_number_is_itself() {
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
    fn rounding_is_that_of_integers() {
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
    fn the_order_and_the_parts_do_not_matter() {
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
