//! What slaves answer, when, and which bursts fail.

use super::burst::Burst;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cell::RefCell;
use std::fmt;
use std::ops::RangeInclusive;
use std::rc::Rc;

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

/// Which bursts fail. Of a write that fails nothing is written; of a read that fails, one of its beats or more do.
#[derive(Clone, Debug, Default)]
pub enum Faults {
    /// None.
    #[default]
    Never,
    /// Each with that probability in percent, SLVERR or DECERR.
    Random {
        /// Probability of an error in percent.
        percent: u32,
    },
    /// Writes of a byte in one of these ranges, and beats that read one, with the response of the first such range.
    At(Vec<(RangeInclusive<u64>, Response)>),
    /// As the test says for each beat; the worst counts for a write.
    Chosen(BeatJudge),
}

/// Says how each beat of a burst is answered; clones share one state.
#[derive(Clone)]
pub struct BeatJudge(Rc<RefCell<Judge>>);

type Judge = dyn FnMut(&Burst, u64) -> Response;

impl BeatJudge {
    /// Asks a function, once for each beat when a read begins or a write ends, first beat (0) first.
    pub fn new(judge: impl FnMut(&Burst, u64) -> Response + 'static) -> Self {
        Self(Rc::new(RefCell::new(judge)))
    }
}

impl fmt::Debug for BeatJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BeatJudge").finish_non_exhaustive()
    }
}

impl Faults {
    /// How the beats of a burst are answered; an empty list is OKAY for all.
    pub(super) fn responses(&self, burst: &Burst, rng: &mut ChaCha8Rng) -> Vec<Response> {
        match self {
            Self::Never => Vec::new(),
            Self::Random { percent } if rng.random_range(0..100) < *percent => random(burst.beats, rng),
            Self::Random { .. } => Vec::new(),
            Self::At(ranges) => (0..burst.beats).map(|number| at(ranges, burst, number)).collect(),
            Self::Chosen(BeatJudge(judge)) => {
                let mut judge = judge.borrow_mut();
                (0..burst.beats).map(|number| judge(burst, number)).collect()
            }
        }
    }
}

/// Responses of which at least one is an error; often exactly one.
fn random(beats: u64, rng: &mut ChaCha8Rng) -> Vec<Response> {
    let mut responses = vec![Response::Okay; beats as usize];
    if rng.random_bool(0.5) {
        for response in &mut responses {
            if rng.random_bool(0.5) {
                *response = Response::random_error(rng);
            }
        }
    }
    // The first and the last beat are where a design is most likely to be wrong.
    let last = responses.len() - 1;
    let certain = match rng.random_range(0..3) {
        0 => 0,
        1 => last,
        _ => rng.random_range(0..=last),
    };
    responses[certain] = Response::random_error(rng);
    responses
}

/// The response of the first range that the beat touches.
fn at(ranges: &[(RangeInclusive<u64>, Response)], burst: &Burst, number: u64) -> Response {
    let first = burst.beat_address(number);
    let end = first - first % burst.size + (burst.size - 1);
    let touches = |range: &RangeInclusive<u64>| *range.start() <= end && *range.end() >= first;
    let hit = ranges.iter().find(|(range, _)| touches(range));
    hit.map_or(Response::Okay, |(_, response)| *response)
}

#[cfg(test)]
mod tests {
    use super::super::burst::BurstKind;
    use super::{BeatJudge, Burst, Faults, Latency, Response};
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

    fn burst(address: u64, beats: u64) -> Burst {
        Burst {
            id: 0,
            address,
            beats,
            size: 8,
            kind: BurstKind::Incrementing,
        }
    }

    #[test]
    fn random_faults_hit_as_many_reads_as_asked_for() {
        let mut rng = Seed(1).rng("test");
        for (percent, expected) in [(0, 0..=0), (30, 240..=360), (100, 1000..=1000)] {
            let faults = Faults::Random { percent };
            let mut failed = 0;
            for _ in 0..1000 {
                let responses = faults.responses(&burst(0, 4), &mut rng);
                failed += usize::from(!responses.is_empty());
                assert_eq!(
                    responses.iter().any(|response| response.is_error()),
                    !responses.is_empty()
                );
            }
            assert!(expected.contains(&failed), "{failed} at {percent} %");
        }
        assert_eq!(
            Faults::Random { percent: 100 }
                .responses(&burst(0, 1), &mut rng)
                .len(),
            1
        );
    }

    #[test]
    fn chosen_beats_fail() {
        use Response::{DecodeError, Okay, SlaveError};
        let mut rng = Seed(1).rng("test");
        let ranges = vec![(0x18..=0x18, DecodeError), (0x10..=0x1f, SlaveError)];
        let at = Faults::At(ranges).responses(&burst(0x0c, 4), &mut rng);
        assert_eq!(at, [Okay, SlaveError, DecodeError, Okay]);
        let whole = Faults::At(vec![(0..=u64::MAX, SlaveError)]);
        assert_eq!(whole.responses(&burst(u64::MAX, 1), &mut rng), [SlaveError]);
        let mut calls = 0;
        let judge = BeatJudge::new(move |_, number| {
            calls += 1;
            if calls == 5 {
                assert_eq!(number, 1);
                DecodeError
            } else {
                Okay
            }
        });
        let faults = Faults::Chosen(judge);
        assert_eq!(faults.responses(&burst(0, 3), &mut rng), [Okay, Okay, Okay]);
        assert_eq!(
            faults.responses(&burst(0, 3), &mut rng),
            [Okay, DecodeError, Okay]
        );
    }
}
