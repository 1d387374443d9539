//! Rounds of random packets, and cycles of frames.

use super::IngressBench;
use super::config::{CONTEXTS, Contexts, Outcome, Setup, Stimulus};
use super::packet::Packet;
use super::slots::{Class, Drops, Release};
use crate::bench::Finish;
use crate::ip_frames::Headers;
use crate::pkt_match::{one_rule, random_rules};
use spinneret_regmap::matching::Rule;
use spinneret_sim::prelude::*;
use std::fmt;
use std::ops::AddAssign;

/// Packets between two changes of rules and contexts.
const BATCH: u64 = 100;

crate::counts! {
    /// Packets by outcome.
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
}

impl Totals {
    /// All packets.
    pub fn packets(&self) -> u64 {
        self.bypassed + self.delivered + self.drops.sum()
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
pub fn run_round<M: Model>(sim: Simulation<M>, stimulus: Stimulus, packets: u64) -> Totals {
    let mut rng = sim.rng("traffic");
    let mut bench = IngressBench::new(sim, stimulus.clone());
    let setup = bench.setup;
    occupy(&mut bench, &stimulus);
    let mut totals = Totals::default();
    let mut left = packets;
    while left > 0 {
        bench.load_rules(Some(&random_rules(&mut rng, &setup.matcher)));
        bench.load_contexts(&random_contexts(&mut rng));
        if setup.slot_bounds {
            bench.bound_slots(std::array::from_fn(|_| [0, 0, 1, 2, 6][rng.random_range(0..5)]));
        }
        let batch = left.min(BATCH);
        for _ in 0..batch {
            bench.wait_for_less_than(stimulus.most_under_way);
            bench.send(random_packet(&mut rng, &setup));
        }
        totals += bench.settle();
        left -= batch;
        if rng.random_ratio(1, 20) {
            reset_in_traffic(&mut bench, &mut rng);
            bench.set_uncongested(stimulus.uncongested);
            occupy(&mut bench, &stimulus);
        }
    }
    assert_eq!(totals.packets(), packets, "{totals}");
    totals.cycles = bench.sim.cycle_count();
    bench.finish();
    totals
}

/// Lets the cluster have slots from the start; the packets for it are not in the totals.
fn occupy<M: Model>(bench: &mut IngressBench<M>, stimulus: &Stimulus) {
    if stimulus.occupied > 0 {
        load_mark(bench);
        bench.set_release(Release::Never);
        let large = bench.setup.slots[Class::Small].bytes as usize + 1;
        for number in 0..stimulus.occupied {
            bench.send(bench.setup.matched(large, number));
        }
        bench.settle();
        bench.set_release(stimulus.release);
    }
}

/// Some packets, and a reset in the middle of them; they are not in the totals.
fn reset_in_traffic<M: Model>(bench: &mut IngressBench<M>, rng: &mut ChaCha8Rng) {
    // They come without regard to how many are in flight.
    bench.set_uncongested(false);
    for _ in 0..40 {
        bench.send(random_packet(rng, &bench.setup));
    }
    bench.run(rng.random_range(1..150));
    bench.reset();
    bench.run(bench.setup.opening_cycles());
}

/// Byte 0 of a packet that matches; others start with 0.
pub const MARK: u8 = 0xff;

/// Share of matching packets.
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

/// Measured clock cycles for packets of one size.
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
/// Cycles within which the next HER comes, whatever its size.
const PATIENCE: u64 = 50_000;

/// A path that matches packets by their first byte, with everything ready, slots freed at once and write
/// responses after that many cycles.
pub fn marked<M: Model>(sim: Simulation<M>, response_cycles: u64) -> IngressBench<M> {
    let slave = SlaveConfig {
        latency: Latency::exactly(response_cycles),
        ..SlaveConfig::default()
    };
    let stimulus = Stimulus {
        slave,
        ..Stimulus::default()
    };
    let mut bench = IngressBench::new(sim, stimulus);
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
    while bench.her.total() < hers {
        let next = bench.her.total() + 1;
        let deadline = bench.sim.cycle_count() + PATIENCE;
        while bench.her.total() < next {
            assert!(
                bench.sim.cycle_count() < deadline,
                "HERs are missing: {:?}",
                bench.counters()
            );
            bench.cycle();
        }
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

/// Largest random packet in bytes, unless slots are larger.
const MOST_BYTES: u64 = 9600;

/// A random packet: mostly small, some at the borders of beats and slots, few bad, few very large.
pub fn random_packet(rng: &mut ChaCha8Rng, setup: &Setup) -> Packet {
    let mut bytes = vec![0; random_size(rng, setup)];
    rng.fill_bytes(&mut bytes);
    // Bytes that rules look at have few values, so that rules match.
    for byte in bytes.iter_mut().take(setup.inspected_bytes()) {
        *byte &= 3;
    }
    // Without headers no rule relative to the IP payload matches.
    if setup.matcher.ip_relative && rng.random_ratio(3, 4) {
        Headers::random(rng).write(&mut bytes);
    }
    let user = |rng: &mut ChaCha8Rng| rng.random::<u128>() >> (128 - setup.user_bits);
    let packet = Packet {
        id: rng.random_range(0..2),
        dest: rng.random_range(0..256),
        user: user(rng) & !1,
        early_user: user(rng),
        ..Packet::new(setup.beat_bytes, bytes)
    };
    match rng.random_range(0..100) {
        0..3 => packet.marked_bad(),
        3 => odd(rng, setup, packet),
        4 => packet.with_null_last(),
        5..10 if packet.bytes.len().is_multiple_of(setup.beat_bytes) => packet.with_null_last(),
        _ => packet,
    }
}

fn random_size(rng: &mut ChaCha8Rng, setup: &Setup) -> usize {
    let (small, large) = (setup.slots[Class::Small].bytes, setup.slots[Class::Large].bytes);
    let beat = setup.beat_bytes as u64;
    let size = match rng.random_range(0..200) {
        0..2 => rng.random_range(1..=MOST_BYTES.max(large + 200)),
        2..8 => rng.random_range(large - 136..=large + 64),
        8..12 => large - 1 + rng.random_range(0..3),
        12..20 => small - 1 + rng.random_range(0..3),
        20..50 => beat * rng.random_range(1..=4),
        50..60 => beat * rng.random_range(1..=24),
        60..110 => rng.random_range(1..=64),
        _ => rng.random_range(60..=300),
    };
    size as usize
}

/// The packet with an impossible `tkeep` after the beats that rules look at.
fn odd(rng: &mut ChaCha8Rng, setup: &Setup, mut packet: Packet) -> Packet {
    let inspected = setup.inspected_bytes() / setup.beat_bytes;
    let beats = packet.beats().max(inspected + 1);
    packet.bytes.resize(beats * setup.beat_bytes, 0x5a);
    let lanes = setup.beat_bytes as u32;
    let keep = match rng.random_range(0..4) {
        0 => rng.random(),
        1 => u64::MAX >> (64 - rng.random_range(1..lanes)),
        2 => u64::MAX << rng.random_range(1..lanes),
        _ => 0,
    };
    let beat = rng.random_range(inspected..beats);
    let packet = packet.with_keep(beat, keep);
    if rng.random_bool(0.3) {
        packet.with_null_last()
    } else {
        packet
    }
}

/// Random contexts, of which each may be disabled, context 0 seldom.
pub fn random_contexts(rng: &mut ChaCha8Rng) -> Contexts {
    let enabled: [bool; CONTEXTS] =
        std::array::from_fn(|context| rng.random_bool(if context == 0 { 0.8 } else { 0.6 }));
    Contexts::random(rng, enabled)
}

/// A stimulus with its name.
pub type Named = (&'static str, Stimulus);

/// The stimuli of random tests with a path: uncongested ones, in which every packet's outcome is predicted, and those under
/// pressure.
///
/// With few slots it is only uncongested while few packets are in flight, so line rate without that limit is there as well.
/// With a path that waits, every outcome is predictable, and it is never uncongested: small packets take large slots.
pub fn stimuli(setup: &Setup) -> Vec<Named> {
    let certain = setup.certain_packets();
    let mut all = for_many_slots(setup);
    if setup.stall {
        for (_, stimulus) in &mut all {
            stimulus.uncongested = false;
        }
    } else if certain < MANY_SLOTS {
        for (_, stimulus) in all.iter_mut().filter(|(_, stimulus)| stimulus.uncongested) {
            stimulus.most_under_way = certain;
        }
        let stimulus = Stimulus {
            uncongested: false,
            ..Stimulus::default()
        };
        all.push(("line rate without limit", stimulus));
    }
    all
}

/// Slots of a class that are never all out in uncongested traffic, whose rate alone limits the packets in flight.
const MANY_SLOTS: u64 = 200;

/// The stimuli for a path with many slots.
fn for_many_slots(setup: &Setup) -> Vec<Named> {
    let random = |percent| Pause::Random { percent };
    let bursty = |busy, idle| Pause::Bursty { busy, idle };
    let slave = |address, data, least, most, percent| SlaveConfig {
        address,
        data,
        latency: Latency { least, most },
        faults: match percent {
            0 => Faults::Never,
            _ => Faults::Random { percent },
        },
        ..SlaveConfig::default()
    };
    let never = || Pause::Never;
    let free = |percent, most| Release::Random { percent, most };
    vec![
        ("line rate", Stimulus::default()),
        (
            "line rate, late responses, errors",
            Stimulus {
                slave: slave(never(), never(), 1, 30, 3),
                release: free(90, 60),
                bad_frees: 20,
                ..Stimulus::default()
            },
        ),
        (
            "gaps and light pauses",
            Stimulus {
                input: random(60),
                nic: random(20),
                her: random(20),
                slave: slave(random(15), random(15), 1, 12, 5),
                feedback: random(30),
                release: free(50, 60),
                bad_frees: 20,
                ..Stimulus::default()
            },
        ),
        (
            "slow cluster",
            Stimulus {
                uncongested: false,
                her: random(92),
                slave: slave(never(), never(), 1, 10, 3),
                release: free(30, 100),
                bad_frees: 10,
                ..Stimulus::default()
            },
        ),
        (
            "slow memory",
            Stimulus {
                uncongested: false,
                nic: random(5),
                slave: slave(bursty(20, 60), bursty(40, 100), 20, 120, 3),
                her: bursty(20, 20),
                feedback: random(20),
                release: free(60, 100),
                bad_frees: 10,
                ..Stimulus::default()
            },
        ),
        (
            "few slots",
            Stimulus {
                uncongested: false,
                input: bursty(100, 20),
                slave: slave(random(10), random(10), 1, 30, 2),
                release: free(1, most_but(setup.slots.total(), 10) as usize),
                occupied: most_but(setup.slots[Class::Large].count, 6),
                ..Stimulus::default()
            },
        ),
        (
            "everything stalls",
            Stimulus {
                uncongested: false,
                input: random(20),
                nic: bursty(50, 50),
                her: bursty(10, 80),
                slave: slave(random(50), random(50), 1, 60, 10),
                feedback: bursty(5, 30),
                release: free(20, 400),
                ..Stimulus::default()
            },
        ),
    ]
}

/// Returns `few` less than `all`, but at least three quarters.
fn most_but(all: u64, few: u64) -> u64 {
    all.saturating_sub(few).max(all * 3 / 4)
}
