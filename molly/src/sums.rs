//! Sums over all ranks: arguments of functions to which bodies only add.
//!
//! [`Sum`] has the same bits on any grid of ranks as in a serial run, as nothing is rounded before the end. [`FastSum`] adds in
//! the type of its numbers, each rank its own part, so its last bits depend on the grid. In both cases each rank adds what
//! lives on it, and all sums of a run are put together by one reduction.

use crate::error::Result;
use crate::exact::Exact;
use crate::rank::Rank;
use std::ops::AddAssign;

/// What a rank has added, as words.
pub trait Part {
    /// The words, as many on all ranks.
    fn words(&self) -> Vec<u64>;

    /// Adds what another rank has, of which there are the words.
    fn merge(&mut self, words: &[u64]);

    /// Forgets what was added.
    fn clear(&mut self);
}

/// Numbers that [`Sum`] adds.
pub trait Summand: Copy {
    /// The sum while it is made.
    type Exact: Part + Default + Clone + std::fmt::Debug + PartialEq;
    /// Its value: `f64` for floating-point numbers, `i128` for integers, which no sum leaves.
    type Total;

    /// Adds this number.
    fn add_to(self, sum: &mut Self::Exact);

    /// The value of a sum: of floating-point numbers the nearest one.
    fn total(sum: &Self::Exact) -> Self::Total;
}

impl Part for Exact {
    fn words(&self) -> Vec<u64> {
        Self::words(self)
    }

    fn merge(&mut self, words: &[u64]) {
        Self::merge(self, words);
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Part for i128 {
    fn words(&self) -> Vec<u64> {
        vec![*self as u64, (*self >> 64) as u64]
    }

    fn merge(&mut self, words: &[u64]) {
        if let [low, high] = *words {
            *self = self.wrapping_add((i128::from(high) << 64) | i128::from(low));
        }
    }

    fn clear(&mut self) {
        *self = 0;
    }
}

macro_rules! summands {
    ($exact:ty, $total:ty, |$sum:ident, $value:ident| $add:expr, $read:expr, $($type:ty)*) => { $(
        impl Summand for $type {
            type Exact = $exact;
            type Total = $total;

            fn add_to(self, $sum: &mut $exact) {
                let $value = <$total>::from(self);
                $add
            }

            fn total(sum: &$exact) -> $total {
                $read(sum)
            }
        }
    )* };
}
summands!(Exact, f64, |sum, value| sum.add(value), Exact::value, f32 f64);
summands!(i128, i128, |sum, value| *sum += value, i128::clone, i8 i16 i32 i64 u8 u16 u32 u64);

/// A sum whose value does not depend on the order in which it is made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sum<T: Summand>(T::Exact);

impl<T: Summand> Sum<T> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self(T::Exact::default())
    }

    /// What was added: of floating-point numbers the nearest `f64` to the exact sum, of integers the sum.
    pub fn value(&self) -> T::Total {
        T::total(&self.0)
    }
}

impl<T: Summand> AddAssign<T> for Sum<T> {
    fn add_assign(&mut self, value: T) {
        value.add_to(&mut self.0);
    }
}

impl<T: Summand> Part for Sum<T> {
    fn words(&self) -> Vec<u64> {
        self.0.words()
    }

    fn merge(&mut self, words: &[u64]) {
        self.0.merge(words);
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// A sum in double precision that each rank makes of its own part, in the order of its plan. Its last bits depend on the grid.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FastSum(f64);

impl FastSum {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was added.
    pub fn value(&self) -> f64 {
        self.0
    }
}

impl<T: Into<f64>> AddAssign<T> for FastSum {
    fn add_assign(&mut self, value: T) {
        self.0 += value.into();
    }
}

impl Part for FastSum {
    fn words(&self) -> Vec<u64> {
        vec![self.0.to_bits()]
    }

    fn merge(&mut self, words: &[u64]) {
        words.iter().for_each(|word| self.0 += f64::from_bits(*word));
    }

    fn clear(&mut self) {
        self.0 = 0.0;
    }
}

impl Rank {
    /// Puts together what all ranks have added, so that each has the sum. All ranks call it, with as many parts.
    ///
    /// Ranks stand in a tree: each takes the sums of those below it, in their order, and gives its own to the one above; then the
    /// whole goes down again. These are two messages for each rank but the first.
    ///
    /// # Errors
    /// If another rank does not call it.
    pub fn reduce(&mut self, parts: &mut [&mut dyn Part]) -> Result<()> {
        self.reduced(parts).map_err(|error| self.located(error))
    }

    fn reduced(&mut self, parts: &mut [&mut dyn Part]) -> Result<()> {
        let (rank, ranks) = (self.rank(), self.geometry().ranks());
        // A rank that is a multiple of 2 n has the one that is n further below it.
        let below: Vec<usize> = (0..usize::BITS)
            .map(|bit| 1 << bit)
            .take_while(|step| rank & step == 0 && rank + step < ranks)
            .map(|step| rank + step)
            .collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.words().len()).collect();
        for &peer in &below {
            let words = self.receive_words(peer, lengths.iter().sum())?;
            merge(parts, &lengths, &words);
        }
        let mut whole: Vec<u64> = parts.iter().flat_map(|part| part.words()).collect();
        if rank != 0 {
            let above = rank & (rank - 1);
            self.send_words(above, &whole)?;
            whole = self.receive_words(above, whole.len())?;
        }
        for &peer in below.iter().rev() {
            self.send_words(peer, &whole)?;
        }
        parts.iter_mut().for_each(|part| part.clear());
        merge(parts, &lengths, &whole);
        Ok(())
    }
}

/// Adds to each part its words.
fn merge(parts: &mut [&mut dyn Part], lengths: &[usize], mut words: &[u64]) {
    for (part, &length) in parts.iter_mut().zip(lengths) {
        let (own, rest) = words.split_at(length.min(words.len()));
        part.merge(own);
        words = rest;
    }
}
