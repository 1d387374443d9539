//! Unsigned numbers whose width is known when hardware is generated.

use num_bigint::BigUint;
use rust_hdl::core::ast::VerilogLiteral;
use std::fmt;

/// An unsigned value of a width in bits that is a run-time number.
///
/// `Bits<N>` of rust-hdl fixes N when Rust is compiled; a generator whose parameters are arguments
/// needs widths that it can compute. Arithmetic wraps at the width of the operands, as in hardware.
///
/// A plain integer converts into an *unsized* word, which takes the width of whatever it meets;
/// two words of different widths never mix: that is a mistake in the kernel, and panics with both
/// widths when the kernel runs in Rust (the back-end reports the same mistake as an error).
///
/// ```
/// use spinneret_verilog::prelude::*;
/// let a = Word::new(0xf, 4);
/// assert_eq!(a + 1, 0);
/// assert_eq!(Word::cat(&[Word::new(0xa, 4), Word::new(5, 8)]), Word::new(0xa05, 12));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Word {
    /// None: an integer that takes the width of its context.
    pub(super) width: Option<usize>,
    pub(super) value: BigUint,
}

impl Word {
    /// A value of `width` bits.
    ///
    /// # Panics
    /// If the value does not fit.
    pub fn new(value: u64, width: usize) -> Self {
        Self::from_biguint(BigUint::from(value), width)
    }

    /// A value of `width` bits of any size.
    ///
    /// # Panics
    /// If the value does not fit.
    pub fn from_biguint(value: BigUint, width: usize) -> Self {
        assert!(
            value.bits() <= width as u64,
            "{value:#x} does not fit into {width} bits"
        );
        Self {
            width: Some(width),
            value,
        }
    }

    /// The zero of `width` bits.
    pub fn zero(width: usize) -> Self {
        Self {
            width: Some(width),
            value: BigUint::ZERO,
        }
    }

    /// All ones.
    pub fn ones(width: usize) -> Self {
        Self {
            width: Some(width),
            value: mask(width),
        }
    }

    /// Width in bits.
    ///
    /// # Panics
    /// If the word is an unsized integer, which has no width until it meets a sized one.
    pub fn width(&self) -> usize {
        self.width.unwrap_or_else(|| {
            panic!(
                "the integer {} has no width here: write lit(value, width)",
                self.value
            )
        })
    }

    /// The number, whatever the width.
    pub fn value(&self) -> &BigUint {
        &self.value
    }

    /// The lowest 64 bits of the number.
    pub fn low_u64(&self) -> u64 {
        self.value.iter_u64_digits().next().unwrap_or(0)
    }

    /// Zero-extends or truncates to `width` bits.
    pub fn resize(&self, width: usize) -> Self {
        Self {
            width: Some(width),
            value: &self.value & mask(width),
        }
    }

    /// Gives an unsized integer a width; a sized word must have it already.
    pub(crate) fn sized(self, width: usize) -> Self {
        match self.width {
            None => Self::from_biguint(self.value, width),
            Some(own) => {
                assert!(
                    own == width,
                    "a value of {own} bits meets a place of {width} bits: use resize"
                );
                self
            }
        }
    }

    /// The bits `offset .. offset + width`; bits beyond the end are zero.
    pub fn slice(&self, offset: usize, width: usize) -> Self {
        Self {
            width: Some(width),
            value: (&self.value >> offset) & mask(width),
        }
    }

    /// One bit; bits beyond the end are zero.
    pub fn get_bit(&self, index: usize) -> bool {
        self.value.bit(index as u64)
    }

    /// The same word with one bit replaced; an index beyond the end changes nothing.
    #[must_use]
    pub fn replace_bit(&self, index: usize, bit: bool) -> Self {
        let mut word = self.clone();
        word.set_bit(index, bit);
        word
    }

    /// Replaces one bit in place; an index beyond the end changes nothing.
    pub fn set_bit(&mut self, index: usize, bit: bool) {
        if self.width.is_none_or(|width| index < width) {
            self.value.set_bit(index as u64, bit);
        }
    }

    /// Replaces the bits `offset .. offset + width` in place.
    ///
    /// # Panics
    /// If the value does not have that width.
    pub fn set_slice(&mut self, offset: usize, width: usize, value: impl Into<Word>) {
        let value = value.into().sized(width);
        for bit in 0..width {
            self.set_bit(offset + bit, value.get_bit(bit));
        }
    }

    /// Concatenates, the first part in the highest bits.
    pub fn cat(parts: &[Word]) -> Self {
        let mut value = BigUint::ZERO;
        let mut width = 0;
        for part in parts {
            value = (value << part.width()) | &part.value;
            width += part.width();
        }
        Self {
            width: Some(width),
            value,
        }
    }

    /// Reverses the order of the bytes.
    ///
    /// # Panics
    /// If the width is not a whole number of bytes.
    #[must_use]
    pub fn swap_bytes(&self) -> Self {
        let width = self.width();
        assert!(
            width.is_multiple_of(8),
            "a word of {width} bits is no whole number of bytes"
        );
        Self::cat(
            &(0..width / 8)
                .map(|byte| self.slice(8 * byte, 8))
                .collect::<Vec<_>>(),
        )
    }

    /// Whether any bit is one.
    pub fn any(&self) -> bool {
        self.value != BigUint::ZERO
    }

    /// Whether every bit is one.
    pub fn all(&self) -> bool {
        self.value == mask(self.width())
    }

    /// The parity: whether the number of ones is odd.
    pub fn xor(&self) -> bool {
        self.value.count_ones() % 2 == 1
    }

    /// The number as an index.
    ///
    /// # Panics
    /// If the number is beyond the address space.
    pub fn index(&self) -> usize {
        usize::try_from(&self.value).expect("an index fits into a machine word")
    }

    /// The number as a literal of the syntax tree.
    ///
    /// # Panics
    /// If the number needs more than 128 bits, which no literal of the syntax tree can hold.
    pub(crate) fn literal(&self) -> VerilogLiteral {
        assert!(
            self.value.bits() <= 128,
            "{self:?} needs more than the 128 bits of a literal"
        );
        let mut digits = self.value.iter_u64_digits();
        let low = u128::from(digits.next().unwrap_or(0));
        let high = u128::from(digits.next().unwrap_or(0));
        VerilogLiteral::from(high << 64 | low)
    }

    pub(crate) fn known_width(&self) -> Option<usize> {
        self.width
    }
}

/// A sized literal: `value` in `width` bits.
///
/// # Panics
/// If the value does not fit.
pub fn lit(value: u64, width: usize) -> Word {
    Word::new(value, width)
}

/// `width` copies of one bit.
pub fn fill(bit: bool, width: usize) -> Word {
    if bit { Word::ones(width) } else { Word::zero(width) }
}

/// One bit as a word of one bit.
pub fn word(bit: bool) -> Word {
    Word::new(u64::from(bit), 1)
}

pub(super) fn mask(width: usize) -> BigUint {
    (BigUint::from(1_u8) << width) - 1_u8
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.width {
            Some(width) => write!(f, "{width}'h{:x}", self.value),
            None => write!(f, "{}", self.value),
        }
    }
}

impl From<u64> for Word {
    fn from(value: u64) -> Self {
        Self {
            width: None,
            value: value.into(),
        }
    }
}

impl From<bool> for Word {
    fn from(bit: bool) -> Self {
        word(bit)
    }
}

impl From<&Word> for Word {
    fn from(word: &Word) -> Self {
        word.clone()
    }
}
