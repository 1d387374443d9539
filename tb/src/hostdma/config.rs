//! Parameters of a host DMA, the windows of its guard, its stimulus, and its counters.

use crate::bench::Parameters;
use spinneret_sim::prelude::*;

/// Parameters of a host DMA that its bench depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Bytes of a beat, and of a line of a ring.
    pub beat_bytes: u64,
    /// Width of an AXI id in bits.
    pub id_bits: u32,
    /// The RAM of either half.
    pub ram: RamShape,
    /// Descriptors for writes that can be in flight.
    pub writes: u64,
    /// Descriptors for reads that can be in flight.
    pub reads: u64,
    /// Number of windows of the guard, if there is one.
    pub windows: Option<usize>,
    /// Widths of AWUSER and ARUSER in bits.
    pub user_bits: [u32; 2],
    /// Whether the port has AWATOP.
    pub atomics: bool,
    /// Whether transfers in flight outlive a reset.
    pub drain: bool,
}

impl Setup {
    /// Reads the parameters of a model in the catalog.
    ///
    /// # Panics
    /// If there is no such model, or the bench cannot test it.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let get = |name| parameters.get(name);
        Self {
            beat_bytes: get("data_width") / 8,
            id_bits: get("id_width") as u32,
            ram: RamShape {
                segments: get("ram_seg_count"),
                segment_bytes: get("ram_seg_data_width") / 8,
                bytes: get("ring_bytes"),
            },
            writes: get("writes"),
            reads: get("reads"),
            windows: (get("guard") == 1).then(|| get("contexts") as usize),
            user_bits: ["awuser_width", "aruser_width"].map(|name| get(name) as u32),
            atomics: get("atop") == 1,
            drain: get("drain") == 1,
        }
    }

    /// Lines of a ring.
    pub fn lines(&self) -> u64 {
        self.ram.bytes / self.beat_bytes
    }
}

/// Stimulus of a host DMA: pauses, latencies, faults.
#[derive(Clone, Debug)]
pub struct Stimulus {
    /// Pauses of the cluster.
    pub cluster: MasterPauses,
    /// Skew between addresses and data of writes.
    pub skew: Skew,
    /// The DMA that writes to the host.
    pub writes: DmaConfig,
    /// The DMA that reads from the host.
    pub reads: DmaConfig,
    /// The RAM that the host DMA writes.
    pub ram_writes: RamConfig,
    /// The RAM that the host DMA reads.
    pub ram_reads: RamConfig,
}

impl Stimulus {
    /// No pauses, a DMA with this latency, and a RAM with the latency of Corundum's.
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

/// No pauses and minimal latencies.
impl Default for Stimulus {
    fn default() -> Self {
        Self::latency(0)
    }
}

/// Pauses and faults of all bus models.
struct Stress {
    cluster: Pause,
    answers: Pause,
    descriptors: Pause,
    ram: RamConfig,
    latency: Latency,
    spread: u64,
    errors: u32,
    unsolicited: u32,
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
            unsolicited: 0,
            skew: Skew::Together,
        }
    }

    fn stimulus(self) -> Stimulus {
        let dma = DmaConfig {
            descriptors: self.descriptors,
            latency: self.latency,
            spread: self.spread,
            faults: match self.errors {
                0 => DmaFaults::Never,
                percent => DmaFaults::Random { percent },
            },
            unsolicited: self.unsolicited,
            ..DmaConfig::default()
        };
        Stimulus {
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

/// The stimuli of random tests, each with its name.
pub fn stimuli() -> Vec<(&'static str, Stimulus)> {
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
            "latency, errors, unsolicited",
            Stress {
                latency: Latency::exactly(100),
                spread: 60,
                errors: 5,
                unsolicited: 5,
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
                unsolicited: 2,
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
                unsolicited: 10,
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
                unsolicited: 20,
                skew: Skew::Random { most: 40 },
            },
        ),
    ];
    all.into_iter()
        .map(|(name, stress)| (name, stress.stimulus()))
        .collect()
}

/// The window of an execution context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Whether the window is enabled.
    pub enabled: bool,
    /// Address of its first byte.
    pub base: u64,
    /// Its bytes; a window ends at the end of memory at the latest.
    pub size: u32,
}

impl Window {
    /// A window that counts.
    pub fn new(base: u64, size: u32) -> Self {
        Self {
            enabled: true,
            base,
            size,
        }
    }

    /// Returns whether all of these bytes are inside.
    pub fn holds(&self, address: u64, len: u64) -> bool {
        let (base, size) = (u128::from(self.base), u128::from(self.size));
        let (address, len) = (u128::from(address), u128::from(len));
        self.enabled && base <= address && address + len <= base + size
    }

    /// A window near these addresses, with edges anywhere; some do not count, some are empty.
    pub fn random(rng: &mut ChaCha8Rng, first: u64, bytes: u64) -> Self {
        let start = rng.random_range(0..bytes);
        let size = match rng.random_range(0..8) {
            0 => 0,
            1 => rng.random_range(0..256),
            2 => rng.random_range(0..8192),
            _ => rng.random_range(0..bytes),
        };
        Self {
            enabled: rng.random_ratio(7, 8),
            base: first.wrapping_add(start),
            size: size as u32,
        }
    }
}

/// Access rules of the guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The window of each context.
    pub windows: Vec<Window>,
    /// Whether only the window of the context that asks counts.
    pub by_context: bool,
}

impl Guard {
    /// A guard that lets nothing pass.
    pub fn closed(contexts: usize) -> Self {
        Self {
            windows: vec![Window::default(); contexts],
            by_context: false,
        }
    }

    /// Returns whether a burst with this user signal may transfer all of these bytes.
    ///
    /// # Panics
    /// If the context counts and the burst has any user signal.
    pub fn allows(&self, user: Option<u64>, address: u64, len: u64) -> bool {
        let mut windows = self.windows.iter();
        if !self.by_context {
            return windows.any(|window| window.holds(address, len));
        }
        let user = user.unwrap_or_else(|| panic!("a burst to {address:#x} has to say which context asks"));
        let contexts = self.windows.len().max(2).next_power_of_two() as u64;
        let own = windows.nth((user % contexts) as usize);
        own.is_some_and(|window| window.holds(address, len))
    }
}

/// Number of codes of errors that are counted separately.
const CODES: usize = 11;
/// Code that undefined codes count as.
const WITHOUT_MEANING: u8 = 3;

/// The counters of one half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HalfCounters {
    /// Bursts that were answered.
    pub bursts: u64,
    /// Bursts that cannot be done.
    pub refused: u64,
    /// Bursts with bytes outside of all windows.
    pub outside: u64,
    /// Statuses for tags that were not in flight.
    pub stray_status: u64,
    /// Statuses by error, from code 1 on.
    pub dma_errors: [u64; CODES],
}

impl HalfCounters {
    /// Counts a status with that code.
    pub(super) fn count_error(&mut self, code: u8) {
        let counted = match code {
            0 => return,
            1 | 2 | 4..=11 => code,
            _ => WITHOUT_MEANING,
        };
        self.dma_errors[usize::from(counted) - 1] += 1;
    }
}

crate::counts! {
    /// The counters of both halves.
    pub struct Counters {
        /// Of writes.
        pub writes: HalfCounters,
        /// Of reads.
        pub reads: HalfCounters,
    }
}

impl HalfCounters {
    /// Counts since `before`.
    fn since(&self, before: &Self) -> Self {
        Self {
            bursts: self.bursts - before.bursts,
            refused: self.refused - before.refused,
            outside: self.outside - before.outside,
            stray_status: self.stray_status - before.stray_status,
            dma_errors: std::array::from_fn(|code| self.dma_errors[code] - before.dma_errors[code]),
        }
    }
}

impl Counters {
    /// Counts since `before`.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            writes: self.writes.since(&before.writes),
            reads: self.reads.since(&before.reads),
        }
    }
}

impl HalfCounters {
    /// The counters at the ports whose names begin with these letters.
    fn read<M: Model>(sim: &Simulation<M>, letters: &str) -> Self {
        let value = |name: &str| sim.get(&format!("{letters}_{name}_o"));
        let dut = sim.dut.instance();
        let errors = dut.port(&format!("{letters}_dma_errors_o"), Direction::Output);
        let words = dut.bytes(errors.unwrap_or_else(|error| panic!("{error}")));
        let word = |code: usize| {
            let bytes = words[4 * code..4 * code + 4].iter().rev();
            bytes.fold(0, |word, byte| word << 8 | u64::from(*byte))
        };
        Self {
            bursts: value("bursts"),
            refused: value("refused"),
            outside: value("outside"),
            stray_status: value("stray_status"),
            dma_errors: std::array::from_fn(word),
        }
    }
}

impl Counters {
    /// The counters now.
    pub(super) fn read<M: Model>(sim: &Simulation<M>) -> Self {
        Self {
            writes: HalfCounters::read(sim, "wr"),
            reads: HalfCounters::read(sim, "rd"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Guard, HalfCounters, Window};

    #[test]
    fn all_bytes_have_to_be_inside() {
        let window = Window::new(100, 10);
        for (address, len, inside) in [
            (100, 10, true),
            (99, 2, false),
            (109, 1, true),
            (109, 2, false),
            (110, 1, false),
            (99, 1, false),
        ] {
            assert_eq!(window.holds(address, len), inside, "{len} bytes at {address}");
        }
    }

    #[test]
    fn windows_do_not_wrap_or_add_up() {
        assert!(Window::new(u64::MAX - 9, 100).holds(u64::MAX, 1));
        assert!(!Window::new(u64::MAX - 9, 100).holds(0, 1));
        let mut both = Guard::closed(2);
        both.windows = vec![Window::new(0, 10), Window::new(10, 10)];
        let allow = |address, len| both.allows(None, address, len);
        assert!(allow(0, 10) && allow(10, 10) && !allow(9, 2));
    }

    #[test]
    fn the_lowest_bits_of_the_user_signal_are_the_context() {
        let mut guard = Guard::closed(3);
        guard.windows[1] = Window::new(100, 10);
        assert!(guard.allows(Some(2), 100, 10));
        guard.by_context = true;
        for (user, allowed) in [
            (0, false),
            (1, true),
            (2, false),
            (3, false),
            (5, true),
            (13, true),
        ] {
            assert_eq!(guard.allows(Some(user), 100, 10), allowed, "{user}");
        }
        assert!(!guard.allows(Some(1), 100, 11));
    }

    #[test]
    fn disabled_and_empty_windows_hold_nothing() {
        let disabled = Window {
            enabled: false,
            ..Window::new(0, 10)
        };
        assert!(!disabled.holds(0, 1));
        assert!(!Window::new(5, 0).holds(5, 1));
    }

    #[test]
    fn codes_without_meaning_count_as_one() {
        let mut counters = HalfCounters::default();
        (0..16).for_each(|code| counters.count_error(code));
        assert_eq!(counters.dma_errors, [1, 1, 5, 1, 1, 1, 1, 1, 1, 1, 1]);
    }
}
