//! Processes that simulate one fabric together.

use crate::{Delivery, Ps};
use std::fmt;

/// What a process says at the end of a round.
#[derive(Debug)]
pub struct Own {
    /// When something happens next here, or in what is sent to others; `Ps::MAX`: never.
    pub next_ps: Ps,
    /// It wants an end, or has failed.
    pub is_over: bool,
    /// Frames for each rank.
    pub frames: Vec<Vec<Delivery>>,
}

/// What all have said.
#[derive(Debug)]
pub struct Met {
    /// When something happens next, anywhere.
    pub next_ps: Ps,
    /// Somebody wants an end, or has failed.
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
    /// Which one this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// The end of a round.
    ///
    /// # Errors
    /// If the others cannot be reached.
    fn meet(&mut self, own: Own) -> Result<Met, RanksError>;

    /// Collects some bytes of each at the first rank; the others get nothing.
    ///
    /// # Errors
    /// If the others cannot be reached.
    fn gather(&mut self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RanksError>;
}

/// A process by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn meet(&mut self, own: Own) -> Result<Met, RanksError> {
        Ok(Met {
            next_ps: own.next_ps,
            is_over: own.is_over,
            frames: own.frames.into_iter().flatten().collect(),
        })
    }

    fn gather(&mut self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RanksError> {
        Ok(vec![own])
    }
}
