//! The packet buffer: where slots are, and who has them.

/// Start of the packet buffer.
pub const BUFFER_START: u64 = 0x1c10_0000;

/// The size of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// For frames of up to two beats.
    Small,
    /// For all others.
    Large,
}

impl Class {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Small, Self::Large];

    /// Bytes of a slot.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Small => 128,
            Self::Large => 1536,
        }
    }

    /// Slots of this class.
    pub fn count(self) -> u64 {
        match self {
            Self::Small => 1024,
            Self::Large => 256,
        }
    }

    /// Address of the first slot; the small ones are behind the large ones.
    pub fn base(self) -> u64 {
        match self {
            Self::Large => BUFFER_START,
            Self::Small => BUFFER_START + Self::Large.bytes() * Self::Large.count(),
        }
    }

    /// Address of a slot.
    pub fn address(self, number: u64) -> u64 {
        self.base() + number * self.bytes()
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

impl Slot {
    /// The slot that an address lies in, if there is one.
    pub fn around(address: u64) -> Option<Self> {
        let inside = |class: &Class| (class.base()..class.address(class.count())).contains(&address);
        let class = Class::ALL.into_iter().find(inside)?;
        let offset = (address - class.base()) % class.bytes();
        Some(Self {
            class,
            address: address - offset,
        })
    }

    /// The slot that starts at an address, if there is one.
    pub fn at(address: u64) -> Option<Self> {
        Self::around(address).filter(|slot| slot.address == address)
    }

    /// Address behind its last byte.
    pub fn end(self) -> u64 {
        self.address + self.class.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::{BUFFER_START, Class, Slot};

    #[test]
    fn slots_fill_the_buffer() {
        let mut next = BUFFER_START;
        while next < BUFFER_START + (512 << 10) {
            let slot = Slot::at(next).unwrap();
            assert_eq!(Slot::around(slot.end() - 1), Some(slot));
            assert_eq!(Slot::at(next + 1), None);
            next = slot.end();
        }
        assert_eq!(next, 0x1c18_0000);
        assert_eq!((Slot::around(next), Slot::around(BUFFER_START - 1)), (None, None));
        assert_eq!(Class::Small.base(), 0x1c16_0000);
    }
}
