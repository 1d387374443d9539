//! MPI for handlers under its own names: the functions of `runtime/include/EmissaryMPI.h`.

use crate::ranks::{number, reduction, refused as failed};
use crate::{Comm, Datatype, Operation, Ranks, datatype_size};
use spinneret_mpi_sys::{Request as Transfer, Status as Received};
use spinneret_rpc::Status;
use spinneret_rpc::emissary::{Api, Outcome, Reply, Request, refused};
use spinneret_rpc::server::Refusal;
use std::rc::Rc;

/// Names and numbers of the functions.
const FUNCTIONS: [&str; 16] = [
    "Send",
    "Recv",
    "Isend",
    "Irecv",
    "Wait",
    "Test",
    "Barrier",
    "Bcast",
    "Reduce",
    "Allreduce",
    "Gather",
    "Scatter",
    "Sendrecv",
    "Probe",
    "Comm_rank",
    "Comm_size",
];

/// Codes of errors, with the numbers of the header; a function returns one negated.
mod code {
    pub(super) const OTHER: i64 = 1;
    pub(super) const ARGUMENT: i64 = 2;
    pub(super) const TRUNCATE: i64 = 3;
    pub(super) const REQUEST: i64 = 4;
}

/// An Emissary API over the same communicators and requests as the typed service; register it as
/// [`MPI`](spinneret_rpc::opcode::emissary::MPI).
#[derive(Clone, Debug)]
pub struct EmissaryMpi(pub Rc<Ranks>);

/// Why a function has no result.
enum Stop {
    /// The call is malformed.
    Refused(Refusal),
    /// MPI or one of its arguments; the code for the handler.
    Failed(i64),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Status> for Stop {
    fn from(status: Status) -> Self {
        Self::Failed(match status {
            Status::VALUE | Status::HANDLE | Status::ROOM => code::ARGUMENT,
            _ if status == Status::failed(1) => code::TRUNCATE,
            _ => code::OTHER,
        })
    }
}

impl Api for EmissaryMpi {
    fn call<'a>(&'a self, request: &'a mut Request) -> Outcome<'a> {
        Box::pin(async move {
            // Memory of the handler changes only where a function puts something.
            for index in 0..request.arguments() {
                let _is_returned = request.filled(index, 0);
            }
            match self.run(request).await {
                Ok(result) => Ok(Reply::Integer(result)),
                Err(Stop::Failed(code)) => Ok(Reply::Integer(-code)),
                Err(Stop::Refused(refusal)) => Err(refusal),
            }
        })
    }
}

impl EmissaryMpi {
    async fn run(&self, request: &mut Request) -> Result<i64, Stop> {
        let number = usize::from(request.function()).wrapping_sub(1);
        match *FUNCTIONS.get(number).ok_or(refused::FUNCTION)? {
            "Send" => self.send(request).await,
            "Recv" => self.receive(request).await,
            "Isend" => Ok(self.0.keep(self.begin_send(request, 0)?)?.raw().into()),
            "Irecv" => self.begin_receive(request),
            "Wait" => self.wait(request).await,
            "Test" => self.test(request),
            "Sendrecv" => self.exchange(request).await,
            "Probe" => self.probe(request).await,
            "Comm_rank" => Ok(self.comm(request, 0)?.rank() as i64),
            "Comm_size" => Ok(self.comm(request, 0)?.size() as i64),
            name => self.together(name, request).await,
        }
    }

    fn comm(&self, request: &Request, index: usize) -> Result<&Rc<spinneret_mpi_sys::Comm>, Stop> {
        Ok(self.0.comm(named(request, index, Comm::from_raw)?)?)
    }

    /// Begins to send the arguments' data: memory, count, type, destination, tag, and a communicator.
    fn begin_send(&self, request: &Request, first: usize) -> Result<Transfer, Stop> {
        let data = bytes(request, first, first + 1)?;
        let [destination, tag] = [first + 3, first + 4].map(|index| int(request, index));
        let comm = named(request, first + 5, Comm::from_raw)?;
        Ok(self.0.begin_send(false, data, destination?, tag?, comm)?)
    }

    async fn send(&self, request: &Request) -> Result<i64, Stop> {
        self.0.finish(self.begin_send(request, 0)?).await?;
        Ok(0)
    }

    /// Memory, count, type, source, tag, communicator, status.
    async fn receive(&self, request: &mut Request) -> Result<i64, Stop> {
        let comm = named(request, 5, Comm::from_raw)?;
        let operation = self.0.begin_receive(
            length(request, 1)? as u32,
            int(request, 3)?,
            int(request, 4)?,
            comm,
        )?;
        let done = self.0.finish(operation).await?;
        deliver(request, &done, 0, 6)
    }

    /// Count, type, source, tag, communicator: gives a request.
    fn begin_receive(&self, request: &Request) -> Result<i64, Stop> {
        let comm = named(request, 4, Comm::from_raw)?;
        let operation = self.0.begin_receive(
            length(request, 0)? as u32,
            int(request, 2)?,
            int(request, 3)?,
            comm,
        )?;
        Ok(self.0.keep(operation)?.raw().into())
    }

    /// Request, memory, status.
    async fn wait(&self, request: &mut Request) -> Result<i64, Stop> {
        let handle = int(request, 0)? as u32;
        let operation = self.0.take(handle).ok_or(Stop::Failed(code::REQUEST))?;
        let done = self.0.finish(operation).await?;
        deliver(request, &done, 1, 2).map(|_| 1)
    }

    /// The same: 1 if the request has ended, or 0.
    fn test(&self, request: &mut Request) -> Result<i64, Stop> {
        let handle = int(request, 0)? as u32;
        match self.0.ended(handle).ok_or(Stop::Failed(code::REQUEST))? {
            Some(done) => deliver(request, &done?, 1, 2).map(|_| 1),
            None => Ok(0),
        }
    }

    /// Memory, count, type, destination, tag; memory, count, type, source, tag, communicator, status.
    async fn exchange(&self, request: &mut Request) -> Result<i64, Stop> {
        let comm = named(request, 10, Comm::from_raw)?;
        let room = length(request, 6)? as u32;
        let into = self
            .0
            .begin_receive(room, int(request, 8)?, int(request, 9)?, comm)?;
        let data = bytes(request, 0, 1)?;
        let from = self
            .0
            .begin_send(false, data, int(request, 3)?, int(request, 4)?, comm)?;
        self.0.finish(from).await?;
        let done = self.0.finish(into).await?;
        deliver(request, &done, 5, 11)
    }

    /// Source, tag, communicator, status.
    async fn probe(&self, request: &mut Request) -> Result<i64, Stop> {
        let comm = named(request, 2, Comm::from_raw)?;
        let found = self.0.probe(int(request, 0)?, int(request, 1)?, comm).await?;
        tell(request, 3, &found, found.bytes)?;
        Ok(0)
    }

    /// Collective functions.
    async fn together(&self, name: &str, request: &mut Request) -> Result<i64, Stop> {
        let (from, into, count) = match name {
            "Bcast" => (0, 0, 1),
            _ => (0, 1, 2),
        };
        // The last arguments are the root, unless all are alike, and the communicator.
        let last = request.arguments().checked_sub(1).ok_or(refused::TYPE)?;
        let comm = self.comm(request, last)?;
        let root = || -> Result<usize, Stop> { Ok(Ranks::rank(comm, int(request, last - 1)?)?) };
        let operation = match name {
            "Barrier" => comm.ibarrier(),
            "Bcast" => comm.ibcast(root()?, bytes(request, from, count)?),
            "Gather" => comm.igather(root()?, bytes(request, from, count)?),
            "Scatter" => match root()? {
                root if root == comm.rank() => {
                    let all = length(request, count)?
                        .checked_mul(comm.size())
                        .ok_or(Stop::Failed(code::ARGUMENT))?;
                    comm.iscatter(root, part(request, from, all)?)
                }
                root => comm.iscatter(root, &vec![0; length(request, count)?]),
            },
            _ => {
                let root = if name == "Reduce" { Some(root()?) } else { None };
                let kind = number(named(request, count + 1, Datatype::from_raw)?)?;
                let operation = reduction(named(request, count + 2, Operation::from_raw)?)?;
                comm.ireduce(root, operation, kind, bytes(request, from, count)?)
            }
        };
        let has_result = match name {
            "Barrier" => false,
            "Reduce" | "Gather" => root()? == comm.rank(),
            _ => true,
        };
        // The root's own part lies among the others.
        let skipped = match name {
            "Scatter" if root()? == comm.rank() => comm.rank() * length(request, count)?,
            _ => 0,
        };
        let operation = operation.map_err(|error| failed(&error))?;
        let (operation, _) = self.0.finish(operation).await?;
        if has_result {
            let data = operation.bytes().map_err(|error| failed(&error))?;
            let data = data.get(skipped..).unwrap_or_default();
            let data = match name {
                "Scatter" => &data[..length(request, count)?.min(data.len())],
                _ => data,
            };
            put(request, into, data)?;
        }
        Ok(0)
    }
}

/// A predefined handle, which the header makes a pointer.
fn named<T>(request: &Request, index: usize, of: impl Fn(u32) -> Option<T>) -> Result<T, Stop> {
    let raw = u32::try_from(request.handle(index)?).ok().and_then(of);
    raw.ok_or(Stop::Failed(code::ARGUMENT))
}

fn int(request: &Request, index: usize) -> Result<i32, Stop> {
    i32::try_from(request.integer(index)?).map_err(|_| refused::TYPE.into())
}

/// Bytes of elements: a count, and a type behind it.
fn length(request: &Request, index: usize) -> Result<usize, Stop> {
    let size = datatype_size(named(request, index + 1, Datatype::from_raw)?);
    let count = u32::try_from(int(request, index)?).ok();
    let bytes = count.and_then(|count| count.checked_mul(size?));
    bytes
        .map(|bytes| bytes as usize)
        .ok_or(Stop::Failed(code::ARGUMENT))
}

/// Elements of an area.
fn bytes(request: &Request, area: usize, count: usize) -> Result<&[u8], Stop> {
    part(request, area, length(request, count)?)
}

/// The first bytes of an area.
fn part(request: &Request, area: usize, bytes: usize) -> Result<&[u8], Stop> {
    let data = request.input(area)?.unwrap_or_default();
    data.get(..bytes).ok_or(refused::POINTER.into())
}

/// Fills the beginning of an area; without bytes there need not be one.
fn put(request: &mut Request, area: usize, data: &[u8]) -> Result<(), Stop> {
    if !data.is_empty() {
        let to = request.output(area)?.ok_or(refused::POINTER)?;
        to.get_mut(..data.len())
            .ok_or(Stop::Failed(code::TRUNCATE))?
            .copy_from_slice(data);
        request.filled(area, data.len())?;
    }
    Ok(())
}

/// Puts a received message and its status where they belong.
fn deliver(
    request: &mut Request,
    (operation, received): &(Transfer, Received),
    area: usize,
    status: usize,
) -> Result<i64, Stop> {
    if operation.is_receive() {
        let data = operation.bytes().map_err(|error| failed(&error))?;
        let data = data.get(..received.bytes as usize).unwrap_or(data);
        put(request, area, data)?;
        tell(request, status, received, data.len() as u64)?;
    }
    Ok(0)
}

/// Fills a status: source, tag, no error, bytes.
fn tell(request: &mut Request, status: usize, received: &Received, bytes: u64) -> Result<(), Stop> {
    let [source, tag] =
        [i32::try_from(received.source), i32::try_from(received.tag)].map(|word| word.unwrap_or(-1));
    let words = [source, tag, 0, i32::try_from(bytes).unwrap_or(i32::MAX)];
    put(request, status, &words.map(i32::to_le_bytes).concat())
}

#[cfg(test)]
mod tests {
    use super::{FUNCTIONS, code};

    #[test]
    fn the_header_has_the_same_numbers() {
        let header = include_str!("../../../runtime/include/EmissaryMPI.h");
        for (function, number) in FUNCTIONS.iter().zip(1..) {
            let line = format!("    _MPI_{function}_idx = {number},\n");
            assert!(header.contains(&line), "{line}");
        }
        assert_eq!(header.matches("_idx = ").count(), FUNCTIONS.len());
        let codes = [
            ("OTHER", code::OTHER),
            ("ARG", code::ARGUMENT),
            ("TRUNCATE", code::TRUNCATE),
            ("REQUEST", code::REQUEST),
        ];
        for (name, number) in codes {
            let code = format!("MPI_ERR_{name} = {number}");
            assert!(header.contains(&code), "{code}");
        }
    }
}
