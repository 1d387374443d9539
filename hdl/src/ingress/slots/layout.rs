//! Places of the slots in the packet buffer, the arithmetic between a slot's number and its address.

use crate::entry::{Checked, ParameterError};
use spinneret_regmap::pspin::{PACKET_BASE, PACKET_BYTES};
use spinneret_verilog::prelude::*;
use std::ops::RangeInclusive;

/// Sizes in bytes.
const BYTES: RangeInclusive<u64> = 1..=1 << 32;
/// Numbers of slots.
const SLOTS: RangeInclusive<u64> = 1..=65536;

/// The slots of both classes, checked: they are in the buffer and do not overlap.
///
/// Every block that holds a pool has these among its own parameters.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(check)]
pub struct PoolLayout {
    /// Width of an address in bits.
    #[parameter(32, range = 8..=48, verilog = "ADDR_WIDTH")]
    pub address_width: usize,
    /// Address of the packet buffer.
    #[parameter(PACKET_BASE as u64, range = 0..=(1_u64 << 48) - 1, verilog = "BUF_START")]
    pub buffer_base: u64,
    /// Size of the packet buffer in bytes.
    #[parameter(PACKET_BYTES as u64, range = BYTES, verilog = "BUF_SIZE")]
    pub buffer_size: u64,
    /// Bytes of a large slot, at least those of the largest packet that is to fit.
    #[parameter(1536, range = BYTES, verilog = "SLOT0_SIZE")]
    pub large_slot_size: u64,
    /// Number of large slots.
    #[parameter(256, range = SLOTS, verilog = "SLOT0_COUNT")]
    pub large_slots: u64,
    /// Bytes of a small slot.
    #[parameter(128, range = BYTES, verilog = "SLOT1_SIZE")]
    pub small_slot_size: u64,
    /// Number of small slots.
    #[parameter(1024, range = SLOTS, verilog = "SLOT1_COUNT")]
    pub small_slots: u64,
    /// Bytes that every slot is aligned to, a power of two.
    #[parameter(64, range = 1..=4096, power_of_two, verilog = "PKT_MEM_ALIGNMENT")]
    pub alignment: u64,
}

impl PoolLayout {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let refuse = |parameter, reason| Err(checked.refuse(parameter, reason));
        for parameter in ["buffer_base", "large_slot_size", "small_slot_size"] {
            checked.multiple_of(parameter, self.alignment, "the alignment")?;
        }
        let (large, small) = (self.large_slot_size, self.small_slot_size);
        if small >= large {
            return refuse(
                "small_slot_size",
                format!("it must be less than large_slot_size, {large}"),
            );
        }
        let (base, size, width) = (self.buffer_base, self.buffer_size, self.address_width);
        let addresses = 1_u64 << width;
        let Some(most) = addresses.checked_sub(base).filter(|&most| most > 0) else {
            let reason = format!("it must be less than {addresses}: an address has {width} bits");
            return refuse("buffer_base", reason);
        };
        if size > most {
            let reason = format!(
                "it must be at most {most}: the buffer is at {base:#x}, and an address has {width} bits"
            );
            return refuse("buffer_size", reason);
        }
        let Some(left) = size.checked_sub(large * self.large_slots) else {
            let most = size / large;
            let reason = format!("it must be at most {most}: the buffer has {size} bytes, a slot {large}");
            return refuse("large_slots", reason);
        };
        if small * self.small_slots > left {
            let most = left / small;
            let reason = format!(
                "it must be at most {most}: the large slots leave {left} bytes, and a slot has {small}"
            );
            return refuse("small_slots", reason);
        }
        Ok(())
    }

    /// The large slots, at the start of the buffer.
    pub fn large(self) -> SlotClass {
        SlotClass {
            base: self.buffer_base,
            size: self.large_slot_size,
            count: self.large_slots as usize,
        }
    }

    /// The small slots, after the large ones.
    pub fn small(self) -> SlotClass {
        SlotClass {
            base: self.large().end(),
            size: self.small_slot_size,
            count: self.small_slots as usize,
        }
    }

    /// The largest power of two at whose multiples from `buffer_base` on all slots start, in bytes.
    pub(crate) fn unit(self) -> u64 {
        1 << (self.large_slot_size | self.small_slot_size).trailing_zeros()
    }

    /// The bits of an address in which slots differ: the lowest, and their number.
    pub(crate) fn place(self) -> (usize, usize) {
        let unit = self.unit();
        (
            unit.trailing_zeros() as usize,
            address_width((self.buffer_size / unit) as usize),
        )
    }

    /// The suffix that distinguishes modules for different slots.
    pub(super) fn variant(self, tracked: bool) -> String {
        format!("{}_{}", self.large().name(), self.small().variant(tracked))
    }

    /// Levels of the trees that find a slot from its address: the same for both classes.
    pub(super) fn tree_levels(self) -> usize {
        self.large().tree_levels().max(self.small().tree_levels())
    }

    /// Cycles from taking a free to judging it.
    pub fn free_latency(self) -> usize {
        self.tree_levels() + 2
    }

    /// Width of the number of the slot that is filled in after reset.
    pub(super) fn fill_width(self) -> usize {
        self.large().index_width().max(self.small().index_width())
    }

    /// Cycles in which slots are filled in after reset.
    pub(super) fn fill_cycles(self) -> usize {
        self.large().count.max(self.small().count)
    }
}

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
    use super::{PoolLayout, SlotClass};
    use crate::entry::{Config, Parameters as _};
    use crate::ingress::slots::ENTRY;

    #[test]
    fn small_slots_lie_behind_the_large_ones() {
        let layout = PoolLayout::of("some_block", &ENTRY.values(Config::Reference))
            .expect("the reference configuration");
        assert_eq!(
            (layout.large().base, layout.large().last()),
            (0x1c10_0000, 0x1c15_fa00)
        );
        assert_eq!(
            (layout.small().base, layout.small().last()),
            (0x1c16_0000, 0x1c17_ff80)
        );
        assert_eq!(layout.free_latency(), 5);
    }

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
