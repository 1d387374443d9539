//! Finds the lowest one of a word.

use spinneret_verilog::prelude::*;

/// Says at which bit the lowest one of a word is; of no meaning if there is none.
///
/// Combinational: a tree of pairs of groups, of which the lower one counts if it has a one. Its words are as wide as
/// the input, and what they say of a group stands at the group's lowest bit.
/// # Parameters
/// `width` is a power of two from 2.
#[hardware(width: usize, levels = address_width(width))]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct LowestOne {
    /// The word.
    pub word: Wire<In, { width }>,
    /// The bit.
    pub number: Wire<Out, { levels }>,
    /// Groups of 1, 2, 4 ... bits that have a one.
    ones: [Wire<Local, { width }>; levels],
    /// The lowest bit of the number in groups of 2, 4, 8 ... bits, then the next one in groups of 4, 8 ... bits.
    numbers: [Wire<Local, { width }>; levels * (levels + 1) / 2],
}

impl Logic for LowestOne {
    #[kernel(suffix = self._width)]
    fn update(&mut self) {
        let levels = self.ones.len();
        self.ones[0].next = self.word.val();
        for level in 1..levels {
            let lower = 1_usize << (level - 1);
            self.ones[level].next = self.ones[level - 1].val() | (self.ones[level - 1].val() >> lower as u64);
        }
        self.number.next = 0.into();
        for bit in 0..levels {
            let first = bit * levels - bit * (bit + 1) / 2;
            self.numbers[first + bit].next = !self.ones[bit].val();
            for level in bit + 1..levels {
                let (at, lower) = (first + level, 1_usize << level);
                self.numbers[at].next = (self.ones[level].val() & self.numbers[at - 1].val())
                    | (!self.ones[level].val() & (self.numbers[at - 1].val() >> lower as u64));
            }
            self.number
                .next
                .set_bit(bit, self.numbers[first + levels - 1].val().get_bit(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LowestOne;
    use crate::stream::bench;

    #[test]
    fn finds_the_lowest_one_of_every_word() {
        for width in [2, 4, 16] {
            let mut search = LowestOne::new(width);
            for word in 1..1_u64 << width {
                search.word.next = word.into();
                bench::settle(&mut search);
                assert_eq!(
                    search.number.val().low_u64(),
                    u64::from(word.trailing_zeros()),
                    "{word:#b}"
                );
            }
        }
    }
}
