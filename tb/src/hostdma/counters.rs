//! The counters of the host DMA.

use spinneret_sim::prelude::*;

/// Codes of errors that are counted, each by itself.
const CODES: usize = 11;
/// What codes without a meaning count as.
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

/// The counters of both halves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Of writes.
    pub writes: HalfCounters,
    /// Of reads.
    pub reads: HalfCounters,
}

impl HalfCounters {
    /// What was counted since then.
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
    /// What was counted since then.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            writes: self.writes.since(&before.writes),
            reads: self.reads.since(&before.reads),
        }
    }
}

/// Where the counters are.
#[derive(Clone, Copy, Debug)]
pub(super) struct CounterPorts {
    writes: HalfPorts,
    reads: HalfPorts,
}

#[derive(Clone, Copy, Debug)]
struct HalfPorts {
    bursts: PortHandle,
    refused: PortHandle,
    outside: PortHandle,
    stray_status: PortHandle,
    dma_errors: PortHandle,
}

impl CounterPorts {
    /// Looks up the ports.
    ///
    /// # Panics
    /// If one is missing.
    pub(super) fn find(dut: &Instance) -> Self {
        let half = |letters: &str| {
            let port = |name: &str| {
                let port = dut.port(&format!("{letters}_{name}_o"), Direction::Output);
                port.unwrap_or_else(|error| panic!("{error}"))
            };
            HalfPorts {
                bursts: port("bursts"),
                refused: port("refused"),
                outside: port("outside"),
                stray_status: port("stray_status"),
                dma_errors: port("dma_errors"),
            }
        };
        Self {
            writes: half("wr"),
            reads: half("rd"),
        }
    }

    /// The counters now.
    pub(super) fn read(&self, dut: &Instance) -> Counters {
        Counters {
            writes: self.writes.read(dut),
            reads: self.reads.read(dut),
        }
    }
}

impl HalfPorts {
    fn read(&self, dut: &Instance) -> HalfCounters {
        let value = |port| dut.value(port) as u64;
        let words = dut.bytes(self.dma_errors);
        let word = |code: usize| {
            let bytes = words[4 * code..4 * code + 4].iter().rev();
            bytes.fold(0, |word, byte| word << 8 | u64::from(*byte))
        };
        HalfCounters {
            bursts: value(self.bursts),
            refused: value(self.refused),
            outside: value(self.outside),
            stray_status: value(self.stray_status),
            dma_errors: std::array::from_fn(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HalfCounters;

    #[test]
    fn codes_without_meaning_count_as_one() {
        let mut counters = HalfCounters::default();
        (0..16).for_each(|code| counters.count_error(code));
        assert_eq!(counters.dma_errors, [1, 1, 5, 1, 1, 1, 1, 1, 1, 1, 1]);
    }
}
