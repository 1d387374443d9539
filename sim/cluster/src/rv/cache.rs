//! Decoded instructions of a program memory, so that fetch and decode cost one array access.

use super::instruction::{Instruction, Op};

/// Remembers the decoded instruction at every even address of a program memory.
///
/// It holds no protection: the bus asks it only after it allowed the fetch. Whoever writes to the program memory, be it
/// a store, an atomic operation, a DMA transfer or the host, calls [`DecodeCache::invalidate`] afterwards.
///
/// ```
/// use spinneret_cluster::rv::{DecodeCache, Instruction};
///
/// let mut cache = DecodeCache::new(0x1d00_0000, 0x8000);
/// assert_eq!(cache.get(0x1d00_0100), None);
/// assert_eq!(cache.fill(0x1d00_0100, 0x0015_0513).to_string(), "addi a0, a0, 1");
/// assert_eq!(cache.get(0x1d00_0100), Some(Instruction::decode(0x0015_0513)));
/// cache.invalidate(0x1d00_0103, 1);
/// assert_eq!(cache.get(0x1d00_0100), None);
/// ```
#[derive(Clone, Debug)]
pub struct DecodeCache {
    base: u32,
    entries: Vec<Instruction>,
}

impl DecodeCache {
    /// An empty cache for `len_bytes` of program at `base`, which must be even.
    pub fn new(base: u32, len_bytes: u32) -> Self {
        assert!(
            base.is_multiple_of(2),
            "program memory at {base:#x}: instructions start at even addresses"
        );
        DecodeCache {
            base,
            entries: vec![Instruction::EMPTY; len_bytes.div_ceil(2) as usize],
        }
    }

    /// The instruction at an address, if it is known.
    #[inline(always)]
    pub fn get(&self, address: u32) -> Option<Instruction> {
        let index = (address.wrapping_sub(self.base) >> 1) as usize;
        match self.entries.get(index) {
            Some(instruction) if instruction.op() != Op::Empty => Some(*instruction),
            _ => None,
        }
    }

    /// Decodes and remembers the 32 bits at an address. Outside the memory of the cache it only decodes.
    #[cold]
    pub fn fill(&mut self, address: u32, bits: u32) -> Instruction {
        let instruction = Instruction::decode(bits);
        let index = (address.wrapping_sub(self.base) >> 1) as usize;
        if let Some(entry) = self.entries.get_mut(index) {
            *entry = instruction;
        }
        instruction
    }

    /// Forgets every instruction that has one of these bytes, also a long one that begins in the halfword before.
    #[inline]
    pub fn invalidate(&mut self, address: u32, len_bytes: u32) {
        let base = u64::from(self.base);
        let first = (u64::from(address) & !1).saturating_sub(2).max(base);
        let end = if len_bytes == 0 {
            base
        } else {
            (u64::from(address) + u64::from(len_bytes)).max(base)
        };
        let index = |address: u64| (((address - base).div_ceil(2)) as usize).min(self.entries.len());
        let range = index(first)..index(end);
        if range.start < range.end {
            self.entries[range].fill(Instruction::EMPTY);
        }
    }
}
