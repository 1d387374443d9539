//! One direction of a cable: the sender's queue, the wire, and the faults on it.

use crate::{MIN_FRAME_BYTES, OVERHEAD_BYTES, Ps};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Longest delay of a reordered frame, in transmission times of a full frame.
const HELD_FRAMES: u64 = 8;
/// Bytes of a full frame.
const FULL_FRAME_BYTES: u64 = 1500;

/// Fault rates: the probability of each fault, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// Lost frames.
    pub loss: f64,
    /// Duplicated frames.
    pub duplication: f64,
    /// Frames that others overtake.
    pub reordering: f64,
    /// Corrupted frames: one flipped bit, so that the check sequence is wrong.
    pub corruption: f64,
}

/// Frame counters of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Frames that were to be sent.
    pub offered: u64,
    /// Frames that found the sender's queue full.
    pub queue_full: u64,
    /// Frames that were lost on the cable.
    pub lost: u64,
    /// Duplicated frames.
    pub duplicated: u64,
    /// Delayed frames.
    pub held: u64,
    /// Frames with a flipped bit.
    pub corrupted: u64,
    /// Frames delivered to the other end, or on their way there.
    pub delivered: u64,
    /// Most bytes that were ever in the sender's queue.
    pub most_queued_bytes: u64,
    /// Bytes sent, including the overhead of each frame on the wire.
    pub wire_bytes: u64,
}

impl Counts {
    /// Whether every frame is accounted for.
    pub fn adds_up(&self) -> bool {
        self.offered + self.duplicated == self.queue_full + self.lost + self.delivered
    }
}

/// A frame to send.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) born_ps: Ps,
    /// Its check sequence is wrong.
    pub(crate) is_bad: bool,
    /// The frame without its check sequence.
    pub(crate) bytes: Vec<u8>,
}

/// A frame on its way to the other end of a cable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// When the NIC that sent it first did so.
    pub born_ps: Ps,
    /// When its first bit is there.
    pub first_ps: Ps,
    /// When its last bit is there.
    pub last_ps: Ps,
    /// Sequence number on this direction; orders frames that arrive at the same time.
    pub number: u64,
    /// Its check sequence is wrong.
    pub is_bad: bool,
    pub(crate) direction: LinkDirection,
    /// The frame without its check sequence.
    pub bytes: Vec<u8>,
}

/// One direction of a cable: the sender's queue, a rate, a latency, and random faults from a seed.
#[derive(Debug)]
pub struct Cable {
    direction: LinkDirection,
    rate_bps: u64,
    latency_ps: Ps,
    faults: Faults,
    random: ChaCha8Rng,
    /// Capacity of the sender's queue in bytes; frames that do not fit are dropped. `None`: unlimited.
    buffer_bytes: Option<u64>,
    /// Frames that have not left the queue: when each will have, and its bytes.
    queue: VecDeque<(Ps, u64)>,
    queued_bytes: u64,
    /// Time at which the sender's end is free again.
    free_ps: Ps,
    number: u64,
    counts: Counts,
}

impl Cable {
    pub(crate) fn new(
        direction: LinkDirection,
        rate_bps: u64,
        latency_ps: Ps,
        faults: Faults,
        seed: u64,
    ) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(direction.index() as u64);
        Self {
            direction,
            rate_bps,
            latency_ps,
            faults,
            random,
            buffer_bytes: None,
            queue: VecDeque::new(),
            queued_bytes: 0,
            free_ps: 0,
            number: 0,
            counts: Counts::default(),
        }
    }

    /// Limits the queue to this size.
    pub(crate) fn with_buffer(mut self, bytes: u64) -> Self {
        self.buffer_bytes = Some(bytes);
        self
    }

    /// Returns the counters.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the transmission time of this many bytes.
    pub(crate) fn takes_ps(&self, bytes: u64) -> Ps {
        takes_ps(self.rate_bps, bytes)
    }

    /// Returns the bytes in the sender's queue at `now_ps`, which must not decrease from call to call.
    pub fn queued_bytes(&mut self, now_ps: Ps) -> u64 {
        while let Some((_, bytes)) = self.queue.pop_front_if(|(leaves, _)| *leaves <= now_ps) {
            self.queued_bytes -= bytes;
        }
        self.queued_bytes
    }

    /// Sends a frame at `at_ps` or when the cable is free, padded to Ethernet's minimum. Returns the deliveries:
    /// none, one, or two copies.
    pub(crate) fn send(&mut self, ready_ps: Ps, mut frame: Sent) -> Vec<Delivery> {
        let padded = frame.bytes.len().max(MIN_FRAME_BYTES);
        frame.bytes.resize(padded, 0);
        self.counts.offered += 1;
        let size = padded as u64;
        if self
            .buffer_bytes
            .is_some_and(|most| self.queued_bytes(ready_ps) + size > most)
        {
            self.counts.queue_full += 1;
            return Vec::new();
        }
        let start_ps = self.free_ps.max(ready_ps);
        let takes_ps = self.takes_ps(size + OVERHEAD_BYTES);
        self.free_ps = start_ps + takes_ps;
        self.queue.push_back((self.free_ps, size));
        self.queued_bytes += size;
        self.counts.most_queued_bytes = self.counts.most_queued_bytes.max(self.queued_bytes);
        self.counts.wire_bytes += size + OVERHEAD_BYTES;
        self.travel(start_ps, takes_ps, frame)
    }

    /// Fate of a frame on the cable.
    fn travel(&mut self, start_ps: Ps, takes_ps: Ps, mut frame: Sent) -> Vec<Delivery> {
        let faults = self.faults;
        if self.happens(faults.loss) {
            self.counts.lost += 1;
            return Vec::new();
        }
        if self.happens(faults.corruption) {
            self.counts.corrupted += 1;
            frame.is_bad = true;
            let bit = self.random.random_range(0..frame.bytes.len() * 8);
            frame.bytes[bit / 8] ^= 1 << (bit % 8);
        }
        let mut arrives_ps = start_ps + self.latency_ps;
        let mut deliveries = Vec::with_capacity(1);
        if self.happens(faults.duplication) {
            self.counts.duplicated += 1;
            deliveries.push(self.delivery(arrives_ps, takes_ps, frame.clone()));
        }
        if self.happens(faults.reordering) {
            self.counts.held += 1;
            let frames = self.random.random_range(1..=HELD_FRAMES);
            arrives_ps += self.takes_ps(frames * FULL_FRAME_BYTES);
        }
        deliveries.push(self.delivery(arrives_ps, takes_ps, frame));
        deliveries
    }

    fn delivery(&mut self, first_ps: Ps, takes_ps: Ps, frame: Sent) -> Delivery {
        self.number += 1;
        self.counts.delivered += 1;
        Delivery {
            born_ps: frame.born_ps,
            first_ps,
            last_ps: first_ps + takes_ps,
            number: self.number,
            is_bad: frame.is_bad,
            direction: self.direction,
            bytes: frame.bytes,
        }
    }

    fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.random.random_bool(probability.min(1.0))
    }
}

/// Returns the transmission time of this many bytes at a rate in bits per second.
pub(crate) fn takes_ps(rate_bps: u64, bytes: u64) -> Ps {
    (u128::from(bytes) * 8_000_000_000_000).div_ceil(u128::from(rate_bps)) as u64
}

/// A NIC or a switch, by its place in [`Topology::nodes`](crate::Topology::nodes).
pub(crate) type NodeNumber = usize;

/// A direction of a cable, identified by its sending end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct LinkDirection {
    /// The cable, by its place in [`Topology::cables`](crate::Topology::cables).
    pub(crate) cable: u32,
    /// The sending end, 0 or 1.
    pub(crate) from: u8,
}

impl LinkDirection {
    /// Returns the receiving end, 0 or 1.
    pub(crate) fn to(self) -> usize {
        1 - usize::from(self.from)
    }

    /// Its place among all directions.
    pub(crate) fn index(self) -> usize {
        2 * self.cable as usize + usize::from(self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cable(faults: Faults) -> Cable {
        let direction = LinkDirection { cable: 0, from: 0 };
        Cable::new(direction, 100_000_000_000, 500_000, faults, 7)
    }

    fn good(bytes: Vec<u8>) -> Sent {
        Sent {
            born_ps: 0,
            is_bad: false,
            bytes,
        }
    }

    #[test]
    fn frames_take_their_time_and_stay_in_order() {
        let mut cable = cable(Faults::default());
        let one = cable.send(1000, good(vec![1; 1000]));
        let other = cable.send(1000, good(vec![2; 14]));
        assert_eq!(one[0].first_ps, 501_000);
        assert_eq!(one[0].last_ps, 501_000 + 1024 * 80);
        assert_eq!(other[0].first_ps, one[0].last_ps);
        assert_eq!(other[0].bytes, [vec![2; 14], vec![0; 46]].concat());
    }

    #[test]
    fn a_full_queue_drops_whole_frames() {
        let mut cable = cable(Faults::default()).with_buffer(3000);
        let sent: usize = (0..5).map(|_| cable.send(0, good(vec![0; 1000])).len()).sum();
        assert_eq!((sent, cable.counts().queue_full), (3, 2));
        assert_eq!(cable.queued_bytes(1024 * 80), 2000);
        assert_eq!(cable.send(1024 * 80, good(vec![0; 1000])).len(), 1);
        assert!(cable.counts().adds_up());
    }

    #[test]
    fn faults_have_the_configured_probability_and_are_counted() {
        let mut cable = cable(Faults {
            loss: 0.05,
            duplication: 0.02,
            reordering: 0.1,
            corruption: 0.03,
        });
        let arrived: Vec<Delivery> = (0..10_000_u32)
            .flat_map(|number| cable.send(0, good(number.to_le_bytes().repeat(15))))
            .collect();
        let counts = cable.counts();
        assert!(counts.adds_up());
        assert_eq!(counts.delivered, arrived.len() as u64);
        for (range, happened) in [
            (400..600, counts.lost),
            (150..250, counts.duplicated),
            (850..1100, counts.held),
            (230..370, counts.corrupted),
        ] {
            assert!(range.contains(&happened), "{happened} is not in {range:?}");
        }
        let bad = arrived.iter().filter(|one| one.is_bad).count() as u64;
        assert!(bad >= counts.corrupted);
        assert!(
            !arrived.is_sorted_by_key(|one| one.last_ps),
            "some were overtaken"
        );
    }
}
