//! The application block at rest: when nothing is in flight, every byte and every counter is known.

use super::AppBench;
use super::driver::{READ_BYTES, offset_of};
use crate::bench::Finish;
use spinneret_regmap::{egress, ingress, registers};
use spinneret_sim::axil::Response;
use spinneret_sim::prelude::Model;
use std::collections::BTreeMap;

/// Clocks of the core in which something comes to rest, with the longest pauses of any test.
const PATIENCE: u64 = 400_000;
/// Clocks between two looks at the counters.
const LOOK: u64 = 200;
/// Clocks in which all counters are reported twice, if Corundum takes them.
const REPORT_CLOCKS: u64 = 2500;
/// The number of the first statistic.
const FIRST_STATISTIC: u64 = 2048;

/// Packets by outcome since the last reset of the core, from the counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Packets that matched nothing.
    pub bypassed: u64,
    /// Packets that matched.
    pub matched: u64,
    /// HERs that the cluster took.
    pub hers: u64,
    /// Packets that were dropped, by the causes that there were.
    pub drops: BTreeMap<&'static str, u64>,
    /// Slots that are out.
    pub slots: u64,
    /// Slots that were freed although they were not in use.
    pub refused: u64,
    /// Our frames.
    pub frames: u64,
    /// Completions of our frames.
    pub completions: u64,
}

impl Account {
    /// All packets that were dropped.
    pub fn dropped(&self) -> u64 {
        self.drops.values().sum()
    }

    /// Packets that were dropped for that cause.
    ///
    /// # Panics
    /// If there is no such cause.
    pub fn dropped_for(&self, cause: &str) -> u64 {
        assert!(
            ingress::drops().any(|(known, _)| known == cause),
            "there is no cause {cause}"
        );
        self.drops.get(cause).copied().unwrap_or(0)
    }
}

impl<M: Model> AppBench<M> {
    /// Reads the counters of packets and frames.
    pub fn account(&mut self) -> Account {
        let mut ingress = |name: &str| u64::from(self.get(ingress::offset(name)));
        let refused = ["refused_no_start", "refused_not_out", "refused_early"];
        let mut account = Account {
            bypassed: ingress("bypassed"),
            hers: ingress("hers"),
            slots: ingress("large_used") + ingress("small_used"),
            refused: refused.into_iter().map(&mut ingress).sum(),
            matched: ingress("matched"),
            ..Account::default()
        };
        account.drops = ingress::drops()
            .map(|(cause, register)| {
                let words = register
                    .words()
                    .map(|word| u64::from(self.get(Some(word.offset()))));
                (cause, words.sum::<u64>())
            })
            .filter(|(_, dropped)| *dropped > 0)
            .collect();
        account.frames = self.get(egress::offset("frames")).into();
        account.completions = self.get(egress::offset("completions")).into();
        account
    }

    /// Runs until nothing is in flight, and compares everything.
    ///
    /// # Panics
    /// At the first difference, and if something stays in flight.
    pub fn settle(&mut self) -> Account {
        let account = self.wait_for_rest();
        assert_eq!(account.refused, 0, "slots that were refused: {account:?}");
        if self.model.complete {
            let bad = self.model.counts.bad;
            let wanted: BTreeMap<_, _> = (bad > 0).then_some(("bad_frame", bad)).into_iter().collect();
            let seed = self.sim.seed();
            assert_eq!(account.drops, wanted, "drops: {account:?}, seed {seed}");
        }
        self.model.rest();
        let printed = self.read_stdout();
        assert_eq!(
            printed,
            self.model.take_printed(),
            "standard output, seed {}",
            self.sim.seed()
        );
        if let Err(difference) = self.host.check() {
            panic!("{difference} (seed {})", self.sim.seed());
        }
        self.compare_reads();
        self.compare_statistics();
        account
    }

    /// Beats of interface 0 at the wire, each counted for every clock that it waits.
    fn offered_beats(&self) -> u64 {
        let counts = self.wire[0].monitor().counts();
        counts.beats + counts.stalls
    }

    /// Runs until nothing is in flight.
    ///
    /// # Panics
    /// If something stays in flight, with what is known of it.
    pub fn wait_for_rest(&mut self) -> Account {
        let deadline = self.now() + PATIENCE;
        loop {
            // After a reset of the cluster no counter says that one of its frames still leaves, but its beats do.
            let before = self.offered_beats();
            self.run(LOOK);
            let is_quiet = self.offered_beats() == before;
            let account = self.account();
            if is_quiet && self.is_passed() && self.is_at_rest(&account) {
                return account;
            }
            assert!(
                self.now() < deadline,
                "no rest: {account:?}, expected {:?}, {} outstanding, {} not returned (seed {}, cluster {})",
                self.model.counts,
                self.model.outstanding(),
                self.model.unanswered(),
                self.sim.seed(),
                self.clocks
            );
        }
    }

    /// Work of the cluster before a reset is not compared, as its progress is unknown.
    pub fn forget_effects(&mut self) {
        self.console.clear();
        self.model.rest();
        self.model.take_printed();
        self.model.read = Default::default();
        self.host.adopt();
    }

    fn is_at_rest(&self, account: &Account) -> bool {
        let counts = &self.model.counts;
        (account.bypassed, account.matched) == (counts.bypassed, counts.matched)
            && account.matched == account.hers + account.dropped()
            && account.slots == 0
            && (account.frames, account.completions) == (counts.returned, counts.completions)
            && counts.completions == counts.returned
            && (!self.model.complete || self.model.unanswered() == 0)
            && self.writes.in_flight() == 0
            && self.reads.in_flight() == 0
    }

    /// Compares the words that the cluster read from host memory.
    fn compare_reads(&mut self) {
        let contexts = *self.model.contexts();
        let read = std::mem::take(&mut self.model.read);
        for (context, _) in contexts.iter().zip(read).filter(|(_, read)| *read) {
            let Some(context) = context else { continue };
            let there = self.host.read(context.read_address(), READ_BYTES as usize);
            for (number, word) in (0..).zip(there.chunks_exact(4)) {
                let offset = offset_of(context.handler_address) + 4 * number;
                let found = self.bar_read(offset);
                let wanted = (0..4).fold(0, |all, byte| all | u32::from(word[byte]) << (8 * byte));
                assert_eq!(
                    found,
                    (wanted, Response::Okay),
                    "word {number} that was read from the host"
                );
            }
        }
    }

    /// The sums of all reported increments are the counters.
    fn compare_statistics(&mut self) {
        self.run(REPORT_CLOCKS);
        let counters: Vec<u32> = counters().collect();
        for (number, register) in (FIRST_STATISTIC..).zip(counters) {
            // Accesses to the counters do not count, so they stay.
            let wanted = u64::from(self.get(register));
            let found = self.reported.get(&number).copied().unwrap_or(0);
            if !LEVELS.contains(&(number - FIRST_STATISTIC)) {
                assert_eq!(found, wanted, "statistic {number}, register {register:#06x}");
            } else {
                assert_eq!(found, 0, "statistic {number} is a level");
            }
        }
        let last = self.reported.keys().next_back().copied().unwrap_or(0);
        assert!(last < FIRST_STATISTIC + counters_count(), "statistic {last}");
    }
}

impl<M: Model> Finish for AppBench<M> {
    fn finish(mut self) {
        self.settle();
        while self.writes.next_accepted().is_some() || self.reads.next_accepted().is_some() {}
        while self.writes.next_status().is_some() || self.reads.next_status().is_some() {}
        self.sim.finish();
    }
}

/// Counters that say how many slots are or were in use.
const LEVELS: std::ops::Range<u64> = 13..17;

/// The registers that hold counters, in the order of their statistics.
fn counters() -> impl Iterator<Item = u32> {
    registers()
        .filter(|register| ["ingress", "egress", "host_write", "host_read", "bar"].contains(&register.group))
        .flat_map(|register| (0..register.count).filter_map(move |element| register.address(element)))
}

fn counters_count() -> u64 {
    counters().count() as u64
}
