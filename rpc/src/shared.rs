//! Memory for a buffer: of this process's threads, or of several processes.

use crate::layout::ALIGNMENT;
use crate::memory::{Memory, Words};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::AtomicU32;

/// Words of 32 bits in the buffer's alignment.
const WORDS_A_LINE: usize = ALIGNMENT / size_of::<AtomicU32>();

#[derive(Debug, Default)]
#[repr(C, align(64))]
struct Line([AtomicU32; WORDS_A_LINE]);

/// Memory that threads of this process share, all zero at first.
#[derive(Debug)]
pub struct Buffer(Box<[Line]>);

impl Buffer {
    /// Allocates at least `bytes` bytes.
    pub fn new(bytes: u32) -> Self {
        let lines = (bytes as usize).div_ceil(ALIGNMENT);
        Self((0..lines).map(|_| Line::default()).collect())
    }

    /// As the protocol reaches it.
    pub fn words(&self) -> Words<'_> {
        const { assert!(size_of::<Line>() == size_of::<[AtomicU32; WORDS_A_LINE]>()) };
        let first = self.0.as_ptr().cast::<AtomicU32>();
        // SAFETY: a line is exactly its words, so the lines are an array of them, which lives as long as `self`; only
        // atomic operations change words.
        Words::new(unsafe { slice::from_raw_parts(first, self.0.len() * WORDS_A_LINE) })
    }
}

/// Memory that processes share: a file that is mapped.
#[derive(Debug)]
pub struct Mapping {
    first: NonNull<AtomicU32>,
    bytes: usize,
    file: OwnedFd,
}

// SAFETY: the mapping belongs to the process and not to a thread, and its words are atomic.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// New memory, all zero, without a name. Others open it by its descriptor; none of them can make it shorter.
    ///
    /// # Errors
    /// If the system has no memory to give.
    pub fn create(bytes: u32) -> io::Result<Self> {
        let file = memfd_create("spinneret-rpc", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, u64::from(bytes))?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW)?;
        Self::open(file)
    }

    /// A file, from its beginning to its end. Who can make the file shorter can stop this process with a bus error, so map
    /// files of others only if they are sealed, as those of [`create`](Self::create) are.
    ///
    /// # Errors
    /// If the file is empty, has 4 GiB or more, or cannot be mapped.
    pub fn open(file: impl Into<OwnedFd>) -> io::Result<Self> {
        let file = file.into();
        let size = fstat(&file)?.st_size;
        let bytes = u32::try_from(size)
            .ok()
            .filter(|bytes| *bytes >= 4)
            .ok_or_else(|| {
                let why =
                    format!("a buffer for calls is a file of 4 bytes to 4 GiB, and this one has {size}");
                io::Error::new(io::ErrorKind::InvalidInput, why)
            })? as usize;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses where, so nothing of ours is covered.
        let first = unsafe { mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, &file, 0) }?;
        let first = NonNull::new(first.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { first, bytes, file })
    }

    /// The file, to hand to another process.
    pub fn file(&self) -> impl AsFd + '_ {
        self.file.as_fd()
    }

    /// As the protocol reaches it.
    pub fn words(&self) -> Words<'_> {
        let words = self.bytes / size_of::<AtomicU32>();
        // SAFETY: the mapping has so many words, begins at a page, and lives as long as `self`; only atomic operations
        // change words.
        Words::new(unsafe { slice::from_raw_parts(self.first.as_ptr(), words) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `mmap` gave exactly this, and all that borrowed it is gone.
        // It fails only for addresses that were never mapped.
        let _ = unsafe { munmap(self.first.as_ptr().cast(), self.bytes) };
    }
}

/// What can be reached as [`Words`] is memory by itself, so that a server or a client can own it, or share it by `Arc`.
macro_rules! memory_by_words {
    ($($type:ty),*) => { $(
        impl Memory for $type {
            type Error = Infallible;

            fn bytes(&self) -> u32 {
                self.words().bytes()
            }

            #[inline]
            fn load(&self, offset: u32) -> Result<u32, Infallible> {
                self.words().load(offset)
            }

            #[inline]
            fn store(&self, offset: u32, value: u32) -> Result<(), Infallible> {
                self.words().store(offset, value)
            }

            #[inline]
            fn read(&self, offset: u32, words: &mut [u64]) -> Result<(), Infallible> {
                self.words().read(offset, words)
            }

            #[inline]
            fn write(&self, offset: u32, words: &[u64]) -> Result<(), Infallible> {
                self.words().write(offset, words)
            }

            fn pause(&self, looks: u32) {
                self.words().pause(looks);
            }
        }
    )* };
}
memory_by_words!(Buffer, Mapping, std::sync::Arc<Buffer>, std::sync::Arc<Mapping>);
