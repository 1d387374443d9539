//! What ranks say to each other to agree on something: one word a message, by the same ways as all messages.

use super::{Communicator, Rank};
use crate::layout::Layout;
use crate::library::{Copies, Error, From, Request, To};
use spinneret_host::Device;

/// Tag of these messages; those of programs are not negative.
const TAG: i32 = -1;
/// What is said of communicators has a number of its own.
const NAMING: u32 = u32::MAX;
/// Where the word lies that comes, in another line than the one that goes.
const COMES: u32 = 64;
/// Bytes of a word.
const WORD: u32 = 4;
/// Bytes of memory for it.
pub(super) const BYTES: u32 = COMES + WORD;

impl<D: Device> Rank<D> {
    /// Ends when all ranks of a communicator have begun it, which takes as many rounds as their number has bits.
    ///
    /// # Errors
    /// If one of them does not come.
    pub fn barrier(&mut self, communicator: &Communicator) -> Result<(), Error> {
        let (size, own) = (communicator.size(), communicator.own());
        let mut distance = 1;
        // After each round, twice as many ranks have come by all that is known here.
        while distance < size {
            let to = communicator.rank((own + distance) % size)?;
            let from = communicator.rank((own + size - distance) % size)?;
            let receive = self.receive_word(from, communicator.number())?;
            let send = self.send_word(to, communicator.number(), 0)?;
            let (received, sent) = (self.finish(receive), self.finish(send));
            received.and(sent)?;
            distance *= 2;
        }
        Ok(())
    }

    /// Tells a rank the number of a communicator.
    pub(super) fn tell(&mut self, rank: usize, number: u32) -> Result<(), Error> {
        let send = self.send_word(rank, NAMING, number)?;
        self.finish(send)
    }

    /// Hears from a rank which number a communicator has.
    pub(super) fn hear(&mut self, rank: usize) -> Result<u32, Error> {
        let receive = self.receive_word(rank, NAMING)?;
        self.finish(receive)?;
        let mut word = [0; WORD as usize];
        self.library.read(&self.words, COMES, &mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    fn send_word(&mut self, rank: usize, communicator: u32, word: u32) -> Result<Request, Error> {
        self.library.write(&self.words, 0, &word.to_le_bytes())?;
        let to = To {
            rank,
            tag: TAG,
            communicator,
        };
        let request = self
            .library
            .send_init(&self.words, 0, &Layout::contiguous(WORD), to)?;
        self.library.start(request)?;
        Ok(request)
    }

    fn receive_word(&mut self, rank: usize, communicator: u32) -> Result<Request, Error> {
        let from = From {
            rank: Some(rank),
            tag: Some(TAG),
            communicator,
        };
        let (layout, origin) = (Layout::contiguous(WORD), i64::from(COMES));
        let request = self
            .library
            .recv_init(&self.words, origin, &layout, from, Copies::Refused)?;
        self.library.start(request)?;
        Ok(request)
    }

    /// Waits for the end of a request, and frees it.
    fn finish(&mut self, request: Request) -> Result<(), Error> {
        let ended = self.library.wait(request, self.patience);
        self.library.free(request)?;
        ended.map(drop)
    }
}
