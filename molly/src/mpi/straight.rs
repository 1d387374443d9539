//! Zero-copy messages under MPI: sent from fields and received into them by datatypes.

use super::{Ends, Messages, failed};
use crate::error::{Error, Result};
use crate::memory::{Memory, Stride, strides};
use crate::transport::{Line, Place, Placing};
use spinneret_molly_model::Columns;
use spinneret_mpi_sys::{Datatype, Mpi, Request, Shared};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

/// Memory of one field. The field and the messages that go there share it.
#[derive(Debug)]
struct Part(Arc<Shared>);

// SAFETY: the memory stays where it is, its bytes have values, and it is aligned for a field's elements (`memory` says
// how). Nothing else accesses it except messages that were started by `expect` and `start_from`, which move only in
// calls that take this rank's transport. A message that is still under way when a field leaves this memory keeps it.
#[allow(unsafe_code)]
unsafe impl Memory for Part {
    fn start(&self) -> NonNull<u8> {
        self.0.start()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

/// The memory that fields have.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<Weak<Shared>>);

impl Fields {
    fn at(&self, start: NonNull<u8>) -> Option<Arc<Shared>> {
        let mut all = self.0.iter().filter_map(Weak::upgrade);
        all.find(|memory| memory.start() == start)
    }
}

/// The messages of a line, each out of a place or into one.
#[derive(Debug, Default)]
pub(super) struct Straight {
    prepared: Vec<(Place, Request)>,
    /// Which of them are under way, the first one first.
    active: VecDeque<usize>,
    /// Bytes of the first one, if it is done.
    done: Option<usize>,
}

impl Straight {
    /// Whether the message is done that was started first.
    pub(super) fn test(&mut self) -> std::result::Result<bool, spinneret_mpi_sys::Error> {
        if let (None, Some(&first)) = (self.done, self.active.front()) {
            let received = self.prepared[first].1.test()?;
            self.done = received.map(|received| received.bytes as usize);
        }
        Ok(self.done.is_some())
    }

    /// Starts a message from or to a place, if it is prepared.
    fn start(&mut self, place: &Place) -> std::result::Result<bool, spinneret_mpi_sys::Error> {
        let is_it = |(known, message): &(Place, Request)| known == place && !message.is_active();
        let Some(number) = self.prepared.iter().position(is_it) else {
            return Ok(false);
        };
        let (known, message) = &mut self.prepared[number];
        message.start()?;
        // The same pieces are compared in no time.
        known.pieces = place.pieces.clone();
        self.active.push_back(number);
        Ok(true)
    }
}

/// The datatype of a place, and the offset in its memory where it begins.
fn datatype(mpi: &Mpi, place: &Place) -> std::result::Result<(usize, Datatype), spinneret_mpi_sys::Error> {
    let byte = mpi.named("MPI_BYTE")?;
    let strides = strides(place.pieces.iter().cloned());
    let first = strides.first().map_or(0, |stride| stride.first);
    let vector = |stride: &Stride| byte.hvector(stride.count as i64, stride.len as i64, stride.step as i64);
    let far = |stride: &Stride| stride.first.wrapping_sub(first).cast_signed() as i64;
    let step = strides.get(1).map_or(0, far);
    let is_even = |(number, stride): (usize, &Stride)| {
        let same = &strides[0];
        (stride.len, stride.step, stride.count) == (same.len, same.step, same.count)
            && far(stride) == number as i64 * step
    };
    let datatype = match &strides[..] {
        [] => byte.contiguous(0)?,
        [stride] => vector(stride)?,
        [stride, ..] if strides.iter().enumerate().all(is_even) => {
            vector(stride)?.hvector(strides.len() as i64, 1, step)?
        }
        _ => {
            let pieces = strides.iter().flat_map(Stride::pieces);
            let block = |piece: std::ops::Range<usize>| {
                let start = piece.start.wrapping_sub(first).cast_signed();
                (piece.len() as i64, start as i64)
            };
            byte.hindexed(&pieces.map(block).collect::<Vec<_>>())?
        }
    };
    Ok((first, datatype))
}

impl Messages {
    fn wrong(&self, what: &str, line: usize) -> Error {
        Error::Transport {
            rank: self.comm.rank(),
            what: format!("{what} on line {line}"),
        }
    }

    /// Starts the next message of a line from or to a place.
    fn start_at(&mut self, line: usize, place: &Place) -> Result<()> {
        let Some(memory) = self.fields.at(place.start) else {
            return Err(self.wrong("a message's place is in memory of another transport", line));
        };
        let (mpi, comm) = (self.mpi.clone(), self.comm.clone());
        self.with(line, |opened, _| {
            let Ends::Straight(straight) = &mut opened.ends else {
                return Ok(());
            };
            if straight.start(place)? {
                return Ok(());
            }
            let (at, datatype) = datatype(&mpi, place)?;
            let (peer, tag) = (opened.line.peer, opened.tag);
            let message = match opened.line.is_send {
                true => comm.send_init_at((&memory, at), datatype, peer, tag)?,
                false => comm.recv_init_at((&memory, at), datatype, peer, tag)?,
            };
            straight.prepared.push((place.clone(), message));
            straight.start(place).map(|_| ())
        })
    }

    /// Waits until the message of a line is done that was started first, and gives its bytes.
    fn ended(&mut self, line: usize, what: &'static str) -> Result<usize> {
        let is_active = self.with(line, |opened, _| match &opened.ends {
            Ends::Straight(straight) => Ok(!straight.active.is_empty()),
            _ => Ok(false),
        })?;
        if !is_active {
            return Err(self.wrong("a message is waited for that was not started", line));
        }
        self.until(line, what)?;
        self.with(line, |opened, _| {
            opened.count += 1;
            let Ends::Straight(straight) = &mut opened.ends else {
                return Ok(0);
            };
            straight.active.pop_front();
            Ok(straight.done.take().unwrap_or(0))
        })
    }
}

impl Placing for Messages {
    fn memory(&mut self, bytes: usize, line: usize) -> Result<Box<dyn Memory>> {
        // Memory that no field has any more goes with the last message that was prepared for it.
        self.fields.0.retain(|memory| memory.strong_count() > 0);
        for opened in self.lines.iter_mut().flatten() {
            if let Ends::Straight(straight) = &mut opened.ends
                && straight.active.is_empty()
            {
                straight
                    .prepared
                    .retain(|(place, _)| self.fields.at(place.start).is_some());
            }
        }
        let memory = Shared::zeros(bytes, line).map_err(|error| failed(self.comm.rank(), &error))?;
        let memory = Arc::new(memory);
        self.fields.0.push(Arc::downgrade(&memory));
        Ok(Box::new(Part(memory)))
    }

    fn owns(&self, memory: &dyn Memory) -> bool {
        self.fields.at(memory.start()).is_some()
    }

    fn takes(&self, _line: &Line, pieces: Option<usize>, columns: Columns) -> bool {
        pieces.is_some_and(|pieces| columns.go_straight(pieces))
    }

    fn expect(&mut self, line: usize, place: &Place) -> Result<()> {
        self.start_at(line, place)
    }

    fn placed(&mut self, line: usize) -> Result<usize> {
        self.ended(line, "send")
    }

    fn start_from(&mut self, line: usize, place: &Place) -> Result<()> {
        self.start_at(line, place)
    }

    fn departed(&mut self, line: usize) -> Result<()> {
        self.ended(line, "take").map(|_| ())
    }
}
