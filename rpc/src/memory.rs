//! How the protocol reaches the buffer.

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

    /// One access of exactly 32 bits, relaxed, at a multiple of 4. It touches no byte beside.
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

    /// Whatever was written before it has arrived before any store after it. A fence between threads; over a link that may
    /// reorder, it waits.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    fn release(&self) -> Result<(), Self::Error> {
        fence(Ordering::Release);
        Ok(())
    }

    /// Whatever is read after it is as new as what was loaded before it.
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
    /// Over words in the order of their addresses. For the layouts of this crate the first one lies at a multiple of 64.
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
