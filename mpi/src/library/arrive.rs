//! What happens to messages that come: they are matched, a slot of the NIC is armed, and their end is seen.

use super::Library;
use super::control::Announcement;
use super::error::Error;
use super::receive::{Receiving, State};
use super::requests::Status;
use crate::nic::Segments;
use crate::nic::memory::request;
use spinneret_host::Device;

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
                // No slot is free: nobody may be overtaken by another message.
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
            // The elements were found to lie in the buffer.
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
