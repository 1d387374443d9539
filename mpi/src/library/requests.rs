//! Operations on requests: start, test, wait, cancel, free.

use super::control::Announcement;
use super::error::Error;
use super::receive::{Receiving, State};
use super::{Activity, Library, Request, Status};
use crate::nic::Segments;
use crate::nic::memory::request;
use spinneret_host::Device;
use std::time::Duration;

/// Interval between two polls of a caller that waits.
const LOOK: Duration = Duration::from_nanos(500);

impl<D: Device> Library<D> {
    /// Starts a request.
    ///
    /// # Errors
    /// If it is active, was freed, or the NIC does not answer.
    pub fn start(&mut self, request: Request) -> Result<(), Error> {
        self.start_all(&[request])
    }

    /// Starts requests, and looks for what they need once for all of them. Messages to one rank are announced, and those from
    /// one rank granted, by one frame for 60 of them.
    ///
    /// # Errors
    /// As [`start`](Self::start), or if a request is there twice; none is started then.
    pub fn start_all(&mut self, requests: &[Request]) -> Result<(), Error> {
        for (place, request) in requests.iter().enumerate() {
            self.of(*request)?;
            let is_there = requests[..place].contains(request);
            if is_there || self.activity(*request) != Activity::Inactive {
                return Err(Error::Active);
            }
        }
        for request in requests {
            match request.is_receive {
                true => self.start_receive(request.number)?,
                false => self.start_send(request.number)?,
            }
        }
        self.advance()
    }

    /// Whether a request has ended: what came of it, once. A send gives its own numbers.
    ///
    /// # Errors
    /// If it is not active, or has failed: it is inactive then, and can be started again.
    pub fn test(&mut self, request: Request) -> Result<Option<Status>, Error> {
        self.of(request)?;
        self.progress()?;
        self.take(request)
    }

    /// Whether all of these requests have ended, by one look: what came of each, once.
    ///
    /// # Errors
    /// If one is not active; or what one has failed with, and all are inactive then.
    pub fn test_all(&mut self, requests: &[Request]) -> Result<Option<Vec<Status>>, Error> {
        for request in requests {
            self.of(*request)?;
            if self.activity(*request) == Activity::Inactive {
                return Err(Error::Inactive);
            }
        }
        self.take_frames()?;
        let all_have_ended = self.look_at(requests)?;
        self.go_on()?;
        if !all_have_ended {
            return Ok(None);
        }
        let results: Vec<_> = requests.iter().map(|request| self.take(*request)).collect();
        // All have ended, so each has given something.
        results.into_iter().collect()
    }

    /// Lets time pass until a request has ended.
    ///
    /// # Errors
    /// As [`test`](Self::test), or if it has not ended in that time.
    pub fn wait(&mut self, request: Request, limit: Duration) -> Result<Status, Error> {
        self.until(limit, |library| library.test(request))
    }

    /// Lets time pass until all of these requests have ended.
    ///
    /// # Errors
    /// As [`test_all`](Self::test_all), or if they have not ended in that time.
    pub fn wait_all(&mut self, requests: &[Request], limit: Duration) -> Result<Vec<Status>, Error> {
        self.until(limit, |library| library.test_all(requests))
    }

    fn until<T>(
        &mut self,
        limit: Duration,
        mut look: impl FnMut(&mut Self) -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        let begun = self.nic.now();
        loop {
            if let Some(done) = look(self)? {
                return Ok(done);
            }
            if self.nic.now().saturating_sub(begun) >= limit {
                return Err(Error::TimedOut {
                    seconds: limit.as_secs_f64(),
                });
            }
            self.nic.wait(LOOK)?;
        }
    }

    /// Lets time pass, and does meanwhile what is to be done for requests.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn run_for(&mut self, time: Duration) -> Result<(), Error> {
        let end = self.nic.now() + time;
        while self.nic.now() < end {
            self.progress()?;
            self.nic.wait(LOOK)?;
        }
        Ok(())
    }

    /// Takes a receive back that has no message yet: it is inactive then, and what would have come goes to another one.
    /// Returns whether it was; a send, and a receive that has its message, complete normally.
    ///
    /// # Errors
    /// If the request is not active.
    pub fn cancel(&mut self, request: Request) -> Result<bool, Error> {
        self.of(request)?;
        match request.is_receive {
            true => self.cancel_receive(request.number),
            false if self.activity(request) == Activity::Inactive => Err(Error::Inactive),
            false => Ok(false),
        }
    }

    /// Frees a request. An active one ends first, and its result is lost.
    ///
    /// # Errors
    /// If it was freed before.
    pub fn free(&mut self, request: Request) -> Result<(), Error> {
        self.of(request)?;
        match request.is_receive {
            true => self.free_receive(request.number),
            false => {
                self.outbox.free(request.number);
                Ok(())
            }
        }
    }

    /// Whether all of these requests have ended. This stops at the first request that has not ended, and polls no
    /// request after it, unless an announced message waits for a slot.
    fn look_at(&mut self, requests: &[Request]) -> Result<bool, Error> {
        if !self.inbox.unmatched.is_empty() {
            self.look_for_completions()?;
        }
        for request in requests {
            if request.is_receive {
                self.look_for_completion(request.number)?;
            }
            if self.activity(*request) != Activity::HasEnded {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the result of a request if it has ended; it is inactive then.
    fn take(&mut self, request: Request) -> Result<Option<Status>, Error> {
        match request.is_receive {
            true => self.test_receive(request.number),
            false => self.outbox.test(request.number),
        }
    }

    fn activity(&self, request: Request) -> Activity {
        match request.is_receive {
            true => self.receive_activity(request.number),
            false => self.outbox.activity(request.number),
        }
    }

    pub(super) fn of(&self, request: Request) -> Result<(), Error> {
        let is_there = match request.is_receive {
            true => matches!(self.receives.get(request.number), Some(Some(receive)) if !receive.is_freed),
            false => self.outbox.is_there(request.number),
        };
        match request.library == self.name && is_there {
            true => Ok(()),
            false => Err(Error::NoRequest),
        }
    }
}

// Arriving messages: they are matched, a slot of the NIC is armed, and its completion is seen.

impl<D: Device> Library<D> {
    /// Gives each announcement to the receive that was started first of those that take it.
    pub(super) fn match_announcements(&mut self) -> Result<(), Error> {
        let mut index = 0;
        while index < self.inbox.unmatched.len() {
            let (rank, announcement) = self.inbox.unmatched[index];
            let receives = self.receives.iter().enumerate();
            let takes = receives.filter_map(|(number, receive)| {
                let receive = receive.as_ref()?;
                let takes =
                    matches!(receive.state, State::Started) && receive.from.takes(rank, &announcement);
                takes.then_some((receive.started, number))
            });
            let Some((_, number)) = takes.min() else {
                index += 1;
                continue;
            };
            if self.own_rank == Some(rank) {
                self.deliver(number, rank, &announcement)?;
            } else if !self.arm(number, rank, &announcement)? {
                // No slot is free, and messages must not overtake each other.
                break;
            }
            self.inbox.take(index);
        }
        Ok(())
    }

    /// Lets a message come, or refuses it: whether that was possible.
    fn arm(&mut self, number: usize, rank: usize, announcement: &Announcement) -> Result<bool, Error> {
        let ip = self.ranks[rank].ip;
        let Some(slot) = self.slots.find(number) else {
            return Ok(false);
        };
        let Announcement { bytes, unit, tag, .. } = *announcement;
        let receive = self.receive(number)?;
        let segments = Segments::new(bytes.into(), unit);
        let room = receive.layout.bytes();
        let refusal = match segments {
            _ if u64::from(bytes) > room => Some(Error::Truncated {
                sent: bytes,
                room,
                source_rank: rank,
                tag,
            }),
            Err(error) => Some(error.into()),
            Ok(segments) => {
                segments.put(&mut receive.words);
                None
            }
        };
        if let Some(error) = refusal {
            self.counts.truncated += 1;
            self.inbox.grant(rank, announcement.number, 0);
            self.end_receive(number, Err(error))?;
            return Ok(true);
        }
        receive.words[request::SOURCE / 4] = u32::from_le_bytes(ip.octets());
        receive.words[request::PORT / 4] = announcement.port.to_be().into();
        receive.state = State::Armed(slot, Status { bytes, rank, tag });
        let words = receive.words;
        self.write_table(number)?;
        let id = self.slots.arm(slot, number, &words)?;
        self.inbox.grant(rank, announcement.number, id);
        Ok(true)
    }

    /// Ends receives whose message is complete.
    pub(super) fn look_for_completions(&mut self) -> Result<(), Error> {
        for number in 0..self.receives.len() {
            self.look_for_completion(number)?;
        }
        Ok(())
    }

    /// Ends a receive if its message is complete.
    pub(super) fn look_for_completion(&mut self, number: usize) -> Result<(), Error> {
        let Some(Some(Receiving {
            state: State::Armed(slot, status),
            ..
        })) = self.receives.get(number)
        else {
            return Ok(());
        };
        let (slot, status) = (*slot, *status);
        if self.slots.take(slot, &self.host)?.is_none() {
            return Ok(());
        }
        self.unpack(number, status.bytes)?;
        self.end_receive(number, Ok(status))
    }

    /// Puts a message into its place that the NIC could not.
    fn unpack(&mut self, number: usize, bytes: u32) -> Result<(), Error> {
        let Some(Receiving {
            staging: Some(staging),
            ..
        }) = &self.receives[number]
        else {
            self.counts.placed += 1;
            return Ok(());
        };
        let mut message = vec![0; bytes as usize];
        self.host.read(*staging, &mut message)?;
        self.put(number, &message)?;
        self.counts.unpacked += 1;
        Ok(())
    }
}

// Messages of a rank to itself. No frame would come back from the network, so the host moves them from place to place.

impl<D: Device> Library<D> {
    /// Starts a send. One to this rank is announced here; the outbox announces all others.
    pub(super) fn start_send(&mut self, number: usize) -> Result<(), Error> {
        let (rank, announcement) = self.outbox.start(number, self.nic.now())?;
        if self.own_rank == Some(rank) {
            self.inbox.announce(rank, announcement);
        }
        Ok(())
    }

    /// Moves a message of this rank to its receive, which ends with it, as the send does. A send that has been given up
    /// leaves its announcement behind, and the receive as it is.
    pub(super) fn deliver(
        &mut self,
        number: usize,
        rank: usize,
        announcement: &Announcement,
    ) -> Result<(), Error> {
        let Announcement { bytes, tag, .. } = *announcement;
        let Some(send) = self.outbox.announced(rank, announcement.number) else {
            return Ok(());
        };
        let mut message = vec![0; bytes as usize];
        send.pack(0, &mut message, &self.host)?;
        send.end();
        let room = self.receive(number)?.layout.bytes();
        let result = match u64::from(bytes) <= room {
            true => {
                self.put(number, &message)?;
                self.counts.unpacked += 1;
                Ok(Status { bytes, rank, tag })
            }
            false => {
                self.counts.truncated += 1;
                Err(Error::Truncated {
                    sent: bytes,
                    room,
                    source_rank: rank,
                    tag,
                })
            }
        };
        self.end_receive(number, result)
    }

    /// Puts the bytes of a message into the places of its receive.
    pub(super) fn put(&self, number: usize, message: &[u8]) -> Result<(), Error> {
        let Some(Receiving {
            buffer,
            origin,
            layout,
            ..
        }) = &self.receives[number]
        else {
            return Ok(());
        };
        let start = i64::from(buffer.start) + origin;
        for piece in layout.place(0, message.len() as u64) {
            let part = &message[piece.offset as usize..][..piece.bytes as usize];
            // A check has found that the elements are in the buffer.
            self.host.write((start + piece.start) as u32, part)?;
        }
        Ok(())
    }

    /// Ends a receive, which goes if it was freed.
    pub(super) fn end_receive(&mut self, number: usize, result: Result<Status, Error>) -> Result<(), Error> {
        let receive = self.receive(number)?;
        receive.state = State::Ended(result);
        if receive.is_freed {
            self.remove(number);
        }
        Ok(())
    }
}
