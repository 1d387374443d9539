//! The crossings between clocks, on the generated text, with two clocks of any ratio and phase.

mod axi;
mod fifo;
mod link;
mod resets;

use spinneret_sim::prelude::*;
use spinneret_sim::simulation::ClockDomain;

/// Periods of two clocks in picoseconds, the phase of the second, and the jitter of both.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    first_ps: u64,
    second_ps: u64,
    phase_ps: u64,
    jitter_ps: u64,
}

const fn clocks(first_ps: u64, second_ps: u64, phase_ps: u64) -> Clocks {
    Clocks {
        first_ps,
        second_ps,
        phase_ps,
        jitter_ps: 0,
    }
}

/// 250 MHz and 40 MHz each way; equal clocks with edges at the same time, just before and behind each other, and
/// in the middle; and 3 to 2.
const FIXED: [Clocks; 8] = [
    clocks(4000, 25_000, 1234),
    clocks(25_000, 4000, 777),
    clocks(4000, 4000, 0),
    clocks(4000, 4000, 1),
    clocks(4000, 4000, 3999),
    clocks(4000, 4000, 2000),
    clocks(4000, 6000, 0),
    clocks(6000, 4000, 500),
];

impl Clocks {
    /// Any ratio up to 10, any phase, with jitter.
    fn random(rng: &mut ChaCha8Rng) -> Self {
        let first_ps = rng.random_range(1000..=10_000);
        let second_ps = rng.random_range(1000..=10_000);
        Self {
            first_ps,
            second_ps,
            phase_ps: rng.random_range(0..second_ps),
            jitter_ps: rng.random_range(0..400),
        }
    }

    /// The fixed pairs and some random ones.
    fn all(rng: &mut ChaCha8Rng) -> Vec<Self> {
        let random = std::iter::repeat_with(|| Self::random(rng)).take(8);
        FIXED.into_iter().chain(random).collect()
    }

    /// The clocks of a block with two sides; `first` and `second` are the clocks' names without `_clk`.
    fn sides(self, first: &str, second: &str) -> [ClockDomain; 2] {
        self.without_reset(first, second)
            .map(|(domain, side)| domain.with_reset(format!("{side}_rst")))
    }

    /// The same without resets, with the names.
    fn without_reset<'a>(self, first: &'a str, second: &'a str) -> [(ClockDomain, &'a str); 2] {
        let domain = |side: &str, period_ps| {
            ClockDomain::new(format!("{side}_clk"), period_ps).with_jitter(self.jitter_ps)
        };
        [
            (domain(first, self.first_ps), first),
            (domain(second, self.second_ps).with_phase(self.phase_ps), second),
        ]
    }

    /// The same without resets.
    fn free(self, first: &str, second: &str) -> [ClockDomain; 2] {
        self.without_reset(first, second).map(|(domain, _)| domain)
    }
}
