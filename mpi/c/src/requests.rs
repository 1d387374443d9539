//! Persistent receives and sends.

use crate::rank::{Failed, Inner, mpi, spinneret_rank, with};
use spinneret::ffi::{Failure, SPINNERET_OK, bytes, check_place, put};
use spinneret_mpi::Layout;
use spinneret_mpi::library::{Buffer, Copies, NOBODY, Request, Status};
use spinneret_mpi_sys::Wildcards;
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// Bytes of the type that have the same place are equal in all messages, so that a receive of it is allowed.
pub const SPINNERET_EQUAL_COPIES: u32 = 1;

/// The result of a request.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct spinneret_status {
    /// Bytes of the message.
    pub bytes: u32,
    /// The other rank, in the communicator of the request; `MPI_PROC_NULL` if there was none.
    pub source: c_int,
    /// The tag; `MPI_ANY_TAG` if there was no message.
    pub tag: c_int,
}

/// Prepares a receive of `count` elements of a type into memory of `spinneret_rank_alloc`, from a rank of a communicator with a
/// tag, or `MPI_ANY_SOURCE` and `MPI_ANY_TAG`; from `MPI_PROC_NULL` nothing comes, so that it ends when it is started.
/// `type` is `spinneret_type` of it; it need not be committed, and may be freed afterwards. `flags` is 0
/// or `SPINNERET_EQUAL_COPIES`.
///
/// # Safety
/// `type` is a datatype; MPI runs, and this thread may call it; the number of the request is left at `request`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "these are those of MPI_Recv_init")]
pub unsafe extern "C" fn spinneret_rank_recv_init(
    rank: *mut spinneret_rank,
    memory: *mut c_void,
    count: c_int,
    type_: u64,
    source: c_int,
    tag: c_int,
    communicator: u32,
    flags: u32,
    request: *mut u64,
) -> c_int {
    with(rank, |open| {
        check_place(request, "request")?;
        let wildcards = open.wildcards;
        let source = match source {
            source if source == wildcards.any_source => None,
            source => Some(rank_of(source, "source", &wildcards)?),
        };
        let tag = match tag {
            tag if tag == wildcards.any_tag => None,
            tag => Some(tag_of(tag, &format!(" or MPI_ANY_TAG ({})", wildcards.any_tag))?),
        };
        // SAFETY: the caller promises a datatype.
        let (layout, buffer, origin) =
            unsafe { elements(open, memory, count, type_, source == Some(NOBODY)) }?;
        let copies = match flags {
            0 => Copies::Refused,
            SPINNERET_EQUAL_COPIES => Copies::Equal,
            flags => return Err(Failure::argument(format!("there are no flags {flags:#x}")).into()),
        };
        let of = open.communicator(communicator)?.clone();
        let made = open
            .rank
            .recv_init((&buffer, origin), &layout, (source, tag), &of, copies)?;
        // SAFETY: the caller promises the place.
        unsafe { give(open, made, communicator, request) }
    })
}

/// Prepares a send of `count` elements of a type from memory of `spinneret_rank_alloc`, to a rank of a communicator, with a tag;
/// one to `MPI_PROC_NULL` ends when it is started.
/// `type` is `spinneret_type` of it; it need not be committed, and may be freed afterwards.
///
/// # Safety
/// As for `spinneret_rank_recv_init`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "these are those of MPI_Send_init")]
pub unsafe extern "C" fn spinneret_rank_send_init(
    rank: *mut spinneret_rank,
    memory: *const c_void,
    count: c_int,
    type_: u64,
    destination: c_int,
    tag: c_int,
    communicator: u32,
    request: *mut u64,
) -> c_int {
    with(rank, |open| {
        check_place(request, "request")?;
        let wildcards = open.wildcards;
        let to = (rank_of(destination, "destination", &wildcards)?, tag_of(tag, "")?);
        // SAFETY: the caller promises a datatype.
        let (layout, buffer, origin) = unsafe { elements(open, memory, count, type_, to.0 == NOBODY) }?;
        let of = open.communicator(communicator)?.clone();
        let made = open.rank.send_init((&buffer, origin), &layout, to, &of)?;
        // SAFETY: the caller promises the place.
        unsafe { give(open, made, communicator, request) }
    })
}

/// Starts a request that is not active.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rank_start(rank: *mut spinneret_rank, request: u64) -> c_int {
    with(rank, |open| {
        let (request, _) = open.request(request)?;
        open.rank.library().start(request)?;
        Ok(SPINNERET_OK)
    })
}

/// Whether a request has ended: 1 if it has, and can be started again, 0 if not. Time does not pass here on a simulated NIC.
///
/// # Safety
/// The result is stored at `status`, unless that is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_rank_test(
    rank: *mut spinneret_rank,
    request: u64,
    status: *mut spinneret_status,
) -> c_int {
    with(rank, |open| {
        let (of, communicator) = open.request(request)?;
        let Some(ended) = open.rank.library().test(of)? else {
            return Ok(0);
        };
        // SAFETY: the caller promises the place.
        unsafe { leave(open, communicator, ended, status) }?;
        Ok(1)
    })
}

/// Waits until a request has ended, for at most this many nanoseconds.
///
/// # Safety
/// As for `spinneret_rank_test`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_rank_wait(
    rank: *mut spinneret_rank,
    request: u64,
    nanoseconds: u64,
    status: *mut spinneret_status,
) -> c_int {
    with(rank, |open| {
        let (of, communicator) = open.request(request)?;
        let ended = open.rank.library().wait(of, Duration::from_nanos(nanoseconds))?;
        // SAFETY: the caller promises the place.
        unsafe { leave(open, communicator, ended, status) }?;
        Ok(SPINNERET_OK)
    })
}

/// Cancels a receive that has no message yet, as `MPI_Cancel`: 1 if it is inactive then, 0 if it completes normally.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rank_cancel(rank: *mut spinneret_rank, request: u64) -> c_int {
    with(rank, |open| {
        let (request, _) = open.request(request)?;
        Ok(c_int::from(open.rank.library().cancel(request)?))
    })
}

/// Frees a request. An active one ends first, and what comes of it is lost.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rank_free(rank: *mut spinneret_rank, request: u64) -> c_int {
    with(rank, |open| {
        let (of, _) = open.request(request)?;
        open.rank.library().free(of)?;
        open.requests.remove(&request);
        Ok(SPINNERET_OK)
    })
}

/// Gives a request a number, and writes the number to `place`.
///
/// # Safety
/// A number can be written at `place`.
unsafe fn give(open: &mut Inner, made: Request, communicator: u32, place: *mut u64) -> Result<c_int, Failed> {
    let number = open.keep(made, communicator);
    // SAFETY: the caller guarantees it.
    unsafe { put(place, "request", number) }?;
    Ok(SPINNERET_OK)
}

/// Where the bytes of elements are, the memory that holds them, and where the address of the first is in it. Elements
/// for `MPI_PROC_NULL` are nowhere.
///
/// # Safety
/// It is a datatype of the MPI that runs, and this thread may call that.
unsafe fn elements(
    open: &Inner,
    memory: *const c_void,
    count: c_int,
    datatype: u64,
    is_for_nobody: bool,
) -> Result<(Layout, Buffer, i64), Failed> {
    let count = u64::try_from(count)
        .map_err(|_| Failure::argument(format!("MPI_ERR_COUNT: {count} elements; 0 is the least")))?;
    // SAFETY: the caller guarantees it; the datatype is not kept.
    let datatype = unsafe { mpi()?.datatype(datatype) };
    let layout = Layout::of(&datatype.contents()?, count)?;
    if is_for_nobody {
        return Ok((Layout::contiguous(0), open.nothing(), 0));
    }
    let (buffer, origin) = open.buffer(memory.addr(), &layout)?;
    Ok((layout, buffer, origin))
}

/// A rank of a communicator, or `MPI_PROC_NULL`.
fn rank_of(value: c_int, what: &str, wildcards: &Wildcards) -> Result<usize, Failed> {
    let Wildcards {
        any_source,
        proc_null,
        ..
    } = *wildcards;
    if value == proc_null {
        return Ok(NOBODY);
    }
    let is_any = if value == any_source {
        "MPI_ANY_SOURCE, "
    } else {
        ""
    };
    let or_any = match what {
        "source" => format!(", MPI_ANY_SOURCE ({any_source})"),
        _ => String::new(),
    };
    usize::try_from(value).map_err(|_| {
        let said = format!(
            "the {what} is {is_any}{value}: it must be a rank from 0 on{or_any} or MPI_PROC_NULL ({proc_null})"
        );
        Failure::argument(said).into()
    })
}

/// A tag; `or_any` says which other value is allowed.
fn tag_of(value: c_int, or_any: &str) -> Result<c_int, Failed> {
    match value {
        0.. => Ok(value),
        _ => Err(Failure::argument(format!(
            "the tag is {value}: it must be a number from 0 on{or_any}"
        ))
        .into()),
    }
}

/// Leaves what came of a request.
///
/// # Safety
/// `place` is null, or a status can be written there.
pub(crate) unsafe fn leave(
    open: &Inner,
    communicator: usize,
    ended: Status,
    place: *mut spinneret_status,
) -> Result<(), Failed> {
    if place.is_null() {
        return Ok(());
    }
    let source = open.communicators[communicator].find(ended.rank);
    let status = spinneret_status {
        bytes: ended.bytes,
        source: source.map_or(open.wildcards.proc_null, |source| source as c_int),
        tag: match ended.rank {
            NOBODY => open.wildcards.any_tag,
            _ => ended.tag,
        },
    };
    // SAFETY: the caller guarantees it.
    Ok(unsafe { put(place, "status", status) }?)
}

// Several requests at once: one look for all of them.

/// Starts `count` requests that are not active, each of which is there once. Nothing is started if that is not so. It takes less
/// of the host's time than as many calls of `spinneret_rank_start`.
///
/// # Safety
/// That many numbers can be read at `requests`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_rank_start_all(
    rank: *mut spinneret_rank,
    count: usize,
    requests: *const u64,
) -> c_int {
    with(rank, |open| {
        // SAFETY: the caller promises them.
        let (requests, _) = unsafe { numbered(open, count, requests) }?;
        open.rank.library().start_all(&requests)?;
        Ok(SPINNERET_OK)
    })
}

/// Whether all of these requests have ended: 1 if they have, and can be started again, 0 if not. Time does not pass here on a
/// simulated NIC.
///
/// # Safety
/// That many numbers can be read at `requests`. The result of each is stored at `statuses`, unless that is null: it has room for that
/// many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_rank_test_all(
    rank: *mut spinneret_rank,
    count: usize,
    requests: *const u64,
    statuses: *mut spinneret_status,
) -> c_int {
    with(rank, |open| {
        // SAFETY: the caller promises them.
        let (requests, communicators) = unsafe { numbered(open, count, requests) }?;
        let Some(ended) = open.rank.library().test_all(&requests)? else {
            return Ok(0);
        };
        // SAFETY: the caller promises room.
        unsafe { leave_all(open, &communicators, &ended, statuses) }?;
        Ok(1)
    })
}

/// Waits until all of these requests have ended, for at most this many nanoseconds.
///
/// # Safety
/// As for `spinneret_rank_test_all`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_rank_wait_all(
    rank: *mut spinneret_rank,
    count: usize,
    requests: *const u64,
    nanoseconds: u64,
    statuses: *mut spinneret_status,
) -> c_int {
    with(rank, |open| {
        // SAFETY: the caller promises them.
        let (requests, communicators) = unsafe { numbered(open, count, requests) }?;
        let limit = Duration::from_nanos(nanoseconds);
        let ended = open.rank.library().wait_all(&requests, limit)?;
        // SAFETY: the caller promises room.
        unsafe { leave_all(open, &communicators, &ended, statuses) }?;
        Ok(SPINNERET_OK)
    })
}

/// Requests with these numbers, and the places of their communicators.
///
/// # Safety
/// `place` is null, or `count` numbers can be read there.
unsafe fn numbered(
    open: &Inner,
    count: usize,
    place: *const u64,
) -> Result<(Vec<Request>, Vec<usize>), Failed> {
    let length = count
        .checked_mul(size_of::<u64>())
        .ok_or_else(|| Failure::argument(format!("there are no {count} requests")))?;
    // SAFETY: the caller guarantees it.
    let (numbers, _) = unsafe { bytes(place.cast(), length) }?.as_chunks();
    let requests: Result<_, _> = numbers
        .iter()
        .map(|number| open.request(u64::from_ne_bytes(*number)))
        .collect();
    let requests: Vec<(Request, usize)> = requests?;
    Ok(requests.into_iter().unzip())
}

/// # Safety
/// `place` is null, or one status for each request can be written there.
unsafe fn leave_all(
    open: &Inner,
    communicators: &[usize],
    ended: &[Status],
    place: *mut spinneret_status,
) -> Result<(), Failed> {
    if place.is_null() {
        return Ok(());
    }
    for (number, (communicator, status)) in communicators.iter().zip(ended).enumerate() {
        // SAFETY: the caller says that there is room for it.
        unsafe { leave(open, *communicator, *status, place.add(number)) }?;
    }
    Ok(())
}
