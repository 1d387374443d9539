//! Receives: what a program says of them, and how far they are.

use super::control::Announcement;
use super::error::Error;
use super::slots::Words;
use super::status::{Activity, NOBODY, Status};
use super::{Buffer, Library, Request};
use crate::layout::{Layout, Overlap, Shape};
use crate::nic::memory::{MOST_BYTES, RUN_BYTES, request};
use crate::nic::{NicLayout, NicLayoutError};
use spinneret_host::Device;

/// Whom a receive takes messages from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct From {
    /// The rank; all, if not given (`MPI_ANY_SOURCE`), and none if it is [`NOBODY`].
    pub rank: Option<usize>,
    /// The tag; all, if not given (`MPI_ANY_TAG`).
    pub tag: Option<i32>,
    /// The communicator, as a number on which both sides have agreed.
    pub communicator: u32,
}

/// What the program says of bytes of a message that belong to the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// There are none; a type that has some is refused, as MPI says.
    Refused,
    /// All copies of a byte are equal, since the sender has packed them from the same type.
    Equal,
}

/// How far a receive is.
#[derive(Debug)]
pub(super) enum State {
    Inactive,
    /// It is to be matched.
    Started,
    /// A message is to come in a slot.
    Armed(usize, Status),
    Ended(Result<Status, Error>),
}

/// A persistent receive.
#[derive(Debug)]
pub(super) struct Receiving {
    pub(super) buffer: Buffer,
    pub(super) origin: i64,
    pub(super) layout: Layout,
    pub(super) from: From,
    /// The words of its type; they are those of one run in other memory if the host unpacks.
    pub(super) words: Words,
    table: Option<Table>,
    pub(super) staging: Option<u32>,
    pub(super) state: State,
    pub(super) is_freed: bool,
    /// Order of starts.
    pub(super) started: u64,
}

/// A table of runs in handler memory.
#[derive(Debug)]
struct Table {
    start: u32,
    /// Its words, until they are there.
    unwritten: Vec<u32>,
}

impl From {
    pub(super) fn takes(self, rank: usize, announcement: &Announcement) -> bool {
        self.communicator == announcement.communicator
            && self.rank.is_none_or(|wanted| wanted == rank)
            && self.tag.is_none_or(|wanted| wanted == announcement.tag)
    }
}

impl<D: Device> Library<D> {
    /// Prepares a receive of elements, the first of which has its address at `origin` of the buffer. What is compiled of the type is kept; the type itself is
    /// not needed any more. Nothing is asked of the NIC here, so no time passes.
    ///
    /// # Errors
    /// If the buffer is not of this library or too small, the type overlaps itself, or the message is too long for SLMP.
    pub fn recv_init(
        &mut self,
        buffer: &Buffer,
        origin: i64,
        layout: &Layout,
        from: From,
        copies: Copies,
    ) -> Result<Request, Error> {
        self.check_layout(buffer, origin, layout)?;
        if let Some(rank) = from.rank {
            self.check_rank(rank)?;
        }
        let overlap = layout.overlap();
        if overlap != Overlap::None && copies == Copies::Refused {
            return Err(Error::Overlapping(overlap));
        }
        let bytes = layout.bytes();
        if bytes >= MOST_BYTES {
            return Err(NicLayoutError::TooLong { bytes }.into());
        }
        let mut words = [0; request::SIZE / 4];
        let (mut table, mut staging) = (None, None);
        let compiled = self.compiled(layout);
        let place = match &compiled {
            Some(form) if form.table_bytes() == 0 => Some(0),
            Some(form) => {
                let unwritten = form.table_words();
                let start = self.slots.take_table(&unwritten);
                table = start.map(|start| Table { start, unwritten });
                start
            }
            None => None,
        };
        match (compiled, place) {
            (Some(form), Some(place)) => {
                form.put(&mut words, place, (i64::from(buffer.start) + origin) as u32)
            }
            _ => {
                let free = self.area.free();
                let start = self.area.take(bytes).ok_or(Error::NoRoom { bytes, free })?;
                staging = Some(start);
                NicLayout::contiguous(bytes as u32).put(&mut words, 0, start);
            }
        }
        let receive = Receiving {
            buffer: *buffer,
            origin,
            layout: layout.clone(),
            from,
            words,
            table,
            staging,
            state: State::Inactive,
            is_freed: false,
            started: 0,
        };
        let number = self.receives.iter().position(Option::is_none);
        let number = number.unwrap_or_else(|| {
            self.receives.push(None);
            self.receives.len() - 1
        });
        self.receives[number] = Some(receive);
        Ok(Request {
            library: self.name,
            number,
            is_receive: true,
        })
    }

    /// The NIC's form of a layout, unless its table would not fit anyway: that may be large.
    fn compiled(&self, layout: &Layout) -> Option<NicLayout> {
        let runs = match layout.shape() {
            Shape::Table(table) => table.runs().len(),
            _ => 0,
        };
        match (runs * RUN_BYTES) as u64 > self.slots.table_bytes_free() {
            true => None,
            false => NicLayout::new(layout).ok(),
        }
    }

    pub(super) fn start_receive(&mut self, number: usize) -> Result<(), Error> {
        let receive = self.receive(number)?;
        if !matches!(receive.state, State::Inactive) {
            return Err(Error::Active);
        }
        if receive.from.rank == Some(NOBODY) {
            receive.state = State::Ended(Ok(Status::NOTHING));
            return Ok(());
        }
        receive.state = State::Started;
        self.inbox.starts += 1;
        let started = self.inbox.starts;
        self.receive(number)?.started = started;
        Ok(())
    }

    /// Writes tables that are not on the NIC yet.
    pub(super) fn write_tables(&mut self) -> Result<(), Error> {
        (0..self.receives.len()).try_for_each(|number| self.write_table(number))
    }

    /// Writes the table of a receive, if it is not on the NIC yet.
    pub(super) fn write_table(&mut self, number: usize) -> Result<(), Error> {
        if let Some(Receiving {
            table: Some(table), ..
        }) = &mut self.receives[number]
            && !table.unwritten.is_empty()
        {
            self.slots.write_table(table.start, &table.unwritten)?;
            table.unwritten = Vec::new();
        }
        Ok(())
    }

    pub(super) fn receive_activity(&self, number: usize) -> Activity {
        let receive = self.receives.get(number).and_then(Option::as_ref);
        match receive.map(|receive| &receive.state) {
            Some(State::Started | State::Armed(..)) => Activity::GoesOn,
            Some(State::Ended(_)) => Activity::HasEnded,
            Some(State::Inactive) | None => Activity::Inactive,
        }
    }

    pub(super) fn test_receive(&mut self, number: usize) -> Result<Option<Status>, Error> {
        let receive = self.receive(number)?;
        match std::mem::replace(&mut receive.state, State::Inactive) {
            State::Inactive => Err(Error::Inactive),
            State::Ended(result) => result.map(Some),
            going_on => {
                receive.state = going_on;
                Ok(None)
            }
        }
    }

    pub(super) fn cancel_receive(&mut self, number: usize) -> Result<bool, Error> {
        let receive = self.receive(number)?;
        match receive.state {
            State::Inactive => Err(Error::Inactive),
            State::Started => {
                receive.state = State::Inactive;
                Ok(true)
            }
            State::Armed(..) | State::Ended(_) => Ok(false),
        }
    }

    pub(super) fn free_receive(&mut self, number: usize) -> Result<(), Error> {
        let receive = self.receive(number)?;
        receive.is_freed = true;
        // One that is to be matched may still get a message, as MPI says; only then it ends.
        if matches!(receive.state, State::Inactive | State::Ended(_)) {
            self.remove(number);
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, number: usize) {
        if let Some(receive) = self.receives[number].take() {
            if let Some(table) = receive.table {
                self.slots.free_table(table.start);
            }
            if let Some(staging) = receive.staging {
                self.area.give(staging);
            }
            self.slots.unbind(number);
        }
    }

    pub(super) fn receive(&mut self, number: usize) -> Result<&mut Receiving, Error> {
        self.receives
            .get_mut(number)
            .and_then(Option::as_mut)
            .ok_or(Error::NoRequest)
    }
}
