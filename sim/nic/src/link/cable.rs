//! One direction of a cable, with what can happen to frames on it.

use crate::net::MIN_FRAME_BYTES;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bytes that a frame takes on the wire beside its own: preamble, check sequence, gap.
const OVERHEAD_BYTES: u64 = 24;
/// Longest that a frame is held up to let others overtake it, in times of a full frame.
const HELD_FRAMES: u64 = 8;

/// What happens to frames: how many of a thousand, each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// Frames that are lost.
    pub loss: f64,
    /// Frames that come twice.
    pub duplication: f64,
    /// Frames that others overtake.
    pub reordering: f64,
}

/// What happened to frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Frames that were sent.
    pub sent: u64,
    /// Frames that were lost.
    pub lost: u64,
    /// Frames that came twice.
    pub duplicated: u64,
    /// Frames that were held up.
    pub held: u64,
}

/// One direction of a cable: 100 Gb/s, a fixed delay, and random faults from a seed.
#[derive(Debug)]
pub struct Cable {
    delay_ps: u64,
    ps_a_byte: u64,
    faults: Faults,
    random: ChaCha8Rng,
    /// When the sender's end is free again.
    free_ps: u64,
    /// Frames on their way, the next to arrive first; those of one time in the order in which they were sent.
    on_way: BinaryHeap<Reverse<(u64, u64, Vec<u8>)>>,
    losses: Losses,
}

impl Cable {
    /// A cable on which a bit takes that long.
    pub fn new(delay_ps: u64, faults: Faults, seed: u64) -> Self {
        Self {
            delay_ps,
            ps_a_byte: 80,
            faults,
            random: ChaCha8Rng::seed_from_u64(seed),
            free_ps: 0,
            on_way: BinaryHeap::new(),
            losses: Losses::default(),
        }
    }

    /// How long a bit takes.
    pub fn delay_ps(&self) -> u64 {
        self.delay_ps
    }

    /// What has happened to frames so far.
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// A frame leaves its NIC. It is as long as Ethernet wants it.
    pub fn put(&mut self, at_ps: u64, mut bytes: Vec<u8>) {
        bytes.resize(bytes.len().max(MIN_FRAME_BYTES), 0);
        let takes = (bytes.len() as u64 + OVERHEAD_BYTES) * self.ps_a_byte;
        self.free_ps = self.free_ps.max(at_ps) + takes;
        self.losses.sent += 1;
        let Faults {
            loss,
            duplication,
            reordering,
        } = self.faults;
        if self.happens(loss) {
            self.losses.lost += 1;
            return;
        }
        let mut arrives = self.free_ps + self.delay_ps;
        if self.happens(duplication) {
            self.losses.duplicated += 1;
            self.arrive(arrives, bytes.clone());
        }
        if self.happens(reordering) {
            self.losses.held += 1;
            arrives += self.random.random_range(1..=HELD_FRAMES) * 1500 * self.ps_a_byte;
        }
        self.arrive(arrives, bytes);
    }

    fn arrive(&mut self, at_ps: u64, bytes: Vec<u8>) {
        let number = self.losses.sent;
        self.on_way.push(Reverse((at_ps, number, bytes)));
    }

    fn happens(&mut self, of_a_thousand: f64) -> bool {
        of_a_thousand > 0.0 && self.random.random_bool((of_a_thousand / 1000.0).min(1.0))
    }

    /// When the next frame arrives.
    pub fn next_ps(&self) -> Option<u64> {
        self.on_way.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next frame that has arrived by then.
    pub fn take(&mut self, now_ps: u64) -> Option<Vec<u8>> {
        let has_arrived = self.next_ps().is_some_and(|at| at <= now_ps);
        has_arrived
            .then(|| self.on_way.pop().map(|Reverse((.., bytes))| bytes))
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(cable: &mut Cable) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| cable.take(u64::MAX)).collect()
    }

    #[test]
    fn frames_take_their_time_and_stay_in_order() {
        let mut cable = Cable::new(500_000, Faults::default(), 1);
        cable.put(1000, vec![1; 1000]);
        cable.put(1000, vec![2; 14]);
        assert_eq!(cable.next_ps(), Some(1000 + 1024 * 80 + 500_000));
        assert_eq!(cable.take(1000 + 1024 * 80 + 499_999), None);
        let arrived = frames(&mut cable);
        assert_eq!(arrived, [vec![1; 1000], [vec![2; 14], vec![0; 46]].concat()]);
    }

    #[test]
    fn faults_happen_as_often_as_they_should_and_are_counted() {
        let faults = Faults {
            loss: 50.0,
            duplication: 20.0,
            reordering: 100.0,
        };
        let mut cable = Cable::new(1000, faults, 7);
        (0..10_000_u32).for_each(|number| cable.put(0, number.to_le_bytes().repeat(15)));
        let arrived = frames(&mut cable);
        let Losses {
            sent,
            lost,
            duplicated,
            held,
        } = cable.losses();
        assert_eq!((sent, arrived.len() as u64), (10_000, sent - lost + duplicated));
        assert!(
            (400..600).contains(&lost) && (150..250).contains(&duplicated),
            "{lost}, {duplicated}"
        );
        assert!((850..1100).contains(&held), "{held}");
        assert!(!arrived.is_sorted(), "some were overtaken");
    }
}
