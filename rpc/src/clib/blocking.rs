//! Work that would block the server, on a thread of its own.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

/// Work on another thread; it goes on if nobody waits for it any more. Its result comes once.
#[derive(Debug)]
pub(super) struct Elsewhere<T>(Arc<Mutex<Place<T>>>);

#[derive(Debug)]
struct Place<T> {
    result: Option<T>,
    waker: Option<Waker>,
}

impl<T: Send + 'static> Elsewhere<T> {
    /// Starts the work.
    pub(super) fn start(work: impl FnOnce() -> T + Send + 'static) -> io::Result<Self> {
        let place = Arc::new(Mutex::new(Place {
            result: None,
            waker: None,
        }));
        let theirs = Arc::clone(&place);
        thread::Builder::new()
            .name("spinneret-rpc-io".to_owned())
            .spawn(move || {
                let result = work();
                let mut place = theirs.lock().unwrap_or_else(PoisonError::into_inner);
                place.result = Some(result);
                if let Some(waker) = place.waker.take() {
                    waker.wake();
                }
            })?;
        Ok(Self(place))
    }
}

impl<T> Future for Elsewhere<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match place.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                place.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
