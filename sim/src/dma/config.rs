//! How the models of the DMA behave.

use super::Latency;
use crate::pause::Pause;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;

/// Which way the DMA moves bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// From the RAM to host memory: Corundum's write descriptors.
    ToHost,
    /// From host memory to the RAM: Corundum's read descriptors.
    FromHost,
}

impl Transfer {
    /// The prefixes of the ports for descriptors and for their statuses, as Corundum names them.
    pub fn prefixes(self) -> [&'static str; 2] {
        match self {
            Self::ToHost => ["m_axis_write_desc", "s_axis_write_desc_status"],
            Self::FromHost => ["m_axis_read_desc", "s_axis_read_desc_status"],
        }
    }
}

/// How a [`CorundumDma`](super::CorundumDma) behaves.
#[derive(Clone, Debug)]
pub struct DmaConfig {
    /// When descriptors are not taken.
    pub descriptors: Pause,
    /// Clocks until bytes begin to move: a descriptor of one line that is taken in cycle t has its status in
    /// cycle t + 1 + latency at the earliest, and every further line takes one clock more.
    pub latency: Latency,
    /// Most clocks that a status comes later than it could, each at random; so statuses overtake each other.
    pub spread: u64,
    /// Which descriptors fail.
    pub faults: DmaFaults,
    /// Probability in percent that a cycle without a status has one whose tag is not in flight.
    pub strays: u32,
    /// Number of tags that the design uses, from 0 on.
    pub tags: u64,
    /// The RAM that descriptors have to select.
    pub ram_sel: u64,
    /// Whether the DMA has a reset of its own, and goes on when the design is reset.
    pub survives_reset: bool,
}

impl Default for DmaConfig {
    fn default() -> Self {
        Self {
            descriptors: Pause::Never,
            latency: Latency::exactly(0),
            spread: 0,
            faults: DmaFaults::Never,
            strays: 0,
            tags: 1 << 16,
            ram_sel: 0,
            survives_reset: false,
        }
    }
}

/// Which descriptors fail. Of a descriptor to the host that fails, nothing, a part or everything is written,
/// at random; of one from the host, the RAM holds garbage.
#[derive(Clone, Debug, Default)]
pub enum DmaFaults {
    /// None.
    #[default]
    Never,
    /// Each with that probability in percent, with any code from 1 to 15.
    Random {
        /// Probability of an error in percent.
        percent: u32,
    },
    /// Those that touch a host address in one of these ranges, with the code of the first such range.
    At(Vec<(RangeInclusive<u64>, u8)>),
}

/// How the ports of a RAM behave, each segment by itself.
#[derive(Clone, Debug)]
pub struct RamConfig {
    /// When commands are not taken.
    pub commands: Pause,
    /// Clocks from a command to `ram_wr_done`, or to the data that was read; at least 1.
    pub latency: Latency,
}

impl RamConfig {
    /// Always ready, and everything after that many clocks: Corundum's RAM writes in 1 and reads in 2.
    pub fn after(cycles: u64) -> Self {
        Self {
            commands: Pause::Never,
            latency: Latency::exactly(cycles),
        }
    }
}

/// A latency between the two bounds.
pub(super) fn draw(latency: Latency, rng: &mut ChaCha8Rng) -> u64 {
    rng.random_range(latency.least..=latency.most.max(latency.least))
}
