//! What all ranks of a communicator do together: all have to call the same functions in the same order.

use super::Comm;
use super::parts::{Parts, told};
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

    /// Gives all ranks the bytes of the root, however many; what others give is replaced. These are two broadcasts.
    ///
    /// # Errors
    /// As for [`Comm::bcast`].
    pub fn bcast_any(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let mut length = (bytes.len() as u64).to_le_bytes();
        self.bcast(root, &mut length)?;
        bytes.resize(told(u64::from_le_bytes(length)), 0);
        self.bcast(root, bytes)
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

    /// Gives the root the bytes of each rank, of any length. These are two gathers.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes in all.
    pub fn gatherv(&self, root: usize, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let count = int("bytes of a gather", bytes.len())?;
        let lengths = self.gather(root, &(bytes.len() as u64).to_le_bytes())?;
        let parts = Parts::of("bytes of a gather", words(&lengths.unwrap_or_default()).map(told))?;
        let mut all = vec![0; parts.total];
        let is_root = root == self.rank();
        let root = int("a rank", root)?;
        // SAFETY: the area has room for the parts, which are those of the root only.
        let code = unsafe {
            let (counts, starts) = (parts.counts.as_ptr(), parts.starts.as_ptr());
            let to = first_mut(&mut all);
            (self.session.functions.gatherv)(self.raw, first(bytes), count, to, counts, starts, root)
        };
        self.session.check("MPI_Gatherv", code)?;
        Ok(is_root.then(|| parts.cut(&all)))
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

    /// Gives every rank the bytes of each, of any length. These are two gathers.
    ///
    /// # Errors
    /// If there are too many bytes in all.
    pub fn allgatherv(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let count = int("bytes of a gather", bytes.len())?;
        let lengths = self.allgather(&(bytes.len() as u64).to_le_bytes())?;
        let parts = Parts::of("bytes of a gather", words(&lengths).map(told))?;
        let mut all = vec![0; parts.total];
        // SAFETY: the area has room for the parts.
        let code = unsafe {
            let (counts, starts) = (parts.counts.as_ptr(), parts.starts.as_ptr());
            (self.session.functions.allgatherv)(
                self.raw,
                first(bytes),
                count,
                first_mut(&mut all),
                counts,
                starts,
            )
        };
        self.session.check("MPI_Allgatherv", code)?;
        Ok(parts.cut(&all))
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

    /// Gives every rank its part of the numbers, and takes those of each rank for this one: both areas are as many equal parts
    /// as there are ranks, in their order. All have to give as many numbers.
    ///
    /// # Errors
    /// If the areas cannot be divided so, or are too long.
    pub fn alltoall(&self, from: &[u64], to: &mut [u64]) -> Result<(), Error> {
        if from.len() != to.len() || !from.len().is_multiple_of(self.size()) {
            return Err(Error::Argument {
                call: "alltoall",
                reason: format!(
                    "{} numbers to send and {} to receive; both have to be the same multiple of the {} ranks",
                    from.len(),
                    to.len(),
                    self.size()
                ),
            });
        }
        let count = int("numbers for a rank", from.len() / self.size())?;
        // SAFETY: both areas have as many numbers for each rank.
        let code = unsafe { (self.session.functions.alltoall)(self.raw, first(from), first_mut(to), count) };
        self.session.check("MPI_Alltoall", code)
    }

    /// Gives every rank its bytes, and takes those of each rank for this one. The lengths are exchanged first; who knows them
    /// saves that with [`Comm::alltoallv_known`].
    ///
    /// # Errors
    /// If there is not one part for each rank, or there are too many bytes in all.
    pub fn alltoallv(&self, parts: &[impl AsRef<[u8]>]) -> Result<Vec<Vec<u8>>, Error> {
        let lengths: Vec<usize> = parts.iter().map(|part| part.as_ref().len()).collect();
        self.check_parts("alltoallv", &lengths)?;
        let told_lengths: Vec<u64> = lengths.iter().map(|&length| length as u64).collect();
        let mut others = vec![0; lengths.len()];
        self.alltoall(&told_lengths, &mut others)?;
        let others: Vec<usize> = others.into_iter().map(told).collect();
        // What comes is laid out first, because the lengths are not ours.
        let layout = Parts::of("bytes for a rank", others.iter().copied())?;
        let from: Vec<u8> = parts.iter().flat_map(|part| part.as_ref()).copied().collect();
        let mut to = vec![0; layout.total];
        self.alltoallv_known(&from, &lengths, &mut to, &others)?;
        Ok(layout.cut(&to))
    }

    /// Gives every rank its bytes, and takes those of each rank for this one, where all know how many: the lengths say how the
    /// areas are divided, in the order of the ranks. What a rank sends another has to be what that one expects.
    ///
    /// # Errors
    /// If there is not one length for each rank, they do not add up to the areas, or they are too long.
    pub fn alltoallv_known(
        &self,
        from: &[u8],
        from_lengths: &[usize],
        to: &mut [u8],
        to_lengths: &[usize],
    ) -> Result<(), Error> {
        self.check_parts("alltoallv", from_lengths)?;
        self.check_parts("alltoallv", to_lengths)?;
        let sent = Parts::of("bytes for all ranks", from_lengths.iter().copied())?;
        let taken = Parts::of("bytes for a rank", to_lengths.iter().copied())?;
        if (sent.total, taken.total) != (from.len(), to.len()) {
            return Err(Error::Argument {
                call: "alltoallv",
                reason: format!(
                    "the lengths add up to {} and {} B, and the areas have {} and {} B",
                    sent.total,
                    taken.total,
                    from.len(),
                    to.len()
                ),
            });
        }
        // SAFETY: there is a count and a start for each rank, and the parts fill both areas.
        let code = unsafe {
            (self.session.functions.alltoallv)(
                self.raw,
                first(from),
                sent.counts.as_ptr(),
                sent.starts.as_ptr(),
                first_mut(to),
                taken.counts.as_ptr(),
                taken.starts.as_ptr(),
            )
        };
        self.session.check("MPI_Alltoallv", code)
    }

    fn check_parts(&self, call: &'static str, lengths: &[usize]) -> Result<(), Error> {
        if lengths.len() == self.size() {
            return Ok(());
        }
        Err(Error::Argument {
            call,
            reason: format!(
                "{} parts for {} ranks; there has to be one for each",
                lengths.len(),
                self.size()
            ),
        })
    }
}

/// Bytes as the numbers that they were.
fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| u64::from_le_bytes(*word))
}
