//! Places of the slots in the packet buffer.

use super::SlotClass;
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
        for (parameter, value) in [
            ("buffer_base", self.buffer_base),
            ("large_slot_size", self.large_slot_size),
            ("small_slot_size", self.small_slot_size),
        ] {
            if !value.is_multiple_of(self.alignment) {
                let reason = format!("it must be a multiple of the alignment, {}", self.alignment);
                return refuse(parameter, reason);
            }
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

#[cfg(test)]
mod tests {
    use super::PoolLayout;
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
}
