//! What all ranks of a communicator do together: all have to call the same functions in the same order.

use super::Comm;
use crate::Error;
use crate::error::int;
use crate::functions::{first, first_mut};

/// How numbers of all ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The sum, modulo 2^64.
    Sum,
}

/// Numbers of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// `i8`.
    Int8,
    /// `i16`.
    Int16,
    /// `i32`.
    Int32,
    /// `i64`.
    Int64,
    /// `f32`.
    Float,
    /// `f64`.
    Double,
}

impl Number {
    /// Bytes of one.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Int8 => 1,
            Self::Int16 => 2,
            Self::Int32 | Self::Float => 4,
            Self::Int64 | Self::Double => 8,
        }
    }
}

impl Comm {
    /// Waits until all ranks have come here.
    ///
    /// # Errors
    /// What MPI refuses.
    pub fn barrier(&self) -> Result<(), Error> {
        // SAFETY: the handle is alive.
        let code = unsafe { (self.session.functions.barrier)(self.raw) };
        self.session.check("MPI_Barrier", code)
    }

    /// Makes the bytes of all ranks those of the root. All have to give the same length.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn bcast(&self, root: usize, bytes: &mut [u8]) -> Result<(), Error> {
        let (root, count) = (int("a rank", root)?, int("bytes of a broadcast", bytes.len())?);
        // SAFETY: the area has as many bytes.
        let code = unsafe { (self.session.functions.bcast)(self.raw, first_mut(bytes), count, root) };
        self.session.check("MPI_Bcast", code)
    }

    /// Gives the root the bytes of all ranks, one after the other. All have to give the same length.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn gather(&self, root: usize, bytes: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let count = int("bytes of a gather", bytes.len())?;
        let is_root = root == self.rank();
        let places = if is_root { self.size() } else { 0 };
        let mut all = vec![0; places * bytes.len()];
        let root = int("a rank", root)?;
        // SAFETY: both areas have the bytes that are told; only the root's is written.
        let code = unsafe {
            (self.session.functions.gather)(self.raw, first(bytes), count, first_mut(&mut all), root)
        };
        self.session.check("MPI_Gather", code)?;
        Ok(is_root.then_some(all))
    }

    /// Gives every rank the bytes of all, one after the other. All have to give the same length.
    ///
    /// # Errors
    /// If there are too many bytes.
    pub fn allgather(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let count = int("bytes of a gather", bytes.len())?;
        let mut all = vec![0; self.size() * bytes.len()];
        // SAFETY: both areas have the bytes that are told.
        let code =
            unsafe { (self.session.functions.allgather)(self.raw, first(bytes), count, first_mut(&mut all)) };
        self.session.check("MPI_Allgather", code)?;
        Ok(all)
    }

    /// Makes each number that which all ranks have at its place, put together. All have to give as many.
    ///
    /// # Errors
    /// If there are too many numbers.
    pub fn allreduce(&self, reduction: Reduction, numbers: &mut [u64]) -> Result<(), Error> {
        let count = int("numbers of a reduction", numbers.len())?;
        let operation = match reduction {
            Reduction::Min => 0,
            Reduction::Max => 1,
            Reduction::Sum => 2,
        };
        // SAFETY: there are as many numbers.
        let code =
            unsafe { (self.session.functions.allreduce)(self.raw, operation, first_mut(numbers), count) };
        self.session.check("MPI_Allreduce", code)
    }
}
