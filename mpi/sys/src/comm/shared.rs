//! Persistent messages straight out of memory that somebody else has as well, and into it.
//!
//! [`Shared`] is memory of several owners: whoever computes with it, and every message that goes there. It is freed when
//! the last of them is dropped, and a message is ended before it lets its share go. So MPI never reads or writes memory that
//! is gone, whatever failed, and nobody has to wait for a message to give up what it has.

use super::Comm;
use super::messages::{rank, tag, wanted};
use super::registry::Registry;
use crate::{Datatype, Error};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes of a line of caches.
const LINE: usize = 64;

/// Memory, zero at first, that stays where it is until the last share of it is dropped.
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
    /// Memory of so many bytes, in which that at `line` begins a line of caches.
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

    /// Where it begins. Who reads or writes there has to know that no message is under way that touches it.
    pub fn start(&self) -> NonNull<u8> {
        self.0.start
    }

    /// How long it is.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }
}

/// A message that goes again and again from a place in shared memory to a rank, or from a rank to a place. If it is dropped
/// while it is under way, a receive is called off, and a send is waited for. The order of the fields is that in which they
/// are dropped: the request ends first.
#[derive(Debug)]
pub struct InPlace {
    registry: Registry,
    index: usize,
    is_active: bool,
    /// Bytes of the place.
    bytes: usize,
    _datatype: Datatype,
    _memory: Shared,
    comm: Rc<Comm>,
}

impl Comm {
    /// Prepares to send what an element of a type has at a byte of some memory.
    ///
    /// # Errors
    /// If the element reaches out of the memory, is too long, or there is no such rank.
    pub fn sender_of(
        self: &Rc<Self>,
        memory: &Shared,
        at: usize,
        datatype: Datatype,
        destination: usize,
        tag_: u32,
    ) -> Result<InPlace, Error> {
        let (to, name) = (rank(destination)?, tag(tag_)?);
        let bytes = datatype.check_in("sender_of", memory.bytes(), at)?;
        let mut raw = 0;
        let init = self.session.functions.typed_send_init;
        // SAFETY: the element is in the memory, which lives, as the type does, until the registry has freed the request.
        let code = unsafe {
            let first = memory.start().add(at).as_ptr();
            init(self.raw, first, datatype.handle(), to, name, &mut raw)
        };
        self.session.check("MPI_Send_init", code)?;
        Ok(self.in_place(raw, false, bytes, datatype, memory))
    }

    /// Prepares to take messages to where an element of a type is at a byte of some memory.
    ///
    /// # Errors
    /// If the element reaches out of the memory, is too long, or there is no such rank.
    pub fn receiver_of(
        self: &Rc<Self>,
        memory: &Shared,
        at: usize,
        datatype: Datatype,
        source: usize,
        tag: u32,
    ) -> Result<InPlace, Error> {
        let (from, name) = wanted(Some(source), Some(tag))?;
        let bytes = datatype.check_in("receiver_of", memory.bytes(), at)?;
        let mut raw = 0;
        let init = self.session.functions.typed_recv_init;
        // SAFETY: as for `sender_of`.
        let code = unsafe {
            let first = memory.start().add(at).as_ptr();
            init(self.raw, first, datatype.handle(), from, name, &mut raw)
        };
        self.session.check("MPI_Recv_init", code)?;
        Ok(self.in_place(raw, true, bytes, datatype, memory))
    }

    fn in_place(
        self: &Rc<Self>,
        raw: u64,
        is_receive: bool,
        bytes: usize,
        datatype: Datatype,
        memory: &Shared,
    ) -> InPlace {
        let registry = Registry::new(&self.session);
        let index = registry.add(raw, is_receive, true);
        InPlace {
            registry,
            index,
            is_active: false,
            bytes,
            _datatype: datatype,
            _memory: memory.clone(),
            comm: Rc::clone(self),
        }
    }
}

impl InPlace {
    /// Starts it. Until it is done nobody writes to its place, nor reads there what it brings.
    ///
    /// # Errors
    /// If it is under way, or MPI refuses.
    pub fn start(&mut self) -> Result<(), Error> {
        if self.is_active {
            return Err(Error::Argument {
                call: "start",
                reason: "the message is under way; wait for it first".to_owned(),
            });
        }
        self.registry.start(self.index)?;
        self.is_active = true;
        Ok(())
    }

    /// Whether it is under way, as far as [`InPlace::test`] has said.
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// Bytes that were received, or 0 if it is a send, once it is done; nothing before that, or if it was not started.
    ///
    /// # Errors
    /// If a message is longer than its place, or MPI refuses.
    pub fn test(&mut self) -> Result<Option<usize>, Error> {
        let Some(outcome) = self.registry.test(self.index) else {
            return Ok(None);
        };
        self.is_active = false;
        let (session, fits) = (&self.comm.session, self.bytes);
        let status = session.received(outcome.call, outcome.code, &outcome.status, fits)?;
        Ok(Some(usize::try_from(status.bytes).unwrap_or(fits).min(fits)))
    }
}
