//! Finds the lowest one of a word.

use spinneret_verilog::prelude::*;

/// Says at which bit the lowest one of a word is.
///
/// Combinational: a tree of pairs of groups, of which the lower one counts if it has a one.
/// # Parameters
/// `width` is a power of two from 2.
#[hardware(width: usize, levels = address_width(width))]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct LowestOne {
    /// The word.
    pub word: Wire<In, { width }>,
    /// There is a one.
    pub found: Wire<Out, bool>,
    /// At this bit; of no meaning if there is none.
    pub number: Wire<Out, { levels }>,
    /// For each level of the tree: which groups of 1, 2, 4 ... bits have a one.
    #[new((0..=levels).map(|level| Wire::word(width >> level)).collect())]
    ones: Vec<Wire<Local>>,
    /// And the bit at which each group of 2, 4 ... bits has its lowest one, as adjacent numbers.
    #[new((1..=levels).map(|level| Wire::word(level * (width >> level))).collect())]
    numbers: Vec<Wire<Local>>,
}

impl Logic for LowestOne {
    #[kernel(suffix = self._width)]
    fn update(&mut self) {
        let levels = self.numbers.len();
        self.ones[0].next = self.word.val();
        for level in 0..levels {
            self.ones[level + 1].next = 0.into();
            self.numbers[level].next = 0.into();
            for group in 0..self.ones[level + 1].width() {
                let (lower, upper) = (2 * level * group, 2 * level * group + level);
                let number = (level + 1) * group;
                if self.ones[level].val().get_bit(2 * group) {
                    self.ones[level + 1].next.set_bit(group, true);
                    for bit in 0..level {
                        if self.numbers[level - 1].val().get_bit(lower + bit) {
                            self.numbers[level].next.set_bit(number + bit, true);
                        }
                    }
                } else {
                    if self.ones[level].val().get_bit(2 * group + 1) {
                        self.ones[level + 1].next.set_bit(group, true);
                    }
                    for bit in 0..level {
                        if self.numbers[level - 1].val().get_bit(upper + bit) {
                            self.numbers[level].next.set_bit(number + bit, true);
                        }
                    }
                    self.numbers[level].next.set_bit(number + level, true);
                }
            }
        }
        self.found.next = self.ones[levels].val().get_bit(0);
        self.number.next = self.numbers[levels - 1].val();
    }
}

#[cfg(test)]
mod tests {
    use super::LowestOne;
    use spinneret_verilog::prelude::*;

    #[test]
    fn finds_the_lowest_one_of_every_word() {
        for width in [2, 4, 8] {
            let mut search = LowestOne::new(width);
            search.connect_all();
            for word in 0..1_u64 << width {
                search.word.next = word.into();
                assert!(simulate(&mut search, 100), "the search does not settle");
                assert_eq!(search.found.val(), word != 0, "{word:#b}");
                if word != 0 {
                    let lowest = u64::from(word.trailing_zeros());
                    assert_eq!(search.number.val().low_u64(), lowest, "{word:#b}");
                }
            }
        }
    }
}
