//! Receives: their parameters and state, and incoming announcements.

use super::control::{Announcement, Control, Grant, MOST};
use super::error::Error;
use super::slots::Words;
use super::{Activity, Buffer, Library, NOBODY, Request, Status};
use crate::layout::{Layout, Overlap, Shape};
use crate::nic::memory::{MOST_BYTES, RUN_BYTES, request};
use crate::nic::{NicLayout, NicLayoutError};
use spinneret_host::Device;
use std::collections::{BTreeMap, VecDeque};

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

/// How the program treats bytes of a message that belong to the same place.
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
    /// Prepares a receive of elements, the first of which has its address at `origin` of the buffer. The library keeps
    /// what it compiles from the type, and does not need the type itself any more. This asks nothing of the NIC, so no
    /// time passes.
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

// Announcements of messages, in the order in which MPI matches them, and the answers to them.

/// Grants that are kept for announcements that are repeated, for each rank.
const GRANTS: usize = 1024;
/// Announcements of a rank that may be ahead of one that was lost, at most.
const AHEAD: usize = 1024;
/// Announcements of a rank that wait for their receives, at most. Its host says the others again.
const UNMATCHED: usize = 4096;

/// Announcements of incoming messages.
#[derive(Debug)]
pub(super) struct Inbox {
    ranks: Vec<FromRank>,
    /// Announcements in the order in which they can be matched.
    pub(super) unmatched: VecDeque<(usize, Announcement)>,
    /// Receives that were started.
    pub(super) starts: u64,
    /// Grants to send, for each rank.
    answers: BTreeMap<usize, Vec<Grant>>,
}

#[derive(Debug, Default)]
struct FromRank {
    /// How many wait for their receives.
    unmatched: usize,
    /// The number of the next announcement.
    next: u32,
    /// Announcements that arrived out of order.
    ahead: BTreeMap<u32, Announcement>,
    grants: VecDeque<Grant>,
}

impl Inbox {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            ranks: (0..ranks).map(|_| FromRank::default()).collect(),
            unmatched: VecDeque::new(),
            starts: 0,
            answers: BTreeMap::new(),
        }
    }

    /// Whether another announcement of a rank can be kept.
    pub(super) fn has_room(&self, rank: usize) -> bool {
        self.ranks[rank].unmatched < UNMATCHED
    }

    /// Takes away an announcement that has been matched.
    pub(super) fn take(&mut self, index: usize) {
        if let Some((rank, _)) = self.unmatched.remove(index) {
            self.ranks[rank].unmatched -= 1;
        }
    }

    /// An announcement has arrived. MPI's messages do not overtake each other, so their announcements are checked in
    /// order.
    pub(super) fn announce(&mut self, rank: usize, announcement: Announcement) {
        let from = &mut self.ranks[rank];
        let number = announcement.number;
        if let Some(grant) = from.grants.iter().find(|grant| grant.number == number) {
            let answers = self.answers.entry(rank).or_default();
            if !answers.contains(grant) {
                answers.push(*grant);
            }
            return;
        }
        let distance = number.wrapping_sub(from.next);
        if distance as usize >= AHEAD {
            return;
        }
        from.ahead.insert(number, announcement);
        while let Some(next) = from.ahead.remove(&from.next) {
            self.unmatched.push_back((rank, next));
            from.unmatched += 1;
            from.next = from.next.wrapping_add(1);
        }
    }

    /// Answers an announcement, now and whenever it comes again.
    pub(super) fn grant(&mut self, rank: usize, number: u32, id: u32) {
        let grants = &mut self.ranks[rank].grants;
        let grant = Grant { number, id };
        grants.push_back(grant);
        if grants.len() > GRANTS {
            grants.pop_front();
        }
        self.answers.entry(rank).or_default().push(grant);
    }

    /// The answers that were not taken yet, as many in a frame as go into one: each with the rank that it is for.
    pub(super) fn answers(&mut self) -> Vec<(usize, Control)> {
        let answers = std::mem::take(&mut self.answers);
        let frames = answers.iter().flat_map(|(rank, grants)| {
            grants
                .chunks(MOST)
                .map(move |grants| (*rank, Control::Grant(grants.to_vec())))
        });
        frames.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Inbox, UNMATCHED};
    use crate::library::control::{Announcement, Control, Grant};

    fn announcement(number: u32) -> Announcement {
        Announcement {
            number,
            communicator: 0,
            tag: 0,
            bytes: 8,
            unit: 1462,
            port: 9332,
        }
    }

    #[test]
    fn announcements_are_bounded_per_rank() {
        let mut inbox = Inbox::new(2);
        let most = UNMATCHED as u32;
        for number in 0..most + 1000 {
            if inbox.has_room(1) {
                inbox.announce(1, announcement(number));
            }
        }
        assert_eq!(inbox.unmatched.len(), UNMATCHED);
        assert!(inbox.has_room(0) && !inbox.has_room(1));
        inbox.take(0);
        assert!(inbox.has_room(1));
        inbox.announce(1, announcement(most));
        let last = inbox.unmatched.back();
        assert_eq!(last, Some(&(1, announcement(most))));
        assert!(!inbox.has_room(1));
    }

    #[test]
    fn repeated_announcement_is_answered_once() {
        let mut inbox = Inbox::new(1);
        inbox.announce(0, announcement(0));
        inbox.grant(0, 0, 7);
        for _ in 0..1000 {
            inbox.announce(0, announcement(0));
        }
        let grants = vec![Grant { number: 0, id: 7 }];
        assert_eq!(inbox.answers(), [(0, Control::Grant(grants))]);
        assert_eq!(inbox.answers(), []);
    }
}
