//! How slaves respond to bursts: with which response, after which latency, in which order.

use super::burst::Burst;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// The response of a slave to a burst, or to one beat of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Response {
    /// It is done.
    Okay,
    /// It is done, and was an exclusive access that succeeded (EXOKAY).
    ExclusiveOkay,
    /// The slave could not do it (SLVERR).
    SlaveError,
    /// No slave is mapped at the address (DECERR).
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
/// Counted from the last transfer of a write to its valid response, or from the transfer of a read's address to its
/// first valid beat: 1 is the next cycle. A response that waits for an earlier one comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Minimum, in cycles; 0 is taken as 1, as a response must not come earlier.
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

/// Which bursts fail. A write that fails writes nothing; of a read that fails, at least one beat has an error.
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
    /// A function of the test chooses the response of each beat; a write takes the worst of its beats.
    PerBeat(BeatResponder),
}

/// Chooses the response of each beat of a burst; clones share one state.
#[derive(Clone)]
pub struct BeatResponder(Rc<RefCell<RespondFn>>);

type RespondFn = dyn FnMut(&Burst, u64) -> Response;

impl BeatResponder {
    /// Calls a function once per beat, from beat 0 on, when a read begins or a write ends.
    pub fn new(respond: impl FnMut(&Burst, u64) -> Response + 'static) -> Self {
        Self(Rc::new(RefCell::new(respond)))
    }
}

impl fmt::Debug for BeatResponder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BeatResponder").finish_non_exhaustive()
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
            Self::PerBeat(BeatResponder(respond)) => {
                let mut respond = respond.borrow_mut();
                (0..burst.beats).map(|number| respond(burst, number)).collect()
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

/// In which order bursts are answered. Bursts with the same id always stay in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerOrder {
    /// In the order of arrival.
    #[default]
    InOrder,
    /// Bursts of different ids overtake each other at random; each is answered as a whole.
    Reordered,
    /// Bursts of different ids overtake each other, and their beats are mixed, at random.
    Interleaved,
}

/// A burst that is not answered completely; a write is answered like a read of one beat.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    burst: Burst,
    /// The earliest cycle in which its first beat may be valid.
    due: u64,
    /// Number of beats already sent.
    done: u64,
    /// The responses of its beats; beats beyond the end of the list get OKAY.
    responses: Vec<Response>,
}

/// A beat to be put on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextBeat {
    pub(super) burst: Burst,
    pub(super) number: u64,
    pub(super) response: Response,
    pub(super) is_last: bool,
}

/// Bursts that wait for their answer, in the order of arrival.
#[derive(Debug)]
pub(super) struct AnswerQueue {
    order: AnswerOrder,
    rng: ChaCha8Rng,
    pending: VecDeque<Pending>,
    /// The index of the read that is being sent, unless beats may be interleaved.
    current: Option<usize>,
}

impl Pending {
    pub(super) fn new(burst: Burst, due: u64, responses: Vec<Response>) -> Self {
        Self {
            burst,
            due,
            done: 0,
            responses,
        }
    }
}

impl AnswerQueue {
    pub(super) fn new(order: AnswerOrder, rng: ChaCha8Rng) -> Self {
        Self {
            order,
            rng,
            pending: VecDeque::new(),
            current: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }

    pub(super) fn push(&mut self, read: Pending) {
        self.pending.push_back(read);
    }

    pub(super) fn clear(&mut self) {
        self.pending.clear();
        self.current = None;
    }

    /// Takes the beat for that cycle, if one is due.
    pub(super) fn next(&mut self, cycle: u64) -> Option<NextBeat> {
        let index = self.choose(cycle)?;
        let read = &mut self.pending[index];
        let number = read.done;
        read.done += 1;
        let is_last = read.done == read.burst.beats;
        let beat = NextBeat {
            burst: read.burst,
            number,
            response: read
                .responses
                .get(number as usize)
                .copied()
                .unwrap_or(Response::Okay),
            is_last,
        };
        self.current = (!is_last).then_some(index);
        if is_last {
            self.pending.remove(index);
        }
        Some(beat)
    }

    fn choose(&mut self, cycle: u64) -> Option<usize> {
        match (self.order, self.current) {
            (AnswerOrder::InOrder | AnswerOrder::Reordered, Some(current)) => Some(current),
            (AnswerOrder::InOrder, None) => self.pending.front().filter(|read| read.due <= cycle).map(|_| 0),
            (AnswerOrder::Reordered | AnswerOrder::Interleaved, _) => self.choose_any(cycle),
        }
    }

    /// A random one of those that are due and are the oldest with their id.
    fn choose_any(&mut self, cycle: u64) -> Option<usize> {
        let may_go = |index: &usize| {
            let candidate = &self.pending[*index];
            let mut older = self.pending.range(..*index);
            candidate.due <= cycle && older.all(|other| other.burst.id != candidate.burst.id)
        };
        let ready: Vec<usize> = (0..self.pending.len()).filter(may_go).collect();
        if ready.is_empty() {
            return None;
        }
        Some(ready[self.rng.random_range(0..ready.len())])
    }
}

#[cfg(test)]
mod tests {
    use super::{
        AnswerOrder, AnswerQueue, BeatResponder, Burst, Faults, Latency, NextBeat, Pending, Response,
    };
    use crate::seed::Seed;

    #[test]
    fn response_codes_match_the_specification() {
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

    #[test]
    fn random_faults_have_the_configured_probability() {
        let mut rng = Seed(1).rng("test");
        for (percent, expected) in [(0, 0..=0), (30, 240..=360), (100, 1000..=1000)] {
            let faults = Faults::Random { percent };
            let mut failed = 0;
            for _ in 0..1000 {
                let responses = faults.responses(&Burst::words(0, 0, 4), &mut rng);
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
                .responses(&Burst::words(0, 0, 1), &mut rng)
                .len(),
            1
        );
    }

    #[test]
    fn chosen_beats_fail() {
        use Response::{DecodeError, Okay, SlaveError};
        let mut rng = Seed(1).rng("test");
        let ranges = vec![(0x18..=0x18, DecodeError), (0x10..=0x1f, SlaveError)];
        let at = Faults::At(ranges).responses(&Burst::words(0, 0x0c, 4), &mut rng);
        assert_eq!(at, [Okay, SlaveError, DecodeError, Okay]);
        let whole = Faults::At(vec![(0..=u64::MAX, SlaveError)]);
        assert_eq!(
            whole.responses(&Burst::words(0, u64::MAX, 1), &mut rng),
            [SlaveError]
        );
        let mut calls = 0;
        let responder = BeatResponder::new(move |_, number| {
            calls += 1;
            if calls == 5 {
                assert_eq!(number, 1);
                DecodeError
            } else {
                Okay
            }
        });
        let faults = Faults::PerBeat(responder);
        assert_eq!(
            faults.responses(&Burst::words(0, 0, 3), &mut rng),
            [Okay, Okay, Okay]
        );
        assert_eq!(
            faults.responses(&Burst::words(0, 0, 3), &mut rng),
            [Okay, DecodeError, Okay]
        );
    }

    /// Six reads of two ids with three beats each, due in cycle 10, and all beats in their order.
    fn run(order: AnswerOrder) -> Vec<NextBeat> {
        let mut queue = AnswerQueue::new(order, Seed(3).rng("test"));
        for number in 0..6 {
            queue.push(Pending::new(
                Burst::words(number % 2, 64 * number, 3),
                10,
                Vec::new(),
            ));
        }
        assert_eq!(queue.next(9), None);
        let beats = (10..28).map(|cycle| queue.next(cycle).expect("a beat in every cycle"));
        let beats = beats.collect();
        assert_eq!((queue.next(28), queue.len()), (None, 0));
        beats
    }

    fn addresses(beats: &[NextBeat]) -> Vec<u64> {
        beats.iter().map(|beat| beat.burst.address).collect()
    }

    #[test]
    fn bursts_with_the_same_id_stay_in_order() {
        let in_order = run(AnswerOrder::InOrder);
        assert!(addresses(&in_order).is_sorted());
        for order in [AnswerOrder::Reordered, AnswerOrder::Interleaved] {
            let beats = run(order);
            assert!(!addresses(&beats).is_sorted(), "{order:?}");
            for id in 0..2 {
                let of = |beats: &[NextBeat]| -> Vec<_> {
                    beats.iter().filter(|beat| beat.burst.id == id).copied().collect()
                };
                assert_eq!(of(&beats), of(&in_order), "{order:?}");
            }
            let whole = beats
                .chunks(3)
                .all(|read| read.iter().all(|beat| beat.burst == read[0].burst));
            assert_eq!(whole, order == AnswerOrder::Reordered);
        }
    }

    #[test]
    fn reads_wait_for_older_ones_with_the_same_id() {
        let mut queue = AnswerQueue::new(AnswerOrder::Interleaved, Seed(3).rng("test"));
        queue.push(Pending::new(Burst::words(0, 0, 1), 20, Vec::new()));
        queue.push(Pending::new(Burst::words(0, 64, 1), 5, Vec::new()));
        queue.push(Pending::new(
            Burst::words(1, 128, 2),
            5,
            vec![Response::DecodeError],
        ));
        let first = queue.next(5).expect("a beat");
        assert_eq!(
            (first.burst.id, first.response, first.is_last),
            (1, Response::DecodeError, false)
        );
        let second = queue.next(6).expect("a beat");
        assert_eq!(
            (second.number, second.response, second.is_last),
            (1, Response::Okay, true)
        );
        assert_eq!(queue.next(7), None);
        assert_eq!(queue.next(20).map(|beat| beat.burst.address), Some(0));
        assert_eq!(queue.next(21).map(|beat| beat.burst.address), Some(64));
    }
}
