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
/// cache.insert(0x1d00_0100, Instruction::decode(0x0015_0513));
/// assert_eq!(cache.get(0x1d00_0100).unwrap().to_string(), "addi a0, a0, 1");
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
    pub fn get(&self, address: u32) -> Option<&Instruction> {
        let index = (address.wrapping_sub(self.base) >> 1) as usize;
        self.entries
            .get(index)
            .filter(|instruction| instruction.op() != Op::Empty)
    }

    /// Remembers the instruction at an address; outside the memory of the cache it does nothing.
    pub fn insert(&mut self, address: u32, instruction: Instruction) {
        let index = (address.wrapping_sub(self.base) >> 1) as usize;
        if let Some(entry) = self.entries.get_mut(index) {
            *entry = instruction;
        }
    }

    /// Forgets every instruction that has one of these bytes, also a long one that begins in the halfword before.
    #[inline]
    pub fn invalidate(&mut self, address: u32, len_bytes: u32) {
        // Most stores are far from any program: then these comparisons are all. The last instruction may reach two bytes
        // beyond the memory.
        let len = self.entries.len() as u32 * 2 + 2;
        if address.wrapping_sub(self.base) < len || self.base.wrapping_sub(address) < len_bytes {
            self.forget(address, len_bytes);
        }
    }

    /// Of `address` and `base`, one lies within the bytes that start at the other.
    fn forget(&mut self, address: u32, len_bytes: u32) {
        let offset = i64::from(address) - i64::from(self.base);
        let end = (offset + i64::from(len_bytes) + 1).clamp(0, self.entries.len() as i64 * 2) / 2;
        // Halves round down, so an odd address is in the middle of the halfword before.
        let first = (offset.div_euclid(2) - 1).max(0);
        if len_bytes != 0 && first < end {
            self.entries[first as usize..end as usize].fill(Instruction::EMPTY);
        }
    }
}
