//! How everything around the application block behaves.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::axil::MasterPauses;
use spinneret_sim::dma::{DmaConfig, Latency, Pause, RamPauses};

/// How everything around the application block behaves.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// The host at the BAR.
    pub bar: MasterPauses,
    /// Gaps between beats from the wire, for each interface.
    pub rx: [Pause; 2],
    /// Backpressure of the host.
    pub to_host: [Pause; 2],
    /// Gaps between beats of the host.
    pub tx: [Pause; 2],
    /// Backpressure of the wire.
    pub wire: [Pause; 2],
    /// Completions, both ways.
    pub completions: Pause,
    /// Backpressure of Corundum's statistics.
    pub statistics: Pause,
    /// Corundum's DMA.
    pub dma: DmaConfig,
    /// Its pauses at the RAM.
    pub ram: RamPauses,
}

/// Tags of the host DMA in each direction.
const DMA_TAGS: u64 = 64;

/// No pauses, and a DMA that is as far away as on real hardware.
impl Default for Behaviour {
    fn default() -> Self {
        Self {
            bar: MasterPauses::default(),
            rx: [Pause::Never, Pause::Never],
            to_host: [Pause::Never, Pause::Never],
            tx: [Pause::Never, Pause::Never],
            wire: [Pause::Never, Pause::Never],
            completions: Pause::Never,
            statistics: Pause::Never,
            dma: DmaConfig {
                latency: Latency::exactly(112),
                tags: DMA_TAGS,
                ..DmaConfig::default()
            },
            ram: RamPauses::default(),
        }
    }
}

impl Behaviour {
    /// Pauses everywhere, of any kind.
    pub fn random(rng: &mut ChaCha8Rng) -> Self {
        let mut pause = || match rng.random_range(0..4) {
            0 | 1 => Pause::Never,
            2 => Pause::Random {
                percent: rng.random_range(1..60),
            },
            _ => Pause::Random { percent: 10 },
        };
        let most = Latency { least: 0, most: 200 };
        Self {
            bar: MasterPauses::all(&pause()),
            rx: [pause(), pause()],
            to_host: [pause(), pause()],
            tx: [pause(), pause()],
            wire: [pause(), pause()],
            completions: pause(),
            statistics: pause(),
            ram: RamPauses {
                commands: pause(),
                responses: pause(),
            },
            dma: DmaConfig {
                descriptors: pause(),
                latency: most,
                spread: 50,
                tags: DMA_TAGS,
                ..DmaConfig::default()
            },
        }
    }
}
