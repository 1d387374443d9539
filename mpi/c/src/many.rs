//! Several requests at once: one look for all of them.

use crate::failure::Failed;
use crate::open::Inner;
use crate::rank::{spinneret_rank, with};
use crate::requests::{leave, spinneret_status};
use spinneret::border::{Failure, SPINNERET_OK, bytes};
use spinneret_mpi::library::{Request, Status};
use std::ffi::c_int;
use std::time::Duration;

/// Starts `count` requests that are not active, each of which is there once. Nothing is started if that is not so. It takes less
/// of the host's time than as many calls of `spinneret_rank_start`.
///
/// # Safety
/// So many numbers can be read at `requests`.
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
/// So many numbers can be read at `requests`. What came of each is left at `statuses`, unless that is null: there is room for so
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

/// Waits until all of these requests have ended, for so many nanoseconds at most.
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
/// `place` is null, or so many numbers can be read there.
unsafe fn numbered(
    open: &Inner,
    count: usize,
    place: *const u64,
) -> Result<(Vec<Request>, Vec<usize>), Failed> {
    let length = count
        .checked_mul(size_of::<u64>())
        .ok_or_else(|| Failure::argument(format!("there are no {count} requests")))?;
    // SAFETY: the caller says so.
    let (numbers, _) = unsafe { bytes(place.cast(), length) }?.as_chunks();
    let requests: Result<_, _> = numbers
        .iter()
        .map(|number| open.request(u64::from_ne_bytes(*number)))
        .collect();
    let requests: Vec<(Request, usize)> = requests?;
    Ok(requests.into_iter().unzip())
}

/// # Safety
/// `place` is null, or so many statuses can be written there.
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
