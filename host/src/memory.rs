//! Memory that handlers and the application share.

use crate::device::{Area, Device, DeviceError, OpenDevice};
use crate::error::{Error, ErrorKind, In as _};
use crate::nic::Nic;
use std::ptr::NonNull;

/// Word size of the cluster's memory, in bytes.
const WORD: u32 = 4;

mod sealed {
    pub trait Sealed {}
}

/// An integer that is accessed atomically, in little-endian order.
pub trait Word: sealed::Sealed + Copy {
    /// Its bytes.
    const BYTES: usize;
    /// Converts from the value in memory.
    fn from_bits(bits: u64) -> Self;
    /// Converts to the value in memory.
    fn to_bits(self) -> u64;
}

macro_rules! words {
    ($($type:ty),*) => { $(
        impl sealed::Sealed for $type {}
        impl Word for $type {
            const BYTES: usize = size_of::<$type>();

            fn from_bits(bits: u64) -> Self {
                bits as $type
            }

            fn to_bits(self) -> u64 {
                self as u64
            }
        }
    )* };
}
words!(u32, i32, u64, i64);

/// Host memory of a context. Accesses fail after the context is closed.
#[derive(Debug)]
pub struct HostMemory<D: Device = OpenDevice> {
    nic: Nic<D>,
    context: u32,
    area: Area,
}

/// Memory on the NIC: L2 of a context's handlers, or a variable.
#[derive(Debug)]
pub struct HandlerMemory<D: Device = OpenDevice> {
    nic: Nic<D>,
    context: u32,
    what: &'static str,
    address: u32,
    bytes: u32,
}

impl<D: Device> HostMemory<D> {
    pub(crate) fn new(nic: Nic<D>, context: u32, area: Area) -> Self {
        Self { nic, context, area }
    }

    /// Returns its size in bytes.
    pub fn len(&self) -> u32 {
        self.area.bytes
    }

    /// Whether its size is 0.
    pub fn is_empty(&self) -> bool {
        self.area.bytes == 0
    }

    /// Returns its address on the NIC, which handlers find in their task.
    pub fn address(&self) -> u64 {
        self.area.address
    }

    /// Returns a pointer to the memory for zero-copy access: [`len`](Self::len) bytes, valid until the context is dropped. Handlers
    /// write to it at any time; read words that signal completion with [`load`](Self::load).
    ///
    /// # Errors
    /// There is no host memory, or its context is closed.
    pub fn pointer(&self) -> Result<NonNull<u8>, Error> {
        let pointer = self.nic.lock().device.host_pointer(self.context);
        let none = || DeviceError::NoMemory("the context has no host memory".to_owned());
        pointer.ok_or_else(none).of("HostMemory::pointer", self.context)
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// The bytes are not within the memory, or the device has disappeared.
    pub fn read(&self, offset: u32, bytes: &mut [u8]) -> Result<(), Error> {
        const CALL: &str = "HostMemory::read";
        self.check(offset, bytes.len()).of(CALL, self.context)?;
        let mut state = self.nic.lock();
        state
            .device
            .read_host(self.context, offset, bytes)
            .of(CALL, self.context)
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn write(&self, offset: u32, bytes: &[u8]) -> Result<(), Error> {
        const CALL: &str = "HostMemory::write";
        self.check(offset, bytes.len()).of(CALL, self.context)?;
        let mut state = self.nic.lock();
        state
            .device
            .write_host(self.context, offset, bytes)
            .of(CALL, self.context)
    }

    /// Reads a word atomically, at a multiple of its size.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn load<W: Word>(&self, offset: u32) -> Result<W, Error> {
        aligned::<W>("host memory", offset).of("HostMemory::load", self.context)?;
        let mut bytes = [0; 8];
        self.read(offset, &mut bytes[..W::BYTES])?;
        Ok(W::from_bits(u64::from_le_bytes(bytes)))
    }

    /// Writes a word atomically, at a multiple of its size.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn store<W: Word>(&self, offset: u32, value: W) -> Result<(), Error> {
        aligned::<W>("host memory", offset).of("HostMemory::store", self.context)?;
        self.write(offset, &value.to_bits().to_le_bytes()[..W::BYTES])
    }

    fn check(&self, offset: u32, bytes: usize) -> Result<(), ErrorKind> {
        within("host memory", self.area.bytes, offset, bytes)
    }
}

impl<D: Device> HandlerMemory<D> {
    pub(crate) fn new(nic: Nic<D>, context: u32, what: &'static str, address: u32, bytes: u32) -> Self {
        Self {
            nic,
            context,
            what,
            address,
            bytes,
        }
    }

    /// Returns its size in bytes.
    pub fn len(&self) -> u32 {
        self.bytes
    }

    /// Whether its size is 0.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Returns its address in the cluster.
    pub fn address(&self) -> u32 {
        self.address
    }

    /// Reads bytes, word by word.
    ///
    /// # Errors
    /// The bytes are not within the memory, or the NIC does not answer.
    pub fn read(&self, offset: u32, bytes: &mut [u8]) -> Result<(), Error> {
        const CALL: &str = "HandlerMemory::read";
        self.check(offset, bytes.len()).of(CALL, self.context)?;
        let address = self.address + offset;
        let first = address / WORD * WORD;
        let skipped = (address - first) as usize;
        let mut words = vec![0; (skipped + bytes.len()).next_multiple_of(WORD as usize)];
        self.read_words(first, &mut words).of(CALL, self.context)?;
        bytes.copy_from_slice(&words[skipped..skipped + bytes.len()]);
        Ok(())
    }

    /// Writes bytes, word by word. A partial first or last word is read, modified and written back, so handlers should not write
    /// to its other bytes at the same time.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn write(&self, offset: u32, bytes: &[u8]) -> Result<(), Error> {
        const CALL: &str = "HandlerMemory::write";
        self.check(offset, bytes.len()).of(CALL, self.context)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let address = self.address + offset;
        let first = address / WORD * WORD;
        let skipped = (address - first) as usize;
        let mut words = vec![0; (skipped + bytes.len()).next_multiple_of(WORD as usize)];
        let last = words.len() - WORD as usize;
        for edge in [0, last] {
            let word = &mut words[edge..edge + WORD as usize];
            self.read_words(first + edge as u32, word)
                .of(CALL, self.context)?;
        }
        words[skipped..skipped + bytes.len()].copy_from_slice(bytes);
        self.write_words(first, &words).of(CALL, self.context)
    }

    /// Reads a word. A word of 8 bytes is read in two halves, the lower half first.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn load<W: Word>(&self, offset: u32) -> Result<W, Error> {
        aligned::<W>(self.what, offset).of("HandlerMemory::load", self.context)?;
        let mut bytes = [0; 8];
        self.read(offset, &mut bytes[..W::BYTES])?;
        Ok(W::from_bits(u64::from_le_bytes(bytes)))
    }

    /// Writes a word. A word of 8 bytes is written in two halves, the upper half first, so that a reader that waits for the
    /// lower half sees both.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn store<W: Word>(&self, offset: u32, value: W) -> Result<(), Error> {
        const CALL: &str = "HandlerMemory::store";
        aligned::<W>(self.what, offset).of(CALL, self.context)?;
        self.check(offset, W::BYTES).of(CALL, self.context)?;
        let bytes = value.to_bits().to_le_bytes();
        let halves = bytes[..W::BYTES].chunks(WORD as usize).enumerate().rev();
        for (half, bytes) in halves {
            let address = self.address + offset + half as u32 * WORD;
            self.write_words(address, bytes).of(CALL, self.context)?;
        }
        Ok(())
    }

    /// Clears the memory.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn clear(&self) -> Result<(), Error> {
        self.write(0, &vec![0; self.bytes as usize])
    }

    fn check(&self, offset: u32, bytes: usize) -> Result<(), ErrorKind> {
        within(self.what, self.bytes, offset, bytes)
    }

    fn read_words(&self, address: u32, bytes: &mut [u8]) -> Result<(), ErrorKind> {
        let count = bytes.len();
        let read = self.nic.lock().device.read_cluster(address, bytes);
        read.map_err(|source| failed("read", address, count, source))
    }

    fn write_words(&self, address: u32, bytes: &[u8]) -> Result<(), ErrorKind> {
        let written = self.nic.lock().device.write_cluster(address, bytes);
        written.map_err(|source| failed("write", address, bytes.len(), source))
    }
}

fn failed(action: &'static str, address: u32, bytes: usize, source: DeviceError) -> ErrorKind {
    ErrorKind::Cluster {
        action,
        address,
        bytes,
        source,
    }
}

fn within(what: &'static str, size: u32, offset: u32, bytes: usize) -> Result<(), ErrorKind> {
    let end = u64::from(offset) + bytes as u64;
    match end <= u64::from(size) {
        true => Ok(()),
        false => Err(ErrorKind::Outside {
            what,
            offset,
            bytes,
            size,
        }),
    }
}

fn aligned<W: Word>(what: &'static str, offset: u32) -> Result<(), ErrorKind> {
    match (offset as usize).is_multiple_of(W::BYTES) {
        true => Ok(()),
        false => Err(ErrorKind::Misaligned {
            what,
            offset,
            bytes: W::BYTES,
        }),
    }
}
