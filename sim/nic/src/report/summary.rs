//! A run in figures: for people as tables, for programs as JSON.

use super::faults::{BrokenHpu, FaultKind};
use super::histogram::Histogram;
use super::profile::ProfileReport;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the shape of the JSON. It grows when a field is removed or changes its meaning, not when one is added.
pub const FORMAT: u32 = 1;

/// How values are distributed.
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
    /// What a histogram says; nothing if it is empty.
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

/// Time, and what it took to simulate it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Time {
    /// Time that passed in the simulation, in nanoseconds.
    pub simulated_ns: f64,
    /// Of it, from the first frame that came in to the last one that came out or packet that was freed.
    pub traffic_ns: f64,
    /// Time that passed outside, in seconds.
    pub wall_s: f64,
    /// How many times slower than real time this is.
    pub slowdown: f64,
    /// Clocks of the core that were simulated.
    pub core_clocks: u64,
    /// Clocks of the cluster in which the rest of the NIC stood still and was not simulated.
    pub cluster_clocks_alone: u64,
    /// Simulated clocks of the core in a second.
    pub core_clocks_per_s: f64,
    /// Instructions of all HPUs.
    pub instructions: u64,
    /// Millions of them in a second.
    pub mips: f64,
}

/// What passed a point of the NIC.
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

/// What a handler did.
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

/// What handlers have counted with `push_counter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HandlerCounter {
    /// Number of the counter in `__host_data.counters`.
    pub index: u32,
    /// How often something was added, modulo 2^32.
    pub count: u32,
    /// Sum of what was added, modulo 2^32.
    pub sum: u32,
}

/// Where packets spend their time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latencies {
    /// From the wire to the cluster.
    pub ingress_ns: Option<Distribution>,
    /// From the cluster to the start of the packet's first handler.
    pub queue_ns: Option<Distribution>,
    /// From the wire until the packet is done with.
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

/// Everything about a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// [`FORMAT`].
    pub format: u32,
    /// Time.
    pub time: Time,
    /// What passed where.
    pub stages: Vec<StageReport>,
    /// Matched frames that were dropped, by cause; only of counters that the run has read.
    pub drops: BTreeMap<String, u64>,
    /// The same frames by the handlers that they were for. While frames are on their way these are only those behind which
    /// another frame came to the cluster.
    pub dropped_for: BTreeMap<String, u64>,
    /// Handlers, by name.
    pub handlers: Vec<HandlerReport>,
    /// What handlers have counted themselves.
    pub handler_counters: Vec<HandlerCounter>,
    /// Latencies.
    pub latencies: Latencies,
    /// HPUs.
    pub hpus: Vec<HpuReport>,
    /// Faults of handlers, by kind.
    pub faults: Vec<FaultKind>,
    /// HPUs that stand still.
    pub broken: Vec<BrokenHpu>,
    /// Packets of which the capture held only the beginning; they came as they are.
    pub cut_short: u64,
    /// Commands that were not done, by kind.
    pub refusals: Vec<FaultKind>,
    /// All commands and copies that were not done, those that nobody asked for among them.
    pub refused_commands: u64,
    /// Packets that were in the cluster when the run ended.
    pub left: u64,
    /// Resets of the NIC, or of its cluster, that found packets on their way.
    pub resets: u64,
    /// Packets that these resets took, if the run ended with nothing on its way.
    pub dropped_by_resets: u64,
    /// The hardware's counters, as they were read last.
    pub counters: BTreeMap<String, u64>,
    /// Sums that do not add up, in words. Empty after a run that ended with nothing on its way. After resets that took packets
    /// less may have come out than went in, but never more.
    pub unbalanced: Vec<String>,
    /// Where the clocks of HPUs went, if that was asked for.
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
    /// If a figure is no number, which would be a mistake in this program.
    pub fn to_json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// What passed a point.
    pub fn stage(&self, name: &str) -> Option<&StageReport> {
        self.stages.iter().find(|stage| stage.stage == name)
    }
}
