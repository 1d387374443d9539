//! Descriptors, and what is said about them.

use super::page::PAGE_BYTES;
use super::ram::RamShape;

/// One transfer, as the design asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Address of the first byte in host memory.
    pub dma_addr: u64,
    /// Address of the first byte in the RAM.
    pub ram_addr: u64,
    /// Number of bytes.
    pub len: u64,
    /// By what the status names it.
    pub tag: u64,
}

/// A descriptor that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// What is asked for.
    pub descriptor: Descriptor,
    /// The code of the status that it will get, unless the host refuses it; 0 is success.
    pub code: u8,
    /// How many of its bytes are moved, from the first on: all of them unless it fails.
    pub moved: u64,
    /// The cycle in which it was taken.
    pub cycle: u64,
}

/// A status that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The tag of the descriptor.
    pub tag: u64,
    /// How it went; 0 is success.
    pub code: u8,
    /// Whether no descriptor with that tag was in flight.
    pub stray: bool,
    /// The cycle in which it was valid.
    pub cycle: u64,
}

impl Descriptor {
    /// Checks what every descriptor has to obey; the tag is one of so many.
    pub(super) fn check(&self, ram: RamShape, tags: u64) -> Result<(), String> {
        let Self {
            dma_addr,
            ram_addr,
            len,
            tag,
        } = *self;
        if len == 0 {
            return Err("a descriptor has no bytes".to_owned());
        }
        if dma_addr % PAGE_BYTES + len > PAGE_BYTES {
            return Err(format!(
                "a descriptor of {len} bytes at {dma_addr:#x} leaves the page of its first byte"
            ));
        }
        if ram_addr + len > ram.bytes {
            return Err(format!(
                "a descriptor of {len} bytes at {ram_addr:#x} of the RAM leaves the {} bytes that it may use",
                ram.bytes
            ));
        }
        if tag >= tags {
            return Err(format!(
                "tag {tag} of a descriptor is none of the {tags} that it may have"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Descriptor, RamShape};

    const RAM: RamShape = RamShape {
        segments: 2,
        segment_bytes: 32,
        bytes: 1024,
    };

    fn check(dma_addr: u64, ram_addr: u64, len: u64, tag: u64) -> Result<(), String> {
        let descriptor = Descriptor {
            dma_addr,
            ram_addr,
            len,
            tag,
        };
        descriptor.check(RAM, 4)
    }

    #[test]
    fn what_the_dma_can_do_is_allowed() {
        for (dma_addr, ram_addr, len, tag) in [
            (0, 0, 1, 0),
            (0xfff, 1023, 1, 3),
            (0xc00, 0, 1024, 1),
            (u64::MAX - 9, 5, 10, 2),
        ] {
            assert_eq!(check(dma_addr, ram_addr, len, tag), Ok(()));
        }
    }

    #[test]
    fn what_it_must_not_do_is_named() {
        let text = |dma_addr, ram_addr, len, tag| check(dma_addr, ram_addr, len, tag).unwrap_err();
        assert_eq!(text(0, 0, 0, 0), "a descriptor has no bytes");
        assert_eq!(
            text(0xfff, 0, 2, 0),
            "a descriptor of 2 bytes at 0xfff leaves the page of its first byte"
        );
        assert_eq!(
            text(0, 1020, 5, 0),
            "a descriptor of 5 bytes at 0x3fc of the RAM leaves the 1024 bytes that it may use"
        );
        assert_eq!(
            text(0, 0, 1, 4),
            "tag 4 of a descriptor is none of the 4 that it may have"
        );
    }
}
