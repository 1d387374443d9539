//! Processes that simulate one fabric together.

use crate::{Delivery, Ps};
use spinneret_mpi_sys::{Comm, Error, Mpi};
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The report of a process at the end of an epoch.
#[derive(Debug)]
pub struct Local {
    /// Time of the next event, here or in the frames for others; `Ps::MAX`: none.
    pub next_ps: Ps,
    /// Whether this process stops or has failed.
    pub is_over: bool,
    /// Frames for each rank.
    pub frames: Vec<Vec<Delivery>>,
}

/// The reports of all processes.
#[derive(Debug)]
pub struct Peers {
    /// When something happens next, anywhere.
    pub next_ps: Ps,
    /// Whether any process stops or has failed.
    pub is_over: bool,
    /// Frames for this one.
    pub frames: Vec<Delivery>,
}

/// Another process has failed, or cannot be reached.
#[derive(Debug, thiserror::Error)]
#[error("the ranks cannot go on: {0}")]
pub struct RanksError(pub String);

/// All processes of a fabric. Every one of them does the same calls in the same order.
pub trait Ranks: fmt::Debug {
    /// Returns the rank of this process, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of processes.
    fn size(&self) -> usize;

    /// Exchanges reports and frames at the end of an epoch.
    ///
    /// # Errors
    /// If the others cannot be reached.
    fn exchange(&mut self, own: Local) -> Result<Peers, RanksError>;

    /// Collects some bytes of each at the first rank; the others get nothing.
    ///
    /// # Errors
    /// If the others cannot be reached.
    fn gather(&mut self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RanksError>;
}

/// A single process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn exchange(&mut self, own: Local) -> Result<Peers, RanksError> {
        Ok(Peers {
            next_ps: own.next_ps,
            is_over: own.is_over,
            frames: own.frames.into_iter().flatten().collect(),
        })
    }

    fn gather(&mut self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RanksError> {
        Ok(vec![own])
    }
}

/// Message tags: the end of an epoch, and the final report.
const ROUND: u32 = 1;
const END: u32 = 2;
/// Time for which a rank polls without a pause. An epoch takes less unless it waits for an application.
const EAGER: Duration = Duration::from_micros(300);
/// Between two questions after that: an application may take its time, and its processor.
const PAUSE: Duration = Duration::from_micros(50);

/// The message of one rank to another.
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

    /// The next message of a rank. MPI's own wait would busy the processor.
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

    fn exchange(&mut self, own: Local) -> Result<Peers, RanksError> {
        let Local {
            next_ps,
            is_over,
            frames,
        } = own;
        let mut met = Peers {
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
