//! Communicators, as ranks of the library and a number that only their messages have.

use super::Rank;
use crate::layout::Layout;
use crate::library::{Copies, Error, From, NOBODY, Request, To};
use spinneret_host::Device;
use spinneret_mpi_sys::Comm;

/// A communicator of MPI whose ranks all have a NIC here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Communicator {
    number: u32,
    /// This rank in it.
    own: usize,
    /// Its ranks, as those of the library.
    ranks: Vec<usize>,
}

impl Communicator {
    /// What its messages are told from others by.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many ranks it has.
    pub fn size(&self) -> usize {
        self.ranks.len()
    }

    /// This rank in it.
    pub fn own(&self) -> usize {
        self.own
    }

    /// The rank of the library that a rank of it is; nobody is the same in all.
    ///
    /// # Errors
    /// If it has no such rank.
    pub fn rank(&self, rank: usize) -> Result<usize, Error> {
        let ranks = self.ranks.len();
        let found = self
            .ranks
            .get(rank)
            .copied()
            .or((rank == NOBODY).then_some(NOBODY));
        found.ok_or(Error::NoRank { rank, ranks })
    }

    /// The rank of it that a rank of the library is.
    pub fn find(&self, of_library: usize) -> Option<usize> {
        self.ranks.iter().position(|rank| *rank == of_library)
    }
}

impl<D: Device> Rank<D> {
    /// The communicator that this rank was opened with.
    pub fn world(&self) -> Communicator {
        Communicator {
            number: 0,
            own: self.own,
            ranks: (0..self.world.len()).collect(),
        }
    }

    /// Another communicator, of some of these ranks. All of its ranks call this, those that call it for several in the same
    /// order. Its first rank tells the others a number, over their NICs.
    ///
    /// # Errors
    /// If one of its ranks has no NIC here, or does not come.
    pub fn communicator(&mut self, comm: &Comm) -> Result<Communicator, Error> {
        let here = |rank: usize| {
            let found = self.world.iter().position(|world| *world == rank);
            found.ok_or(Error::NotHere { world_rank: rank })
        };
        let ranks: Result<Vec<usize>, Error> = comm.world_ranks()?.into_iter().map(here).collect();
        let (ranks, own) = (ranks?, comm.rank());
        let number = match ranks.split_first() {
            Some((_, others)) if own == 0 => {
                self.named += 1;
                // No other rank gives the same.
                let number = (self.own as u32 + 1) << 16 | self.named & 0xffff;
                others.iter().try_for_each(|other| self.tell(*other, number))?;
                number
            }
            Some((first, _)) => self.hear(*first)?,
            None => 0,
        };
        Ok(Communicator { number, own, ranks })
    }
}

// What ranks say to each other to agree on something: one word a message, by the same ways as all messages.

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
