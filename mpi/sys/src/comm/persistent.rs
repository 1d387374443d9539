//! Messages that are sent or taken again and again, with the same area, rank and tag.

use super::area::Area;
use super::messages::{Status, rank, tag, wanted};
use super::registry::Outcome;
use super::scope::{Open, Scope};
use crate::Error;
use crate::error::int;

/// A message that can be started again whenever it is done. If it is dropped while it is under way, a receive is called off,
/// and a send is waited for.
#[derive(Debug)]
pub struct Persistent<'scope> {
    open: Open<'scope>,
    area: Area<'scope>,
    is_receive: bool,
    is_active: bool,
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Prepares a send of an area, which has to be filled before each start.
    ///
    /// # Errors
    /// If there is no such rank, or the area is too long.
    pub fn send_init(
        &'scope self,
        bytes: &'scope mut [u8],
        destination: usize,
        tag: u32,
    ) -> Result<Persistent<'scope>, Error> {
        self.send_init_by("MPI_Send_init", false, bytes, destination, tag)
    }

    /// Prepares a send that is done when somebody has begun to take it.
    ///
    /// # Errors
    /// If there is no such rank, or the area is too long.
    pub fn ssend_init(
        &'scope self,
        bytes: &'scope mut [u8],
        destination: usize,
        tag: u32,
    ) -> Result<Persistent<'scope>, Error> {
        self.send_init_by("MPI_Ssend_init", true, bytes, destination, tag)
    }

    fn send_init_by(
        &'scope self,
        call: &'static str,
        is_synchronous: bool,
        bytes: &'scope mut [u8],
        destination: usize,
        tag_: u32,
    ) -> Result<Persistent<'scope>, Error> {
        let count = int("bytes of a message", bytes.len())?;
        let (destination, tag) = (rank(destination)?, tag(tag_)?);
        let area = Area::new(bytes);
        let mut raw = 0;
        let (comm, start) = (self.comm.raw, area.start());
        let send_init = self.comm.session.functions.send_init;
        // SAFETY: the area is borrowed until the registry has freed the request.
        let code = unsafe {
            send_init(
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
        Ok(self.persistent(raw, area, false))
    }

    /// Prepares to take messages into an area, of some rank, or of any, with some tag, or any.
    ///
    /// # Errors
    /// If there is no such rank, or the area is too long.
    pub fn recv_init(
        &'scope self,
        bytes: &'scope mut [u8],
        source: Option<usize>,
        tag: Option<u32>,
    ) -> Result<Persistent<'scope>, Error> {
        let count = int("bytes of a message", bytes.len())?;
        let (source, tag) = wanted(source, tag)?;
        let area = Area::new(bytes);
        let mut raw = 0;
        // SAFETY: the area is borrowed until the registry has freed the request.
        let code = unsafe {
            let recv_init = self.comm.session.functions.recv_init;
            recv_init(self.comm.raw, area.start(), count, source, tag, &mut raw)
        };
        self.comm.session.check("MPI_Recv_init", code)?;
        Ok(self.persistent(raw, area, true))
    }

    fn persistent(&'scope self, raw: u64, area: Area<'scope>, is_receive: bool) -> Persistent<'scope> {
        Persistent {
            open: Open::new(&self.registry, self.registry.add(raw, is_receive, true)),
            area,
            is_receive,
            is_active: false,
        }
    }
}

impl Persistent<'_> {
    /// Starts it.
    ///
    /// # Errors
    /// If it is under way, or MPI refuses.
    pub fn start(&mut self) -> Result<(), Error> {
        self.check_idle("start")?;
        self.open.registry.start(self.open.index)?;
        self.is_active = true;
        Ok(())
    }

    /// Waits until it is done, and says what was taken; nothing for a send, or if it was not started.
    ///
    /// # Errors
    /// If the message is longer than the area, or MPI refuses.
    pub fn wait(&mut self) -> Result<Option<Status>, Error> {
        match self.open.registry.wait(self.open.index) {
            Some(outcome) => self.ended(outcome),
            None => Ok(None),
        }
    }

    /// Whether it is done, or was not started, and what was taken; nothing for a send.
    ///
    /// # Errors
    /// As for [`Persistent::wait`].
    pub fn test(&mut self) -> Result<(bool, Option<Status>), Error> {
        match self.open.registry.test(self.open.index) {
            Some(outcome) => Ok((true, self.ended(outcome)?)),
            None => Ok((!self.is_active, None)),
        }
    }

    /// Calls a receive off that is under way, and says what was taken if the message was faster.
    ///
    /// # Errors
    /// If this is a send, which cannot be called off, or MPI refuses.
    pub fn cancel(&mut self) -> Result<Option<Status>, Error> {
        if !self.is_receive {
            return Err(Error::Argument {
                call: "cancel",
                reason: "a send cannot be called off; wait for it".to_owned(),
            });
        }
        match self.open.registry.cancel(self.open.index)? {
            Some(outcome) => self.ended(outcome),
            None => Ok(None),
        }
    }

    /// The area, to be filled or read.
    ///
    /// # Errors
    /// If it is under way.
    pub fn bytes(&mut self) -> Result<&mut [u8], Error> {
        self.check_idle("bytes")?;
        // SAFETY: MPI uses the area only between start and end, and a start needs this to be borrowed no more.
        Ok(unsafe { self.area.borrow() })
    }

    fn ended(&mut self, outcome: Outcome) -> Result<Option<Status>, Error> {
        self.is_active = false;
        let session = &self.open.registry.session;
        let status = session.received(outcome.call, outcome.code, &outcome.status, self.area.length)?;
        let is_told = self.is_receive && outcome.status.cancelled == 0;
        Ok(is_told.then_some(status))
    }

    fn check_idle(&self, call: &'static str) -> Result<(), Error> {
        if !self.is_active {
            return Ok(());
        }
        Err(Error::Argument {
            call,
            reason: "the message is under way; wait for it first".to_owned(),
        })
    }
}
