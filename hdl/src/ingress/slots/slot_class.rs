//! The slots of one size, and the arithmetic between a slot's number and its address.

use spinneret_verilog::prelude::address_width;

/// Slots of one size, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotClass {
    /// Address of the first slot.
    pub base: u64,
    /// Bytes of a slot, at least 1.
    pub size: u64,
    /// Number of slots, at least 1.
    pub count: usize,
}

impl SlotClass {
    /// Address of the last slot.
    pub fn last(self) -> u64 {
        self.base + (self.count as u64 - 1) * self.size
    }

    /// Address of the first byte after all slots.
    pub fn end(self) -> u64 {
        self.last() + self.size
    }

    /// The suffix that distinguishes modules for different slots.
    pub(super) fn name(self) -> String {
        format!("{}x{}", self.count, self.size)
    }

    /// The same for modules that may track slots.
    pub(super) fn variant(self, tracked: bool) -> String {
        self.name() + if tracked { "_tracked" } else { "" }
    }

    /// Width of a slot's number.
    pub(super) fn index_width(self) -> usize {
        address_width(self.count)
    }

    /// The size is an odd number times two to the power of this.
    pub(super) fn unit_bits(self) -> usize {
        self.size.trailing_zeros() as usize
    }

    /// The odd number in the size.
    pub(super) fn odd(self) -> u64 {
        self.size >> self.unit_bits()
    }

    /// Low bits of an address in which the slots differ; all higher bits are the same for all slots.
    pub(super) fn varying_bits(self) -> usize {
        let varying = (u64::BITS - (self.base ^ self.last()).leading_zeros()) as usize;
        varying.max(self.unit_bits() + 1)
    }

    /// The bits of the first slot's address that vary among the slots.
    pub(super) fn low_base(self) -> u64 {
        self.base & ((1 << self.varying_bits()) - 1)
    }

    /// The bits of an address that are the same for all slots.
    pub(super) fn prefix(self) -> u64 {
        self.base >> self.varying_bits()
    }

    /// Width of an offset from the first slot, counted in units of two to the power of `unit_bits` bytes.
    pub(super) fn quotient_width(self) -> usize {
        self.varying_bits() - self.unit_bits()
    }

    /// Width of what is kept with a slot's number, so that nothing must be added for its address: the offset in
    /// units, or nothing where the number's bits are in the address unchanged.
    pub(super) fn product_width(self) -> usize {
        let taken_bits = self.low_base() >> self.unit_bits() & ((1 << self.index_width()) - 1);
        if self.odd() == 1 && taken_bits == 0 {
            return 0;
        }
        self.quotient_width()
    }

    /// The powers of two whose sum is the inverse of the odd number modulo two to the power of
    /// `quotient_width`.
    ///
    /// A multiple of the odd number, times this inverse, is the quotient; anything else gives a product
    /// that is no slot's number. So one multiplication divides and checks at once.
    pub(super) fn inverse_terms(self) -> Vec<usize> {
        // Newton's iteration: each step doubles the number of low bits that are right, from 3 to 96.
        let odd = self.odd();
        let mut inverse = odd;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        (0..self.quotient_width())
            .filter(|bit| inverse >> bit & 1 == 1)
            .collect()
    }

    /// Levels of a tree of adders for the product, at least 1.
    pub(super) fn tree_levels(self) -> usize {
        address_width(self.inverse_terms().len())
    }
}

#[cfg(test)]
mod tests {
    use super::SlotClass;

    /// The hardware's computation, in plain numbers.
    fn number_of(class: SlotClass, address: u64) -> Option<u64> {
        let (varying, width) = (class.varying_bits(), class.quotient_width());
        let offset = address.wrapping_sub(class.low_base()) & ((1 << varying) - 1);
        let quotient = offset >> class.unit_bits();
        let product = class
            .inverse_terms()
            .iter()
            .map(|bit| quotient << bit)
            .fold(0, u64::wrapping_add);
        let number = product & ((1 << width) - 1);
        let exact =
            address >> varying == class.prefix() && offset.trailing_zeros() >= class.unit_bits() as u32;
        (exact && number < class.count as u64).then_some(number)
    }

    #[test]
    fn finds_every_slot_and_nothing_else() {
        for (base, size, count) in [
            (0x1c10_0000, 1536, 256),
            (0x1c16_0000, 128, 1024),
            (0x1c10_0000, 1536, 170),
            (0x1c13_fc00, 128, 2048),
            (0x1c10_0040, 192, 37),
            (0x1c10_0000, 9664, 50),
            (64, 1600, 3),
            (0, 64, 1),
            (0xffff_f000, 4096, 1),
        ] {
            let class = SlotClass { base, size, count };
            for address in base.saturating_sub(3 * size)..class.end() + 3 * size {
                let offset = address.checked_sub(base);
                let wanted = offset
                    .filter(|offset| offset % size == 0 && offset / size < count as u64)
                    .map(|offset| offset / size);
                assert_eq!(
                    number_of(class, address),
                    wanted,
                    "{class:x?}, address {address:#x}"
                );
            }
        }
    }
}
