//! Rounds of random packets, and cycles of frames.

use super::bench::IngressBench;
use super::config::{Behaviour, CONTEXTS, Contexts, Outcome, Setup};
use super::counters::Drops;
use super::packet::Packet;
use super::slots::{Class, Release};
use super::traffic::{random_contexts, random_packet};
use crate::bench::Finish;
use crate::pkt_match::{one_rule, random_rules};
use spinneret_regmap::matching::Rule;
use spinneret_sim::prelude::*;
use std::fmt;
use std::ops::AddAssign;

/// Packets between two changes of rules and contexts.
const BATCH: u64 = 100;

/// What became of all packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets that came out at the NIC.
    pub bypassed: u64,
    /// Packets of which the cluster has a HER.
    pub delivered: u64,
    /// Dropped packets.
    pub drops: Drops,
    /// Frees that were refused, as they had to be.
    pub refused: u64,
    /// Clock cycles that were simulated.
    pub cycles: u64,
}

impl Totals {
    /// All packets.
    pub fn packets(&self) -> u64 {
        self.bypassed + self.delivered + self.drops.sum()
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.bypassed += other.bypassed;
        self.delivered += other.delivered;
        self.drops += other.drops;
        self.refused += other.refused;
        self.cycles += other.cycles;
    }
}

impl AddAssign<Outcome> for Totals {
    fn add_assign(&mut self, outcome: Outcome) {
        self.bypassed += outcome.bypassed;
        self.delivered += outcome.hers;
        self.drops += outcome.drops;
        self.refused += outcome.refused.no_start + outcome.refused.not_out + outcome.refused.early;
    }
}

/// `6 unmatched, 3 delivered, dropped: 1 bad frame; 2 frees refused`.
impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} unmatched, {} delivered, dropped: {}; {} frees refused",
            self.bypassed, self.delivered, self.drops, self.refused
        )
    }
}

/// Random packets through a path, with new rules and contexts now and then and at times a reset in the middle.
///
/// # Panics
/// At the first packet that is neither delivered intact nor counted as dropped, and for everything else that
/// is wrong.
pub fn run_round<M: Model>(sim: Simulation<M>, behaviour: Behaviour, packets: u64) -> Totals {
    let mut rng = sim.rng("traffic");
    let mut bench = IngressBench::new(sim, behaviour.clone());
    let setup = bench.setup;
    occupy(&mut bench, &behaviour);
    let mut totals = Totals::default();
    let mut left = packets;
    while left > 0 {
        bench.load_rules(Some(&random_rules(&mut rng, &setup.matcher)));
        bench.load_contexts(&random_contexts(&mut rng));
        let batch = left.min(BATCH);
        for _ in 0..batch {
            bench.wait_for_less_than(behaviour.most_under_way);
            bench.send(random_packet(&mut rng, &setup));
        }
        totals += bench.settle();
        left -= batch;
        if rng.random_ratio(1, 20) {
            reset_in_traffic(&mut bench, &mut rng);
            bench.set_calm(behaviour.calm);
            occupy(&mut bench, &behaviour);
        }
    }
    assert_eq!(totals.packets(), packets, "{totals}");
    totals.cycles = bench.sim.cycle_count();
    bench.finish();
    totals
}

/// Lets the cluster have slots from the start; the packets for it are not in the totals.
fn occupy<M: Model>(bench: &mut IngressBench<M>, behaviour: &Behaviour) {
    if behaviour.occupied > 0 {
        load_mark(bench);
        bench.set_release(Release::Never);
        let large = bench.setup.slots[Class::Small].bytes as usize + 1;
        for number in 0..behaviour.occupied {
            bench.send(bench.setup.matched(large, number));
        }
        bench.settle();
        bench.set_release(behaviour.release);
    }
}

/// Some packets, and a reset in the middle of them; they are not in the totals.
fn reset_in_traffic<M: Model>(bench: &mut IngressBench<M>, rng: &mut ChaCha8Rng) {
    // They come without regard to how many are under way.
    bench.set_calm(false);
    for _ in 0..40 {
        bench.send(random_packet(rng, &bench.setup));
    }
    bench.run(rng.random_range(1..150));
    bench.reset();
    bench.run(bench.setup.opening_cycles());
}

/// Byte 0 of a packet that matches; others start with 0.
pub const MARK: u8 = 0xff;

/// Which of the packets match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// All.
    Matched,
    /// Every second one.
    Alternating,
}

impl Load {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Matched, Self::Alternating];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Matched => "matched",
            Self::Alternating => "alternating",
        }
    }

    /// Packets from one matched one to the next.
    fn period(self) -> u64 {
        match self {
            Self::Matched => 1,
            Self::Alternating => 2,
        }
    }
}

/// What was counted for packets of one size, in clock cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Cycles a packet, back to back: from one HER to a later one, divided by the packets between them.
    pub per_packet: f64,
    /// From the cycle in which the first beat is taken to that in which its HER is valid, through an empty path.
    pub latency: u64,
}

/// Packets before counting starts: more than the path can hold.
const WARM_UP: u64 = 150;
/// HERs that are counted.
const COUNTED: u64 = 200;
/// Cycles within which a HER comes, whatever its size.
const PATIENCE: u64 = 50_000;

/// A path that matches packets by their first byte, with everything ready, slots freed at once and write
/// responses after that many cycles.
pub fn marked<M: Model>(sim: Simulation<M>, response_cycles: u64) -> IngressBench<M> {
    let slave = SlaveConfig {
        latency: Latency::exactly(response_cycles),
        ..SlaveConfig::default()
    };
    let behaviour = Behaviour {
        slave,
        ..Behaviour::default()
    };
    let mut bench = IngressBench::new(sim, behaviour);
    load_mark(&mut bench);
    bench
}

/// Rules that match packets by their first byte, and four enabled contexts.
pub fn load_mark<M: Model>(bench: &mut IngressBench<M>) {
    let rule = Rule::equal(0, 0xff00_0000, u32::from(MARK) << 24);
    let table = one_rule(&bench.setup.matcher, rule);
    bench.load_rules(Some(&table));
    let mut rng = bench.sim.rng("contexts");
    bench.load_contexts(&Contexts::random(&mut rng, [true; CONTEXTS]));
}

/// Counts the cycles of packets of one size.
///
/// # Panics
/// If a packet is lost or changed, or none is delivered.
pub fn measure<M: Model>(bench: &mut IngressBench<M>, size: usize, load: Load) -> Path {
    let latency = measure_alone(bench, size);
    for number in 0..(WARM_UP + COUNTED) * load.period() {
        let matches = number % load.period() == 0;
        bench.send(bench.setup.packet(size, matches, number));
    }
    let start = bench.her.total() + WARM_UP;
    let first = her_cycle(bench, start);
    let last = her_cycle(bench, start + COUNTED - 1);
    bench.settle();
    Path {
        per_packet: (last - first) as f64 / ((COUNTED - 1) * load.period()) as f64,
        latency,
    }
}

/// One packet through an empty path: from its first beat to its HER.
fn measure_alone<M: Model>(bench: &mut IngressBench<M>, size: usize) -> u64 {
    bench.settle();
    bench.send(bench.setup.packet(size, true, 1));
    // The cluster is always ready, so a HER is taken in its first cycle.
    let her = her_cycle(bench, bench.her.total() + 1);
    her - bench.source.first_cycle()
}

/// Runs until the cluster has taken that many HERs; the cycle of the last.
fn her_cycle<M: Model>(bench: &mut IngressBench<M>, hers: u64) -> u64 {
    let deadline = bench.sim.cycle_count() + PATIENCE;
    while bench.her.total() < hers {
        assert!(
            bench.sim.cycle_count() < deadline,
            "HERs are missing: {:?}",
            bench.counters()
        );
        bench.cycle();
    }
    bench.last_her.as_ref().map_or(0, |item| item.cycle)
}

impl Setup {
    /// A packet of that size whose contents depend on its number and that matches or not.
    pub fn packet(&self, size: usize, matches: bool, number: u64) -> Packet {
        let byte = |index: usize| {
            (index as u64)
                .wrapping_mul(7)
                .wrapping_add(number * 13 + index as u64 / 256) as u8
        };
        let mut bytes: Vec<u8> = (0..size).map(byte).collect();
        bytes[0] = if matches { MARK } else { 0 };
        Packet::new(self.beat_bytes, bytes)
    }

    /// A packet that matches.
    pub fn matched(&self, size: usize, number: u64) -> Packet {
        self.packet(size, true, number)
    }

    /// A packet that does not match.
    pub fn unmatched(&self, size: usize, number: u64) -> Packet {
        self.packet(size, false, number)
    }
}
