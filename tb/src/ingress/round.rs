//! Rounds of random traffic, as tests and soaks run them.

use super::behaviour::{Behaviour, Outcome};
use super::bench::IngressBench;
use super::counters::Drops;
use super::measure::load_mark;
use super::release::Release;
use super::slots::Class;
use super::traffic::{random_contexts, random_packet};
use crate::pkt_match::random_rules;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;
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
