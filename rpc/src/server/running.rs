//! A server on a thread of its own.

use super::{Counts, End, Server};
use crate::memory::Memory;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a server that has nothing to do looks without a pause, as LLVM's.
const AWAKE: Duration = Duration::from_micros(25);
/// How long it sleeps then, as LLVM's.
const ASLEEP: Duration = Duration::from_micros(250);
/// Looks between two looks at the clock.
const LOOKS: u32 = 64;
/// How long calls may go on when it is stopped.
const DRAIN: Duration = Duration::from_secs(1);

/// What a server has done, and how a client has ended itself.
type Done = (Counts, Option<End>);

/// A server on a thread of its own, until it is stopped or dropped.
#[derive(Debug)]
pub struct Running<E> {
    stop: Arc<AtomicBool>,
    /// The client is gone, and the thread does not know yet.
    is_gone: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Done, E>>>,
}

impl<E: Send + 'static> Running<E> {
    /// Starts a thread and makes the server there, since its services belong to the thread.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub fn start<M>(make: impl FnOnce() -> Server<M> + Send + 'static) -> io::Result<Self>
    where
        M: Memory<Error = E> + 'static,
    {
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stop);
        let is_gone = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&is_gone);
        let thread = thread::Builder::new()
            .name("spinneret-rpc".to_owned())
            .spawn(move || {
                let mut server = make();
                server.run_until(&is_stopped, &theirs)?;
                server.drain(DRAIN)?;
                Ok((server.counts(), server.ended()))
            })?;
        Ok(Self {
            stop,
            is_gone,
            thread: Some(thread),
        })
    }

    /// Abandons the calls of a client that is known to be gone, as [`Server::abandon_all`] does: when this returns, another
    /// one may start on the same memory.
    pub fn abandon_all(&self) {
        self.is_gone.store(true, Ordering::Release);
        let runs = || self.thread.as_ref().is_some_and(|thread| !thread.is_finished());
        while self.is_gone.load(Ordering::Acquire) && runs() {
            thread::sleep(ASLEEP);
        }
    }

    /// Stops it once what is under way is answered, at most a second later. Gives what it has done, and how a client has
    /// ended itself.
    ///
    /// # Errors
    /// If the memory could not be reached.
    ///
    /// # Panics
    /// If a service has.
    pub fn stop(mut self) -> Result<(Counts, Option<End>), E> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("only this takes it");
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl<E> Drop for Running<E> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Nobody is left to tell.
            let _ = thread.join();
        }
    }
}

impl<M: Memory> Server<M> {
    /// Answers until `stop` is true. With nothing to do it sleeps between looks.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    pub fn run(&mut self, stop: &AtomicBool) -> Result<(), M::Error> {
        self.run_until(stop, &AtomicBool::new(false))
    }

    /// The same, and abandons all calls whenever `is_gone` is true, which it makes false then.
    fn run_until(&mut self, stop: &AtomicBool, is_gone: &AtomicBool) -> Result<(), M::Error> {
        let (mut looks, mut idle_since) = (0_u32, Instant::now());
        while !stop.load(Ordering::Relaxed) {
            if is_gone.load(Ordering::Acquire) {
                self.abandon_all()?;
                is_gone.store(false, Ordering::Release);
            }
            if self.poll()? {
                looks = 0;
                continue;
            }
            if looks == 0 {
                idle_since = Instant::now();
            }
            looks = looks.wrapping_add(1);
            match looks.is_multiple_of(LOOKS) && idle_since.elapsed() > AWAKE {
                true => thread::sleep(ASLEEP),
                false => std::hint::spin_loop(),
            }
        }
        Ok(())
    }
}
