//! Unsigned numbers whose width is known when hardware is generated.

use num_bigint::BigUint;
use rust_hdl::core::ast::VerilogLiteral;
use std::fmt;

/// An unsigned value of a width in bits that is a run-time number: a constant of the generator, and the type of signals of
/// several bits.
///
/// ```
/// use spinneret_verilog::prelude::*;
/// assert_eq!(Word::cat(&[Word::new(0xa, 4), Word::new(5, 8)]), Word::new(0xa05, 12));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Word {
    width: usize,
    value: BigUint,
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
        Self { width, value }
    }

    /// The zero of `width` bits.
    pub fn zero(width: usize) -> Self {
        Self {
            width,
            value: BigUint::ZERO,
        }
    }

    /// All ones.
    pub fn ones(width: usize) -> Self {
        Self {
            width,
            value: (BigUint::from(1_u8) << width) - 1_u8,
        }
    }

    /// Width in bits.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number, whatever the width.
    pub fn value(&self) -> &BigUint {
        &self.value
    }

    /// Concatenates, the first part in the highest bits.
    pub fn cat(parts: &[Word]) -> Self {
        let join = |all: Self, part: &Self| Self {
            width: all.width + part.width,
            value: (all.value << part.width) | &part.value,
        };
        parts.iter().fold(Self::zero(0), join)
    }

    /// The number as a literal of the syntax tree.
    ///
    /// # Panics
    /// If the number needs more than 128 bits, which no literal of the syntax tree can hold.
    pub(crate) fn literal(&self) -> VerilogLiteral {
        let value = u128::try_from(&self.value);
        VerilogLiteral::from(
            value.unwrap_or_else(|_| panic!("{self:?} needs more than the 128 bits of a literal")),
        )
    }
}

/// A literal: `value` in `width` bits.
///
/// # Panics
/// If the value does not fit.
pub fn lit(value: u64, width: usize) -> Word {
    Word::new(value, width)
}

/// `width` copies of one bit, as a constant.
pub fn fill(bit: bool, width: usize) -> Word {
    if bit { Word::ones(width) } else { Word::zero(width) }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}'h{:x}", self.width, self.value)
    }
}
