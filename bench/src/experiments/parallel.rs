//! Simulations at once.

use anyhow::Result;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Simulations do not share anything, so as many run at once as there are processors; results come in the order of
/// `all`. The last ones are begun first: lists have their longest there. Nothing is begun any more after a failure.
///
/// # Errors
/// The first failure of the list, if there is one.
pub(crate) fn in_parallel<W: Sync, R: Send>(
    all: &[W],
    work: impl Fn(&W) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let left = AtomicUsize::new(all.len());
    let results: Mutex<Vec<(usize, Result<R>)>> = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(all.len()) {
            scope.spawn(|| {
                let next =
                    || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
                while let Ok(left_before) = next() {
                    let place = left_before - 1;
                    let result = work(&all[place]);
                    if result.is_err() {
                        left.store(0, Ordering::Relaxed);
                    }
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.push((place, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}
