//! The persistent requests of a line of messages.

use molly::{Line, Place};
use spinneret_host::Device;
use spinneret_mpi::library::{Buffer, Copies, Error, Request, Status};
use spinneret_mpi::{Layout, Rank};
use spinneret_slmp::wire::MAX_PAYLOAD;
use std::collections::VecDeque;

/// Places for which a line keeps a request: a program has one for each storage that its field can have. Where elements
/// differ from chunk to chunk there are many places, and the oldest request is freed.
const PLACES: usize = 4;

/// HPUs that work on a message: those of one cluster, as the scheduler puts a message alone into one.
pub(crate) const HPUS: usize = 8;
/// Runs that take an HPU as long as all else of a packet: 400 clocks, and 30 a run ([docs/host/mpi.md]).
///
/// [docs/host/mpi.md]: https://github.com/spinneret-nic/spinneret/blob/main/docs/host/mpi.md
const RUNS: usize = 14;

/// Payload of the packets of a message: as much as there can be, but if there are many runs, as many packets that all
/// HPUs have work, and the same work.
pub(crate) fn segment_bytes(bytes: usize, pieces: usize) -> usize {
    let (least, wanted) = (bytes.div_ceil(MAX_PAYLOAD).max(1), pieces.div_ceil(RUNS));
    let packets = match wanted < HPUS {
        true => least.max(wanted),
        false => least.next_multiple_of(HPUS),
    };
    bytes.div_ceil(packets).max(1)
}

/// A line of messages to or from a rank.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) line: Line,
    pub(crate) ends: Ends,
    /// Messages that were sent or received.
    pub(crate) count: usize,
    /// Bytes of the message that is filled.
    pub(crate) bytes: usize,
}

#[derive(Debug)]
pub(crate) enum Ends {
    /// Buffers in turn.
    Send(Vec<Sending>),
    Receive(Receiving),
}

/// A buffer for sending.
#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) buffer: Buffer,
    /// The request, if the message in the buffer may still be on its way.
    pub(crate) active: Option<Request>,
    /// The request for messages of `bytes` bytes.
    prepared: Option<(Request, usize)>,
}

/// The receiver's end of a line.
#[derive(Debug, Default)]
pub(crate) struct Receiving {
    /// The status of the message that comes first, if it has come.
    pub(crate) come: Option<Status>,
    /// A buffer for messages that are not put in place, and its request.
    whole: Option<(Buffer, Request)>,
    prepared: Vec<(Place, Buffer, Request)>,
    /// Requests that were started, the first one first.
    expected: VecDeque<Request>,
}

impl Sending {
    /// As many buffers as a plan wants on both sides of a line together, as a message leaves its buffer for its place.
    pub(crate) fn ring<D: Device>(rank: &mut Rank<D>, line: &Line) -> Result<Vec<Self>, Error> {
        let buffer = |_| {
            Ok(Self {
                buffer: rank.library().buffer(line.capacity as u32)?,
                active: None,
                prepared: None,
            })
        };
        (0..2 * line.buffers).map(buffer).collect()
    }

    /// Sends the first `bytes` bytes of the buffer.
    pub(crate) fn start<D: Device>(
        &mut self,
        rank: &mut Rank<D>,
        line: &Line,
        bytes: usize,
    ) -> Result<(), Error> {
        let request = match self.prepared {
            Some((request, prepared)) if prepared == bytes => request,
            other => {
                if let Some((request, _)) = other {
                    rank.library().free(request)?;
                }
                let (layout, world) = (Layout::contiguous(bytes as u32), rank.world());
                let to = (line.peer, line.tag as i32);
                let request = rank.send_init((&self.buffer, 0), &layout, to, &world)?;
                let segment = segment_bytes(bytes, line.pieces);
                rank.library().cut(request, segment)?;
                request
            }
        };
        self.prepared = Some((request, bytes));
        rank.library().start(request)?;
        self.active = Some(request);
        Ok(())
    }
}

impl Receiving {
    /// Receives the next message into a buffer, and not into a place: the buffer, the request, and what came of it, if
    /// it has come.
    pub(crate) fn whole<D: Device>(
        &mut self,
        rank: &mut Rank<D>,
        line: &Line,
    ) -> Result<(Buffer, Request, Option<Status>), Error> {
        let (buffer, request) = match self.whole {
            Some(whole) => whole,
            None => {
                let buffer = rank.library().buffer(line.capacity as u32)?;
                let layout = Layout::contiguous(line.capacity as u32);
                let request = receive(rank, line, &buffer, &layout)?;
                *self.whole.insert((buffer, request))
            }
        };
        if self.expected.is_empty() {
            rank.library().start(request)?;
            self.expected.push_back(request);
        }
        Ok((buffer, request, self.come))
    }

    /// Lets the next message come into a place of a buffer.
    pub(crate) fn expect<D: Device>(
        &mut self,
        rank: &mut Rank<D>,
        line: &Line,
        (place, buffer): (&Place, Buffer),
    ) -> Result<(), Error> {
        let known = self.prepared.iter().find(|(known, ..)| known == place);
        let request = match known {
            Some((.., request)) => *request,
            None => {
                self.make_room(rank)?;
                let pieces = place.pieces.iter();
                let layout = Layout::of_runs(pieces.map(|piece| (piece.start as i64, piece.len() as u64)))?;
                let request = receive(rank, line, &buffer, &layout)?;
                self.prepared.push((place.clone(), buffer, request));
                request
            }
        };
        rank.library().start(request)?;
        self.expected.push_back(request);
        Ok(())
    }

    /// Frees the oldest request that waits for nothing, if there are many.
    fn make_room<D: Device>(&mut self, rank: &mut Rank<D>) -> Result<(), Error> {
        let is_idle = |(.., request): &(Place, Buffer, Request)| !self.expected.contains(request);
        match self.prepared.iter().position(is_idle) {
            Some(oldest) if self.prepared.len() >= PLACES => {
                let (.., request) = self.prepared.remove(oldest);
                rank.library().free(request)
            }
            _ => Ok(()),
        }
    }

    /// The request of the message that comes first.
    pub(crate) fn first(&self) -> Option<Request> {
        self.expected.front().copied()
    }

    /// Whether the message that comes first has come; an unexpected one comes into a buffer.
    pub(crate) fn test<D: Device>(&mut self, rank: &mut Rank<D>, line: &Line) -> Result<bool, Error> {
        let first = match self.first() {
            Some(first) => first,
            None => self.whole(rank, line)?.1,
        };
        if self.come.is_none() {
            self.come = rank.library().test(first)?;
        }
        Ok(self.come.is_some())
    }

    /// The message that came first was taken.
    pub(crate) fn has_come(&mut self) {
        self.expected.pop_front();
        self.come = None;
    }

    /// Frees requests for a buffer that a field has returned.
    pub(crate) fn forget<D: Device>(&mut self, rank: &mut Rank<D>, buffer: &Buffer) -> Result<(), Error> {
        for (.., request) in self.prepared.extract_if(.., |(_, of, _)| of == buffer) {
            rank.library().free(request)?;
        }
        Ok(())
    }
}

fn receive<D: Device>(
    rank: &mut Rank<D>,
    line: &Line,
    buffer: &Buffer,
    layout: &Layout,
) -> Result<Request, Error> {
    let (from, world) = ((Some(line.peer), Some(line.tag as i32)), rank.world());
    rank.recv_init((buffer, 0), layout, from, &world, Copies::Refused)
}

#[cfg(test)]
mod tests {
    use super::segment_bytes;

    #[test]
    fn short_runs_are_spread_over_all_hpus() {
        // A row, a column, a face of rows, a face of single numbers, and a corner.
        let shapes = [(8188_usize, 1), (254, 254), (16384, 32), (32768, 4096), (1, 1)];
        let packets = shapes.map(|(bytes, pieces)| bytes.div_ceil(segment_bytes(bytes, pieces)));
        assert_eq!(packets, [6, 8, 12, 24, 1]);
    }
}
