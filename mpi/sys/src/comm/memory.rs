//! Memory that several owners share, some of which are requests.

use crate::Error;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes of a line of caches.
const LINE: usize = 64;

/// Memory, zero at first, that stays where it is until its last owner is dropped: whoever computes with it, and every
/// [`Request`](super::Request) that reads or writes it. So MPI never accesses memory that is freed, whatever failed.
#[derive(Clone, Debug)]
pub struct Shared(Arc<Memory>);

#[derive(Debug)]
struct Memory {
    allocated: NonNull<u8>,
    layout: Layout,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is bytes, which any thread may have; whoever accesses them says that nobody else does.
unsafe impl Send for Memory {}
// SAFETY: all that can be asked is where it is.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and nobody has it any more.
        unsafe { dealloc(self.allocated.as_ptr(), self.layout) };
    }
}

impl Shared {
    /// Allocates so many bytes, of which that at `line` begins a line of caches.
    ///
    /// # Errors
    /// If there cannot be so many.
    pub fn zeros(bytes: usize, line: usize) -> Result<Self, Error> {
        let before = line.wrapping_neg() % LINE;
        let all = bytes.checked_add(LINE + before);
        let layout = all.and_then(|all| Layout::from_size_align(all, LINE).ok());
        let layout = layout.ok_or(Error::TooMany {
            what: "bytes of memory",
            value: bytes as u64,
            limit: isize::MAX as u64,
        })?;
        // SAFETY: the layout is not empty.
        let allocated = unsafe { alloc_zeroed(layout) };
        let Some(allocated) = NonNull::new(allocated) else {
            handle_alloc_error(layout)
        };
        // SAFETY: that is less than a line, and there is one more.
        let start = unsafe { allocated.add(before) };
        Ok(Self(Arc::new(Memory {
            allocated,
            layout,
            start,
            bytes,
        })))
    }

    /// Allocates so many bytes at the begin of a line of caches, the first of which are a copy of `content`.
    pub(super) fn with(bytes: usize, content: &[u8]) -> Result<Self, Error> {
        let memory = Self::zeros(bytes, 0)?;
        let length = content.len().min(bytes);
        // SAFETY: the memory is new, and has as many bytes.
        unsafe {
            memory
                .start()
                .copy_from_nonoverlapping(NonNull::from(content).cast(), length);
        }
        Ok(memory)
    }

    /// Where it begins. Who reads or writes there has to know that no request is in flight that touches it.
    pub fn start(&self) -> NonNull<u8> {
        self.0.start
    }

    /// How long it is.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }
}
