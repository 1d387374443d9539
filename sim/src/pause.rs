//! When a bus model does not take part: gaps between transfers, and backpressure.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The cycles in which a source pauses or a sink is not ready.
///
/// A source never takes valid back: its pauses only delay the next transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pause {
    /// Always ready, or valid whenever there is something to send.
    #[default]
    Never,
    /// In no cycle until that many transfers are done, then in all of them.
    AlwaysAfter(u64),
    /// In each cycle with that probability in percent; 100 and more is always.
    Random {
        /// Probability of a pause in percent.
        percent: u32,
    },
    /// Runs of cycles without a pause and with one, each of random length from 1 to these maxima.
    Bursty {
        /// Longest run without a pause, at least 1.
        busy: u32,
        /// Longest run of pauses; 0 for none.
        idle: u32,
    },
    /// As listed, over and over again; `true` is a pause, and an empty list none.
    Cycle(Vec<bool>),
}

/// Decides cycle by cycle; for bus models outside of this crate as well.
#[derive(Clone, Debug)]
pub struct Pauses {
    pause: Pause,
    rng: ChaCha8Rng,
    position: usize,
    /// The current run of [`Pause::Bursty`]: whether it is a pause, and its remaining cycles.
    run: (bool, u32),
}

impl Pauses {
    /// Decides by that pattern; random choices come from the generator.
    pub fn new(pause: Pause, rng: ChaCha8Rng) -> Self {
        // The first burst begins where an idle run ends.
        Self {
            pause,
            rng,
            position: 0,
            run: (true, 0),
        }
    }

    /// Changes the pattern; random numbers go on where they are.
    pub fn set(&mut self, pause: Pause) {
        *self = Self {
            pause,
            rng: self.rng.clone(),
            position: 0,
            run: (true, 0),
        };
    }

    /// Whether to pause in this cycle, after that many transfers; called once per cycle.
    #[inline]
    pub fn next(&mut self, transfers: u64) -> bool {
        match self.pause {
            Pause::Never => false,
            _ => self.next_of_pattern(transfers),
        }
    }

    fn next_of_pattern(&mut self, transfers: u64) -> bool {
        match &self.pause {
            Pause::Never => false,
            Pause::AlwaysAfter(count) => transfers >= *count,
            Pause::Random { percent } => self.rng.random_range(0..100) < *percent,
            Pause::Bursty { busy, idle } => {
                let (busy, idle) = (*busy, *idle);
                self.next_of_burst(busy, idle)
            }
            Pause::Cycle(pattern) if pattern.is_empty() => false,
            Pause::Cycle(pattern) => {
                let now = pattern[self.position];
                self.position = (self.position + 1) % pattern.len();
                now
            }
        }
    }

    fn next_of_burst(&mut self, busy: u32, idle: u32) -> bool {
        if idle == 0 {
            return false;
        }
        let (mut pausing, mut left) = self.run;
        if left == 0 {
            pausing = !pausing;
            left = self
                .rng
                .random_range(1..=if pausing { idle } else { busy.max(1) });
        }
        self.run = (pausing, left - 1);
        pausing
    }
}

#[cfg(test)]
mod tests {
    use super::{Pause, Pauses};
    use crate::seed::Seed;

    fn pattern(pause: Pause, cycles: u64) -> Vec<bool> {
        let mut pauses = Pauses::new(pause, Seed(1).rng("test"));
        (0..cycles).map(|cycle| pauses.next(cycle)).collect()
    }

    fn count(pause: Pause) -> usize {
        pattern(pause, 1000).into_iter().filter(|paused| *paused).count()
    }

    #[test]
    fn pauses_have_the_configured_frequency() {
        assert_eq!(count(Pause::Never), 0);
        assert_eq!(count(Pause::AlwaysAfter(10)), 990);
        assert_eq!(count(Pause::Random { percent: 0 }), 0);
        assert_eq!(count(Pause::Random { percent: 100 }), 1000);
        assert!((200..300).contains(&count(Pause::Random { percent: 25 })));
        assert_eq!(count(Pause::Bursty { busy: 10, idle: 0 }), 0);
        assert!((400..600).contains(&count(Pause::Bursty { busy: 10, idle: 10 })));
        assert_eq!(count(Pause::Cycle(Vec::new())), 0);
    }

    #[test]
    fn bursts_have_the_configured_length() {
        let pattern = pattern(Pause::Bursty { busy: 3, idle: 5 }, 1000);
        let longest = |paused| pattern.split(|p| *p != paused).map(<[bool]>::len).max();
        assert_eq!((longest(false), longest(true)), (Some(3), Some(5)));
        assert!(!pattern[0], "a burst comes first");
    }

    #[test]
    fn cycles_repeat() {
        let once = vec![true, false, false];
        assert_eq!(
            pattern(Pause::Cycle(once.clone()), 6),
            [once.clone(), once].concat()
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_pauses() {
        let pause = Pause::Random { percent: 50 };
        assert_eq!(pattern(pause.clone(), 100), pattern(pause, 100));
    }
}
