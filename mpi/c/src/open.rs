//! What is behind a handle: a rank, and the numbers and places that its program has for what belongs to it.

use spinneret::ffi::{
    Failure, SPINNERET_ERROR_ARGUMENT, SPINNERET_ERROR_GONE, SPINNERET_ERROR_NO_ROOM, SPINNERET_ERROR_OPEN,
    SPINNERET_ERROR_TIMEOUT,
};
use spinneret::ffi::{Kind, Object};
use spinneret_host::OpenDevice;
use spinneret_mpi::library::{Buffer, Error, Request};
use spinneret_mpi::rank::Communicator;
use spinneret_mpi::{Layout, Rank};
use spinneret_mpi_sys::{Library, Mpi, Wildcards};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A rank with a handle. Calls of several threads come one after the other.
#[derive(Debug)]
pub(crate) struct OpenRank(Mutex<Inner>);

impl Kind for OpenRank {
    const NAME: &str = "rank";
}

impl Object for OpenRank {}

/// What a program has.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) rank: Rank<OpenDevice>,
    /// What the program's MPI says for any source, nobody and any tag.
    pub(crate) wildcards: Wildcards,
    /// Memory, by its address.
    pub(crate) memory: BTreeMap<usize, Buffer>,
    /// Where messages without bytes go, whose memory may be any, as in MPI.
    nothing: Buffer,
    /// Communicators; a program's number for one is its place here.
    pub(crate) communicators: Vec<Communicator>,
    /// Requests, with the place of their communicator.
    pub(crate) requests: BTreeMap<u64, (Request, usize)>,
    last: u64,
}

impl OpenRank {
    pub(crate) fn new(mut rank: Rank<OpenDevice>, wildcards: Wildcards) -> Result<Self, Failed> {
        Ok(Self(Mutex::new(Inner {
            wildcards,
            nothing: rank.library().buffer(0)?,
            communicators: vec![rank.world()],
            rank,
            memory: BTreeMap::new(),
            requests: BTreeMap::new(),
            last: 0,
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic has ended the call that it was in, and is a fault that was reported.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rank itself, if no other call uses it.
    pub(crate) fn into_rank(this: Arc<Self>) -> Result<Rank<OpenDevice>, Failed> {
        let only = Arc::into_inner(this)
            .ok_or_else(|| Failure::argument("another thread is in a call with the rank"))?;
        let inner = only.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(inner.rank)
    }
}

impl Inner {
    /// Where a message without bytes goes.
    pub(crate) fn nothing(&self) -> Buffer {
        self.nothing
    }

    /// The memory in which elements lie, the first of which has its address there; and where that is in it.
    pub(crate) fn buffer(&self, address: usize, layout: &Layout) -> Result<(Buffer, i64), Failed> {
        if layout.bytes() == 0 {
            return Ok((self.nothing, 0));
        }
        let lowest = address.wrapping_add_signed(layout.first() as isize);
        let below = self.memory.range(..=lowest).next_back();
        let found = below.filter(|(start, buffer)| lowest - **start <= buffer.len() as usize);
        let (start, buffer) = found.ok_or_else(|| {
            Failure::argument(format!(
                "the elements begin at {lowest:#x}, which is no memory of spinneret_rank_alloc of this rank, so the NIC cannot \
                 reach it"
            ))
        })?;
        Ok((*buffer, address.wrapping_sub(*start) as isize as i64))
    }

    pub(crate) fn communicator(&self, number: u32) -> Result<&Communicator, Failed> {
        self.communicators.get(number as usize).ok_or_else(|| {
            let count = self.communicators.len();
            Failure::argument(format!(
                "there is no communicator {number}: spinneret_rank_communicator has given 0 to {}",
                count - 1
            ))
            .into()
        })
    }

    pub(crate) fn request(&self, number: u64) -> Result<(Request, usize), Failed> {
        let request = self.requests.get(&number).copied();
        request
            .ok_or_else(|| Failure::argument(format!("there is no request {number}, or it was freed")).into())
    }

    /// A number for a request, which is never used twice.
    pub(crate) fn keep(&mut self, request: Request, communicator: u32) -> u64 {
        self.last += 1;
        self.requests.insert(self.last, (request, communicator as usize));
        self.last
    }
}

/// The MPI that the program has started.
///
/// # Safety
/// The program has, and this is a thread that may call it.
pub(crate) unsafe fn mpi() -> Result<Mpi, Failed> {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let library = match LIBRARY.get() {
        Some(library) => library,
        None => {
            let found = Library::find()?;
            LIBRARY.get_or_init(|| found)
        }
    };
    // SAFETY: the caller says that MPI may be called; whatever is made of this is dropped in the same call, and the only message
    // has the same length on all ranks.
    Ok(unsafe { Mpi::attach(library) }?)
}

// Errors, as numbers of the host library's header and two more.

/// A message was longer than its receive; nothing of it was written.
pub const SPINNERET_ERROR_TRUNCATED: c_int = -9;
/// MPI refused something.
pub const SPINNERET_ERROR_MPI: c_int = -10;

/// What went wrong in a call, for `?`.
pub(crate) struct Failed(pub(crate) Failure);

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::Nic(error) => return Self(error.into()),
            Error::Open(_) | Error::OtherWithoutNic(_) | Error::NoAddress | Error::TooManyClusters(_) => {
                SPINNERET_ERROR_OPEN
            }
            Error::NoRoom { .. } => SPINNERET_ERROR_NO_ROOM,
            Error::TimedOut { .. } | Error::NotGranted { .. } => SPINNERET_ERROR_TIMEOUT,
            Error::NotDelivered { .. } => SPINNERET_ERROR_GONE,
            Error::Truncated { .. } => SPINNERET_ERROR_TRUNCATED,
            Error::Mpi(_) => SPINNERET_ERROR_MPI,
            _ => SPINNERET_ERROR_ARGUMENT,
        };
        Self(Failure::new(code, error.to_string()))
    }
}

impl From<spinneret_mpi_sys::Error> for Failed {
    fn from(error: spinneret_mpi_sys::Error) -> Self {
        Error::Mpi(error).into()
    }
}

impl From<spinneret_mpi::LayoutError> for Failed {
    fn from(error: spinneret_mpi::LayoutError) -> Self {
        Self(Failure::argument(error.to_string()))
    }
}
