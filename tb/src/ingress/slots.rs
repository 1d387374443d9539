//! The packet buffer: where slots are, and who has them.

use std::ops::Index;

/// The size of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// For frames of few beats.
    Small,
    /// For all others.
    Large,
}

impl Class {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Small, Self::Large];
}

/// The slots of one class, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotRange {
    /// Address of the first slot.
    pub base: u64,
    /// Bytes of a slot.
    pub bytes: u64,
    /// Number of slots.
    pub count: u64,
}

impl SlotRange {
    /// Address of a slot; that with the number [`count`](Self::count) would be behind the last.
    pub fn address(&self, number: u64) -> u64 {
        self.base + number * self.bytes
    }

    /// Whether an address is in one of the slots.
    pub fn contains(&self, address: u64) -> bool {
        (self.base..self.address(self.count)).contains(&address)
    }
}

/// Where all slots are; `slots[class]` are those of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotMap {
    large: SlotRange,
    small: SlotRange,
}

impl SlotMap {
    /// Large slots from an address on, and small ones behind them: {bytes, count} of each.
    pub fn new(base: u64, large: (u64, u64), small: (u64, u64)) -> Self {
        let range = |base, (bytes, count)| SlotRange { base, bytes, count };
        let large = range(base, large);
        let small = range(large.address(large.count), small);
        Self { large, small }
    }

    /// Slots of both classes.
    pub fn total(&self) -> u64 {
        self.large.count + self.small.count
    }

    /// The slot that an address lies in, if there is one.
    pub fn around(&self, address: u64) -> Option<Slot> {
        let class = Class::ALL
            .into_iter()
            .find(|class| self[*class].contains(address))?;
        let offset = (address - self[class].base) % self[class].bytes;
        Some(Slot {
            class,
            address: address - offset,
        })
    }

    /// The slot that starts at an address, if there is one.
    pub fn at(&self, address: u64) -> Option<Slot> {
        self.around(address).filter(|slot| slot.address == address)
    }

    /// Address behind the last byte of a slot.
    pub fn end(&self, slot: Slot) -> u64 {
        slot.address + self[slot.class].bytes
    }
}

impl Index<Class> for SlotMap {
    type Output = SlotRange;

    fn index(&self, class: Class) -> &SlotRange {
        match class {
            Class::Small => &self.small,
            Class::Large => &self.large,
        }
    }
}

/// A slot of the packet buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Its size.
    pub class: Class,
    /// Address of its first byte.
    pub address: u64,
}

#[cfg(test)]
mod tests {
    use super::{Class, SlotMap};

    #[test]
    fn slots_fill_the_buffer() {
        let start = 0x1c10_0000;
        let slots = SlotMap::new(start, (1536, 256), (128, 1024));
        let mut next = start;
        while next < start + (512 << 10) {
            let slot = slots.at(next).unwrap();
            assert_eq!(slots.around(slots.end(slot) - 1), Some(slot));
            assert_eq!(slots.at(next + 1), None);
            next = slots.end(slot);
        }
        assert_eq!(next, 0x1c18_0000);
        assert_eq!((slots.around(next), slots.around(start - 1)), (None, None));
        assert_eq!(slots[Class::Small].base, 0x1c16_0000);
        assert_eq!(slots.total(), 1280);
    }
}
