//! Ranks: opening, memory, communicators, time, and the objects of handles.

use spinneret::ffi::{
    self, Failure, Kind, Object, SPINNERET_ERROR_ARGUMENT, SPINNERET_ERROR_GONE, SPINNERET_ERROR_NO_ROOM,
    SPINNERET_ERROR_OPEN, SPINNERET_ERROR_TIMEOUT, SPINNERET_OK, check_place, guarded, put, text,
};
use spinneret_host::{OpenDevice, Program};
use spinneret_mpi::library::{Buffer, Config, Error, Request};
use spinneret_mpi::rank::Communicator;
use spinneret_mpi::{Layout, Rank};
use spinneret_mpi_sys::{Library, Mpi, Wildcards};
use spinneret_slmp::Mode;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// A rank with a handle. Calls of several threads come one after the other.
#[derive(Debug)]
pub(crate) struct OpenRank(Mutex<Inner>);

impl Kind for OpenRank {
    const NAME: &str = "rank";
}

impl Object for OpenRank {}

/// The objects that a program holds.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) rank: Rank<OpenDevice>,
    /// The values of `MPI_ANY_SOURCE`, `MPI_PROC_NULL` and `MPI_ANY_TAG` in the program's MPI.
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

/// The failure of a call, for `?`.
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

// Ranks: opening, memory, communicators, time.

/// A rank with its NIC.
#[derive(Debug)]
pub struct spinneret_rank {
    _opaque: [u8; 0],
}

/// How a rank is opened. 0 stands for what is usual.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct spinneret_rank_options {
    /// Bytes of memory that the NIC can reach, for `spinneret_rank_alloc`; 134217728 if it is 0.
    pub host_bytes: u32,
    /// Bytes of the NIC's memory for tables of types that follow no pattern; 524288 if it is 0.
    pub table_bytes: u32,
    /// Segments of a message that are under way at a time; 16 if it is 0.
    pub window: u16,
}

/// Returns the counters.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct spinneret_rank_counts {
    /// Messages that handlers on the NIC have put in place.
    pub placed: u64,
    /// Messages that the host has unpacked, because their type does not fit the NIC.
    pub unpacked: u64,
    /// Messages that were longer than their receive.
    pub truncated: u64,
}

/// A call with a rank.
pub(crate) fn with(
    rank: *mut spinneret_rank,
    call: impl FnOnce(&mut Inner) -> Result<c_int, Failed>,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenRank> = ffi::get(rank)?;
        call(&mut open.lock()).map_err(|failed| failed.0)
    })
}

/// Opens the NIC of this rank by its name, as `spinneret_open` does, with the program of the handlers mpi_types. All ranks of a
/// communicator call it, after `MPI_Init`, each with a NIC of its own in one network. `comm` is `spinneret_comm` of it.
///
/// # Safety
/// `name` and `program` are strings; the options can be read, or are null; `comm` is a communicator; MPI runs, and this thread
/// may call it; the handle is left at `rank`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_rank_open(
    name: *const c_char,
    program: *const c_char,
    comm: u64,
    options: *const spinneret_rank_options,
    rank: *mut *mut spinneret_rank,
) -> c_int {
    let open = || {
        check_place(rank, "rank")?;
        // SAFETY: the caller promises strings.
        let (name, program) = unsafe { (text(name, "name")?, text(program, "program")?) };
        // SAFETY: the caller promises that it can be read.
        let options = unsafe { options.as_ref() }.copied().unwrap_or_default();
        let program = Program::open(Path::new(program)).map_err(Failure::from)?;
        // SAFETY: the caller promises that MPI runs.
        let mpi = unsafe { mpi() }?;
        // SAFETY: the caller promises the communicator.
        let comm = unsafe { mpi.comm(comm) };
        let opened = Rank::open(name, &program, &comm, config(options))?;
        let handle = ffi::insert(OpenRank::new(opened, mpi.wildcards())?);
        // SAFETY: the caller promises the place.
        unsafe { put(rank, "rank", handle) }?;
        Ok(SPINNERET_OK)
    };
    guarded(|| open().map_err(|failed: Failed| failed.0))
}

fn config(options: spinneret_rank_options) -> Config {
    let mut config = Config::default();
    if options.host_bytes > 0 {
        config.host_bytes = options.host_bytes;
    }
    if options.table_bytes > 0 {
        config.table_bytes = options.table_bytes;
    }
    if options.window > 0 {
        config.sender.mode = Mode::Window(options.window);
    }
    config
}

/// Closes a rank, once all others close theirs; its memory and requests are freed then. The handle is used up, even if something
/// fails.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rank_close(rank: *mut spinneret_rank) -> c_int {
    guarded(|| {
        let open: Arc<OpenRank> = ffi::remove(rank)?;
        let closed = OpenRank::into_rank(open).and_then(|rank| Ok(rank.close()?));
        closed.map(|()| SPINNERET_OK).map_err(|failed| failed.0)
    })
}

/// Takes memory that the NIC can reach: messages are received into it and sent from it. It begins at a multiple of 64.
///
/// # Safety
/// Its address is left at `memory`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_rank_alloc(
    rank: *mut spinneret_rank,
    bytes: usize,
    memory: *mut *mut c_void,
) -> c_int {
    with(rank, |open| {
        check_place(memory, "memory")?;
        let wanted = u32::try_from(bytes)
            .map_err(|_| Failure::argument(format!("{bytes} bytes are more than 4 GiB")))?;
        let buffer = open.rank.library().buffer(wanted)?;
        let start = open.rank.library().pointer(&buffer)?;
        open.memory.insert(start.addr().get(), buffer);
        // SAFETY: the caller promises the place.
        unsafe { put(memory, "memory", start.as_ptr().cast()) }?;
        Ok(SPINNERET_OK)
    })
}

/// Gives memory back that no request uses any more.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rank_release(rank: *mut spinneret_rank, memory: *mut c_void) -> c_int {
    with(rank, |open| {
        let buffer = open.memory.get(&memory.addr()).copied();
        let buffer = buffer.ok_or_else(|| {
            Failure::argument(format!(
                "{memory:p} is no memory that spinneret_rank_alloc has given"
            ))
        })?;
        open.rank.library().free_buffer(buffer)?;
        open.memory.remove(&memory.addr());
        Ok(SPINNERET_OK)
    })
}

/// Gives a number to a communicator, of some of the ranks of the one that was opened, which has number 0. All of its ranks call
/// it, and those that do so for several in the same order. `comm` is `spinneret_comm` of it.
///
/// # Safety
/// `comm` is a communicator; MPI runs, and this thread may call it; the number is left at `communicator`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_rank_communicator(
    rank: *mut spinneret_rank,
    comm: u64,
    communicator: *mut u32,
) -> c_int {
    with(rank, |open| {
        check_place(communicator, "communicator")?;
        // SAFETY: the caller promises that MPI runs, and the communicator.
        let comm = unsafe { mpi()?.comm(comm) };
        let made = open.rank.communicator(&comm)?;
        open.communicators.push(made);
        let number = open.communicators.len() as u32 - 1;
        // SAFETY: the caller promises the place.
        unsafe { put(communicator, "communicator", number) }?;
        Ok(SPINNERET_OK)
    })
}

/// Waits until all ranks of a communicator have called this. On simulated NICs this is to be used in place of `MPI_Barrier`,
/// which lets no simulated time pass.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rank_barrier(rank: *mut spinneret_rank, communicator: u32) -> c_int {
    with(rank, |open| {
        let communicator = open.communicator(communicator)?.clone();
        open.rank.barrier(&communicator)?;
        Ok(SPINNERET_OK)
    })
}

/// Says that the program has computed for so long: on a simulated NIC that much time passes.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rank_compute(rank: *mut spinneret_rank, nanoseconds: u64) -> c_int {
    with(rank, |open| {
        let time = Duration::from_nanos(nanoseconds);
        open.rank.library().nic().compute(time).map_err(Failure::from)?;
        Ok(SPINNERET_OK)
    })
}

/// Time since the NIC was opened, in nanoseconds: simulated for a simulated one.
///
/// # Safety
/// The time is left at `nanoseconds`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_rank_now(rank: *mut spinneret_rank, nanoseconds: *mut u64) -> c_int {
    with(rank, |open| {
        let now = open.rank.library().nic().now().as_nanos();
        // SAFETY: the caller promises the place.
        unsafe { put(nanoseconds, "nanoseconds", u64::try_from(now).unwrap_or(u64::MAX)) }?;
        Ok(SPINNERET_OK)
    })
}

/// Returns the counters.
///
/// # Safety
/// It is left at `counts`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_rank_count(
    rank: *mut spinneret_rank,
    counts: *mut spinneret_rank_counts,
) -> c_int {
    with(rank, |open| {
        let done = open.rank.library().counts();
        let done = spinneret_rank_counts {
            placed: done.placed,
            unpacked: done.unpacked,
            truncated: done.truncated,
        };
        // SAFETY: the caller promises the place.
        unsafe { put(counts, "counts", done) }?;
        Ok(SPINNERET_OK)
    })
}
