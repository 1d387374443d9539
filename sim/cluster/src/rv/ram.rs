//! Plain memory as a bus: for tests and measurements, and as an example of one.

use super::{Access, Bus, DecodeCache, Fault, Instruction, Privilege, Width};

/// One memory at some address, for program and data, without protection and without waiting.
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

    /// All of it.
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
