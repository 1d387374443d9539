//! Ranks of an MPI that is there.

use crate::ranks::{Met, Own, Ranks, RanksError};
use crate::{Delivery, Ps};
use spinneret_mpi_sys::{Comm, Error, Mpi};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Tags of what ranks say at the end of a round, and of what they tell at the end.
const ROUND: u32 = 1;
const END: u32 = 2;
/// How long a rank asks for a message without a pause. Rounds that are not waiting for an application take less.
const EAGER: Duration = Duration::from_micros(300);
/// Between two questions after that: an application may take its time, and its processor.
const PAUSE: Duration = Duration::from_micros(50);

/// What one rank says to another.
type Said = (Ps, bool, Vec<Delivery>);

/// All ranks of a communicator.
#[derive(Debug)]
pub struct MpiRanks {
    comm: Rc<Comm>,
}

impl MpiRanks {
    /// Takes all ranks, for messages of its own.
    ///
    /// # Errors
    /// If MPI fails.
    pub fn new(mpi: &Mpi) -> Result<Self, RanksError> {
        Ok(Self {
            comm: Rc::new(mpi.world().dup()?),
        })
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.comm.rank();
        (0..self.comm.size()).filter(move |rank| *rank != own)
    }

    /// The next message of a rank. MPI's own way to wait would keep the processor.
    fn receive(&self, from: usize, tag: u32) -> Result<Vec<u8>, Error> {
        let begun = Instant::now();
        while self.comm.iprobe(Some(from), Some(tag))?.is_none() {
            match begun.elapsed() < EAGER {
                true => std::thread::yield_now(),
                false => std::thread::sleep(PAUSE),
            }
        }
        Ok(self.comm.recv_any(Some(from), Some(tag))?.0)
    }
}

impl From<Error> for RanksError {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

fn strange(error: postcard::Error) -> RanksError {
    RanksError(format!("what a rank said cannot be read: {error}"))
}

impl Ranks for MpiRanks {
    fn rank(&self) -> usize {
        self.comm.rank()
    }

    fn size(&self) -> usize {
        self.comm.size()
    }

    fn meet(&mut self, own: Own) -> Result<Met, RanksError> {
        let Own {
            next_ps,
            is_over,
            frames,
        } = own;
        let mut met = Met {
            next_ps,
            is_over,
            frames: Vec::new(),
        };
        let messages: Result<Vec<Vec<u8>>, _> = frames
            .iter()
            .map(|frames| postcard::to_stdvec(&(next_ps, is_over, frames)).map_err(strange))
            .collect();
        let messages = messages?;
        let mut sending = Vec::new();
        for rank in self.others() {
            sending.push(self.comm.isend(&messages[rank], rank, ROUND)?);
        }
        for rank in self.others() {
            let said = self.receive(rank, ROUND)?;
            let (next_ps, is_over, frames): Said = postcard::from_bytes(&said).map_err(strange)?;
            met.next_ps = met.next_ps.min(next_ps);
            met.is_over |= is_over;
            met.frames.extend(frames);
        }
        for mut sent in sending {
            sent.wait()?;
        }
        Ok(met)
    }

    fn gather(&mut self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RanksError> {
        if self.comm.rank() != 0 {
            self.comm.send(&own, 0, END)?;
            return Ok(Vec::new());
        }
        let mut all = vec![own];
        for rank in self.others() {
            all.push(self.receive(rank, END)?);
        }
        Ok(all)
    }
}
