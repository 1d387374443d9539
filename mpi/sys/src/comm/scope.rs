//! Messages that are under way while something else is done.
//!
//! MPI reads and writes the areas of such messages until they are done, which Rust has to know: they belong to a [`Scope`],
//! as threads do to [`std::thread::scope`]. The areas are borrowed until its end, or until a message is waited for and gives
//! its area back:
//!
//! ```no_run
//! # fn main() -> Result<(), spinneret_mpi_sys::Error> {
//! # let world = spinneret_mpi_sys::Mpi::init()?.world();
//! let mut area = [0; 8];
//! let sum = world.scope(|scope| {
//!     let receiving = scope.irecv(&mut area, None, Some(1))?;
//!     // Here something else is done.
//!     let received = receiving.wait()?;
//!     Ok::<_, spinneret_mpi_sys::Error>(received.bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>())
//! })?;
//! # Ok(())
//! # }
//! ```

use super::area::Area;
use super::messages::{rank, tag, wanted};
use super::registry::{Outcome, Registry};
use super::{Comm, Status};
use crate::Error;
use crate::error::int;
use crate::functions::first;
use std::fmt;
use std::marker::PhantomData;

/// Where messages may be under way. All are ended when it is left: what nobody has waited for then, receives are called off
/// and sends are waited for. If it is left by a panic while messages are under way, all ranks are ended.
///
/// An area cannot be touched while MPI may write it:
///
/// ```compile_fail,E0502
/// # fn main() -> Result<(), spinneret_mpi_sys::Error> {
/// # let world = spinneret_mpi_sys::Mpi::init()?.world();
/// let mut area = [0; 8];
/// world.scope(|scope| {
///     let receiving = scope.irecv(&mut area, None, Some(1))?;
///     println!("{}", area[0]);
///     receiving.wait().map(|_| ())
/// })
/// # }
/// ```
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    pub(super) comm: &'env Comm,
    pub(super) registry: Registry,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl Comm {
    /// Runs a function that may leave messages under way.
    ///
    /// # Errors
    /// Those of the function.
    pub fn scope<'env, T, E>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<T, E>,
    ) -> Result<T, E> {
        let scope = Scope {
            comm: self,
            registry: Registry::new(&self.session),
            scope: PhantomData,
            env: PhantomData,
        };
        body(&scope)
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Begins to send bytes.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn isend(
        &'scope self,
        bytes: &'scope [u8],
        destination: usize,
        tag: u32,
    ) -> Result<Sending<'scope>, Error> {
        self.send_by("MPI_Isend", false, bytes, destination, tag)
    }

    /// Begins to send bytes, which is done when somebody has begun to take them.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn issend(
        &'scope self,
        bytes: &'scope [u8],
        destination: usize,
        tag: u32,
    ) -> Result<Sending<'scope>, Error> {
        self.send_by("MPI_Issend", true, bytes, destination, tag)
    }

    fn send_by(
        &'scope self,
        call: &'static str,
        is_synchronous: bool,
        bytes: &'scope [u8],
        destination: usize,
        tag_: u32,
    ) -> Result<Sending<'scope>, Error> {
        let count = int("bytes of a message", bytes.len())?;
        let (destination, tag) = (rank(destination)?, tag(tag_)?);
        let mut raw = 0;
        let (comm, start) = (self.comm.raw, first(bytes));
        let isend = self.comm.session.functions.isend;
        // SAFETY: the bytes are borrowed until the registry has ended the request.
        let code = unsafe {
            isend(
                is_synchronous.into(),
                comm,
                start,
                count,
                destination,
                tag,
                &mut raw,
            )
        };
        self.comm.session.check(call, code)?;
        Ok(Sending {
            open: Open::new(&self.registry, self.registry.add(raw, false, false)),
        })
    }

    /// Begins to take a message of some rank, or of any, with some tag, or any.
    ///
    /// # Errors
    /// If there is no such rank, or the area is too long.
    pub fn irecv(
        &'scope self,
        bytes: &'scope mut [u8],
        source: Option<usize>,
        tag: Option<u32>,
    ) -> Result<Receiving<'scope>, Error> {
        let count = int("bytes of a message", bytes.len())?;
        let (source, tag) = wanted(source, tag)?;
        let area = Area::new(bytes);
        let mut raw = 0;
        // SAFETY: the area is borrowed until the registry has ended the request.
        let code = unsafe {
            let irecv = self.comm.session.functions.irecv;
            irecv(self.comm.raw, area.start(), count, source, tag, &mut raw)
        };
        self.comm.session.check("MPI_Irecv", code)?;
        Ok(Receiving {
            open: Open::new(&self.registry, self.registry.add(raw, true, false)),
            area,
        })
    }

    /// Waits for all messages of this scope at once. How each ended is said by waiting for it, which takes no time then.
    pub fn wait_all(&self) {
        self.registry.wait_all();
    }
}

/// A message that is being sent. If it is dropped before it is sent, that is waited for.
#[derive(Debug)]
pub struct Sending<'scope> {
    open: Open<'scope>,
}

impl Sending<'_> {
    /// Waits until the bytes are sent.
    ///
    /// # Errors
    /// What MPI refuses.
    pub fn wait(self) -> Result<(), Error> {
        match self.open.registry.wait(self.open.index) {
            Some(outcome) => self.open.registry.session.check(outcome.call, outcome.code),
            None => Ok(()),
        }
    }

    /// Whether the bytes are sent.
    ///
    /// # Errors
    /// What MPI refuses.
    pub fn test(self) -> Result<Result<(), Self>, Error> {
        match self.open.registry.test(self.open.index) {
            Some(outcome) => {
                let checked = self.open.registry.session.check(outcome.call, outcome.code);
                checked.map(Ok)
            }
            None => Ok(Err(self)),
        }
    }
}

/// A message that is being taken. If it is dropped before it has come, it is called off.
#[derive(Debug)]
pub struct Receiving<'scope> {
    open: Open<'scope>,
    area: Area<'scope>,
}

/// A message that was taken.
#[derive(Debug, PartialEq, Eq)]
pub struct Received<'scope> {
    /// What is known of it.
    pub status: Status,
    /// Its bytes: the part of the area that it fills.
    pub bytes: &'scope mut [u8],
}

impl<'scope> Receiving<'scope> {
    /// Waits for the message.
    ///
    /// # Errors
    /// If it is longer than the area, or MPI refuses.
    pub fn wait(self) -> Result<Received<'scope>, Error> {
        let outcome = self.open.registry.wait(self.open.index);
        // Nothing else takes the outcome of a request that is not dropped yet.
        self.received(outcome.unwrap_or_else(|| Outcome {
            call: "MPI_Wait",
            code: 0,
            status: Default::default(),
        }))
    }

    /// The message if it has come, or else this again.
    ///
    /// # Errors
    /// As for [`Receiving::wait`].
    pub fn test(self) -> Result<Result<Received<'scope>, Self>, Error> {
        match self.open.registry.test(self.open.index) {
            Some(outcome) => self.received(outcome).map(Ok),
            None => Ok(Err(self)),
        }
    }

    /// Calls it off, and gives the message if it was faster.
    ///
    /// # Errors
    /// As for [`Receiving::wait`].
    pub fn cancel(self) -> Result<Option<Received<'scope>>, Error> {
        match self.open.registry.cancel(self.open.index)? {
            Some(outcome) if outcome.status.cancelled == 0 => self.received(outcome).map(Some),
            _ => Ok(None),
        }
    }

    fn received(self, outcome: Outcome) -> Result<Received<'scope>, Error> {
        let session = &self.open.registry.session;
        let status = session.received(outcome.call, outcome.code, &outcome.status, self.area.length)?;
        // SAFETY: the request has ended.
        let area = unsafe { self.area.give() };
        let filled = usize::try_from(status.bytes)
            .unwrap_or(usize::MAX)
            .min(area.len());
        Ok(Received {
            status,
            bytes: &mut area[..filled],
        })
    }
}

/// A request's place in its registry, which is given up when this is dropped.
pub(super) struct Open<'scope> {
    pub(super) registry: &'scope Registry,
    pub(super) index: usize,
}

impl<'scope> Open<'scope> {
    pub(super) fn new(registry: &'scope Registry, index: usize) -> Self {
        Self { registry, index }
    }
}

impl fmt::Debug for Open<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Open")
            .field("index", &self.index)
            .finish()
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.registry.remove(self.index);
    }
}
