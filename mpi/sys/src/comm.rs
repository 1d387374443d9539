//! Communicators: messages from rank to rank, and collective operations.

use crate::Error;
use crate::error::{Class, int};
use crate::functions::{RawStatus, first, first_mut};
use crate::session::Session;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

/// Ranks whose messages are kept apart from those of other communicators. One that was made by [`Comm::dup`] is freed when it
/// is dropped, which all its ranks have to do in the same order.
#[derive(Debug)]
pub struct Comm {
    pub(crate) session: Rc<Session>,
    pub(crate) raw: u64,
    rank: usize,
    size: usize,
    is_owned: bool,
}

impl Comm {
    pub(crate) fn predefined(session: &Rc<Session>, handle: unsafe extern "C" fn(*mut u64) -> i32) -> Self {
        let mut raw = 0;
        // SAFETY: the argument is a place for the handle.
        unsafe { handle(&mut raw) };
        Self::new(session, raw, false)
    }

    pub(crate) fn foreign(session: &Rc<Session>, raw: u64) -> Self {
        Self::new(session, raw, false)
    }

    fn new(session: &Rc<Session>, raw: u64, is_owned: bool) -> Self {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the handle is a communicator's, and the others are places for numbers; the calls only fail for handles that
        // are none.
        unsafe {
            (session.functions.rank)(raw, &mut rank);
            (session.functions.size)(raw, &mut size);
        }
        Self {
            session: Rc::clone(session),
            raw,
            rank: usize::try_from(rank).unwrap_or(0),
            size: usize::try_from(size).unwrap_or(1).max(1),
            is_owned,
        }
    }

    /// This process among them, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many they are, at least 1.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Which rank of `MPI_COMM_WORLD` each of its ranks is. No other rank takes part.
    ///
    /// # Errors
    /// If one of them is none, because it was started later, or MPI refuses.
    pub fn world_ranks(&self) -> Result<Vec<usize>, Error> {
        const CALL: &str = "MPI_Group_translate_ranks";
        let mut ranks = vec![-1; self.size];
        // SAFETY: the handle is alive, and there is a number for each rank.
        let code = unsafe { (self.session.functions.world_ranks)(self.raw, ranks.as_mut_ptr()) };
        self.session.check(CALL, code)?;
        let number = |rank: i32| {
            usize::try_from(rank).map_err(|_| Error::Argument {
                call: CALL,
                reason: "a rank of the communicator is none of MPI_COMM_WORLD".to_owned(),
            })
        };
        ranks.into_iter().map(number).collect()
    }

    /// The same ranks, with messages of their own. All of them have to call this.
    ///
    /// # Errors
    /// If MPI refuses.
    pub fn dup(&self) -> Result<Self, Error> {
        let mut raw = 0;
        // SAFETY: the handle is alive, and the copy has a place.
        let code = unsafe { (self.session.functions.dup)(self.raw, &mut raw) };
        self.session.check("MPI_Comm_dup", code)?;
        Ok(Self::new(&self.session, raw, true))
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        // Freeing waits for the others in some MPIs, and a panic ends them.
        if self.is_owned && !thread::panicking() {
            // SAFETY: the handle is alive, and not used again. There is no caller to return an error to.
            unsafe { (self.session.functions.comm_free)(self.raw) };
        }
    }
}

// Messages that are waited for.

/// The envelope of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The sender.
    pub source: usize,
    /// The tag.
    pub tag: u32,
    /// The length in bytes.
    pub bytes: u64,
}

impl Status {
    pub(crate) fn from_raw(raw: &RawStatus) -> Self {
        Self {
            source: usize::try_from(raw.source).unwrap_or(0),
            tag: u32::try_from(raw.tag).unwrap_or(0),
            bytes: u64::try_from(raw.bytes).unwrap_or(0),
        }
    }
}

impl Session {
    /// The result of a receive into `fits` bytes.
    pub(crate) fn received(
        &self,
        call: &'static str,
        code: i32,
        status: &RawStatus,
        fits: usize,
    ) -> Result<Status, Error> {
        match self.check(call, code) {
            Ok(()) => Ok(Status::from_raw(status)),
            Err(error) if error.class() == Some(Class::Truncate) => {
                // Some MPIs give the length of the message, others what they have stored.
                let told = u64::try_from(status.bytes).ok();
                Err(Error::Truncated {
                    fits,
                    bytes: told.filter(|&bytes| bytes > fits as u64),
                })
            }
            Err(error) => Err(error),
        }
    }
}

/// A rank as MPI takes it.
pub(crate) fn rank(rank: usize) -> Result<i32, Error> {
    int("a rank", rank)
}

/// A tag as MPI takes it.
pub(crate) fn tag(tag: u32) -> Result<i32, Error> {
    int("a tag", tag as usize)
}

/// Source and tag of a receive, as the layer takes them.
pub(crate) fn wanted(source: Option<usize>, tag_: Option<u32>) -> Result<(i32, i32), Error> {
    let source = source.map_or(Ok(-1), rank)?;
    let tag = tag_.map_or(Ok(-1), tag)?;
    Ok((source, tag))
}

impl Comm {
    /// Sends bytes, and comes back when they can be changed, which may be before anybody takes them.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn send(&self, bytes: &[u8], destination: usize, tag_: u32) -> Result<(), Error> {
        let count = int("bytes of a message", bytes.len())?;
        let (destination, tag) = (rank(destination)?, tag(tag_)?);
        // SAFETY: there are as many bytes.
        let code = unsafe { (self.session.functions.send)(self.raw, first(bytes), count, destination, tag) };
        self.session.check("MPI_Send", code)
    }

    /// Takes a message of some rank, or of any, with some tag, or any. It may be shorter than the area.
    ///
    /// # Errors
    /// If it is longer ([`Error::Truncated`]: the message is lost, and the area may hold a part of it), or there is no such rank.
    pub fn recv(&self, bytes: &mut [u8], source: Option<usize>, tag: Option<u32>) -> Result<Status, Error> {
        let count = int("bytes of a message", bytes.len())?;
        let (source, tag) = wanted(source, tag)?;
        let mut status = RawStatus::default();
        // SAFETY: the area has as many bytes, and the status a place.
        let code = unsafe {
            (self.session.functions.recv)(self.raw, first_mut(bytes), count, source, tag, &mut status)
        };
        self.session.received("MPI_Recv", code, &status, bytes.len())
    }

    /// Takes a message of any length.
    ///
    /// # Errors
    /// If there is no such rank, or it is longer than what MPI can count.
    pub fn recv_any(&self, source: Option<usize>, tag: Option<u32>) -> Result<(Vec<u8>, Status), Error> {
        let (source, tag) = wanted(source, tag)?;
        let (mut message, mut status) = (0, RawStatus::default());
        let functions = self.session.functions;
        // SAFETY: message and status have places.
        let code = unsafe { (functions.mprobe)(self.raw, source, tag, &mut message, &mut status) };
        self.session.check("MPI_Mprobe", code)?;
        let length = usize::try_from(status.bytes).unwrap_or(usize::MAX);
        let count = int("bytes of a message", length)?;
        let mut bytes = vec![0; length];
        // SAFETY: the message was just found and is taken once; the area has as many bytes as it.
        let code = unsafe { (functions.mrecv)(message, first_mut(&mut bytes), count, &mut status) };
        let status = self.session.received("MPI_Mrecv", code, &status, length)?;
        Ok((bytes, status))
    }

    /// Whether there is a message, which is left there.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn iprobe(&self, source: Option<usize>, tag: Option<u32>) -> Result<Option<Status>, Error> {
        let (source, tag) = wanted(source, tag)?;
        let (mut is_there, mut status) = (0, RawStatus::default());
        // SAFETY: flag and status have places.
        let code =
            unsafe { (self.session.functions.iprobe)(self.raw, source, tag, &mut is_there, &mut status) };
        self.session.check("MPI_Iprobe", code)?;
        Ok((is_there != 0).then(|| Status::from_raw(&status)))
    }
}

// Collective operations: all ranks of a communicator have to call the same functions in the same order.

/// How numbers of all ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The sum, modulo 2^64.
    Sum,
    /// The product, modulo 2^64.
    Product,
}

/// Numbers of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// `i8`.
    Int8,
    /// `i16`.
    Int16,
    /// `i32`.
    Int32,
    /// `i64`.
    Int64,
    /// `f32`.
    Float,
    /// `f64`.
    Double,
    /// `u8`.
    Uint8,
    /// `u16`.
    Uint16,
    /// `u32`.
    Uint32,
    /// `u64`.
    Uint64,
}

impl Number {
    /// Bytes of one.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float => 4,
            Self::Int64 | Self::Uint64 | Self::Double => 8,
        }
    }
}

impl Comm {
    /// Waits until all ranks have come here.
    ///
    /// # Errors
    /// If MPI refuses.
    pub fn barrier(&self) -> Result<(), Error> {
        // SAFETY: the handle is alive.
        let code = unsafe { (self.session.functions.barrier)(self.raw) };
        self.session.check("MPI_Barrier", code)
    }

    /// Gives every rank the bytes of all, one after the other. All have to give the same length.
    ///
    /// # Errors
    /// If there are too many bytes.
    pub fn allgather(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let count = int("bytes of a gather", bytes.len())?;
        let mut all = vec![0; self.size() * bytes.len()];
        // SAFETY: both areas have the bytes that are passed.
        let code =
            unsafe { (self.session.functions.allgather)(self.raw, first(bytes), count, first_mut(&mut all)) };
        self.session.check("MPI_Allgather", code)?;
        Ok(all)
    }
}

// Memory that requests use.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Zeroed memory at a fixed address that is freed with its last owner. The program and every [`Request`](crate::Request) that
/// reads or writes it are owners, so MPI never accesses memory that is freed, whatever failed.
#[derive(Clone, Debug)]
pub struct Shared(Arc<Memory>);

#[derive(Debug)]
struct Memory {
    allocated: NonNull<u8>,
    layout: Layout,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is bytes, which any thread may own; code that accesses them guarantees that no other code does.
unsafe impl Send for Memory {}
// SAFETY: a shared reference only gives the address and the size.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and nothing uses it any more.
        unsafe { dealloc(self.allocated.as_ptr(), self.layout) };
    }
}

impl Shared {
    /// Allocates `bytes` zeros, of which the one at `line` begins a cache line.
    ///
    /// # Errors
    /// If that is more than an address space has.
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

    /// Allocates `bytes` bytes from the start of a cache line on, the first of which are a copy of `content`.
    pub(crate) fn with(bytes: usize, content: &[u8]) -> Result<Self, Error> {
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

    /// The first byte. The caller may access the memory only while no request that uses it is in flight.
    pub fn start(&self) -> NonNull<u8> {
        self.0.start
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }
}
