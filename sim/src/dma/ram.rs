//! The segmented RAM between the design and the DMA, and the checks of who may access which bytes.

use crate::seed::Seed;
use rand::Rng;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// How the bytes of a RAM are spread over its segments.
///
/// A line is as wide as all segments; byte address a is in line a / (segments * segment_bytes) of segment
/// a / segment_bytes mod segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RamShape {
    /// Number of segments.
    pub segments: u64,
    /// Bytes of a segment in one line.
    pub segment_bytes: u64,
    /// Bytes from address 0 on that the design may use.
    pub bytes: u64,
}

/// The contents of a RAM of one direction, and which words are in use; clones share one state.
///
/// Usage is tracked per word: one line of one segment.
#[derive(Clone, Debug)]
pub struct SegmentedRam {
    shape: RamShape,
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    bytes: Vec<u8>,
    words: Vec<Word>,
}

/// The accesses to a word that are in flight.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// Writes of the design that are not done.
    writes: u32,
    /// Descriptors in flight that cover it.
    transfers: u32,
    /// Whether the DMA has brought data that the design has not read.
    unread: bool,
}

impl RamShape {
    /// How many lines a range of bytes touches.
    pub(super) fn lines(self, address: u64, len: u64) -> u64 {
        let line = self.segments * self.segment_bytes;
        (address + len - 1) / line - address / line + 1
    }

    /// The words that a range of bytes touches.
    fn words(self, address: u64, len: u64) -> Range<usize> {
        let last = (address + len - 1) / self.segment_bytes;
        (address / self.segment_bytes) as usize..last as usize + 1
    }

    /// The word in a line of a segment.
    fn word(self, segment: usize, line: u64) -> Result<usize, String> {
        let word = line * self.segments + segment as u64;
        if word >= self.bytes / self.segment_bytes {
            return Err(format!(
                "line {line:#x} of segment {segment} is beyond the {} bytes that the design may use",
                self.bytes
            ));
        }
        Ok(word as usize)
    }

    /// The bytes of a word, for messages.
    fn name(self, word: usize) -> String {
        let first = word as u64 * self.segment_bytes;
        format!("RAM bytes {first:#x} to {:#x}", first + self.segment_bytes - 1)
    }
}

impl SegmentedRam {
    /// A RAM with garbage that depends on the seed.
    ///
    /// # Panics
    /// If the bytes are no whole number of lines.
    pub fn new(shape: RamShape, seed: Seed) -> Self {
        let line = shape.segments * shape.segment_bytes;
        assert!(
            line > 0 && shape.bytes.is_multiple_of(line),
            "{} bytes are no whole number of lines of {line} bytes",
            shape.bytes
        );
        let mut bytes = vec![0; shape.bytes as usize];
        seed.rng("garbage in the RAM").fill_bytes(&mut bytes);
        let words = vec![Word::default(); (shape.bytes / shape.segment_bytes) as usize];
        let state = State { bytes, words };
        Self {
            shape,
            state: Rc::new(RefCell::new(state)),
        }
    }

    /// How its bytes are spread over its segments.
    pub fn shape(&self) -> RamShape {
        self.shape
    }

    /// Declares that the design will not read these bytes, which the DMA has delivered.
    pub fn release(&self, address: u64, len: u64) {
        let mut state = self.state.borrow_mut();
        for word in &mut state.words[self.shape.words(address, len)] {
            word.unread = false;
        }
    }

    /// The design writes the bytes of a word whose enable is 1; returns the number for
    /// [`write_done`](Self::write_done).
    pub(super) fn design_writes(
        &self,
        segment: usize,
        line: u64,
        data: &[u8],
        enables: u128,
    ) -> Result<usize, String> {
        let number = self.shape.word(segment, line)?;
        let mut state = self.state.borrow_mut();
        let State { bytes, words } = &mut *state;
        if words[number].transfers > 0 {
            let name = self.shape.name(number);
            return Err(format!(
                "{name} are written while a descriptor in flight covers them"
            ));
        }
        words[number].writes += 1;
        let start = number * data.len();
        for (lane, (place, byte)) in bytes[start..].iter_mut().zip(data).enumerate() {
            if enables >> lane & 1 == 1 {
                *place = *byte;
            }
        }
        Ok(number)
    }

    /// A write of the design to a word is done.
    pub(super) fn write_done(&self, word: usize) {
        self.state.borrow_mut().words[word].writes -= 1;
    }

    /// No write of the design is under way any more.
    pub(super) fn forget_writes(&self) {
        for word in &mut self.state.borrow_mut().words {
            word.writes = 0;
        }
    }

    /// The design reads a word; its bytes are added to the vector.
    pub(super) fn design_reads(&self, segment: usize, line: u64, data: &mut Vec<u8>) -> Result<(), String> {
        let number = self.shape.word(segment, line)?;
        let mut state = self.state.borrow_mut();
        let State { bytes, words } = &mut *state;
        if words[number].transfers > 0 {
            let name = self.shape.name(number);
            return Err(format!(
                "{name} are read while a descriptor in flight covers them"
            ));
        }
        words[number].unread = false;
        let size = self.shape.segment_bytes as usize;
        data.extend_from_slice(&bytes[number * size..(number + 1) * size]);
        Ok(())
    }

    /// A descriptor to the host covers these bytes from now on.
    pub(super) fn begin_to_host(&self, address: u64, len: u64) -> Result<(), String> {
        let mut state = self.state.borrow_mut();
        for number in self.shape.words(address, len) {
            let word = &mut state.words[number];
            if word.writes > 0 {
                let name = self.shape.name(number);
                return Err(format!("a descriptor covers {name}, which are not written yet"));
            }
            word.transfers += 1;
        }
        Ok(())
    }

    /// A descriptor from the host covers these bytes from now on.
    pub(super) fn begin_from_host(&self, address: u64, len: u64) -> Result<(), String> {
        let mut state = self.state.borrow_mut();
        for number in self.shape.words(address, len) {
            let word = &mut state.words[number];
            let name = || self.shape.name(number);
            if word.transfers > 0 {
                return Err(format!(
                    "a descriptor covers {}, and so does another in flight",
                    name()
                ));
            }
            if word.unread {
                return Err(format!(
                    "a descriptor covers {}, whose data was not read yet",
                    name()
                ));
            }
            word.transfers += 1;
        }
        Ok(())
    }

    /// A descriptor no longer covers these bytes; `unread` means that the design has to read them.
    pub(super) fn end_transfer(&self, address: u64, len: u64, unread: bool) {
        let mut state = self.state.borrow_mut();
        for word in &mut state.words[self.shape.words(address, len)] {
            word.transfers -= 1;
            word.unread = unread;
        }
    }

    /// No delivered bytes have to be read any more.
    pub(super) fn forget_unread(&self) {
        for word in &mut self.state.borrow_mut().words {
            word.unread = false;
        }
    }

    /// Does something with the bytes in a range.
    pub(super) fn with_bytes<T>(&self, address: u64, len: u64, action: impl FnOnce(&mut [u8]) -> T) -> T {
        let range = address as usize..(address + len) as usize;
        action(&mut self.state.borrow_mut().bytes[range])
    }
}

#[cfg(test)]
mod tests {
    use super::{RamShape, SegmentedRam};
    use crate::seed::Seed;

    const SHAPE: RamShape = RamShape {
        segments: 2,
        segment_bytes: 4,
        bytes: 64,
    };

    fn ram() -> SegmentedRam {
        SegmentedRam::new(SHAPE, Seed(1))
    }

    #[test]
    fn words_alternate_between_segments() {
        let ram = ram();
        assert_eq!(ram.design_writes(0, 1, &[1, 2, 3, 4], 0xf), Ok(2));
        assert_eq!(ram.design_writes(1, 1, &[5, 6, 7, 8], 0xf), Ok(3));
        ram.with_bytes(8, 8, |bytes| assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(ram.design_writes(1, 1, &[9, 9, 9, 9], 0b0101), Ok(3));
        ram.with_bytes(12, 4, |bytes| assert_eq!(bytes, [9, 6, 9, 8]));
        let mut data = Vec::new();
        assert_eq!(ram.design_reads(1, 1, &mut data), Ok(()));
        assert_eq!(data, [9, 6, 9, 8]);
    }

    #[test]
    fn lines_are_counted() {
        for (address, len, lines) in [(0, 1, 1), (0, 8, 1), (7, 2, 2), (8, 16, 2), (15, 18, 4)] {
            assert_eq!(SHAPE.lines(address, len), lines, "{len} bytes at {address}");
        }
    }

    #[test]
    fn accesses_beyond_the_end_are_rejected() {
        let ram = ram();
        assert_eq!(ram.design_writes(1, 7, &[0; 4], 0xf), Ok(15));
        assert_eq!(
            ram.design_reads(0, 8, &mut Vec::new()),
            Err("line 0x8 of segment 0 is beyond the 64 bytes that the design may use".to_owned())
        );
    }

    #[test]
    fn a_descriptor_waits_for_the_writes_of_its_bytes() {
        let ram = ram();
        let word = ram.design_writes(0, 0, &[0; 4], 0xf).unwrap();
        assert_eq!(ram.begin_to_host(4, 4), Ok(()), "another word");
        assert_eq!(
            ram.begin_to_host(3, 1),
            Err("a descriptor covers RAM bytes 0x0 to 0x3, which are not written yet".to_owned())
        );
        ram.write_done(word);
        assert_eq!(ram.begin_to_host(3, 1), Ok(()));
    }

    #[test]
    fn bytes_of_a_descriptor_in_flight_must_not_be_accessed() {
        let ram = ram();
        ram.begin_to_host(3, 2).unwrap();
        ram.begin_to_host(0, 1).unwrap();
        ram.end_transfer(3, 2, false);
        assert_eq!(
            ram.design_writes(0, 0, &[0; 4], 1),
            Err("RAM bytes 0x0 to 0x3 are written while a descriptor in flight covers them".to_owned())
        );
        assert_eq!(ram.design_writes(1, 0, &[0; 4], 1), Ok(1));
        ram.end_transfer(0, 1, false);
        assert_eq!(ram.design_writes(0, 0, &[0; 4], 1), Ok(0));
    }

    #[test]
    fn delivered_data_must_be_read_before_the_next_transfer() {
        let ram = ram();
        ram.begin_from_host(0, 8).unwrap();
        assert_eq!(
            ram.begin_from_host(7, 2),
            Err("a descriptor covers RAM bytes 0x4 to 0x7, and so does another in flight".to_owned())
        );
        assert_eq!(
            ram.design_reads(0, 0, &mut Vec::new()),
            Err("RAM bytes 0x0 to 0x3 are read while a descriptor in flight covers them".to_owned())
        );
        ram.end_transfer(0, 8, true);
        assert_eq!(ram.design_reads(0, 0, &mut Vec::new()), Ok(()));
        assert_eq!(ram.begin_from_host(0, 4), Ok(()));
        assert_eq!(
            ram.begin_from_host(4, 4),
            Err("a descriptor covers RAM bytes 0x4 to 0x7, whose data was not read yet".to_owned())
        );
        ram.release(4, 4);
        assert_eq!(ram.begin_from_host(4, 4), Ok(()));
    }

    #[test]
    fn garbage_depends_on_the_seed() {
        let bytes = |seed| SegmentedRam::new(SHAPE, Seed(seed)).with_bytes(0, 64, |bytes| bytes.to_vec());
        assert_eq!(bytes(1), bytes(1));
        assert_ne!(bytes(1), bytes(2));
    }
}
