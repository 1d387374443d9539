//! What happens to messages that come: they are matched, a slot of the NIC is armed, and their end is seen.

use super::Library;
use super::control::Announcement;
use super::error::Error;
use super::receive::{Receiving, State};
use super::status::Status;
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
