//! Communicators, as ranks of the library and a number that only their messages have.

use super::Rank;
use crate::library::{Error, NOBODY};
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
