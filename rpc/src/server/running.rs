//! A server on a thread of its own.

use super::Server;
use crate::memory::Memory;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fmt, io, mem};

/// How long a server that has nothing to do looks without a pause, as LLVM's.
const AWAKE: Duration = Duration::from_micros(25);
/// How long it sleeps then, as LLVM's.
const ASLEEP: Duration = Duration::from_micros(250);
/// Looks between two looks at the clock.
const LOOKS: u32 = 64;
/// How long calls may go on when it is stopped.
const DRAIN: Duration = Duration::from_secs(1);

/// The counters of a server, and how a client has ended itself.
type Done = (Counts, Option<End>);

/// A server on a thread of its own, until it is stopped or dropped.
#[derive(Debug)]
pub struct Running<E> {
    stop: Arc<AtomicBool>,
    /// The client has exited, and the thread does not know yet.
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
            // The error cannot be reported.
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

// When calls begin and end, for those who want to know.

/// The fate of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Its first packet was taken. The number is its opcode.
    Begins(u32),
    /// Its last packet was sent, or it was given up.
    Ends,
}

/// A call began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The port that it came by.
    pub port: u32,
    /// Which of both.
    pub step: Step,
}

/// Events since the last query. On a port, beginnings and ends take turns.
#[derive(Debug, Default)]
pub(super) struct Watch {
    moments: Vec<Moment>,
    /// Ports whose call has begun and not ended.
    open: Vec<u32>,
}

impl Watch {
    pub(super) fn begins(&mut self, port: u32, opcode: u32) {
        self.ends(port);
        self.open.push(port);
        let step = Step::Begins(opcode);
        self.moments.push(Moment { port, step });
    }

    /// The port has no call, or not any more.
    pub(super) fn ends(&mut self, port: u32) {
        if let Some(place) = self.open.iter().position(|open| *open == port) {
            self.open.swap_remove(place);
            let step = Step::Ends;
            self.moments.push(Moment { port, step });
        }
    }

    pub(super) fn take(&mut self) -> Vec<Moment> {
        mem::take(&mut self.moments)
    }
}

// Refusals by name.

/// Why something was not done. A service declares those of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Refusal(&'static str);

impl Refusal {
    /// No service has such a call. The client gets its own packet back, as from LLVM's server.
    pub const UNKNOWN_OPCODE: Self = Self("unknown opcode");
    /// The mask of lanes has not the only lane that there is.
    pub const NO_LANE: Self = Self("no lane");
    /// A mailbox holds neither 0 nor 1. The port is passed over until it does.
    pub const MAILBOX: Self = Self("mailbox out of range");
    /// The client began another call in the middle of one, or has exited: the server drops the call.
    pub const ABANDONED: Self = Self("call abandoned");
    /// A stream is longer than the call takes. The server receives it and drops it.
    pub const TOO_LONG: Self = Self("too long");

    /// A refusal with a name of a few words.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Counters of calls and refusals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that a service got.
    pub calls: u64,
    /// How often each refusal happened; those that never did are missing.
    pub refusals: BTreeMap<Refusal, u64>,
}

impl Counts {
    /// How often a refusal happened.
    pub fn of(&self, refusal: Refusal) -> u64 {
        self.refusals.get(&refusal).copied().unwrap_or(0)
    }
}

/// How a client ended itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By `exit`, with its status.
    Exit(i32),
    /// By `abort`.
    Abort,
}

/// State that all calls of a server share.
#[derive(Debug, Default)]
pub(crate) struct Board {
    pub(crate) calls: Cell<u64>,
    refusals: RefCell<BTreeMap<Refusal, u64>>,
    /// All of them.
    refused: Cell<u64>,
    end: Cell<Option<End>>,
}

impl Board {
    pub(crate) fn refuse(&self, refusal: Refusal) {
        *self.refusals.borrow_mut().entry(refusal).or_default() += 1;
        self.refused.set(self.refused.get() + 1);
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.get()
    }

    /// The first end counts.
    pub(crate) fn end(&self, end: End) {
        self.end.set(self.end.get().or(Some(end)));
    }

    pub(crate) fn ended(&self) -> Option<End> {
        self.end.get()
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            calls: self.calls.get(),
            refusals: self.refusals.borrow().clone(),
        }
    }
}
