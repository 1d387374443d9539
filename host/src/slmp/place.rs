//! One place for messages, in the memory that handlers and host share.
//!
//! Handlers work on a place while the host looks at it. The host writes the state of a place that is open or complete, and
//! clears a place that it has closed when `users` says that nobody works on it any more; it never writes `users`. A
//! handler that faults stays in `users` for ever. Its place stays closed then, since nobody can say whether a copy to its
//! region is still under way.

use crate::device::Device;
use crate::error::{Error, ErrorKind};
use crate::memory::{HandlerMemory, HostMemory};
use crate::nic::Nic;
use spinneret_slmp::memory::{COMPLETION_STRIDE, COMPLETION_VALID, DONE_END, State, common, place};
use spinneret_slmp::{GivenUp, MessageKey, Received};
use std::net::SocketAddrV4;
use std::time::Duration;

/// Longest that handlers take to finish what they do for a message that is given up.
const DRAIN: Duration = Duration::from_millis(10);
/// What stays when a place is cleared: the state is written last, `users` and `generation` belong to handlers.
const STAYS: [usize; 6] = [
    place::STATE,
    place::REGION,
    place::CAPACITY,
    place::USERS,
    place::GENERATION,
    place::START,
];

/// What came of giving a message up.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It came whole in its last moments, and can be taken.
    Whole,
    /// It is gone, and its place is free.
    Freed(GivenUp),
    /// It is gone, and its place with it: a handler has not finished with it, and never will.
    Lost(GivenUp),
}

/// A place.
#[derive(Debug)]
pub(super) struct Place<'m, D: Device> {
    nic: &'m Nic<D>,
    handler: &'m HandlerMemory<D>,
    host: &'m HostMemory<D>,
    start: u32,
    completion: u32,
}

impl<'m, D: Device> Place<'m, D> {
    /// The place of that number.
    pub(super) fn new(
        nic: &'m Nic<D>,
        handler: &'m HandlerMemory<D>,
        host: &'m HostMemory<D>,
        number: usize,
    ) -> Self {
        Self {
            nic,
            handler,
            host,
            start: (common::SIZE + number * place::SIZE) as u32,
            completion: (number * COMPLETION_STRIDE) as u32,
        }
    }

    /// Sets where the place's messages go, before handlers know of it. By `start`, which is random, handlers tell what they
    /// have in L1 from what was left there before; nobody clears that for them.
    pub(super) fn prepare(&self, region: u32, capacity: u32, start: u32) -> Result<(), Error> {
        self.set(place::REGION, region)?;
        self.set(place::CAPACITY, capacity)?;
        self.set(place::START, start)?;
        self.set(place::GENERATION, start)
    }

    /// Whether segments of its message are missing.
    pub(super) fn is_open(&self) -> Result<bool, Error> {
        Ok(self.field(place::STATE)? == State::Open as u32)
    }

    /// What changes as segments come: the message, and how many of its segments are there.
    pub(super) fn progress(&self) -> Result<[u32; 2], Error> {
        Ok([self.field(place::MESSAGE_ID)?, self.field(place::DONE)?])
    }

    /// Its message, if it is whole.
    pub(super) fn received(&self) -> Result<Option<Received>, Error> {
        let Some(length) = self.completed()? else {
            return Ok(None);
        };
        let key = self.key()?;
        let mut data = vec![0; length as usize];
        self.host.read(self.field(place::REGION)?, &mut data)?;
        Ok(Some(Received { key, data }))
    }

    /// The host is done with its message; the place may be used anew.
    pub(super) fn release(&self) -> Result<(), Error> {
        self.host.store(self.completion, 0_u64)?;
        self.set(place::STATE, State::Released as u32)
    }

    /// Takes the place from a message that is not whole, whatever handlers do with it at the moment.
    pub(super) fn give_up(&self) -> Result<Fate, Error> {
        let is_left = self.close()?;
        if self.completed()?.is_some() {
            self.set(place::STATE, State::Complete as u32)?;
            return Ok(Fate::Whole);
        }
        let given_up = self.given_up()?;
        if !is_left {
            return Ok(Fate::Lost(given_up));
        }
        self.free()?;
        Ok(Fate::Freed(given_up))
    }

    /// Takes the place from a message that nobody wants: whether it is free then, or lost.
    pub(super) fn refuse(&self) -> Result<bool, Error> {
        let is_closed = self.close()?;
        if is_closed {
            self.free()?;
        }
        Ok(is_closed)
    }

    /// Closes the place: whether nobody works on it then.
    fn close(&self) -> Result<bool, Error> {
        self.set(place::STATE, State::Closed as u32)?;
        let what = "the end of handlers for a message that is given up";
        let is_left = || Ok(self.field(place::USERS)? == 0);
        match self.nic.wait_until(what, DRAIN, is_left) {
            Ok(()) => Ok(true),
            Err(Error {
                kind: ErrorKind::TimedOut { .. },
                ..
            }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes a closed place that nobody works on free.
    fn free(&self) -> Result<(), Error> {
        self.host.store(self.completion, 0_u64)?;
        for field in place::FIELDS {
            if !STAYS.contains(&field.offset) {
                self.set(field.offset, 0)?;
            }
        }
        self.set(place::STATE, State::Free as u32)
    }

    /// Length of its message, if it is whole.
    fn completed(&self) -> Result<Option<u32>, Error> {
        let completion: u64 = self.host.load(self.completion)?;
        let length = (completion >> 32) as u32;
        Ok((length & COMPLETION_VALID != 0).then_some(length & !COMPLETION_VALID))
    }

    /// How much of its message came.
    fn given_up(&self) -> Result<GivenUp, Error> {
        let unit = self.field(place::SEGMENT_BYTES)?;
        let segments = self.field(place::DONE)? & !DONE_END;
        let end = match self.field(place::END)? {
            0 => None,
            end => Some((end - 1, self.field(place::LENGTH)?)),
        };
        Ok(GivenUp {
            key: self.key()?,
            bytes: arrived(segments, unit, end),
            length: end.map(|(_, length)| length.into()),
        })
    }

    fn key(&self) -> Result<MessageKey, Error> {
        let address = self.field(place::SOURCE)?.to_le_bytes();
        let [high, low, ..] = self.field(place::PORT)?.to_le_bytes();
        Ok(MessageKey {
            from: SocketAddrV4::new(address.into(), u16::from_be_bytes([high, low])),
            message_id: self.field(place::MESSAGE_ID)?,
        })
    }

    fn field(&self, field: usize) -> Result<u32, Error> {
        self.handler.load(self.start + field as u32)
    }

    fn set(&self, field: usize, value: u32) -> Result<(), Error> {
        self.handler.store(self.start + field as u32, value)
    }
}

/// Bytes of so many segments of `unit` bytes, one of which is the end, if it is known by its offset and the length of the
/// message. That is exact when no handler is at work: who takes the end then has counted it.
fn arrived(segments: u32, unit: u32, end: Option<(u32, u32)>) -> u64 {
    let (full, last) = match end {
        None => (segments, 0),
        Some((offset, length)) => (segments.saturating_sub(1), length.saturating_sub(offset)),
    };
    u64::from(full) * u64::from(unit) + u64::from(last)
}

#[cfg(test)]
mod tests;
