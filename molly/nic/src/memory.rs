//! Memory of fields, which the NIC can write to.

use molly::Memory;
use spinneret_host::Device;
use spinneret_mpi::Library;
use spinneret_mpi::library::{Buffer, Error};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Memory of fields that a library has given.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    /// Where each begins in this process.
    buffers: Vec<(NonNull<u8>, Buffer)>,
    lent: Lent,
}

/// What fields have of a library's memory; what they have given back comes in here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lent(Arc<Mutex<Vec<Buffer>>>);

/// Memory of one field.
#[derive(Debug)]
struct Part {
    start: NonNull<u8>,
    buffer: Buffer,
    /// Says that there is somebody who has it.
    lent: Lent,
}

// SAFETY: it is bytes of a shared mapping, which have the same address in all threads, and are this field's alone.
#[allow(unsafe_code)]
unsafe impl Send for Part {}
// SAFETY: nothing can be done with it but to ask where it is.
#[allow(unsafe_code)]
unsafe impl Sync for Part {}

// SAFETY: the library gives buffers to one owner each, in lines of 64 bytes of a mapping that begins at a page, and
// this one is not given back before this is dropped; nor is the library dropped as long as one is lent. Handlers write
// what a receive says that was started by `Placing::expect`, until it is complete.
#[allow(unsafe_code)]
unsafe impl Memory for Part {
    fn start(&self) -> NonNull<u8> {
        self.start
    }

    fn bytes(&self) -> usize {
        self.buffer.len() as usize
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut returned = self.lent.0.lock().unwrap_or_else(PoisonError::into_inner);
        returned.push(self.buffer);
    }
}

impl Lent {
    /// Whether fields have some, beside those who only count it: [`Fields`] and whoever asks.
    pub(crate) fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl Fields {
    /// Takes memory for a field, all of it 0.
    pub(crate) fn take<D: Device>(
        &mut self,
        library: &mut Library<D>,
        bytes: u32,
    ) -> Result<Box<dyn Memory>, Error> {
        let buffer = library.buffer(bytes)?;
        let start = library.pointer(&buffer)?;
        // SAFETY: the buffer was taken just now, and is so long.
        #[allow(unsafe_code)]
        unsafe {
            start.write_bytes(0, bytes as usize);
        }
        self.buffers.push((start, buffer));
        Ok(Box::new(Part {
            start,
            buffer,
            lent: self.lent.clone(),
        }))
    }

    /// What fields have given back, which is forgotten here.
    pub(crate) fn returned(&mut self) -> Vec<Buffer> {
        let mut returned = self.lent.0.lock().unwrap_or_else(PoisonError::into_inner);
        let returned = std::mem::take(&mut *returned);
        self.buffers.retain(|(_, buffer)| !returned.contains(buffer));
        returned
    }

    /// The buffer that begins there.
    pub(crate) fn at(&self, start: NonNull<u8>) -> Option<Buffer> {
        let mut all = self.buffers.iter();
        all.find(|(first, _)| *first == start).map(|(_, buffer)| *buffer)
    }

    pub(crate) fn lent(&self) -> Lent {
        self.lent.clone()
    }
}
