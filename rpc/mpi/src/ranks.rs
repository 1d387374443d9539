//! The host's side: what is under way, tested in the server's loop.

use crate::interface::{
    COMM_SELF, COMM_WORLD, Comm, DATATYPE_DOUBLE, DATATYPE_FLOAT, DATATYPE_INT8, DATATYPE_INT16,
    DATATYPE_INT32, DATATYPE_INT64, Datatype, Messages, OPERATION_MAX, OPERATION_MIN, OPERATION_SUM,
    Operation, Request,
};
use spinneret_mpi_sys::{Comm as Ours, Error, Flight, Landed, Number, Reduction};
use spinneret_rpc::handle::Handles;
use spinneret_rpc::server::Answer;
use spinneret_rpc::{Call, Service, Status, Way};
use std::cell::RefCell;
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
    /// What handlers ask for by MPI_Test.
    requests: RefCell<Handles<Flight>>,
    /// What parked calls wait for.
    flights: RefCell<Vec<Option<Parked>>>,
}

#[derive(Debug)]
struct Parked {
    flight: Flight,
    landed: Option<Result<Landed, Error>>,
    /// Nobody, if the handler has died.
    waker: Option<Waker>,
}

/// Lets [`Ranks`] look at what is under way whenever the server looks at its ports.
#[derive(Debug)]
pub struct Progress(pub Rc<Ranks>);

impl Service for Progress {
    fn handles(&self, _: u32) -> Option<Way> {
        None
    }

    fn advance(&self) {
        self.0.advance();
    }

    fn call(self: Rc<Self>, _: Call) -> Answer {
        Box::pin(async {})
    }
}

fn refused(error: &Error) -> Status {
    match error {
        Error::Truncated { .. } => Status::failed(1),
        _ => Status::failed(2),
    }
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
            flights: RefCell::default(),
        }
    }

    /// Whether nothing is under way that a call has begun.
    pub fn is_idle(&self) -> bool {
        self.flights.borrow().iter().all(Option::is_none)
    }

    /// Tests everything, wakes calls whose turn it is, and forgets what nobody waits for any more.
    fn advance(&self) {
        for place in &mut *self.flights.borrow_mut() {
            let Some(parked) = place else { continue };
            if parked.landed.is_none() {
                parked.landed = parked.flight.test();
            }
            if parked.landed.is_some() {
                match &parked.waker {
                    Some(waker) => waker.wake_by_ref(),
                    None => *place = None,
                }
            }
        }
    }

    fn comm(&self, comm: Comm) -> Result<&Rc<Ours>, Status> {
        match comm {
            COMM_WORLD => Ok(&self.world),
            COMM_SELF => Ok(&self.alone),
            _ => Err(Status::HANDLE),
        }
    }

    /// A rank of a communicator: another number may end the program in some MPIs.
    fn rank(comm: &Ours, number: i32) -> Result<usize, Status> {
        let rank = usize::try_from(number).ok();
        rank.filter(|rank| *rank < comm.size()).ok_or(Status::VALUE)
    }

    fn begin_send(
        &self,
        is_synchronous: bool,
        data: &[u8],
        destination: i32,
        name: i32,
        comm: Comm,
    ) -> Result<Flight, Status> {
        let comm = self.comm(comm)?;
        let (destination, name) = (Self::rank(comm, destination)?, tag(name)?);
        let sent = comm.send_away(is_synchronous, data.to_vec(), destination, name);
        sent.map_err(|error| refused(&error))
    }

    fn begin_receive(&self, room: u32, source: i32, name: i32, comm: Comm) -> Result<Flight, Status> {
        let comm = self.comm(comm)?;
        let source = any(source, |number| Self::rank(comm, number))?;
        let name = any(name, tag)?;
        let received = comm.receive_later(room as usize, source, name);
        received.map_err(|error| refused(&error))
    }

    /// Waits until something has ended.
    async fn land(&self, mut flight: Flight) -> Result<Landed, Status> {
        // Most sends end at once.
        let landed = match flight.test() {
            Some(landed) => landed,
            None => Landing::of(self, flight).await,
        };
        landed.map_err(|error| refused(&error))
    }

    fn keep(&self, flight: Flight) -> Result<Request, Status> {
        let raw = self.requests.borrow_mut().insert(flight);
        raw.and_then(Request::from_raw).ok_or(Status::ROOM)
    }
}

/// A call's wait for something that is under way. If the call is given up, a receive is called off, and all else goes on alone.
struct Landing<'r> {
    ranks: &'r Ranks,
    place: usize,
}

impl<'r> Landing<'r> {
    fn of(ranks: &'r Ranks, flight: Flight) -> Self {
        let mut flights = ranks.flights.borrow_mut();
        let free = flights.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            flights.push(None);
            flights.len() - 1
        });
        flights[place] = Some(Parked {
            flight,
            landed: None,
            waker: None,
        });
        Self { ranks, place }
    }
}

impl Future for Landing<'_> {
    type Output = Result<Landed, Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut flights = self.ranks.flights.borrow_mut();
        let parked = flights[self.place].as_mut();
        let parked = parked.expect("a place is given up when nobody waits for it");
        match parked.landed.take() {
            Some(landed) => Poll::Ready(landed),
            None => {
                parked.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        let mut flights = self.ranks.flights.borrow_mut();
        let place = &mut flights[self.place];
        if let Some(parked) = place {
            parked.waker = None;
            if parked.flight.has_ended() || parked.flight.is_receive() {
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
        let flight = self.begin_send(false, data, destination, tag, comm)?;
        self.land(flight).await.map(|_| ())
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
        let flight = self.begin_send(true, data, destination, tag, comm)?;
        self.land(flight).await.map(|_| ())
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
        let flight = self.begin_receive(data.len() as u32, source, tag, comm)?;
        let landed = self.land(flight).await?;
        give(&landed, data, bytes, from, with);
        Ok(())
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
        let mut requests = self.requests.borrow_mut();
        let raw = request.raw().into();
        let flight = requests.get_mut(raw).ok_or(Status::HANDLE)?;
        let Some(landed) = flight.test() else {
            return Ok(false);
        };
        let is_receive = flight.is_receive();
        requests.remove(raw);
        let landed = landed.map_err(|error| refused(&error))?;
        if is_receive && landed.bytes.len() > data.len() {
            return Err(Status::failed(1));
        }
        if is_receive {
            give(&landed, data, bytes, from, with);
        }
        Ok(true)
    }

    async fn barrier(&self, comm: Comm) -> Result<(), Status> {
        let flight = self.comm(comm)?.barrier_later();
        let flight = flight.map_err(|error| refused(&error))?;
        self.land(flight).await.map(|_| ())
    }

    async fn bcast(&self, _: u32, _: Datatype, data: &mut [u8], root: i32, comm: Comm) -> Result<(), Status> {
        let comm = self.comm(comm)?;
        let flight = comm.bcast_later(Ranks::rank(comm, root)?, data.to_vec());
        let landed = self.land(flight.map_err(|error| refused(&error))?).await?;
        data.copy_from_slice(&landed.bytes);
        Ok(())
    }

    async fn allreduce(
        &self,
        _: u32,
        datatype: Datatype,
        data: &mut [u8],
        operation: Operation,
        comm: Comm,
    ) -> Result<(), Status> {
        let number = match datatype {
            DATATYPE_INT8 => Number::Int8,
            DATATYPE_INT16 => Number::Int16,
            DATATYPE_INT32 => Number::Int32,
            DATATYPE_INT64 => Number::Int64,
            DATATYPE_FLOAT => Number::Float,
            DATATYPE_DOUBLE => Number::Double,
            _ => return Err(Status::HANDLE),
        };
        let reduction = match operation {
            OPERATION_MIN => Reduction::Min,
            OPERATION_MAX => Reduction::Max,
            OPERATION_SUM => Reduction::Sum,
            _ => return Err(Status::HANDLE),
        };
        let flight = self.comm(comm)?.allreduce_later(reduction, number, data.to_vec());
        let landed = self.land(flight.map_err(|error| refused(&error))?).await?;
        data.copy_from_slice(&landed.bytes);
        Ok(())
    }

    fn comm_rank(&self, comm: Comm) -> Result<u32, Status> {
        Ok(self.comm(comm)?.rank() as u32)
    }

    fn comm_size(&self, comm: Comm) -> Result<u32, Status> {
        Ok(self.comm(comm)?.size() as u32)
    }
}

/// Hands a message on.
fn give(landed: &Landed, data: &mut [u8], bytes: &mut u32, from: &mut i32, with: &mut i32) {
    data[..landed.bytes.len()].copy_from_slice(&landed.bytes);
    *bytes = landed.bytes.len() as u32;
    *from = i32::try_from(landed.status.source).unwrap_or(-1);
    *with = i32::try_from(landed.status.tag).unwrap_or(-1);
}
