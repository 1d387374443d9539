//! The clocks of the application block: the core's and the cluster's, which know nothing of each other.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::simulation::{ClockDomain, PERIOD_PS};
use std::fmt;

/// The cluster's clock beside the core's of 250 MHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// Period of the cluster's clock in picoseconds.
    pub cluster_ps: u64,
    /// How much later than the core's clock it begins.
    pub phase_ps: u64,
    /// How much longer or shorter its periods may be, at random.
    pub jitter_ps: u64,
}

/// Shortest random period of the cluster's clock: twice the core's frequency.
const FASTEST_PS: u64 = PERIOD_PS / 2;
/// Longest random period: a tenth of the core's frequency.
const SLOWEST_PS: u64 = 10 * PERIOD_PS;

impl Clocks {
    /// 40 MHz, as PsPIN on a board.
    pub const BOARD: Self = Self::period(25_000);
    /// As fast as the core, and a quarter of a period later.
    pub const EQUAL: Self = Self {
        phase_ps: PERIOD_PS / 4,
        ..Self::period(PERIOD_PS)
    };

    /// A clock of that period.
    pub const fn period(cluster_ps: u64) -> Self {
        Self {
            cluster_ps,
            phase_ps: 700,
            jitter_ps: 0,
        }
    }

    /// Any ratio from 1:10 to 2:1, any phase, and half of the time with jitter.
    pub fn random(rng: &mut ChaCha8Rng) -> Self {
        // Ratios, not periods, are spread evenly: fast clocks are as likely as slow ones.
        let ratio = rng.random_range(0.0..1.0_f64);
        let factor = (SLOWEST_PS as f64 / FASTEST_PS as f64).powf(ratio);
        let cluster_ps = (FASTEST_PS as f64 * factor) as u64;
        let jitter = rng.random_range(0..=cluster_ps / 20);
        Self {
            cluster_ps,
            phase_ps: rng.random_range(0..cluster_ps),
            jitter_ps: if rng.random_bool(0.5) { jitter } else { 0 },
        }
    }

    /// Core clocks in so many clocks of the cluster, rounded up.
    pub fn core_clocks(self, cluster_clocks: u64) -> u64 {
        (cluster_clocks * (self.cluster_ps + self.jitter_ps)).div_ceil(PERIOD_PS)
    }

    /// As the simulation wants them.
    pub fn domains(self) -> [ClockDomain; 2] {
        let cluster = ClockDomain::new("cluster_clk", self.cluster_ps)
            .with_phase(self.phase_ps)
            .with_jitter(self.jitter_ps);
        [ClockDomain::new("clk", PERIOD_PS).with_reset("rst"), cluster]
    }
}

/// `40.0 MHz, 700 ps later`.
impl fmt::Display for Clocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mhz = 1e6 / self.cluster_ps as f64;
        write!(f, "{mhz:.1} MHz, {} ps later", self.phase_ps)
    }
}
