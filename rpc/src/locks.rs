//! The ports that are taken on one side. The other side never sees it.

use crate::layout::Version;
use core::sync::atomic::{AtomicU32, Ordering, fence};

const BITS: u32 = u32::BITS;
const LOCK_WORDS: usize = (Version::V23.max_ports() / BITS) as usize;

/// One bit for each port: bit i % 32 of word i / 32.
#[derive(Debug)]
pub(crate) struct Locks([AtomicU32; LOCK_WORDS]);

impl Locks {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU32::new(0) }; LOCK_WORDS])
    }

    /// Takes a port if nobody has it. What its last owner did is then seen.
    #[inline]
    pub(crate) fn try_take(&self, port: u32) -> bool {
        let bit = 1 << (port % BITS);
        let is_free = self.0[(port / BITS) as usize].fetch_or(bit, Ordering::Relaxed) & bit == 0;
        if is_free {
            fence(Ordering::Acquire);
        }
        is_free
    }

    /// Gives a port back.
    #[inline]
    pub(crate) fn free(&self, port: u32) {
        fence(Ordering::Release);
        self.0[(port / BITS) as usize].fetch_and(!(1 << (port % BITS)), Ordering::Relaxed);
    }

    /// Whether somebody has a port.
    pub(crate) fn is_taken(&self, port: u32) -> bool {
        self.0[(port / BITS) as usize].load(Ordering::Relaxed) & 1 << (port % BITS) != 0
    }
}
