//! Counts for the summary.

use super::summary::{
    ContextReport, Distribution, End, FORMAT, HandlerReport, Histogram, HpuReport, Latencies, StageReport,
    Summary, Time,
};
use super::symbols::Symbols;
use super::tables::Counts;
use crate::nic::NicConfig;
use serde::Serialize;
use spinneret_cluster::task::Stage;
use spinneret_cluster::{DataPath, Ending, Run, WATCHDOG};
use spinneret_regmap::message_id;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Prefix of the counters of dropped frames.
const DROPPED: &str = "ingress.dropped_";
/// Counter of frames that were dropped because their context was at its bound of slots, by context.
const DROPPED_BOUND: &str = "ingress.dropped_bound";
/// Counters wrap there.
const WRAP: u64 = 1 << 32;

/// Packets, and their bytes without the check sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Number of packets.
    pub packets: u64,
    /// Bytes of them.
    pub bytes: u64,
}

impl Traffic {
    /// Counts a packet.
    pub fn add(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

/// Counts of a handler.
#[derive(Clone, Debug, Default)]
struct HandlerTally {
    traffic: Traffic,
    failures: u64,
    cycles: Histogram,
}

/// All counts. Latencies are in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) wire_in: Traffic,
    pub(super) to_host: Traffic,
    /// Frames of `to_host` that handlers passed.
    pub(super) passed: Traffic,
    pub(super) from_host: Traffic,
    pub(super) sent: Traffic,
    pub(super) sent_host: Traffic,
    /// Packets that reached the cluster.
    pub(super) came: Traffic,
    pub(super) freed: u64,
    pub(super) ingress: Histogram,
    pub(super) queue: Histogram,
    pub(super) total: Histogram,
    pub(super) bypass: Histogram,
    pub(super) counters: BTreeMap<String, u64>,
    handlers: BTreeMap<(u32, Stage), HandlerTally>,
    contexts: BTreeMap<u32, ContextReport>,
    /// Frames that matched for a handler, and those of them that reached the cluster.
    aimed: BTreeMap<u32, [u64; 2]>,
    first_ps: Option<u64>,
    last_ps: u64,
}

impl Tally {
    /// Counts an input.
    pub(super) fn begins(&mut self, at_ps: u64) {
        self.first_ps.get_or_insert(at_ps);
    }

    /// Counts an output.
    pub(super) fn ends(&mut self, at_ps: u64) {
        self.last_ps = self.last_ps.max(at_ps);
    }

    /// A frame from the wire, with its handler if it matches.
    pub(super) fn matched(&mut self, handler: Option<u32>) {
        self.aim(handler, 0);
    }

    /// A packet reached the cluster.
    pub(super) fn taken(&mut self, handler: Option<u32>) {
        self.aim(handler, 1);
    }

    fn aim(&mut self, handler: Option<u32>, place: usize) {
        if let Some(handler) = handler {
            self.aimed.entry(handler).or_default()[place] += 1;
        }
    }

    /// A handler has run.
    pub(super) fn ran(&mut self, run: &Run, cycles: u64) {
        let handler = self.handlers.entry((run.handler, run.stage)).or_default();
        handler.traffic.add(run.size as usize);
        handler.failures += u64::from(run.ending != Ending::Done);
        handler.cycles.add(cycles);
        let context = self.context(run.message);
        context.handlers += 1;
        context.failures += u64::from(run.ending != Ending::Done);
        context.budget_ends += u64::from(run.ending == Ending::Failed(WATCHDOG));
        context.clocks += cycles;
    }

    /// A handler has started a command that moves bytes.
    pub(super) fn moved(&mut self, message: u32, path: DataPath, bytes: u32) {
        let context = self.context(message);
        *match path {
            DataPath::HostWritten => &mut context.host_written,
            DataPath::HostRead => &mut context.host_read,
            DataPath::Sent => &mut context.sent,
        } += u64::from(bytes);
    }

    fn context(&mut self, message: u32) -> &mut ContextReport {
        let context = message_id::context(message);
        self.contexts.entry(context).or_insert(ContextReport {
            context,
            ..ContextReport::default()
        })
    }

    /// The counts of contexts, with the packets that the hardware dropped.
    fn contexts(&self) -> Vec<ContextReport> {
        let dropped = |context: u32| self.counters.get(&format!("{DROPPED_BOUND}[{context}]"));
        let contexts = self.contexts.values();
        let with_dropped = contexts.map(|report| ContextReport {
            dropped_bound: dropped(report.context).copied().unwrap_or(0),
            ..*report
        });
        with_dropped.collect()
    }

    /// Figures for progress.
    pub(super) fn counts(&self) -> Counts {
        Counts {
            received: self.wire_in.packets,
            handled: self.came.packets,
            to_host: self.to_host.packets,
            sent: self.sent.packets + self.sent_host.packets,
            failed: self.handlers.values().map(|handler| handler.failures).sum(),
            drops: self.drops().into_iter().collect(),
        }
    }

    /// The summary without faults; `dropped` has the frames that are known to be dropped, by handler.
    pub(super) fn summary(
        &self,
        end: &End,
        config: &NicConfig,
        symbols: &Symbols,
        dropped: &BTreeMap<u32, u64>,
    ) -> Summary {
        let latency = Distribution::of;
        Summary {
            format: FORMAT,
            time: self.time(end),
            stages: self.stages(),
            drops: self.drops(),
            dropped_for: self.dropped_for(symbols, dropped),
            handlers: self.handlers(symbols),
            contexts: self.contexts(),
            handler_counters: end.handler_counters.clone(),
            latencies: Latencies {
                ingress_ns: latency(&self.ingress),
                queue_ns: latency(&self.queue),
                total_ns: latency(&self.total),
                bypass_ns: latency(&self.bypass),
            },
            hpus: hpus(end, config),
            cut_short: end.cut_short,
            refused_commands: end.refused_commands,
            left: end.left,
            resets: end.resets,
            dropped_by_resets: if end.is_idle && end.resets > 0 {
                self.lost()
            } else {
                0
            },
            counters: self.counters.clone(),
            unbalanced: if end.is_idle && !end.has_restarted {
                self.unbalanced(end.resets > 0)
            } else {
                Vec::new()
            },
            ..Summary::default()
        }
    }

    /// The time of the traffic, in seconds.
    fn traffic_s(&self) -> Option<f64> {
        let passed = self.last_ps.saturating_sub(self.first_ps?);
        (passed > 0).then_some(passed as f64 / 1e12)
    }

    fn gigabits(&self, bytes: u64) -> Option<f64> {
        self.traffic_s().map(|seconds| bytes as f64 * 8.0 / 1e9 / seconds)
    }

    fn time(&self, end: &End) -> Time {
        let wall = end.wall.as_secs_f64();
        let per_second = |count: u64| if wall > 0.0 { count as f64 / wall } else { 0.0 };
        let simulated = end.simulated_ps as f64 / 1e12;
        Time {
            simulated_ns: end.simulated_ps as f64 / 1e3,
            traffic_ns: self.traffic_s().unwrap_or(0.0) * 1e9,
            wall_s: wall,
            slowdown: if simulated > 0.0 { wall / simulated } else { 0.0 },
            core_clocks: end.simulated_clocks,
            cluster_clocks_alone: end.cluster_clocks_alone,
            core_clocks_per_s: per_second(end.simulated_clocks),
            instructions: end.instructions,
            mips: per_second(end.instructions) / 1e6,
        }
    }

    fn stages(&self) -> Vec<StageReport> {
        let stage = |stage, packets, bytes: Option<u64>| StageReport {
            stage,
            packets,
            bytes,
            gigabits_per_second: bytes.and_then(|bytes| self.gigabits(bytes)),
        };
        let known = |name, traffic: &Traffic| stage(name, traffic.packets, Some(traffic.bytes));
        // During the run, the counter is older than the events: packets in the cluster did match.
        let matched = self.counters.get("ingress.matched");
        let matched = matched.map(|packets| (*packets).max(self.came.packets));
        let mut stages = vec![known("wire in", &self.wire_in)];
        stages.extend(matched.map(|packets| stage("matched", packets, None)));
        stages.extend([
            known("to handlers", &self.came),
            stage("done with", self.freed, None),
            known("sent by handlers", &self.sent),
            known("to host", &self.to_host),
        ]);
        if self.passed.packets > 0 {
            stages.push(known("passed by handlers", &self.passed));
        }
        stages.extend([
            known("from host", &self.from_host),
            known("sent by host", &self.sent_host),
        ]);
        stages
    }

    fn drops(&self) -> BTreeMap<String, u64> {
        let drops = self.counters.iter();
        drops
            .filter_map(|(name, count)| Some((name.strip_prefix(DROPPED)?.to_owned(), *count)))
            .collect()
    }

    /// Dropped frames by handler: all of them if the NIC is idle, otherwise those that are known.
    fn dropped_for(&self, symbols: &Symbols, known: &BTreeMap<u32, u64>) -> BTreeMap<String, u64> {
        let aimed = self.aimed.iter();
        let missing: BTreeMap<u32, u64> = aimed
            .map(|(handler, [matched, taken])| (*handler, matched.saturating_sub(*taken)))
            .collect();
        let is_all = missing.values().sum::<u64>() == self.drops().values().sum::<u64>();
        let mut dropped = BTreeMap::new();
        for (handler, frames) in if is_all { &missing } else { known } {
            let name = symbols.name(*handler);
            let name = Stage::ALL
                .iter()
                .find_map(|stage| name.strip_suffix(stage.suffix()))
                .unwrap_or(&name);
            *dropped.entry(name.to_owned()).or_default() += frames;
        }
        dropped.retain(|_, frames| *frames > 0);
        dropped
    }

    fn handlers(&self, symbols: &Symbols) -> Vec<HandlerReport> {
        let mut handlers: Vec<_> = self
            .handlers
            .iter()
            .map(|((address, stage), tally)| {
                let report = HandlerReport {
                    handler: symbols.name(*address),
                    packets: tally.traffic.packets,
                    failures: tally.failures,
                    bytes: tally.traffic.bytes,
                    cycles: Distribution::of(&tally.cycles),
                    packets_per_second: self
                        .traffic_s()
                        .map(|seconds| tally.traffic.packets as f64 / seconds),
                    gigabits_per_second: self.gigabits(tally.traffic.bytes),
                };
                let name = report.handler.trim_end_matches(stage.suffix()).to_owned();
                ((name, *stage), report)
            })
            .collect();
        handlers.sort_by(|(a, _), (b, _)| a.cmp(b));
        handlers.into_iter().map(|(_, report)| report).collect()
    }

    /// Packets from the wire that were lost.
    fn lost(&self) -> u64 {
        let bypassed = self.to_host.packets.saturating_sub(self.passed.packets);
        let known = bypassed + self.freed + self.drops().values().sum::<u64>();
        self.wire_in.packets.saturating_sub(known)
    }

    /// Inconsistencies between the hardware's counters and the recorded events when the NIC is idle. If
    /// resets lost packets, only those where more packets left than entered.
    fn unbalanced(&self, has_resets: bool) -> Vec<String> {
        // Compares inputs and outputs.
        let [in_out, out_in] = [Ordering::Greater, Ordering::Less];
        let sums = [
            (
                in_out,
                "wire in",
                self.wire_in.packets,
                "ingress.matched + ingress.bypassed",
                self.sum(&["ingress.matched", "ingress.bypassed"]),
            ),
            (
                out_in,
                "to host",
                self.to_host.packets,
                "ingress.bypassed + egress.passed",
                self.sum(&["ingress.bypassed", "egress.passed"]),
            ),
            (
                out_in,
                "to handlers",
                self.came.packets,
                "ingress.hers",
                self.sum(&["ingress.hers"]),
            ),
            (
                out_in,
                "done with",
                self.freed,
                "ingress.hers",
                self.sum(&["ingress.hers"]),
            ),
            (
                out_in,
                "sent by handlers",
                self.sent.packets,
                "egress.frames",
                self.counters.get("egress.frames").copied(),
            ),
            (
                out_in,
                "ingress.hers and dropped frames",
                self.sum(&["ingress.hers"]).unwrap_or(0) + self.drops().values().sum::<u64>(),
                "ingress.matched",
                self.sum(&["ingress.matched"]),
            ),
        ];
        sums.into_iter()
            .filter_map(|(way, name, seen, counter, counted)| {
                let counted = counted?;
                let is_right = seen % WRAP == counted % WRAP || has_resets && seen.cmp(&counted) == way;
                (!is_right).then(|| format!("{name} is {seen}, {counter} is {counted}"))
            })
            .collect()
    }

    /// Sum of counters, if all were read.
    fn sum(&self, names: &[&str]) -> Option<u64> {
        names.iter().map(|name| self.counters.get(*name).copied()).sum()
    }
}

fn hpus(end: &End, config: &NicConfig) -> Vec<HpuReport> {
    let hpus = config.cluster.hpus.max(1);
    let passed = end.simulated_ps.max(1) as f64;
    let load = |busy: u64| 100.0 * busy as f64 * config.cluster_ps as f64 / passed;
    let numbered = end.hpu_busy.iter().enumerate();
    numbered
        .map(|(number, busy)| HpuReport {
            cluster: number / hpus,
            core: number % hpus,
            load_percent: load(*busy).min(100.0),
        })
        .collect()
}
