//! The summary of a run: tables for people, JSON for programs.

use super::faults::{BrokenHpu, FaultKind};
use super::symbols::ProfileReport;
use crate::nic::Nic;
use serde::Serialize;
use spinneret_host::{HANDLER_COUNTERS, HOST_DATA_COUNTERS};
use std::collections::BTreeMap;
use std::time::Duration;

/// Version of the JSON. It is incremented when a field is removed or changes its meaning, not when one is added.
pub const FORMAT: u32 = 1;

/// Distribution of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// Values.
    pub count: u64,
    /// The smallest one.
    pub min: u64,
    /// The mean.
    pub mean: f64,
    /// Half of them are not larger, within half a percent.
    pub p50: u64,
    /// 99 of 100 are not larger, within half a percent.
    pub p99: u64,
    /// The largest one.
    pub max: u64,
}

impl Distribution {
    /// The distribution in a histogram, unless it is empty.
    pub fn of(histogram: &Histogram) -> Option<Self> {
        Some(Self {
            count: histogram.count(),
            min: histogram.minimum()?,
            mean: histogram.mean()?,
            p50: histogram.percentile(50.0)?,
            p99: histogram.percentile(99.0)?,
            max: histogram.maximum()?,
        })
    }
}

/// Simulated time, and the speed of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Time {
    /// Simulated time in nanoseconds.
    pub simulated_ns: f64,
    /// From the first received frame to the last sent frame or freed packet.
    pub traffic_ns: f64,
    /// Real time in seconds.
    pub wall_s: f64,
    /// Real time divided by simulated time.
    pub slowdown: f64,
    /// Clocks of the core that were simulated.
    pub core_clocks: u64,
    /// Clocks of the cluster in which the rest of the NIC was not simulated.
    pub cluster_clocks_alone: u64,
    /// Simulated clocks of the core in a second.
    pub core_clocks_per_s: f64,
    /// Instructions of all HPUs.
    pub instructions: u64,
    /// Millions of them in a second.
    pub mips: f64,
}

/// Traffic at a point of the NIC.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageReport {
    /// The point.
    pub stage: &'static str,
    /// Packets.
    pub packets: u64,
    /// Their bytes, if known.
    pub bytes: Option<u64>,
    /// Bits in the time of the traffic, in units of 10^9 a second.
    pub gigabits_per_second: Option<f64>,
}

/// Statistics of a handler.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HandlerReport {
    /// Its name, with `_hh`, `_ph` or `_th`.
    pub handler: String,
    /// How often it ran.
    pub packets: u64,
    /// How often it failed.
    pub failures: u64,
    /// Bytes of its packets.
    pub bytes: u64,
    /// Clocks of the cluster from its start to its end, failures included.
    pub cycles: Option<Distribution>,
    /// Packets in the time of the traffic, a second.
    pub packets_per_second: Option<f64>,
    /// Bits of its packets in the time of the traffic, in units of 10^9 a second.
    pub gigabits_per_second: Option<f64>,
}

/// Use of the NIC by a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContextReport {
    /// Its number.
    pub context: u32,
    /// Handlers that have ended.
    pub handlers: u64,
    /// Those that failed.
    pub failures: u64,
    /// Those that were stopped because they used up their budget.
    pub budget_ends: u64,
    /// Clocks of the cluster that all took.
    pub clocks: u64,
    /// Bytes that they copied to the host.
    pub host_written: u64,
    /// Bytes that they copied from the host.
    pub host_read: u64,
    /// Bytes of packets that they sent.
    pub sent: u64,
    /// Packets that were dropped because the context was at its bound of slots.
    pub dropped_bound: u64,
}

/// A counter of `push_counter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HandlerCounter {
    /// Number of the counter in `__host_data.counters`.
    pub index: u32,
    /// How often something was added, modulo 2^32.
    pub count: u32,
    /// Sum of what was added, modulo 2^32.
    pub sum: u32,
}

/// Latencies of packets in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latencies {
    /// From the wire to the cluster.
    pub ingress_ns: Option<Distribution>,
    /// From the cluster to the start of the packet's first handler.
    pub queue_ns: Option<Distribution>,
    /// From the wire until the packet is freed.
    pub total_ns: Option<Distribution>,
    /// From the wire to the host, of frames that no ruleset matched.
    pub bypass_ns: Option<Distribution>,
}

/// An HPU's load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HpuReport {
    /// Cluster.
    pub cluster: usize,
    /// Core within it.
    pub core: usize,
    /// Part of the simulated time in which a handler ran.
    pub load_percent: f64,
}

/// The summary of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// [`FORMAT`].
    pub format: u32,
    /// Time.
    pub time: Time,
    /// Traffic by point of the NIC.
    pub stages: Vec<StageReport>,
    /// Matched frames that were dropped, by cause; only of counters that the run has read.
    pub drops: BTreeMap<String, u64>,
    /// The same frames by handler. While frames are in flight, only those are counted after which
    /// another frame reached the cluster.
    pub dropped_for: BTreeMap<String, u64>,
    /// Handlers, by name.
    pub handlers: Vec<HandlerReport>,
    /// Contexts whose handlers have run, by number.
    pub contexts: Vec<ContextReport>,
    /// Counters of the handlers.
    pub handler_counters: Vec<HandlerCounter>,
    /// Latencies.
    pub latencies: Latencies,
    /// HPUs.
    pub hpus: Vec<HpuReport>,
    /// Faults of handlers, by kind.
    pub faults: Vec<FaultKind>,
    /// HPUs that have stopped.
    pub broken: Vec<BrokenHpu>,
    /// Packets that are truncated in the capture, and were sent truncated.
    pub cut_short: u64,
    /// Refused commands, by kind.
    pub refusals: Vec<FaultKind>,
    /// All refused commands and copies, including those that no handler has issued.
    pub refused_commands: u64,
    /// Packets that were in the cluster when the run ended.
    pub left: u64,
    /// Resets of the NIC, or of its cluster, while packets were in flight.
    pub resets: u64,
    /// Packets that these resets lost, if the run ended idle.
    pub dropped_by_resets: u64,
    /// The hardware's counters at their last read.
    pub counters: BTreeMap<String, u64>,
    /// Inconsistent sums, as text. Empty after a run that ended idle. After resets that lost packets,
    /// fewer packets may leave than enter, but never more.
    pub unbalanced: Vec<String>,
    /// The profile of HPUs, if enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileReport>,
}

impl Summary {
    /// Load of all HPUs together.
    pub fn load_percent(&self) -> f64 {
        let sum: f64 = self.hpus.iter().map(|hpu| hpu.load_percent).sum();
        sum / self.hpus.len().max(1) as f64
    }

    /// Failures of all handlers.
    pub fn failures(&self) -> u64 {
        self.handlers.iter().map(|handler| handler.failures).sum()
    }

    /// The JSON that `--json` prints, as one object.
    ///
    /// # Errors
    /// If a figure is no finite number, which would be a bug.
    pub fn to_json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Traffic at a point.
    pub fn stage(&self, name: &str) -> Option<&StageReport> {
        self.stages.iter().find(|stage| stage.stage == name)
    }
}

/// Figures that the main loop knows at the end, since the start of the NIC, or
/// [since](Self::since) another time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Real time.
    pub wall: Duration,
    /// Simulated time.
    pub simulated_ps: u64,
    /// Clocks of the core that were simulated.
    pub simulated_clocks: u64,
    /// Clocks of the cluster in which the rest was not simulated.
    pub cluster_clocks_alone: u64,
    /// Instructions of all HPUs.
    pub instructions: u64,
    /// Clocks in which a handler ran, by HPU.
    pub hpu_busy: Vec<u64>,
    /// Packets that are truncated in the capture.
    pub cut_short: u64,
    /// Refused commands, including those of start-up, which are reported nowhere else.
    pub refused_commands: u64,
    /// Packets that are still in the cluster.
    pub left: u64,
    /// Resets that lost packets in flight.
    pub resets: u64,
    /// A reset has cleared the hardware's counters during operation: they cannot be compared with other counts.
    pub has_restarted: bool,
    /// Counters of handlers since they were loaded; [empty](Self::with_handler_counters) unless they were read.
    pub handler_counters: Vec<HandlerCounter>,
    /// The NIC is idle: all sums must be consistent, except for packets that resets lost.
    pub is_idle: bool,
}

impl End {
    /// The figures of a NIC as it is now.
    pub fn of(nic: &Nic, wall: Duration) -> Self {
        let cluster = nic.cluster();
        let left = cluster.packets_inside().iter().sum();
        Self {
            wall,
            simulated_ps: nic.now_ps(),
            simulated_clocks: nic.simulated_clocks(),
            cluster_clocks_alone: nic.cluster_clocks_alone(),
            instructions: cluster.instructions(),
            hpu_busy: cluster.busy(),
            cut_short: 0,
            refused_commands: cluster.refused(),
            left,
            resets: nic.resets(),
            has_restarted: nic.has_restarted(),
            handler_counters: Vec::new(),
            is_idle: nic.is_idle() && left == 0,
        }
    }

    /// Adds the counters of handlers in `__host_data`, if it is [at an address](super::Recorder::host_data).
    #[must_use]
    pub fn with_handler_counters(self, nic: &mut Nic, host_data: Option<u32>) -> Self {
        let counters =
            host_data.and_then(|at| nic.peek(at.checked_add(HOST_DATA_COUNTERS)?, 8 * HANDLER_COUNTERS));
        let counters = counters.unwrap_or_default();
        let counters = counters.as_chunks::<4>().0.as_chunks::<2>().0.iter().zip(0..);
        let counters = counters.map(|([sum, count], index)| HandlerCounter {
            index,
            count: u32::from_le_bytes(*count),
            sum: u32::from_le_bytes(*sum),
        });
        let handler_counters = counters.filter(|counter| counter.count > 0).collect();
        Self {
            handler_counters,
            ..self
        }
    }

    /// The difference to earlier figures, for example those of start-up.
    #[must_use]
    pub fn since(&self, start: &Self) -> Self {
        let before = start.hpu_busy.iter().copied().chain(std::iter::repeat(0));
        let busy = self.hpu_busy.iter().zip(before);
        Self {
            wall: self.wall.saturating_sub(start.wall),
            simulated_ps: self.simulated_ps.saturating_sub(start.simulated_ps),
            simulated_clocks: self.simulated_clocks.saturating_sub(start.simulated_clocks),
            cluster_clocks_alone: self
                .cluster_clocks_alone
                .saturating_sub(start.cluster_clocks_alone),
            instructions: self.instructions.saturating_sub(start.instructions),
            hpu_busy: busy.map(|(now, before)| now.saturating_sub(before)).collect(),
            cut_short: self.cut_short,
            refused_commands: self.refused_commands,
            left: self.left,
            resets: self.resets.saturating_sub(start.resets),
            has_restarted: self.has_restarted && !start.has_restarted,
            handler_counters: self.handler_counters.clone(),
            is_idle: self.is_idle,
        }
    }
}

/// Fill levels of the NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Small slots of the packet buffer that are in use.
    pub slots_small: u64,
    /// Large slots of the packet buffer that are in use.
    pub slots_large: u64,
    /// HPUs on which a handler runs.
    pub busy_hpus: u64,
    /// Packets that wait for an HPU.
    pub queued: u64,
}

impl Occupancy {
    /// Fill levels of a NIC.
    pub fn of(nic: &Nic) -> Self {
        let cluster = nic.cluster();
        let [slots_small, slots_large] = cluster.packets_inside();
        Self {
            slots_small,
            slots_large,
            busy_hpus: cluster.busy_hpus() as u64,
            queued: cluster.queued() as u64,
        }
    }
}

/// Buckets per power of two, which limit the relative error.
const PER_DOUBLING: u64 = 128;

/// A histogram whose percentiles are within half a percent; minimum, maximum and mean are exact, and
/// so are values below 256.
///
/// It grows with the range of values, not with their number: 64 KiB at most.
///
/// ```
/// let mut cycles = spinneret_nic::report::Histogram::default();
/// (1..=1000).for_each(|value| cycles.add(value));
/// assert_eq!(cycles.maximum(), Some(1000));
/// assert!(cycles.percentile(50.0).unwrap().abs_diff(500) <= 5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    minimum: u64,
    maximum: u64,
}

impl Histogram {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        let bucket = bucket(value);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.minimum = if self.count == 0 {
            value
        } else {
            self.minimum.min(value)
        };
        self.maximum = self.maximum.max(value);
        self.count += 1;
        self.sum += u128::from(value);
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest value.
    pub fn minimum(&self) -> Option<u64> {
        (self.count > 0).then_some(self.minimum)
    }

    /// The largest value.
    pub fn maximum(&self) -> Option<u64> {
        (self.count > 0).then_some(self.maximum)
    }

    /// The mean of all values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The smallest value that is not exceeded by `percent` of all values, 0 to 100.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let share = percent.clamp(0.0, 100.0) / 100.0;
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Some(middle(bucket).clamp(self.minimum, self.maximum));
            }
        }
        Some(self.maximum)
    }
}

/// Values below two doublings have buckets of their own; above, the highest bits of a value choose.
fn bucket(value: u64) -> usize {
    let shift = (value / PER_DOUBLING).checked_ilog2().unwrap_or(0);
    (u64::from(shift) * PER_DOUBLING + (value >> shift)) as usize
}

/// The value in the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket / PER_DOUBLING).saturating_sub(1);
    let low = (bucket - shift * PER_DOUBLING) << shift;
    low + (1 << shift >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_histogram_has_no_percentiles() {
        let empty = Histogram::default();
        assert_eq!(
            (empty.percentile(50.0), empty.minimum(), empty.maximum()),
            (None, None, None)
        );
        assert_eq!(empty.mean(), None);
    }

    #[test]
    fn the_largest_values_have_a_bucket() {
        let mut one = Histogram::default();
        one.add(u64::MAX);
        assert_eq!(one.percentile(100.0), Some(u64::MAX));
        assert!(one.buckets.len() * 8 <= 64 << 10, "{} buckets", one.buckets.len());
    }

    proptest! {
        #[test]
        fn each_value_is_near_the_middle_of_its_bucket(value: u64, shift in 0..64) {
            let value = value >> shift;
            let error = middle(bucket(value)).abs_diff(value);
            prop_assert!(error <= value / 200, "{value} is off by {error}");
        }

        #[test]
        fn percentiles_are_within_one_percent(
            mut values in prop::collection::vec((any::<u64>(), 0..64).prop_map(|(value, shift)| value >> shift), 1..300),
            percent in 0.0..=100.0_f64,
        ) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.add(*value));
            values.sort_unstable();
            let rank = (percent / 100.0 * values.len() as f64).ceil() as usize;
            let exact = values[rank.clamp(1, values.len()) - 1];
            let found = histogram.percentile(percent).unwrap();
            prop_assert!(found.abs_diff(exact) <= exact / 100, "{found} for {exact}");
            prop_assert_eq!(histogram.minimum(), values.first().copied());
            prop_assert_eq!(histogram.maximum(), values.last().copied());
        }
    }
}
