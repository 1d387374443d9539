//! What is under way and owns its area, for those who test many of them in a loop: messages, and what all ranks do together.

use super::messages::{rank, tag, wanted};
use super::owned::Owned;
use super::registry::Registry;
use super::{Comm, Reduction, Status};
use crate::Error;
use crate::error::int;
use std::rc::Rc;

/// Numbers of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// `i8`.
    Int8,
    /// `i16`.
    Int16,
    /// `i32`.
    Int32,
    /// `i64`.
    Int64,
    /// `f32`.
    Float,
    /// `f64`.
    Double,
}

impl Number {
    /// Bytes of one.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Int8 => 1,
            Self::Int16 => 2,
            Self::Int32 | Self::Float => 4,
            Self::Int64 | Self::Double => 8,
        }
    }
}

/// What is under way, with the area that MPI reads or writes meanwhile. If it is dropped before it has ended, a receive is called off,
/// and anything else is waited for. The order of the fields is that in which they are dropped: requests end first.
#[derive(Debug)]
pub struct Flight {
    registry: Registry,
    index: usize,
    area: Owned,
    comm: Rc<Comm>,
    call: &'static str,
    is_receive: bool,
    has_ended: bool,
}

/// What has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landed {
    /// What is known of a message that was received; all of it is 0 of anything else.
    pub status: Status,
    /// The area: of a receive, what was received; of anything else, what it has become.
    pub bytes: Vec<u8>,
}

impl Comm {
    /// Begins to send bytes; if it is synchronous, until somebody has begun to take them.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn send_away(
        self: &Rc<Self>,
        is_synchronous: bool,
        bytes: Vec<u8>,
        destination: usize,
        tag_: u32,
    ) -> Result<Flight, Error> {
        let count = int("bytes of a message", bytes.len())?;
        let (to, name) = (rank(destination)?, tag(tag_)?);
        self.take_off("MPI_Isend", bytes, |start, raw| {
            let isend = self.session.functions.isend;
            // SAFETY: the area has as many bytes, and lives until the request has ended.
            unsafe { isend(is_synchronous.into(), self.raw, start, count, to, name, raw) }
        })
    }

    /// Begins to take a message of at most so many bytes, of some rank or any, with some tag or any.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn receive_later(
        self: &Rc<Self>,
        capacity: usize,
        source: Option<usize>,
        tag: Option<u32>,
    ) -> Result<Flight, Error> {
        let count = int("bytes of a message", capacity)?;
        let (from, name) = wanted(source, tag)?;
        self.take_off("MPI_Irecv", vec![0; capacity], |start, raw| {
            let irecv = self.session.functions.irecv;
            // SAFETY: as above.
            unsafe { irecv(self.raw, start, count, from, name, raw) }
        })
    }

    /// Begins to wait for all ranks.
    ///
    /// # Errors
    /// What MPI refuses.
    pub fn barrier_later(self: &Rc<Self>) -> Result<Flight, Error> {
        self.take_off("MPI_Ibarrier", Vec::new(), |_, raw| {
            // SAFETY: the handle is alive.
            unsafe { (self.session.functions.ibarrier)(self.raw, raw) }
        })
    }

    /// Begins to give the root's bytes to all ranks. All have to give as many.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn bcast_later(self: &Rc<Self>, root: usize, bytes: Vec<u8>) -> Result<Flight, Error> {
        let count = int("bytes of a broadcast", bytes.len())?;
        let root = rank(root)?;
        self.take_off("MPI_Ibcast", bytes, |start, raw| {
            // SAFETY: as for `send_away`.
            unsafe { (self.session.functions.ibcast)(self.raw, start, count, root, raw) }
        })
    }

    /// Begins to make each number that which all ranks have at its place, put together. All have to give as many.
    ///
    /// # Errors
    /// If there are too many, or the bytes are no whole numbers.
    pub fn allreduce_later(
        self: &Rc<Self>,
        reduction: Reduction,
        number: Number,
        bytes: Vec<u8>,
    ) -> Result<Flight, Error> {
        let call = "MPI_Iallreduce";
        if !bytes.len().is_multiple_of(number.bytes()) {
            let reason = format!("{} bytes are no whole numbers", bytes.len());
            return Err(Error::Argument { call, reason });
        }
        let count = int("numbers of a reduction", bytes.len() / number.bytes())?;
        let (operation, kind) = (reduction as i32, number as i32);
        self.take_off(call, bytes, |start, raw| {
            // SAFETY: as for `send_away`; the layer looks at the alignment.
            unsafe { (self.session.functions.iallreduce)(self.raw, operation, kind, start, count, raw) }
        })
    }

    /// Starts something in an area of its own.
    fn take_off(
        self: &Rc<Self>,
        call: &'static str,
        bytes: Vec<u8>,
        start: impl FnOnce(*mut u8, *mut u64) -> i32,
    ) -> Result<Flight, Error> {
        let (area, mut raw) = (Owned::of(bytes), 0);
        let code = start(area.start(), &mut raw);
        self.session.check(call, code)?;
        let registry = Registry::new(&self.session);
        let is_receive = call == "MPI_Irecv";
        let index = registry.add(raw, is_receive, false);
        Ok(Flight {
            registry,
            index,
            area,
            comm: Rc::clone(self),
            call,
            is_receive,
            has_ended: false,
        })
    }
}

impl Flight {
    /// What it has come to, if it has ended, and if that was not told before.
    pub fn test(&mut self) -> Option<Result<Landed, Error>> {
        let outcome = self.registry.test(self.index)?;
        self.has_ended = true;
        let fits = self.area.length();
        let session = &self.comm.session;
        let checked = match self.is_receive {
            true => session.received(self.call, outcome.code, &outcome.status, fits),
            false => session.check(self.call, outcome.code).map(|()| Status {
                source: 0,
                tag: 0,
                bytes: 0,
            }),
        };
        Some(checked.map(|status| {
            let told = usize::try_from(status.bytes).unwrap_or(fits).min(fits);
            let length = if self.is_receive { told } else { fits };
            // SAFETY: the request has ended.
            let bytes = unsafe { self.area.bytes() }[..length].to_vec();
            Landed { status, bytes }
        }))
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether it is a receive, which can be called off.
    pub fn is_receive(&self) -> bool {
        self.is_receive
    }
}
