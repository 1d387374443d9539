//! What slaves answer, and when.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// What a slave says about a burst, or about a beat that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Response {
    /// It is done.
    Okay,
    /// It is done, and was an exclusive access that succeeded (EXOKAY).
    ExclusiveOkay,
    /// The slave could not do it (SLVERR).
    SlaveError,
    /// There is no slave at the address (DECERR).
    DecodeError,
}

impl Response {
    /// From the lowest two bits of BRESP or RRESP.
    pub fn from_code(code: u64) -> Self {
        match code & 3 {
            0 => Self::Okay,
            1 => Self::ExclusiveOkay,
            2 => Self::SlaveError,
            _ => Self::DecodeError,
        }
    }

    /// For BRESP or RRESP.
    pub fn code(self) -> u8 {
        match self {
            Self::Okay => 0,
            Self::ExclusiveOkay => 1,
            Self::SlaveError => 2,
            Self::DecodeError => 3,
        }
    }

    /// Whether it is SLVERR or DECERR.
    pub fn is_error(self) -> bool {
        matches!(self, Self::SlaveError | Self::DecodeError)
    }

    /// One of the two errors.
    pub(super) fn random_error(rng: &mut ChaCha8Rng) -> Self {
        if rng.random_bool(0.5) {
            Self::SlaveError
        } else {
            Self::DecodeError
        }
    }
}

/// Cycles until a slave answers a burst, each burst at random between two bounds.
///
/// For a write they count from its last transfer to a valid response, for a read from the transfer of
/// its address to its first valid beat: 1 is the next cycle. An answer that waits for an earlier one
/// comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Fewest cycles; 0 is taken as 1, as an answer may not come earlier.
    pub least: u64,
    /// Most cycles; less than `least` is taken as `least`.
    pub most: u64,
}

impl Latency {
    /// Always the same number of cycles.
    pub fn exactly(cycles: u64) -> Self {
        Self {
            least: cycles,
            most: cycles,
        }
    }

    /// The latency of one burst.
    pub(crate) fn draw(self, rng: &mut ChaCha8Rng) -> u64 {
        let least = self.least.max(1);
        rng.random_range(least..=self.most.max(least))
    }
}

/// One cycle.
impl Default for Latency {
    fn default() -> Self {
        Self::exactly(1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Latency, Response};
    use crate::seed::Seed;

    #[test]
    fn codes_are_those_of_the_bus() {
        for code in 0..4 {
            let response = Response::from_code(code);
            assert_eq!(u64::from(response.code()), code);
            assert_eq!(response.is_error(), code >= 2, "{response:?}");
        }
    }

    #[test]
    fn latencies_are_within_their_bounds_and_at_least_one() {
        let mut rng = Seed(1).rng("test");
        let mut draws = |least, most| -> Vec<u64> {
            let mut seen: Vec<u64> = (0..200).map(|_| Latency { least, most }.draw(&mut rng)).collect();
            seen.sort_unstable();
            seen.dedup();
            seen
        };
        assert_eq!(draws(3, 6), [3, 4, 5, 6]);
        assert_eq!(draws(0, 0), [1]);
        assert_eq!(draws(9, 2), [9]);
    }
}
