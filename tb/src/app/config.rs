//! How everything around the block behaves: clocks, pauses, contexts.

use spinneret_sim::dma::RamPauses;
use spinneret_sim::prelude::*;
use spinneret_sim::simulation::{ClockDomain, PERIOD_PS};
use std::fmt;

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

/// What the stand-in does with each packet of a context, in this order; then it gives the packet back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    /// Reads 64 bytes of host memory into the handler memory.
    pub read: bool,
    /// Copies the packet to host memory.
    pub copy: bool,
    /// Sends the packet to the wire.
    pub send: bool,
    /// Writes the message id to standard output.
    pub print: bool,
}

impl Actions {
    /// Nothing but giving the packet back.
    pub const NONE: Self = Self {
        read: false,
        copy: false,
        send: false,
        print: false,
    };
    /// The packet goes back to the wire.
    pub const SEND: Self = Self {
        send: true,
        ..Self::NONE
    };

    /// Those of a number from 0 to 15.
    pub fn of(number: u32) -> Self {
        Self {
            send: number & 1 != 0,
            copy: number & 2 != 0,
            read: number & 4 != 0,
            print: number & 8 != 0,
        }
    }

    /// The address of the packet handler that stands for them.
    pub fn handler_address(self) -> u32 {
        let bits = [self.send, self.copy, self.read, self.print];
        bits.iter().rev().fold(0, |all, bit| all << 1 | u32::from(*bit))
    }
}

/// An execution context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// What is done with its packets.
    pub actions: Actions,
    /// Address of its host memory: packets go there, and reads come from [`READ_OFFSET`] behind it.
    pub host_address: u64,
    /// Address of its handler memory in the cluster, where reads go.
    pub handler_address: u32,
}

/// Where in host memory the stand-in reads.
pub const READ_OFFSET: u64 = 4096;
/// Bytes that it reads.
pub const READ_BYTES: u64 = 64;

/// First byte of the handler memory in the cluster.
const HANDLER_MEMORY: u32 = spinneret_regmap::pspin::HANDLER_BASE;

impl Context {
    /// The context of that number with memory of its own.
    pub fn new(number: usize, actions: Actions) -> Self {
        let number = number as u32;
        Self {
            actions,
            host_address: 0x12_3400_0000 + (u64::from(number) << 20) + 13 * u64::from(number),
            handler_address: HANDLER_MEMORY + 0x1000 * (number + 1),
        }
    }

    /// The address from which it reads host memory.
    pub fn read_address(&self) -> u64 {
        (self.host_address + READ_OFFSET) & !(READ_BYTES - 1)
    }
}
