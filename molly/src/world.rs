//! All ranks together.

use crate::error::{Error, Result};
use crate::rank::{Plans, Rank};
use crate::threads::{Hub, Network, Threads};
use spinneret_molly_model::Geometry;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, ScopedJoinHandle};

/// Ranks that [`threads`] runs at most.
pub const MOST_THREADS: usize = 1024;

/// Runs `each` on every rank of a grid, as threads, and gives what they gave, in their order.
///
/// # Errors
/// [`Error::Threads`], before anything runs, if there are more than [`MOST_THREADS`] ranks; else the error of the first rank
/// that failed by itself, or was not started; the others stop.
pub fn threads<R: Send>(
    geometry: &Geometry,
    network: &Network,
    each: impl Fn(&mut Rank) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if geometry.ranks() > MOST_THREADS {
        return Err(Error::Threads {
            geometry: geometry.clone(),
            limit: MOST_THREADS,
        });
    }
    let (hub, plans) = (Arc::new(Hub::default()), Plans::default());
    let one = &|number: usize| {
        let transport = Threads::new(number, hub.clone(), network.clone());
        let mut rank = Rank::new(number, geometry.clone(), Box::new(transport), plans.clone());
        // The rank is not used after a panic, and the others only see that it failed.
        let done = catch_unwind(AssertUnwindSafe(|| each(&mut rank)));
        let done = done.unwrap_or_else(|panic| {
            Err(Error::Panicked {
                rank: number,
                message: words(&*panic),
            })
        });
        if done.is_err() {
            hub.fail();
        }
        done
    };
    let all: Vec<Result<R>> = std::thread::scope(|scope| {
        let start = |number: usize| {
            let started = Builder::new().spawn_scoped(scope, move || one(number));
            started.map_err(|error| {
                hub.fail();
                Error::Start {
                    rank: number,
                    what: error.to_string(),
                }
            })
        };
        let ranks: Vec<_> = (0..geometry.ranks()).map(start).collect();
        let joined = |started: Result<ScopedJoinHandle<'_, Result<R>>>| {
            let thread = started?;
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        ranks.into_iter().map(joined).collect()
    });
    let is_cause =
        |done: &Result<R>| matches!(done, Err(error) if !matches!(error, Error::OtherFailed { .. }));
    match all.iter().position(is_cause) {
        Some(cause) => all
            .into_iter()
            .nth(cause)
            .map_or(Ok(Vec::new()), |done| done.map(|one| vec![one])),
        None => all.into_iter().collect(),
    }
}

/// What a panic said.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("nothing")
        .to_owned()
}
