//! The host's side: pending operations, tested in the server's loop.

use crate::{
    COMM_SELF, COMM_WORLD, Comm, DATATYPE_DOUBLE, DATATYPE_FLOAT, DATATYPE_INT8, DATATYPE_INT16,
    DATATYPE_INT32, DATATYPE_INT64, DATATYPE_UINT8, DATATYPE_UINT16, DATATYPE_UINT32, DATATYPE_UINT64,
    Datatype, Messages, OPERATION_MAX, OPERATION_MIN, OPERATION_PROD, OPERATION_SUM, Operation, Request,
};
use spinneret_mpi_sys::{Comm as Ours, Error, Number, Reduction, Request as Transfer, Status as Received};
use spinneret_rpc::handle::Handles;
use spinneret_rpc::server::Answer;
use spinneret_rpc::{Call, CallMode, Service, Status};
use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The kind of requests: the fourth one of the service.
const REQUESTS: u32 = 4;
/// Most requests of a context at a time.
const MOST_REQUESTS: usize = 64;
/// Longest message, as the bulk area has it.
const MOST_BYTES: u32 = spinneret_rpc::layout::MOST_BULK_BYTES;

/// The host's side of [`Messages`], for the handlers of one context.
#[derive(Debug)]
pub struct Ranks {
    world: Rc<Ours>,
    alone: Rc<Ours>,
    /// Requests that handlers test by MPI_Test.
    requests: RefCell<Handles<Transfer>>,
    /// Operations that parked calls wait for.
    parked: RefCell<Vec<Option<Parked>>>,
    /// Calls that wait for a message that they leave there.
    probing: RefCell<Vec<Waker>>,
}

#[derive(Debug)]
struct Parked {
    operation: Transfer,
    /// How it ended.
    outcome: Option<Result<Received, Error>>,
    /// Nothing if the handler has died.
    waker: Option<Waker>,
}

/// Lets [`Ranks`] look at what is under way whenever the server looks at its ports.
#[derive(Debug)]
pub struct Progress(pub Rc<Ranks>);

impl Service for Progress {
    fn handles(&self, _: u32) -> Option<CallMode> {
        None
    }

    fn advance(&self) {
        self.0.advance();
    }

    fn call(self: Rc<Self>, _: Call) -> Answer {
        Box::pin(async {})
    }
}

pub(crate) fn refused(error: &Error) -> Status {
    match error {
        Error::Truncated { .. } => Status::failed(1),
        _ => Status::failed(2),
    }
}

/// The numbers of a datatype.
pub(crate) fn number(datatype: Datatype) -> Result<Number, Status> {
    Ok(match datatype {
        DATATYPE_INT8 => Number::Int8,
        DATATYPE_INT16 => Number::Int16,
        DATATYPE_INT32 => Number::Int32,
        DATATYPE_INT64 => Number::Int64,
        DATATYPE_FLOAT => Number::Float,
        DATATYPE_DOUBLE => Number::Double,
        DATATYPE_UINT8 => Number::Uint8,
        DATATYPE_UINT16 => Number::Uint16,
        DATATYPE_UINT32 => Number::Uint32,
        DATATYPE_UINT64 => Number::Uint64,
        _ => return Err(Status::HANDLE),
    })
}

pub(crate) fn reduction(operation: Operation) -> Result<Reduction, Status> {
    Ok(match operation {
        OPERATION_MIN => Reduction::Min,
        OPERATION_MAX => Reduction::Max,
        OPERATION_SUM => Reduction::Sum,
        OPERATION_PROD => Reduction::Product,
        _ => return Err(Status::HANDLE),
    })
}

/// A number that is -1 for any.
fn any<T>(number: i32, of: impl Fn(i32) -> Result<T, Status>) -> Result<Option<T>, Status> {
    match number {
        -1 => Ok(None),
        number => of(number).map(Some),
    }
}

fn tag(number: i32) -> Result<u32, Status> {
    u32::try_from(number).map_err(|_| Status::VALUE)
}

impl Ranks {
    /// With these communicators.
    pub fn new(world: Rc<Ours>, alone: Rc<Ours>) -> Self {
        Self {
            world,
            alone,
            requests: RefCell::new(Handles::new(REQUESTS, MOST_REQUESTS)),
            parked: RefCell::default(),
            probing: RefCell::default(),
        }
    }

    /// Whether nothing is under way that a call has begun.
    pub fn is_idle(&self) -> bool {
        self.parked.borrow().iter().all(Option::is_none)
    }

    /// Tests all operations, wakes calls that can continue, and drops abandoned ones.
    fn advance(&self) {
        self.probing.take().into_iter().for_each(Waker::wake);
        for place in &mut *self.parked.borrow_mut() {
            let Some(parked) = place else { continue };
            if parked.outcome.is_none() {
                parked.outcome = parked.operation.test().transpose();
            }
            if parked.outcome.is_some() {
                match &parked.waker {
                    Some(waker) => waker.wake_by_ref(),
                    None => *place = None,
                }
            }
        }
    }

    pub(crate) fn comm(&self, comm: Comm) -> Result<&Rc<Ours>, Status> {
        match comm {
            COMM_WORLD => Ok(&self.world),
            COMM_SELF => Ok(&self.alone),
            _ => Err(Status::HANDLE),
        }
    }

    /// A rank of a communicator: another number may end the program in some MPIs.
    pub(crate) fn rank(comm: &Ours, number: i32) -> Result<usize, Status> {
        let rank = usize::try_from(number).ok();
        rank.filter(|rank| *rank < comm.size()).ok_or(Status::VALUE)
    }

    pub(crate) fn begin_send(
        &self,
        is_synchronous: bool,
        data: &[u8],
        destination: i32,
        name: i32,
        comm: Comm,
    ) -> Result<Transfer, Status> {
        let comm = self.comm(comm)?;
        let (destination, name) = (Self::rank(comm, destination)?, tag(name)?);
        let sent = match is_synchronous {
            true => comm.issend(data, destination, name),
            false => comm.isend(data, destination, name),
        };
        sent.map_err(|error| refused(&error))
    }

    pub(crate) fn begin_receive(
        &self,
        room: u32,
        source: i32,
        name: i32,
        comm: Comm,
    ) -> Result<Transfer, Status> {
        let comm = self.comm(comm)?;
        let source = any(source, |number| Self::rank(comm, number))?;
        let name = any(name, tag)?;
        let received = comm.irecv(room as usize, source, name);
        received.map_err(|error| refused(&error))
    }

    /// Waits until an operation is done, and gives what it has received.
    pub(crate) async fn finish(&self, mut operation: Transfer) -> Result<(Transfer, Received), Status> {
        // Most sends are done at once.
        let done = match operation.test().transpose() {
            Some(outcome) => outcome.map(|received| (operation, received)),
            None => Wait::for_(self, operation).await,
        };
        done.map_err(|error| refused(&error))
    }

    pub(crate) fn keep(&self, operation: Transfer) -> Result<Request, Status> {
        let raw = self.requests.borrow_mut().insert(operation);
        raw.and_then(Request::from_raw).ok_or(Status::ROOM)
    }

    /// Takes a request of a handler out, if there is such a one.
    pub(crate) fn take(&self, raw: u32) -> Option<Transfer> {
        self.requests.borrow_mut().remove(raw.into())
    }

    /// Whether and how a request of a handler has ended, if there is such a one. One that has ended is removed.
    pub(crate) fn ended(&self, raw: u32) -> Option<Option<Result<(Transfer, Received), Status>>> {
        let outcome = {
            let mut requests = self.requests.borrow_mut();
            requests.get_mut(raw.into())?.test().transpose()
        };
        let Some(outcome) = outcome else {
            return Some(None);
        };
        let operation = self.take(raw)?;
        let received = outcome.map_err(|error| refused(&error));
        Some(Some(received.map(|received| (operation, received))))
    }

    /// Waits for a message, and leaves it there.
    pub(crate) async fn probe(&self, source: i32, name: i32, comm: Comm) -> Result<Received, Status> {
        let comm = self.comm(comm)?;
        let source = any(source, |number| Self::rank(comm, number))?;
        let name = any(name, tag)?;
        poll_fn(|context| match comm.iprobe(source, name) {
            Ok(None) => {
                self.probing.borrow_mut().push(context.waker().clone());
                Poll::Pending
            }
            found => Poll::Ready(found),
        })
        .await
        .map_err(|error| refused(&error))?
        .ok_or(Status::VALUE)
    }
}

/// A call that waits for an operation. If the call is dropped, a receive is cancelled, and all else goes on alone.
struct Wait<'r> {
    ranks: &'r Ranks,
    /// Of the operation, until it is done.
    place: Option<usize>,
}

impl<'r> Wait<'r> {
    fn for_(ranks: &'r Ranks, operation: Transfer) -> Self {
        let mut all = ranks.parked.borrow_mut();
        let free = all.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            all.push(None);
            all.len() - 1
        });
        all[place] = Some(Parked {
            operation,
            outcome: None,
            waker: None,
        });
        Self {
            ranks,
            place: Some(place),
        }
    }
}

impl Future for Wait<'_> {
    type Output = Result<(Transfer, Received), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut all = self.ranks.parked.borrow_mut();
        let place = self.place.and_then(|place| all.get_mut(place));
        let Some(parked) = place else {
            return Poll::Pending;
        };
        match parked.take_if(|parked| parked.outcome.is_some()) {
            Some(Parked {
                operation,
                outcome: Some(outcome),
                ..
            }) => {
                drop(all);
                self.place = None;
                Poll::Ready(outcome.map(|received| (operation, received)))
            }
            _ => {
                if let Some(parked) = parked {
                    parked.waker = Some(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let mut all = self.ranks.parked.borrow_mut();
        if let Some(place) = self.place.and_then(|place| all.get_mut(place))
            && let Some(parked) = place
        {
            parked.waker = None;
            if !parked.operation.is_active() || parked.operation.is_receive() {
                *place = None;
            }
        }
    }
}

impl Messages for Rc<Ranks> {
    async fn send(
        &self,
        _: u32,
        _: Datatype,
        data: &[u8],
        destination: i32,
        tag: i32,
        comm: Comm,
    ) -> Result<(), Status> {
        let operation = self.begin_send(false, data, destination, tag, comm)?;
        self.finish(operation).await.map(drop)
    }

    async fn ssend(
        &self,
        _: u32,
        _: Datatype,
        data: &[u8],
        destination: i32,
        tag: i32,
        comm: Comm,
    ) -> Result<(), Status> {
        let operation = self.begin_send(true, data, destination, tag, comm)?;
        self.finish(operation).await.map(drop)
    }

    async fn recv(
        &self,
        _: u32,
        _: Datatype,
        data: &mut [u8],
        source: i32,
        tag: i32,
        comm: Comm,
        bytes: &mut u32,
        from: &mut i32,
        with: &mut i32,
    ) -> Result<(), Status> {
        let operation = self.begin_receive(data.len() as u32, source, tag, comm)?;
        let done = self.finish(operation).await?;
        give(&done, data, (bytes, from, with))
    }

    fn isend(
        &self,
        _: u32,
        _: Datatype,
        data: &[u8],
        destination: i32,
        tag: i32,
        comm: Comm,
    ) -> Result<Request, Status> {
        self.keep(self.begin_send(false, data, destination, tag, comm)?)
    }

    fn irecv(&self, room: u32, source: i32, tag: i32, comm: Comm) -> Result<Request, Status> {
        if room > MOST_BYTES {
            return Err(Status::ROOM);
        }
        self.keep(self.begin_receive(room, source, tag, comm)?)
    }

    fn test(
        &self,
        request: Request,
        _: u32,
        data: &mut [u8],
        bytes: &mut u32,
        from: &mut i32,
        with: &mut i32,
    ) -> Result<bool, Status> {
        let Some(done) = self.ended(request.raw()).ok_or(Status::HANDLE)? else {
            return Ok(false);
        };
        let done = done?;
        if done.0.is_receive() {
            give(&done, data, (bytes, from, with))?;
        }
        Ok(true)
    }

    async fn barrier(&self, comm: Comm) -> Result<(), Status> {
        let operation = self.comm(comm)?.ibarrier();
        let operation = operation.map_err(|error| refused(&error))?;
        self.finish(operation).await.map(drop)
    }

    async fn bcast(&self, _: u32, _: Datatype, data: &mut [u8], root: i32, comm: Comm) -> Result<(), Status> {
        let comm = self.comm(comm)?;
        let operation = comm.ibcast(Ranks::rank(comm, root)?, data);
        let operation = operation.map_err(|error| refused(&error))?;
        replace(data, &self.finish(operation).await?.0)
    }

    async fn allreduce(
        &self,
        _: u32,
        datatype: Datatype,
        data: &mut [u8],
        operation: Operation,
        comm: Comm,
    ) -> Result<(), Status> {
        let comm = self.comm(comm)?;
        let operation = comm.ireduce(None, reduction(operation)?, number(datatype)?, data);
        let operation = operation.map_err(|error| refused(&error))?;
        replace(data, &self.finish(operation).await?.0)
    }

    fn comm_rank(&self, comm: Comm) -> Result<u32, Status> {
        Ok(self.comm(comm)?.rank() as u32)
    }

    fn comm_size(&self, comm: Comm) -> Result<u32, Status> {
        Ok(self.comm(comm)?.size() as u32)
    }
}

/// Copies a received message, and says how long it is, where it came from and with which tag.
fn give(
    (operation, received): &(Transfer, Received),
    data: &mut [u8],
    (bytes, from, with): (&mut u32, &mut i32, &mut i32),
) -> Result<(), Status> {
    let area = operation.bytes().map_err(|error| refused(&error))?;
    let message = area.get(..received.bytes as usize).unwrap_or(area);
    let Some(room) = data.get_mut(..message.len()) else {
        return Err(Status::failed(1));
    };
    room.copy_from_slice(message);
    *bytes = message.len() as u32;
    *from = i32::try_from(received.source).unwrap_or(-1);
    *with = i32::try_from(received.tag).unwrap_or(-1);
    Ok(())
}

/// Copies the result of a collective operation.
fn replace(data: &mut [u8], operation: &Transfer) -> Result<(), Status> {
    data.copy_from_slice(operation.bytes().map_err(|error| refused(&error))?);
    Ok(())
}
