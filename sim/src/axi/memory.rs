//! A memory that knows which of its bytes were written.

use std::collections::BTreeMap;

/// Bytes that are kept together.
const PAGE: usize = 4096;

/// A memory of 2^64 bytes that knows which of them were written.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pages: BTreeMap<u64, Box<Page>>,
}

#[derive(Clone, Debug)]
struct Page {
    bytes: [u8; PAGE],
    written: [bool; PAGE],
}

impl Memory {
    /// Writes the bytes whose strobe (bit n for byte n, at most 128 bytes) is 1.
    pub fn write(&mut self, address: u64, bytes: &[u8], strobes: u128) {
        for (lane, byte) in bytes.iter().enumerate().take(128) {
            if strobes >> lane & 1 == 1 {
                let (page, offset) = locate(address.wrapping_add(lane as u64));
                let page = self.pages.entry(page).or_insert_with(Page::new);
                page.bytes[offset] = *byte;
                page.written[offset] = true;
            }
        }
    }

    /// The byte at an address; `None` if it was never written.
    pub fn byte(&self, address: u64) -> Option<u8> {
        let (page, offset) = locate(address);
        let page = self.pages.get(&page)?;
        page.written[offset].then_some(page.bytes[offset])
    }

    /// The bytes from an address on; `None` for those that were never written.
    pub fn read(&self, address: u64, count: usize) -> Vec<Option<u8>> {
        let byte = |offset: usize| self.byte(address.wrapping_add(offset as u64));
        (0..count).map(byte).collect()
    }

    /// How many bytes were written, each counted once.
    pub fn written(&self) -> usize {
        let count = |page: &Page| page.written.iter().filter(|written| **written).count();
        self.pages.values().map(|page| count(page)).sum()
    }

    /// Forgets bytes, as if they had never been written.
    pub fn forget(&mut self, address: u64, count: usize) {
        for offset in 0..count as u64 {
            let (page, offset) = locate(address.wrapping_add(offset));
            if let Some(page) = self.pages.get_mut(&page) {
                page.written[offset] = false;
            }
        }
    }
}

impl Page {
    fn new() -> Box<Self> {
        Box::new(Self {
            bytes: [0; PAGE],
            written: [false; PAGE],
        })
    }
}

/// The page of an address, and the byte within it.
fn locate(address: u64) -> (u64, usize) {
    (address / PAGE as u64, address as usize % PAGE)
}

#[cfg(test)]
mod tests {
    use super::Memory;

    #[test]
    fn only_strobed_bytes_are_written() {
        let mut memory = Memory::default();
        memory.write(0xffe, &[1, 2, 3, 4], 0b1101);
        assert_eq!(memory.read(0xffe, 4), [Some(1), None, Some(3), Some(4)]);
        assert_eq!((memory.written(), memory.byte(0x1002)), (3, None));
        memory.write(0x1000, &[9], 1);
        assert_eq!((memory.written(), memory.byte(0x1000)), (3, Some(9)));
        memory.forget(0xffe, 3);
        assert_eq!(memory.read(0xffe, 4), [None, None, None, Some(4)]);
    }
}
