//! Runs independent jobs, some at a time.

use std::env;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs `job` for every index below `count`, at most `at_a_time` concurrently, and returns the results in order.
pub fn run<T: Send>(at_a_time: usize, count: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(count));
    thread::scope(|scope| {
        for _ in 0..at_a_time.min(count) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    let result = job(index);
                    // A poisoned lock means that another job panicked; the scope passes that on.
                    results
                        .lock()
                        .unwrap_or_else(|poison| poison.into_inner())
                        .push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|poison| poison.into_inner());
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// How many jobs Cargo allows at the same time; all processors outside of Cargo.
pub fn allowed() -> usize {
    let cargo = env::var("NUM_JOBS")
        .ok()
        .and_then(|jobs| jobs.parse::<NonZero<usize>>().ok());
    cargo
        .or_else(|| thread::available_parallelism().ok())
        .map_or(1, NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn keeps_the_order_of_results() {
        assert_eq!(
            run(3, 100, |index| index * 2),
            (0..100).map(|index| index * 2).collect::<Vec<_>>()
        );
    }

    #[test]
    fn runs_nothing_for_no_jobs() {
        assert_eq!(run(3, 0, |index| index), Vec::<usize>::new());
    }
}
