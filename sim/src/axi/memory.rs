//! A sparse memory that tracks which of its bytes were written.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::iter;
use std::rc::Rc;

/// Bytes per page.
const PAGE: usize = 4096;

/// A memory of 2^64 bytes that tracks which of them were written.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pages: BTreeMap<u64, Box<Page>>,
}

/// A memory that several bus models read and write.
pub type SharedMemory = Rc<RefCell<Memory>>;

#[derive(Clone, Debug)]
struct Page {
    bytes: [u8; PAGE],
    written: [bool; PAGE],
}

impl Memory {
    /// Writes the bytes whose strobe (bit n for byte n, at most 128 bytes) is 1.
    pub fn write(&mut self, address: u64, bytes: &[u8], strobes: u128) {
        let mut strobes = strobes;
        for (number, part) in runs(address, bytes.len().min(128)) {
            // A page that no strobe names is not made.
            if strobes & (u128::MAX >> (128 - part.count)) != 0 {
                let page = self.pages.entry(number).or_insert_with(Page::new);
                page.write(part.offset, &bytes[part.start..part.start + part.count], strobes);
            }
            strobes = strobes.checked_shr(part.count as u32).unwrap_or(0);
        }
    }

    /// The first address from there on whose byte differs from the given one, or was never written; `None` if all
    /// match.
    pub fn first_difference(&self, address: u64, bytes: &[u8]) -> Option<u64> {
        for (number, part) in runs(address, bytes.len()) {
            let wanted = &bytes[part.start..part.start + part.count];
            let here = part.offset..part.offset + part.count;
            let wrong = match self.pages.get(&number) {
                None => Some(0),
                Some(page)
                    if page.bytes[here.clone()] == *wanted
                        && page.written[here.clone()].iter().all(|w| *w) =>
                {
                    None
                }
                Some(page) => here
                    .clone()
                    .zip(wanted)
                    .position(|(offset, byte)| !page.written[offset] || page.bytes[offset] != *byte),
            };
            if let Some(wrong) = wrong {
                return Some(address.wrapping_add((part.start + wrong) as u64));
            }
        }
        None
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

    /// Copies the bytes from an address on over the given ones; bytes that were never written leave the buffer
    /// unchanged.
    pub fn overlay(&self, address: u64, bytes: &mut [u8]) {
        for (number, part) in runs(address, bytes.len()) {
            if let Some(page) = self.pages.get(&number) {
                page.overlay(part.offset, &mut bytes[part.start..part.start + part.count]);
            }
        }
    }

    /// Writes bytes of any number.
    pub fn fill(&mut self, address: u64, bytes: &[u8]) {
        for (number, part) in bytes.chunks(128).enumerate() {
            self.write(address.wrapping_add(128 * number as u64), part, u128::MAX);
        }
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

    /// Copies the bytes from an offset on over the given ones, where they were written.
    fn overlay(&self, offset: usize, bytes: &mut [u8]) {
        let here = offset..offset + bytes.len();
        let written = &self.written[here.clone()];
        if written.iter().all(|written| *written) {
            bytes.copy_from_slice(&self.bytes[here]);
            return;
        }
        for ((byte, stored), written) in bytes.iter_mut().zip(&self.bytes[here]).zip(written) {
            if *written {
                *byte = *stored;
            }
        }
    }

    /// Writes the bytes whose strobe is 1, from an offset on.
    fn write(&mut self, offset: usize, bytes: &[u8], strobes: u128) {
        for (lane, byte) in bytes.iter().enumerate() {
            if strobes >> lane & 1 == 1 {
                self.bytes[offset + lane] = *byte;
                self.written[offset + lane] = true;
            }
        }
    }
}

/// A range of bytes within one page: where it is in the page, and in the whole access.
struct Run {
    offset: usize,
    start: usize,
    count: usize,
}

/// Bytes from an address on, page by page, each with the number of its page.
fn runs(address: u64, count: usize) -> impl Iterator<Item = (u64, Run)> {
    let mut start = 0;
    iter::from_fn(move || {
        let (page, offset) = locate(address.wrapping_add(start as u64));
        let here = (PAGE - offset).min(count - start);
        let run = Run {
            offset,
            start,
            count: here,
        };
        start += here;
        (here > 0).then_some((page, run))
    })
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
        assert_eq!(memory.first_difference(0x1000, &[9, 4]), None);
        assert_eq!(memory.first_difference(0x1000, &[9, 5]), Some(0x1001));
        assert_eq!(
            memory.first_difference(0xffe, &[1, 2, 9, 4]),
            Some(0xfff),
            "never written"
        );
        assert_eq!(memory.first_difference(0x2000, &[0]), Some(0x2000), "no page");
        memory.forget(0xffe, 3);
        assert_eq!(memory.read(0xffe, 4), [None, None, None, Some(4)]);
    }

    #[test]
    fn only_written_bytes_are_copied() {
        let mut memory = Memory::default();
        memory.fill(0xf80, &[7; 200]);
        memory.forget(0xfff, 1);
        let mut bytes = [9; 4];
        memory.overlay(0xffe, &mut bytes);
        assert_eq!(bytes, [7, 9, 7, 7]);
        let mut bytes = [9; 4];
        memory.overlay(0x1046, &mut bytes);
        assert_eq!(bytes, [7, 7, 9, 9]);
        memory.overlay(u64::MAX - 1, &mut bytes);
        assert_eq!(bytes, [7, 7, 9, 9], "no page at either end of all addresses");
    }
}
