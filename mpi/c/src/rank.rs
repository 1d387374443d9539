//! Ranks: opening, memory, communicators, time.

use crate::open::{Failed, Inner, OpenRank, mpi};
use spinneret::ffi::{Failure, SPINNERET_OK, check_place, guarded, put, text};
use spinneret::ffi;
use spinneret_host::Program;
use spinneret_mpi::Rank;
use spinneret_mpi::library::Config;
use spinneret_slmp::Mode;
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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

/// What was done so far.
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

/// Closes a rank, once all others close theirs; its memory and requests are gone then. The handle is used up, even if something
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

/// What was done so far.
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
