//! How the bus models around a host DMA behave.

use super::setup::Setup;
use spinneret_sim::axi::{MasterPauses, Skew};
use spinneret_sim::dma::{DmaConfig, DmaFaults, Latency, Pause, RamConfig};

/// How the bus models around a host DMA behave.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// When the cluster pauses.
    pub cluster: MasterPauses,
    /// How far addresses and data of writes are apart.
    pub skew: Skew,
    /// How the DMA writes to the host.
    pub writes: DmaConfig,
    /// How the DMA reads from the host.
    pub reads: DmaConfig,
    /// The RAM that the host DMA writes.
    pub ram_writes: RamConfig,
    /// The RAM that the host DMA reads.
    pub ram_reads: RamConfig,
}

impl Behaviour {
    /// Nobody pauses; the DMA has that latency, the RAM that of Corundum.
    pub fn latency(cycles: u64) -> Self {
        let dma = DmaConfig {
            latency: Latency::exactly(cycles),
            ..DmaConfig::default()
        };
        Self {
            cluster: MasterPauses::default(),
            skew: Skew::Together,
            writes: dma.clone(),
            reads: dma,
            ram_writes: RamConfig::after(1),
            ram_reads: RamConfig::after(2),
        }
    }

    /// The same for the tags and resets that a host DMA has.
    pub(super) fn fit(mut self, setup: &Setup) -> Self {
        for (dma, tags) in [(&mut self.writes, setup.writes), (&mut self.reads, setup.reads)] {
            dma.tags = tags;
            dma.survives_reset = setup.drain;
        }
        self
    }
}

/// Nobody pauses, and nothing takes longer than it has to.
impl Default for Behaviour {
    fn default() -> Self {
        Self::latency(0)
    }
}

/// Which parts pause, and how.
struct Stress {
    cluster: Pause,
    answers: Pause,
    descriptors: Pause,
    ram: RamConfig,
    latency: Latency,
    spread: u64,
    errors: u32,
    strays: u32,
    skew: Skew,
}

impl Stress {
    fn calm() -> Self {
        Self {
            cluster: Pause::Never,
            answers: Pause::Never,
            descriptors: Pause::Never,
            ram: RamConfig {
                commands: Pause::Never,
                latency: Latency { least: 1, most: 2 },
            },
            latency: Latency::exactly(0),
            spread: 0,
            errors: 0,
            strays: 0,
            skew: Skew::Together,
        }
    }

    fn behaviour(self) -> Behaviour {
        let dma = DmaConfig {
            descriptors: self.descriptors,
            latency: self.latency,
            spread: self.spread,
            faults: match self.errors {
                0 => DmaFaults::Never,
                percent => DmaFaults::Random { percent },
            },
            strays: self.strays,
            ..DmaConfig::default()
        };
        Behaviour {
            cluster: MasterPauses {
                write_address: self.cluster.clone(),
                write_data: self.cluster.clone(),
                response: self.answers.clone(),
                read_address: self.cluster,
                read_data: self.answers,
            },
            skew: self.skew,
            writes: dma.clone(),
            reads: dma,
            ram_writes: self.ram.clone(),
            ram_reads: self.ram,
        }
    }
}

/// The behaviours of random tests, each with its name.
pub fn behaviours() -> Vec<(&'static str, Behaviour)> {
    let random = |percent| Pause::Random { percent };
    let bursty = |busy, idle| Pause::Bursty { busy, idle };
    let ram = |commands, most| RamConfig {
        commands,
        latency: Latency { least: 1, most },
    };
    let spread = |least, most| Latency { least, most };
    let calm = Stress::calm;
    let all = [
        ("as fast as it goes", calm()),
        (
            "latency, errors, strays",
            Stress {
                latency: Latency::exactly(100),
                spread: 60,
                errors: 5,
                strays: 5,
                ..calm()
            },
        ),
        (
            "light pauses everywhere",
            Stress {
                cluster: random(20),
                answers: random(20),
                descriptors: random(20),
                ram: ram(random(20), 4),
                latency: spread(0, 20),
                spread: 10,
                errors: 5,
                strays: 2,
                skew: Skew::Random { most: 20 },
            },
        ),
        (
            "slow cluster",
            Stress {
                cluster: random(60),
                answers: bursty(8, 60),
                spread: 5,
                errors: 10,
                skew: Skew::Random { most: 8 },
                ..calm()
            },
        ),
        (
            "slow DMA",
            Stress {
                descriptors: bursty(10, 80),
                latency: spread(0, 200),
                spread: 200,
                errors: 10,
                strays: 10,
                ..calm()
            },
        ),
        (
            "slow RAM",
            Stress {
                ram: ram(random(60), 12),
                spread: 20,
                errors: 2,
                ..calm()
            },
        ),
        (
            "everything stalls",
            Stress {
                cluster: bursty(20, 20),
                answers: bursty(20, 40),
                descriptors: random(50),
                ram: ram(bursty(10, 20), 20),
                latency: spread(0, 60),
                spread: 60,
                errors: 20,
                strays: 20,
                skew: Skew::Random { most: 40 },
            },
        ),
    ];
    all.into_iter()
        .map(|(name, stress)| (name, stress.behaviour()))
        .collect()
}
