//! The bus of a hart, a cache of decoded instructions, and plain memory as a bus.

use spinneret_isa::{Instruction, Op};

/// The privilege of an access, and of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Privilege {
    /// Mode of handlers; the bus decides what they may access.
    User,
    /// Mode of the runtime.
    Machine,
}

/// Width of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits.
    Half,
    /// 32 bits.
    Word,
}

impl Width {
    /// The number of bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Width::Byte => 1,
            Width::Half => 2,
            Width::Word => 4,
        }
    }
}

/// Result of an access that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The access is done.
    Done {
        /// The value read, in the low bits, zero-extended. The hart ignores it after a store.
        value: u32,
        /// Clocks beyond those of the instruction itself ([`super::Costs`]).
        clocks: u32,
    },
    /// The device does not answer yet. The access must have had no effect: the hart tries the instruction again.
    Wait,
}

/// Support of a memory for reservations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reservations {
    /// It keeps them, as the A extension has it.
    Kept,
    /// It does not know them: `sc.w` always stores, and gives the word that was there.
    Ignored,
    /// `lr.w` and `sc.w` are access faults.
    Refused,
}

/// The access is not allowed, or there is nothing at the address. The hart takes an access fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault;

/// Memories and devices, as one hart sees them.
///
/// Addresses are bytes and data is little-endian. The hart asks only for naturally aligned addresses (and even ones for
/// [`Bus::fetch`]). `who` is the privilege of the access, for protection.
pub trait Bus {
    /// 32 bits of program at an even address. The upper half may be anything if the lower half holds a compressed
    /// instruction; if it holds the beginning of a longer one, both halves must be readable.
    fn fetch(&mut self, address: u32, who: Privilege) -> Result<u32, Fault>;

    /// The instruction at an even address, if the bus remembers it decoded and allows the fetch; else the hart calls
    /// [`Bus::fetch`], and then [`Bus::remember`].
    ///
    /// The default caches nothing. A fast bus has a [`super::DecodeCache`] for each program memory.
    #[inline]
    fn decoded(&self, _address: u32, _who: Privilege) -> Option<&Instruction> {
        None
    }

    /// Caches an instruction that was fetched and decoded.
    fn remember(&mut self, _address: u32, _instruction: Instruction) {}

    /// Reads; the value is zero-extended.
    fn load(&mut self, address: u32, width: Width, who: Privilege) -> Result<Access, Fault>;

    /// Writes the low bits of `value`.
    fn store(&mut self, address: u32, width: Width, value: u32, who: Privilege) -> Result<Access, Fault>;

    /// Returns what `lr.w` and `sc.w` do at an address. Where it is [`Reservations::Refused`], `sc.w` traps even without a
    /// reservation.
    fn reserves(&self, _address: u32, _who: Privilege) -> Reservations {
        Reservations::Kept
    }

    /// Atomically replaces a word by `change` of it, and returns the old value.
    ///
    /// If the result is [`Access::Wait`] or a fault, nothing was written.
    fn modify(
        &mut self,
        address: u32,
        who: Privilege,
        change: &mut dyn FnMut(u32) -> u32,
    ) -> Result<Access, Fault>;
}

/// A cache of decoded instructions, one for every even address of a program memory.
///
/// It has no protection: the bus uses it only after it has allowed the fetch. Call [`DecodeCache::invalidate`] after every
/// write to the program memory: stores, atomic operations, DMA transfers, accesses of the host.
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

    /// Returns the instruction at an address, if it is cached.
    #[inline(always)]
    pub fn get(&self, address: u32) -> Option<&Instruction> {
        let index = (address.wrapping_sub(self.base) >> 1) as usize;
        self.entries
            .get(index)
            .filter(|instruction| instruction.op() != Op::Empty)
    }

    /// Caches the instruction at an address; does nothing outside of the memory of the cache.
    pub fn insert(&mut self, address: u32, instruction: Instruction) {
        let index = (address.wrapping_sub(self.base) >> 1) as usize;
        if let Some(entry) = self.entries.get_mut(index) {
            *entry = instruction;
        }
    }

    /// Removes every instruction that has one of these bytes, also a long one that begins in the halfword before.
    #[inline]
    pub fn invalidate(&mut self, address: u32, len_bytes: u32) {
        // Fast path: most stores are far from any program. The last instruction may extend two bytes beyond the memory.
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

/// Plain memory for program and data, without protection and without wait states.
///
/// ```
/// use spinneret_cluster::rv::{Costs, Hart, Ram, Step};
///
/// let mut ram = Ram::new(0x1000, 0x100);
/// ram.write(0x1000, &0x0015_0513_u32.to_le_bytes()); // addi a0, a0, 1
/// let mut hart = Hart::new(0, 0x1000);
/// assert_eq!(hart.step(&mut ram, &Costs::default(), 0), Step::Retired { clocks: 1 });
/// assert_eq!(hart.x(10), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Ram {
    base: u32,
    bytes: Vec<u8>,
    decoded: DecodeCache,
}

impl Ram {
    /// A memory of zeroes; base and length are multiples of 4.
    pub fn new(base: u32, len_bytes: u32) -> Self {
        assert!(
            base.is_multiple_of(4) && len_bytes.is_multiple_of(4),
            "a memory has whole words"
        );
        Ram {
            base,
            bytes: vec![0; len_bytes as usize],
            decoded: DecodeCache::new(base, len_bytes),
        }
    }

    /// Returns all bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Copies bytes to an address. Panics outside the memory.
    pub fn write(&mut self, address: u32, bytes: &[u8]) {
        let start = (address - self.base) as usize;
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        self.decoded.invalidate(address, bytes.len() as u32);
    }

    /// The bytes at an address. Panics outside the memory.
    pub fn read(&self, address: u32, len_bytes: usize) -> &[u8] {
        let start = (address - self.base) as usize;
        &self.bytes[start..start + len_bytes]
    }

    #[inline(always)]
    fn get<const N: usize>(&self, address: u32) -> Option<[u8; N]> {
        self.bytes
            .get(address.wrapping_sub(self.base) as usize..)?
            .first_chunk()
            .copied()
    }

    #[inline(always)]
    fn put<const N: usize>(&mut self, address: u32, value: [u8; N]) -> Option<()> {
        let start = address.wrapping_sub(self.base) as usize;
        *self.bytes.get_mut(start..)?.first_chunk_mut()? = value;
        Some(())
    }
}

impl Bus for Ram {
    fn fetch(&mut self, address: u32, _: Privilege) -> Result<u32, Fault> {
        let low = u16::from_le_bytes(self.get(address).ok_or(Fault)?);
        if low & 3 != 3 {
            return Ok(u32::from(low));
        }
        self.get(address).map(u32::from_le_bytes).ok_or(Fault)
    }

    #[inline]
    fn decoded(&self, address: u32, _: Privilege) -> Option<&Instruction> {
        self.decoded.get(address)
    }

    fn remember(&mut self, address: u32, instruction: Instruction) {
        self.decoded.insert(address, instruction);
    }

    #[inline]
    fn load(&mut self, address: u32, width: Width, _: Privilege) -> Result<Access, Fault> {
        let value = match width {
            Width::Byte => self.get(address).map(|[byte]: [u8; 1]| u32::from(byte)),
            Width::Half => self.get(address).map(|half| u32::from(u16::from_le_bytes(half))),
            Width::Word => self.get(address).map(u32::from_le_bytes),
        };
        Ok(Access::Done {
            value: value.ok_or(Fault)?,
            clocks: 0,
        })
    }

    #[inline]
    fn store(&mut self, address: u32, width: Width, value: u32, _: Privilege) -> Result<Access, Fault> {
        match width {
            Width::Byte => self.put(address, [value as u8]),
            Width::Half => self.put(address, (value as u16).to_le_bytes()),
            Width::Word => self.put(address, value.to_le_bytes()),
        }
        .ok_or(Fault)?;
        self.decoded.invalidate(address, width.bytes());
        Ok(Access::Done { value: 0, clocks: 0 })
    }

    fn modify(
        &mut self,
        address: u32,
        who: Privilege,
        change: &mut dyn FnMut(u32) -> u32,
    ) -> Result<Access, Fault> {
        let old = self.get(address).map(u32::from_le_bytes).ok_or(Fault)?;
        self.store(address, Width::Word, change(old), who)?;
        Ok(Access::Done {
            value: old,
            clocks: 0,
        })
    }
}
