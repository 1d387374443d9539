//! Messages of a rank to itself. No frame would come back from the network, so the host moves them from place to place.

use super::control::Announcement;
use super::error::Error;
use super::receive::State;
use super::status::Status;
use super::{Library, Receiving};
use spinneret_host::Device;

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
