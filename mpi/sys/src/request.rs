//! Requests: operations that MPI works on while the program does something else.
//!
//! MPI reads or writes the memory of a request until the request is done. A [`Request`] therefore owns a share of that memory,
//! and of everything else that MPI uses meanwhile: the communicator and the datatype. A request that is leaked leaks its memory
//! as well, so that MPI never writes into memory that is used for something else by then.

use crate::comm::{rank, tag, wanted};
use crate::error::int;
use crate::functions::RawStatus;
use crate::{Comm, Datatype, Error, Number, Reduction, Shared, Status};
use std::rc::Rc;
use std::{slice, thread};

/// Kinds of messages, as `shim/spinneret_mpi.h` numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Isend,
    Issend,
    Irecv,
    SendInit,
    RecvInit,
}

impl Kind {
    fn call(self) -> &'static str {
        match self {
            Self::Isend => "MPI_Isend",
            Self::Issend => "MPI_Issend",
            Self::Irecv => "MPI_Irecv",
            Self::SendInit => "MPI_Send_init",
            Self::RecvInit => "MPI_Recv_init",
        }
    }

    fn is_receive(self) -> bool {
        matches!(self, Self::Irecv | Self::RecvInit)
    }
}

/// A message or a collective operation, and the memory that MPI uses for it.
///
/// Requests made by `*_init` are persistent: they are idle until [`Request::start`], and can be started again whenever they
/// are done. All others are in flight from the beginning and run once.
///
/// Dropping a request that is in flight cancels it if it is a receive, and waits for it otherwise. A panic that drops one ends
/// all ranks, because waiting could last for ever.
#[derive(Debug)]
pub struct Request {
    /// MPI's handle of the operation in flight.
    raw: u64,
    /// MPI's handle of the persistent request.
    persistent: Option<u64>,
    is_active: bool,
    is_receive: bool,
    comm: Rc<Comm>,
    /// The other rank and the tag, as MPI takes them.
    peer: (i32, i32),
    memory: Shared,
    /// Bytes of the longest message that fits.
    length: usize,
    /// The type of the one element that is the message. Without it, `memory` is the request's own.
    datatype: Option<Datatype>,
}

impl Comm {
    /// Starts to send a copy of some bytes.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn isend(self: &Rc<Self>, bytes: &[u8], destination: usize, tag_: u32) -> Result<Request, Error> {
        let peer = (rank(destination)?, tag(tag_)?);
        self.message(Kind::Isend, bytes.len(), bytes, peer)
    }

    /// Starts to send a copy of some bytes. The request is done once the receiver has started to take them.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn issend(self: &Rc<Self>, bytes: &[u8], destination: usize, tag_: u32) -> Result<Request, Error> {
        let peer = (rank(destination)?, tag(tag_)?);
        self.message(Kind::Issend, bytes.len(), bytes, peer)
    }

    /// Starts to receive a message of at most `capacity` bytes, from one rank or any, with one tag or any.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn irecv(
        self: &Rc<Self>,
        capacity: usize,
        source: Option<usize>,
        tag: Option<u32>,
    ) -> Result<Request, Error> {
        let peer = wanted(source, tag)?;
        self.message(Kind::Irecv, capacity, &[], peer)
    }

    /// Prepares to send messages of up to `capacity` bytes. [`Request::bytes_mut`] is where they are written.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn send_init(
        self: &Rc<Self>,
        capacity: usize,
        destination: usize,
        tag_: u32,
    ) -> Result<Request, Error> {
        let peer = (rank(destination)?, tag(tag_)?);
        self.message(Kind::SendInit, capacity, &[], peer)
    }

    /// Prepares to receive messages of up to `capacity` bytes. [`Request::bytes`] is where they are read.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn recv_init(self: &Rc<Self>, capacity: usize, source: usize, tag: u32) -> Result<Request, Error> {
        let peer = wanted(Some(source), Some(tag))?;
        self.message(Kind::RecvInit, capacity, &[], peer)
    }

    /// Prepares to send the element of a datatype at byte `at` of shared memory.
    ///
    /// # Errors
    /// If the element reaches out of the memory, is too long, or there is no such rank.
    pub fn send_init_at(
        self: &Rc<Self>,
        (memory, at): (&Shared, usize),
        datatype: Datatype,
        destination: usize,
        tag_: u32,
    ) -> Result<Request, Error> {
        let peer = (rank(destination)?, tag(tag_)?);
        self.element(Kind::SendInit, (memory, at), datatype, peer)
    }

    /// Prepares to receive messages into the element of a datatype at byte `at` of shared memory.
    ///
    /// # Errors
    /// If the element reaches out of the memory, is too long, or there is no such rank.
    pub fn recv_init_at(
        self: &Rc<Self>,
        (memory, at): (&Shared, usize),
        datatype: Datatype,
        source: usize,
        tag: u32,
    ) -> Result<Request, Error> {
        let peer = wanted(Some(source), Some(tag))?;
        self.element(Kind::RecvInit, (memory, at), datatype, peer)
    }

    /// Starts a barrier.
    ///
    /// # Errors
    /// If MPI refuses.
    pub fn ibarrier(self: &Rc<Self>) -> Result<Request, Error> {
        self.collective("MPI_Ibarrier", &[], |_, raw| {
            // SAFETY: the handle is alive.
            unsafe { (self.session.functions.ibarrier)(self.raw, raw) }
        })
    }

    /// Starts to broadcast the root's bytes, which [`Request::bytes`] has in the end. All ranks have to give as many bytes.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn ibcast(self: &Rc<Self>, root: usize, bytes: &[u8]) -> Result<Request, Error> {
        let count = int("bytes of a broadcast", bytes.len())?;
        let root = rank(root)?;
        self.collective("MPI_Ibcast", bytes, |start, raw| {
            // SAFETY: the memory has as many bytes, and lives until the request is done.
            unsafe { (self.session.functions.ibcast)(self.raw, start, count, root, raw) }
        })
    }

    /// Starts to reduce numbers of all ranks, element by element. [`Request::bytes`] has the result at the root, or at all
    /// ranks if there is none, and is unchanged elsewhere. All ranks have to give as many numbers.
    ///
    /// # Errors
    /// If there are too many, or the bytes are no whole numbers.
    pub fn ireduce(
        self: &Rc<Self>,
        root: Option<usize>,
        reduction: Reduction,
        number: Number,
        bytes: &[u8],
    ) -> Result<Request, Error> {
        let call = root.map_or("MPI_Iallreduce", |_| "MPI_Ireduce");
        if !bytes.len().is_multiple_of(number.bytes()) {
            let reason = format!("{} bytes are no whole numbers", bytes.len());
            return Err(Error::Argument { call, reason });
        }
        let count = int("numbers of a reduction", bytes.len() / number.bytes())?;
        let root = root.map_or(Ok(-1), rank)?;
        let (operation, kind) = (reduction as i32, number as i32);
        self.collective(call, bytes, |start, raw| {
            // SAFETY: as for `ibcast`; the memory is aligned for any number.
            unsafe { (self.session.functions.ireduce)(self.raw, root, operation, kind, start, count, raw) }
        })
    }

    /// Starts to bring parts of all ranks together at the root, where [`Request::bytes`] has them in the order of the ranks. All
    /// ranks have to give as many bytes.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn igather(self: &Rc<Self>, root: usize, part: &[u8]) -> Result<Request, Error> {
        let count = int("bytes of a part", part.len())?;
        let mut parts = part.to_vec();
        if self.rank() == root {
            parts = vec![0; part.len() * self.size()];
            parts[part.len() * root..][..part.len()].copy_from_slice(part);
        }
        let root = rank(root)?;
        self.collective("MPI_Igather", &parts, |start, raw| {
            // SAFETY: as for `ibcast`; the root has room for the parts of all ranks.
            unsafe { (self.session.functions.igather)(self.raw, root, start, count, raw) }
        })
    }

    /// Starts to give each rank its part of the root's bytes, which [`Request::bytes`] begins with at that rank. Other ranks
    /// give as many bytes as a part has; the root those of all ranks, and its own part stays where it is.
    ///
    /// # Errors
    /// If there is no such rank, there are too many bytes, or the root's are no equal parts.
    pub fn iscatter(self: &Rc<Self>, root: usize, bytes: &[u8]) -> Result<Request, Error> {
        let call = "MPI_Iscatter";
        let parts = if self.rank() == root { self.size() } else { 1 };
        if !bytes.len().is_multiple_of(parts) {
            let reason = format!("{} bytes are no {parts} equal parts", bytes.len());
            return Err(Error::Argument { call, reason });
        }
        let count = int("bytes of a part", bytes.len() / parts)?;
        let root = rank(root)?;
        self.collective(call, bytes, |start, raw| {
            // SAFETY: as for `ibcast`.
            unsafe { (self.session.functions.iscatter)(self.raw, root, start, count, raw) }
        })
    }

    /// A message of bytes in memory of the request's own, which `content` is copied into.
    fn message(
        self: &Rc<Self>,
        kind: Kind,
        length: usize,
        content: &[u8],
        peer: (i32, i32),
    ) -> Result<Request, Error> {
        let count = int("bytes of a message", length)?;
        let memory = Shared::with(length, content)?;
        // SAFETY: the memory has as many bytes, and lives until the request is done.
        let raw = unsafe { self.begin(kind, memory.start().as_ptr(), (count, 0), peer)? };
        Ok(self.request(Some(kind), raw, &memory, length, peer, None))
    }

    /// A message that is an element of a datatype.
    fn element(
        self: &Rc<Self>,
        kind: Kind,
        (memory, at): (&Shared, usize),
        datatype: Datatype,
        peer: (i32, i32),
    ) -> Result<Request, Error> {
        let length = datatype.check_in(kind.call(), memory.bytes(), at)?;
        // SAFETY: the element is in the memory, which lives, as the type does, until the request is done.
        let raw = unsafe {
            let first = memory.start().add(at).as_ptr();
            self.begin(kind, first, (1, datatype.handle()), peer)?
        };
        Ok(self.request(Some(kind), raw, memory, length, peer, Some(datatype)))
    }

    fn collective(
        self: &Rc<Self>,
        call: &'static str,
        bytes: &[u8],
        start: impl FnOnce(*mut u8, *mut u64) -> i32,
    ) -> Result<Request, Error> {
        let (memory, mut raw) = (Shared::with(bytes.len(), bytes)?, 0);
        self.session
            .check(call, start(memory.start().as_ptr(), &mut raw))?;
        Ok(self.request(None, raw, &memory, bytes.len(), (0, 0), None))
    }

    fn request(
        self: &Rc<Self>,
        kind: Option<Kind>,
        raw: u64,
        memory: &Shared,
        length: usize,
        peer: (i32, i32),
        datatype: Option<Datatype>,
    ) -> Request {
        let is_persistent = matches!(kind, Some(Kind::SendInit | Kind::RecvInit));
        Request {
            raw,
            persistent: is_persistent.then_some(raw),
            is_active: !is_persistent,
            is_receive: kind.is_some_and(Kind::is_receive),
            comm: Rc::clone(self),
            peer,
            memory: memory.clone(),
            length,
            datatype,
        }
    }

    /// MPI's handle of a message.
    ///
    /// # Safety
    /// The memory holds the elements, and lives until the request is done.
    unsafe fn begin(
        &self,
        kind: Kind,
        memory: *mut u8,
        (count, datatype): (i32, u64),
        (peer, tag): (i32, i32),
    ) -> Result<u64, Error> {
        let (mut raw, begin) = (0, self.session.functions.begin);
        // SAFETY: the caller guarantees it.
        let code = unsafe {
            begin(
                kind as i32,
                self.raw,
                memory,
                count,
                datatype,
                peer,
                tag,
                &mut raw,
            )
        };
        self.session.check(kind.call(), code)?;
        Ok(raw)
    }
}

impl Request {
    /// Starts a persistent request. Its part of shared memory must not be accessed until it is done.
    ///
    /// # Errors
    /// If it is in flight or not persistent, or MPI refuses.
    pub fn start(&mut self) -> Result<(), Error> {
        self.check_idle("start")?;
        let Some(persistent) = self.persistent else {
            return Err(refused("start", "the request is not persistent; make a new one"));
        };
        self.raw = persistent;
        // SAFETY: the request is persistent and idle, and owns what MPI uses.
        let code = unsafe { (self.comm.session.functions.start)(&mut self.raw) };
        self.comm.session.check("MPI_Start", code)?;
        self.is_active = true;
        Ok(())
    }

    /// Starts a persistent send of the first `length` bytes of [`Request::bytes_mut`].
    ///
    /// # Errors
    /// As for [`Request::start`], if it is a receive or has a datatype, or the bytes are more than it has.
    pub fn start_part(&mut self, length: usize) -> Result<(), Error> {
        if length == self.length {
            return self.start();
        }
        self.check_idle("start_part")?;
        if self.is_receive || self.datatype.is_some() || self.persistent.is_none() {
            let reason = "only a persistent send of bytes can be shorter than it was prepared for";
            return Err(refused("start_part", reason));
        }
        if length > self.length {
            let reason = format!("{length} bytes of an area of {}", self.length);
            return Err(refused("start_part", reason));
        }
        let count = int("bytes of a message", length)?;
        let memory = self.memory.start().as_ptr();
        // SAFETY: the memory has as many bytes, and lives until the request is done.
        self.raw = unsafe { self.comm.begin(Kind::Isend, memory, (count, 0), self.peer)? };
        self.is_active = true;
        Ok(())
    }

    /// The message that a request that is done has received; zeros if it is no receive. Nothing if it is still in
    /// flight, was not started, or was tested or waited for already.
    ///
    /// # Errors
    /// If a message is longer than its memory, or MPI refuses. The request is done then.
    pub fn test(&mut self) -> Result<Option<Status>, Error> {
        if !self.is_active {
            return Ok(None);
        }
        let (mut is_done, mut status) = (0, RawStatus::default());
        // SAFETY: the request is alive, and flag and status have places.
        let code = unsafe { (self.comm.session.functions.test)(&mut self.raw, &mut is_done, &mut status) };
        // A request that failed is done.
        if is_done == 0 && code == 0 {
            return Ok(None);
        }
        self.end("MPI_Test", code, &status)
    }

    /// Waits until the request is done. The result is that of [`Request::test`].
    ///
    /// # Errors
    /// As for [`Request::test`].
    pub fn wait(&mut self) -> Result<Option<Status>, Error> {
        if !self.is_active {
            return Ok(None);
        }
        let mut status = RawStatus::default();
        // SAFETY: the request is alive, and the status has a place.
        let code = unsafe { (self.comm.session.functions.wait)(&mut self.raw, &mut status) };
        self.end("MPI_Wait", code, &status)
    }

    /// Cancels a receive, and gives what it has received if the message came first.
    ///
    /// # Errors
    /// If it is no receive: Open MPI cannot cancel a send. As for [`Request::test`] otherwise.
    pub fn cancel(&mut self) -> Result<Option<Status>, Error> {
        if !self.is_receive {
            return Err(refused("cancel", "only a receive can be cancelled; wait for it"));
        }
        if !self.is_active {
            return Ok(None);
        }
        // SAFETY: the request is in flight.
        let code = unsafe { (self.comm.session.functions.cancel)(&mut self.raw) };
        self.comm.session.check("MPI_Cancel", code)?;
        self.wait()
    }

    /// Whether it is in flight, as far as [`Request::test`] and [`Request::wait`] have reported.
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// Whether it is a receive, which can be cancelled.
    pub fn is_receive(&self) -> bool {
        self.is_receive
    }

    /// The request's own memory. A received message is in front.
    ///
    /// # Errors
    /// If the request is in flight, or uses shared memory.
    pub fn bytes(&self) -> Result<&[u8], Error> {
        self.check_own("bytes")?;
        // SAFETY: the memory is the request's own. MPI uses it only in flight, and no start is possible while this is borrowed.
        Ok(unsafe { slice::from_raw_parts(self.memory.start().as_ptr(), self.length) })
    }

    /// The request's own memory, to be filled.
    ///
    /// # Errors
    /// As for [`Request::bytes`].
    pub fn bytes_mut(&mut self) -> Result<&mut [u8], Error> {
        self.check_own("bytes_mut")?;
        // SAFETY: as for `bytes`.
        Ok(unsafe { slice::from_raw_parts_mut(self.memory.start().as_ptr(), self.length) })
    }

    fn check_idle(&self, call: &'static str) -> Result<(), Error> {
        match self.is_active {
            true => Err(refused(call, "the request is in flight; wait for it first")),
            false => Ok(()),
        }
    }

    fn check_own(&self, call: &'static str) -> Result<(), Error> {
        match self.datatype {
            Some(_) => Err(refused(call, "the request uses shared memory; access that")),
            None => self.check_idle(call),
        }
    }

    fn end(&mut self, call: &'static str, code: i32, status: &RawStatus) -> Result<Option<Status>, Error> {
        self.is_active = false;
        let session = &self.comm.session;
        // Open MPI keeps a request that failed. Where the handle is null already, this is refused, and nothing is lost.
        if code != 0 && self.persistent != Some(self.raw) {
            // SAFETY: the request is done, and its handle is used no more.
            unsafe { (session.functions.request_free)(&mut self.raw) };
        }
        if !self.is_receive {
            return session.check(call, code).map(|()| Some(Status::default()));
        }
        let mut received = session.received(call, code, status, self.length)?;
        received.bytes = received.bytes.min(self.length as u64);
        Ok((status.cancelled == 0).then_some(received))
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        // The memory goes away now, while MPI still uses it, and waiting could last for ever.
        if self.is_active && thread::panicking() {
            self.comm.session.abort_by_panic();
        }
        // A receive might wait for ever, so it is cancelled; if that fails, it is waited for. Its result is dropped.
        if self.is_receive {
            let _ = self.cancel();
        }
        let _ = self.wait();
        if let Some(mut persistent) = self.persistent {
            // SAFETY: the request is idle, and its handle is used no more.
            unsafe { (self.comm.session.functions.request_free)(&mut persistent) };
        }
    }
}

fn refused(call: &'static str, reason: impl Into<String>) -> Error {
    Error::Argument {
        call,
        reason: reason.into(),
    }
}
