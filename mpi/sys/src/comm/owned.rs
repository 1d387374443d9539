//! Persistent messages that own their area, for those who keep many of them and for long.

use super::Comm;
use super::area::Area;
use super::messages::{rank, tag, wanted};
use super::registry::{Outcome, Registry};
use crate::Error;
use crate::error::int;
use std::rc::Rc;

/// An area of memory that MPI may use as long as this lives.
#[derive(Debug)]
pub(super) struct Owned(Area<'static>);

impl Owned {
    fn new(capacity: usize) -> Self {
        Self::of(vec![0; capacity])
    }

    /// Made of these bytes.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        Self(Area::new(Box::leak(bytes.into_boxed_slice())))
    }

    /// Where MPI is told that it begins.
    pub(super) fn start(&self) -> *mut u8 {
        self.0.start()
    }

    pub(super) fn length(&self) -> usize {
        self.0.length
    }

    /// The bytes.
    ///
    /// # Safety
    /// MPI does not use the area while the result lives.
    pub(super) unsafe fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the caller says so.
        unsafe { self.0.borrow() }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the registry beside it is dropped before, so MPI uses the area no more; it was a box's, and nobody else
        // has it.
        unsafe { drop(Box::from_raw(self.0.borrow())) }
    }
}

/// What both directions share. The order of the fields is that in which they are dropped: requests end first.
#[derive(Debug)]
struct Repeated {
    registry: Registry,
    /// The persistent request.
    persistent: usize,
    /// The request that is under way.
    active: Option<usize>,
    area: Owned,
    comm: Rc<Comm>,
    /// The other rank and the tag, as MPI takes them.
    peer: (i32, i32),
}

impl Repeated {
    fn start(&mut self) -> Result<(), Error> {
        self.registry.start(self.persistent)?;
        self.active = Some(self.persistent);
        Ok(())
    }

    /// What an ended request has come to: bytes that were taken.
    fn ended(&mut self, outcome: Outcome) -> Result<usize, Error> {
        if let Some(index) = self.active.take()
            && index != self.persistent
        {
            self.registry.remove(index);
        }
        let fits = self.area.0.length;
        let status = self
            .comm
            .session
            .received(outcome.call, outcome.code, &outcome.status, fits)?;
        Ok(usize::try_from(status.bytes).unwrap_or(fits).min(fits))
    }

    fn test(&mut self) -> Result<Option<usize>, Error> {
        match self.active.and_then(|index| self.registry.test(index)) {
            Some(outcome) => self.ended(outcome).map(Some),
            None => Ok(None),
        }
    }

    fn wait(&mut self) -> Result<usize, Error> {
        match self.active.and_then(|index| self.registry.wait(index)) {
            Some(outcome) => self.ended(outcome),
            None => Ok(0),
        }
    }

    fn check_idle(&self, call: &'static str) -> Result<(), Error> {
        if self.active.is_none() {
            return Ok(());
        }
        Err(Error::Argument {
            call,
            reason: "the message is under way; wait for it first".to_owned(),
        })
    }

    fn bytes(&mut self, call: &'static str) -> Result<&mut [u8], Error> {
        self.check_idle(call)?;
        // SAFETY: MPI uses the area only while a request is active, and a start needs this to be borrowed no more.
        Ok(unsafe { self.area.0.borrow() })
    }
}

/// Sends again and again to one rank with one tag, out of an area of its own. If it is dropped while a message is under way,
/// that is waited for.
#[derive(Debug)]
pub struct Sender(Repeated);

/// Takes messages again and again from one rank with one tag, into an area of its own. If it is dropped while one is awaited,
/// that is called off.
#[derive(Debug)]
pub struct Receiver(Repeated);

impl Comm {
    /// Prepares to send messages of up to `capacity` bytes.
    ///
    /// # Errors
    /// If there is no such rank, or the messages are too long.
    pub fn sender(self: &Rc<Self>, capacity: usize, destination: usize, tag_: u32) -> Result<Sender, Error> {
        let (count, to, name) = (
            int("bytes of a message", capacity)?,
            rank(destination)?,
            tag(tag_)?,
        );
        let (area, mut raw) = (Owned::new(capacity), 0);
        let send_init = self.session.functions.send_init;
        // SAFETY: the area lives until the registry has freed the request.
        let code = unsafe { send_init(0, self.raw, area.0.start(), count, to, name, &mut raw) };
        self.session.check("MPI_Send_init", code)?;
        Ok(Sender(self.repeated(area, raw, false, (to, name))))
    }

    /// Prepares to take messages of up to `capacity` bytes.
    ///
    /// # Errors
    /// If there is no such rank, or the messages are too long.
    pub fn receiver(self: &Rc<Self>, capacity: usize, source: usize, tag: u32) -> Result<Receiver, Error> {
        let count = int("bytes of a message", capacity)?;
        let (from, name) = wanted(Some(source), Some(tag))?;
        let (area, mut raw) = (Owned::new(capacity), 0);
        let recv_init = self.session.functions.recv_init;
        // SAFETY: the area lives until the registry has freed the request.
        let code = unsafe { recv_init(self.raw, area.0.start(), count, from, name, &mut raw) };
        self.session.check("MPI_Recv_init", code)?;
        Ok(Receiver(self.repeated(area, raw, true, (from, name))))
    }

    fn repeated(self: &Rc<Self>, area: Owned, raw: u64, is_receive: bool, peer: (i32, i32)) -> Repeated {
        let registry = Registry::new(&self.session);
        let persistent = registry.add(raw, is_receive, true);
        Repeated {
            registry,
            persistent,
            active: None,
            area,
            comm: Rc::clone(self),
            peer,
        }
    }
}

impl Sender {
    /// The area, to be filled.
    ///
    /// # Errors
    /// If a message is under way.
    pub fn bytes(&mut self) -> Result<&mut [u8], Error> {
        self.0.bytes("bytes")
    }

    /// Sends the first bytes of the area. All of it is what MPI has prepared for; less is sent as exactly so much.
    ///
    /// # Errors
    /// If a message is under way, or is longer than the area, or MPI refuses.
    pub fn start(&mut self, length: usize) -> Result<(), Error> {
        let this = &mut self.0;
        this.check_idle("start")?;
        if length == this.area.0.length {
            return this.start();
        }
        if length > this.area.0.length {
            return Err(Error::Argument {
                call: "start",
                reason: format!("{length} bytes of an area of {}", this.area.0.length),
            });
        }
        let (count, (to, name)) = (int("bytes of a message", length)?, this.peer);
        let (comm, mut raw) = (&this.comm, 0);
        // SAFETY: the area lives until the registry has ended the request.
        let code = unsafe {
            let isend = comm.session.functions.isend;
            isend(0, comm.raw, this.area.0.start(), count, to, name, &mut raw)
        };
        comm.session.check("MPI_Isend", code)?;
        this.active = Some(this.registry.add(raw, false, false));
        Ok(())
    }

    /// Whether the area is free: its message is sent, or none was started.
    ///
    /// # Errors
    /// What MPI refuses.
    pub fn test(&mut self) -> Result<bool, Error> {
        Ok(self.0.active.is_none() || self.0.test()?.is_some())
    }

    /// Waits until the area is free.
    ///
    /// # Errors
    /// What MPI refuses.
    pub fn wait(&mut self) -> Result<(), Error> {
        self.0.wait().map(|_| ())
    }
}

impl Receiver {
    /// Begins to take a message.
    ///
    /// # Errors
    /// If one is awaited already, or MPI refuses.
    pub fn start(&mut self) -> Result<(), Error> {
        self.0.check_idle("start")?;
        self.0.start()
    }

    /// The length of the message if it has come; nothing if it has not, or if none was started.
    ///
    /// # Errors
    /// If it is longer than the area, or MPI refuses.
    pub fn test(&mut self) -> Result<Option<usize>, Error> {
        self.0.test()
    }

    /// Waits for the message, and gives its length; 0 if none was started.
    ///
    /// # Errors
    /// If it is longer than the area, or MPI refuses.
    pub fn wait(&mut self) -> Result<usize, Error> {
        self.0.wait()
    }

    /// The area, with the last message in front.
    ///
    /// # Errors
    /// If a message is awaited.
    pub fn bytes(&mut self) -> Result<&mut [u8], Error> {
        self.0.bytes("bytes")
    }
}
