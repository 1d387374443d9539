//! Access to the memory of the buffer.

use core::convert::Infallible;
use core::sync::atomic::{AtomicU32, Ordering, fence};

/// Memory that both sides share. Offsets are in bytes from the buffer's first byte.
///
/// Threads, processes and a NIC's host memory differ in how a word is read and in what it costs; the protocol does not.
/// An implementation refuses what is outside of it, in its own way.
pub trait Memory {
    /// How an access fails. [`Infallible`] where it cannot.
    type Error;

    /// Bytes of it.
    fn bytes(&self) -> u32;

    /// One access of exactly 32 bits, relaxed, at a multiple of 4: a mailbox.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    fn load(&self, offset: u32) -> Result<u32, Self::Error>;

    /// One access of exactly 32 bits, relaxed, at a multiple of 4. It touches no other byte.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    fn store(&self, offset: u32, value: u32) -> Result<(), Self::Error>;

    /// Reads little-endian words at a multiple of 8: a header or a packet. The other side may write meanwhile; then what is
    /// read is any mixture.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    fn read(&self, offset: u32, words: &mut [u64]) -> Result<(), Self::Error>;

    /// Writes little-endian words at a multiple of 8.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    fn write(&self, offset: u32, words: &[u64]) -> Result<(), Self::Error>;

    /// Every write before it has arrived before any store after it. A fence between threads; over a link that may
    /// reorder, it waits.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    fn release(&self) -> Result<(), Self::Error> {
        fence(Ordering::Release);
        Ok(())
    }

    /// Every read after it is as new as the loads before it.
    fn acquire(&self) {
        fence(Ordering::Acquire);
    }

    /// Between two looks at a mailbox that did not change. `looks` counts those of this wait, from 1 on.
    fn pause(&self, looks: u32) {
        let _ = looks;
        core::hint::spin_loop();
    }
}

/// Looks after which a thread that waits lets others run.
#[cfg(feature = "server")]
const LOOKS_BEFORE_YIELD: u32 = 1 << 12;

/// Memory of this process, or mapped into it, as words of 32 bits that all threads and processes may change.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(&'a [AtomicU32]);

impl<'a> Words<'a> {
    /// Over words in the order of their addresses. For the layouts of this crate the first one is at a multiple of 64.
    ///
    /// # Panics
    /// If there are 4 GiB or more.
    pub fn new(words: &'a [AtomicU32]) -> Self {
        assert!(u32::try_from(size_of_val(words)).is_ok(), "offsets have 32 bits");
        Self(words)
    }

    #[inline]
    fn pairs(&self, offset: u32, words: usize) -> &[[AtomicU32; 2]] {
        let first = offset as usize / size_of::<AtomicU32>();
        self.0[first..first + 2 * words].as_chunks().0
    }
}

impl Memory for Words<'_> {
    type Error = Infallible;

    fn bytes(&self) -> u32 {
        size_of_val(self.0) as u32
    }

    #[inline]
    fn load(&self, offset: u32) -> Result<u32, Infallible> {
        Ok(u32::from_le(self.0[offset as usize / 4].load(Ordering::Relaxed)))
    }

    #[inline]
    fn store(&self, offset: u32, value: u32) -> Result<(), Infallible> {
        self.0[offset as usize / 4].store(value.to_le(), Ordering::Relaxed);
        Ok(())
    }

    #[inline]
    fn read(&self, offset: u32, words: &mut [u64]) -> Result<(), Infallible> {
        let pairs = self.pairs(offset, words.len());
        for (word, [low, high]) in words.iter_mut().zip(pairs) {
            let half = |half: &AtomicU32| u64::from(u32::from_le(half.load(Ordering::Relaxed)));
            *word = half(low) | half(high) << 32;
        }
        Ok(())
    }

    #[inline]
    fn write(&self, offset: u32, words: &[u64]) -> Result<(), Infallible> {
        for (word, [low, high]) in words.iter().zip(self.pairs(offset, words.len())) {
            low.store((*word as u32).to_le(), Ordering::Relaxed);
            high.store(((word >> 32) as u32).to_le(), Ordering::Relaxed);
        }
        Ok(())
    }

    #[cfg(feature = "server")]
    fn pause(&self, looks: u32) {
        match looks.is_multiple_of(LOOKS_BEFORE_YIELD) {
            true => std::thread::yield_now(),
            false => core::hint::spin_loop(),
        }
    }
}

#[cfg(feature = "server")]
pub use shared::{Buffer, Mapping};

/// Memory for a buffer: of this process's threads, or of several processes.
#[cfg(feature = "server")]
mod shared {
    use super::{Memory, Words};
    use crate::layout::ALIGNMENT;
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    use std::convert::Infallible;
    use std::os::fd::{AsFd, OwnedFd};
    use std::ptr::NonNull;
    use std::sync::atomic::AtomicU32;
    use std::{io, slice};

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

        /// A file, from its beginning to its end. A process that can make the file shorter can stop this process with a
        /// bus error, so map files of others only if they are sealed, as those of [`create`](Self::create) are.
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
            // SAFETY: the system chooses the address, so the mapping covers no memory that is in use.
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
            // SAFETY: the mapping has that many words, begins at a page, and lives as long as `self`; only atomic
            // operations change words.
            Words::new(unsafe { slice::from_raw_parts(self.first.as_ptr(), words) })
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: `mmap` gave exactly this, and all its borrowers have ended.
            // It fails only for addresses that were never mapped.
            let _ = unsafe { munmap(self.first.as_ptr().cast(), self.bytes) };
        }
    }

    /// Implements [`Memory`] for types that can be reached as [`Words`], so that a server or a client can own them, or
    /// share them by `Arc`.
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
}
