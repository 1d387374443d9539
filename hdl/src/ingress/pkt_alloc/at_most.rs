//! Comparison with a constant.

use spinneret_verilog::prelude::*;

/// Tells whether a number is at most a constant.
///
/// A comparison of the whole number is a chain of carries. The bits below the lowest and above the
/// highest one of the constant need none: they only must be zero or not.
/// # Parameters
/// `width` is that of the number in bits; `limit`, the constant, is at least 1 and fits it.
#[hardware(width: usize, limit: u64)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct AtMost {
    /// Number, as wide as the constant at least.
    pub value: Wire<In, { width }>,
    /// It is at most the constant.
    pub yes: Wire<Out, bool>,
    above_zero: Wire<Local, bool>,
    below_zero: Wire<Local, bool>,
    middle: Wire<Local, { bit_width(limit) - limit.trailing_zeros() as usize }>,
}

/// Bits of a number.
fn bit_width(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()) as usize
}

impl Logic for AtMost {
    #[kernel(suffix = self._limit)]
    fn update(&mut self) {
        let low = self._limit.trailing_zeros() as usize;
        let high = bit_width(self._limit);
        let odd = self._limit >> low;
        let above = self.value.width() - high;
        self.middle.next = self.value.val().slice(low, high - low);
        if above > 0 {
            self.above_zero.next = self.value.val().slice(high, above) == 0;
        } else {
            self.above_zero.next = true;
        }
        if low > 0 {
            self.below_zero.next = self.value.val().slice(0, low) == 0;
        } else {
            self.below_zero.next = true;
        }
        self.yes.next = self.above_zero.val()
            & ((self.middle.val() < odd) | ((self.middle.val() == odd) & self.below_zero.val()));
    }
}

#[cfg(test)]
mod tests {
    use super::AtMost;
    use spinneret_verilog::prelude::*;

    #[test]
    fn compares_as_numbers_do() {
        for limit in [1, 2, 3, 40, 64, 96, 127, 128, 200, 255] {
            let mut block = AtMost::new(8, limit);
            block.connect_all();
            for value in 0..256_u64 {
                block.value.next = value.into();
                assert!(simulate(&mut block, 10));
                assert_eq!(block.yes.val(), value <= limit, "{value} and {limit}");
            }
        }
    }
}
