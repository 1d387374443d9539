//! Areas of memory that are MPI's for a time.

use crate::functions::first;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;

/// An area that MPI may write, so that no reference to it may exist.
#[derive(Debug)]
pub(super) struct Area<'scope> {
    first: NonNull<u8>,
    pub(super) length: usize,
    bytes: PhantomData<&'scope mut [u8]>,
}

impl<'scope> Area<'scope> {
    pub(super) fn new(bytes: &'scope mut [u8]) -> Self {
        let length = bytes.len();
        let first = NonNull::from(bytes).cast();
        Self {
            first,
            length,
            bytes: PhantomData,
        }
    }

    /// Where MPI is told that it begins.
    pub(super) fn start(&self) -> *mut u8 {
        if self.length == 0 {
            first::<u8>(&[]).cast_mut()
        } else {
            self.first.as_ptr()
        }
    }

    /// The area again.
    ///
    /// # Safety
    /// MPI uses it no more.
    pub(super) unsafe fn give(self) -> &'scope mut [u8] {
        // SAFETY: it was made of such a slice, which is borrowed for this long, and nobody else has it now.
        unsafe { slice::from_raw_parts_mut(self.first.as_ptr(), self.length) }
    }

    /// The area, for as long as it is not used by MPI.
    ///
    /// # Safety
    /// MPI does not use it while the result lives.
    pub(super) unsafe fn borrow(&mut self) -> &mut [u8] {
        // SAFETY: as for `give`, and this is borrowed meanwhile.
        unsafe { slice::from_raw_parts_mut(self.first.as_ptr(), self.length) }
    }
}
