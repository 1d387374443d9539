//! Which of the answers that wait comes next.

use super::answer::Response;
use super::burst::Burst;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// In which order bursts are answered; those of one id always in theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerOrder {
    /// In the order in which they came.
    #[default]
    InOrder,
    /// Bursts of different ids overtake each other at random; each is answered as a whole.
    Reordered,
    /// Bursts of different ids overtake each other, and their beats are mixed, at random.
    Interleaved,
}

/// A burst that is not answered completely; a write is answered as a read of one beat.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    burst: Burst,
    /// The first cycle in which its first beat may be valid.
    due: u64,
    /// Beats that were given out.
    done: u64,
    /// Of its beats; OKAY for those beyond the end.
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

/// Bursts that wait for their answer, in the order in which they came.
#[derive(Debug)]
pub(super) struct AnswerQueue {
    order: AnswerOrder,
    rng: ChaCha8Rng,
    pending: VecDeque<Pending>,
    /// The index of the read whose last beat is not given out, unless beats may be mixed.
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

    /// One at random of those that are due and the oldest of their id.
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
    use super::super::burst::BurstKind;
    use super::{AnswerOrder, AnswerQueue, Burst, NextBeat, Pending, Response};
    use crate::seed::Seed;

    fn burst(id: u64, address: u64, beats: u64) -> Burst {
        Burst {
            id,
            address,
            beats,
            size: 8,
            kind: BurstKind::Incrementing,
        }
    }

    /// Six reads of two ids with three beats each, due in cycle 10, and all beats in their order.
    fn run(order: AnswerOrder) -> Vec<NextBeat> {
        let mut queue = AnswerQueue::new(order, Seed(3).rng("test"));
        for number in 0..6 {
            queue.push(Pending::new(burst(number % 2, 64 * number, 3), 10, Vec::new()));
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
    fn every_order_keeps_that_of_each_id() {
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
    fn older_reads_of_an_id_are_waited_for() {
        let mut queue = AnswerQueue::new(AnswerOrder::Interleaved, Seed(3).rng("test"));
        queue.push(Pending::new(burst(0, 0, 1), 20, Vec::new()));
        queue.push(Pending::new(burst(0, 64, 1), 5, Vec::new()));
        queue.push(Pending::new(burst(1, 128, 2), 5, vec![Response::DecodeError]));
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
