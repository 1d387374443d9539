//! The path at rest: when nothing is under way, every counter is known.

use super::behaviour::Outcome;
use super::bench::{IngressBench, PATIENCE};
use super::counters::{Cause, Counters};
use super::release::Release;
use spinneret_sim::model::Model;

/// Cycles in which a free, a dropped packet and the counters come to rest.
const REST_CYCLES: u64 = 64;

impl<M: Model> IngressBench<M> {
    /// Runs until every packet has come out or is counted, and compares the counters.
    ///
    /// # Panics
    /// At the first difference, and if a packet is neither delivered nor counted.
    pub fn settle(&mut self) -> Outcome {
        let (mut beats, mut deadline) = (0, 0);
        while !self.is_settled() {
            // The input may take as long as it needs if only it goes on.
            let now = self.source.monitor().counts().beats;
            if now > beats || deadline == 0 {
                (beats, deadline) = (now, self.sim.cycle_count() + PATIENCE);
            }
            assert!(
                self.sim.cycle_count() < deadline,
                "packets are neither delivered nor counted: {} are not sent, {} unmatched are missing, {:?}",
                self.source.waiting(),
                self.nic.missing(),
                self.counters()
            );
            self.cycle();
        }
        let policy = std::mem::replace(&mut self.releases.policy, Release::Never);
        while !self.releases.is_idle() {
            self.cycle();
        }
        self.run(REST_CYCLES);
        self.releases.policy = policy;
        self.compare()
    }

    /// Frees all slots and waits until the path has them back.
    ///
    /// # Panics
    /// If a slot is lost.
    pub fn free_all(&mut self) {
        self.releases.release_all();
        while !self.releases.is_idle() {
            self.cycle();
        }
        self.run(REST_CYCLES);
        let counters = self.counters();
        assert_eq!(
            (counters.small.used, counters.large.used, self.uses.live()),
            (0, 0, 0),
            "slots are lost"
        );
    }

    /// Ends the test: nothing may be left anywhere.
    ///
    /// # Panics
    /// If something is, or is wrong.
    pub fn finish(mut self) {
        self.settle();
        self.free_all();
        self.sim.finish();
    }

    fn is_settled(&self) -> bool {
        if !self.source.is_idle() || self.nic.missing() > 0 {
            return false;
        }
        let (now, base) = (self.counters(), &self.base);
        let new = |now: u64, base: u64| now.wrapping_sub(base);
        let predicted = &self.reference.predicted;
        new(now.bypassed, base.bypassed) == predicted.bypassed
            && new(now.matched, base.matched) == predicted.matched
            && new(now.hers + now.drops.sum(), base.hers + base.drops.sum()) == predicted.matched
    }

    /// Compares the counters when nothing is under way.
    fn compare(&mut self) -> Outcome {
        let failed: Vec<_> = self.uses.take_failed().collect();
        for used in failed {
            self.reference
                .fail(used)
                .unwrap_or_else(|difference| panic!("{difference}"));
        }
        let early = self.reference.take_dropped() as u64;
        let predicted = std::mem::take(&mut self.reference.predicted);
        let now = self.counters();
        let outcome = Outcome::between(&self.base, &now);
        let errors = std::mem::take(&mut self.uses.errors);
        let refused = std::mem::take(&mut self.releases.refused);
        assert_eq!(outcome.bypassed, predicted.bypassed, "unmatched packets");
        assert_eq!(outcome.matched, predicted.matched, "matched packets");
        assert_eq!(outcome.hers, predicted.hers, "HERs");
        assert_eq!(outcome.refused, refused, "refused frees");
        let drops = &outcome.drops;
        assert_eq!(
            drops[Cause::WriteError],
            errors,
            "packets with a refused write: {drops}"
        );
        if self.reference.is_certain() {
            assert_eq!(early, 0, "packets are dropped for no reason: {drops}");
            assert_eq!(*drops, predicted.drops, "dropped packets by cause");
        } else {
            let early = predicted.matched - predicted.hers - predicted.failed;
            assert_eq!(
                drops[Cause::Overload] + drops[Cause::NoSlot],
                early,
                "packets that never had a slot: {drops}"
            );
            for cause in [Cause::BadFrame, Cause::Oversize, Cause::NoContext] {
                assert!(drops[cause] <= predicted.most[cause], "{cause:?}: {drops}");
            }
        }
        self.check_state(&now);
        self.base = now;
        outcome
    }

    /// What holds among the counters whatever came.
    fn check_state(&self, now: &Counters) {
        let allocator = now.drops[Cause::Overload] + now.drops[Cause::NoSlot] + now.drops[Cause::Oversize];
        assert_eq!(now.alloc_dropped, allocator, "alloc_dropped_pkts");
        let used = now.small.used + now.large.used;
        assert_eq!(used, self.uses.live() as u64, "slots that are out at rest");
        for occupancy in [now.small, now.large] {
            assert!(occupancy.used <= occupancy.peak, "{occupancy:?}");
        }
        assert!(now.small.peak + now.large.peak >= self.most_live, "{now:?}");
    }
}
