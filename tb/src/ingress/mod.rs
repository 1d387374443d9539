//! The ingress path, `pspin_ingress_datapath`, between bus models and its reference model.
//!
//! ```text
//! Packet -> PacketSource -> [ path ] -> BypassSink: beat by beat as sent
//!                             |  |  \-> AxiSlave -> SlotUses: who writes into which slot
//!                             |  \----> HERs -> Model: in order, with the bytes that are in memory
//!                             \<------- Releases: frees in any order, and wrong ones
//! ```
//!
//! Everything that comes out is compared in the cycle in which it comes; the counters are compared whenever
//! nothing is in flight. The path's [`Setup`] determines the expectations of the bench.

mod config;
mod model;
mod packet;
mod round;
mod slots;

pub use config::{CONTEXTS, Contexts, FIELDS, Outcome, Setup, Stimulus};
pub use packet::{BypassSink, OddBeat, Packet, PacketSource};
pub use round::{
    Load, MARK, Named, Path, Totals, load_mark, marked, measure, random_contexts, random_packet, run_round,
    stimuli,
};
pub use slots::{Cause, Class, Counters, Drops, Occupancy, Refusals, Release, Slot, SlotMap, SlotRange};

use crate::bench::Finish;
use crate::reference;
use model::{Announced, HER_FIELDS, Model as Reference, SlotUses};
use packet::packet_source;
use slots::{CounterPorts, Releases};
use spinneret_packets::matching::drive_rules;
use spinneret_packets::reference::matcher::{MatchResult, RuleTable};
use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Cycles in which everything inside comes out once the input stands still, with the longest pauses of any test.
const PATIENCE: u64 = 50_000;

/// The ingress path with bus models on all its ports; all outputs are checked.
#[derive(Debug)]
pub struct IngressBench<M: Model> {
    /// The simulation; [`cycle`](Self::cycle) of the bench runs it.
    pub sim: Simulation<M>,
    /// Parameters of the path.
    pub setup: Setup,
    /// The packets from the wire.
    pub source: PacketSource,
    /// Unmatched packets.
    pub nic: BypassSink,
    /// The packet buffer.
    pub slave: AxiSlave,
    /// HERs; the bench looks at them.
    pub her: ChannelSink,
    /// The last HER that the cluster took.
    pub last_her: Option<Item>,
    releases: Releases,
    uses: SlotUses,
    /// The context of each slot that the cluster has.
    owners: HashMap<Slot, usize>,
    reference: Reference,
    /// Side bands of packets, if they are announced.
    announced: Option<Rc<RefCell<Announced>>>,
    counters: CounterPorts,
    arvalid: PortHandle,
    /// The counters at the last comparison.
    base: Counters,
    most_live: u64,
}

impl<M: Model> IngressBench<M> {
    /// Puts bus models around a path, resets it and waits until all slots are there.
    ///
    /// # Panics
    /// If the design lacks the ports of the path.
    pub fn new(sim: Simulation<M>, stimulus: Stimulus) -> Self {
        let mut bench = Self::closed(sim, stimulus);
        bench.run(bench.setup.opening_cycles());
        bench
    }

    /// As [`new`](Self::new), but right after the reset.
    ///
    /// # Panics
    /// If the design lacks the ports of the path.
    pub fn closed(mut sim: Simulation<M>, stimulus: Stimulus) -> Self {
        let setup = Setup::of::<M>();
        sim.set_cycle_limit(u64::MAX);
        let source = packet_source(&mut sim, stimulus.input);
        let nic = BypassSink::attach(&mut sim, stimulus.nic);
        let slave = sim.axi_write_slave("m_axi_pspin_ni", stimulus.slave);
        let meta = FIELDS.map(|name| format!("meta_{name}"));
        let fields: Vec<&str> = HER_FIELDS
            .into_iter()
            .chain(meta.iter().map(String::as_str))
            .collect();
        let her = sim.channel_sink("her", &fields, stimulus.her);
        let feedback = ["her_addr", "her_size", "msgid"];
        let feedback = sim.channel_source("feedback", &feedback, stimulus.feedback);
        let rng = sim.rng("frees");
        let (release, bad_frees) = (stimulus.release, stimulus.bad_frees);
        let releases = Releases::new(feedback, setup.slots, release, bad_frees, rng);
        let counters = CounterPorts::find(sim.dut.instance());
        let announced = setup
            .side_bits
            .map(|_| reference::attach(&mut sim, Announced::new(setup.slots)));
        let arvalid = sim
            .dut
            .instance()
            .port("m_axi_pspin_ni_arvalid", Direction::Output);
        sim.reset();
        Self {
            source,
            nic,
            slave,
            her,
            last_her: None,
            releases,
            uses: SlotUses::new(&setup),
            owners: HashMap::new(),
            reference: Reference::new(setup, stimulus.uncongested),
            announced,
            counters,
            arvalid: arvalid.unwrap_or_else(|error| panic!("{error}")),
            base: Counters::default(),
            most_live: 0,
            setup,
            sim,
        }
    }

    /// Simulates a cycle and checks all outputs.
    ///
    /// # Panics
    /// At the first error.
    pub fn cycle(&mut self) {
        self.sim.cycle();
        let observed = self.observe();
        self.sim.expect(observed);
        let (counters, dut) = (&self.counters, self.sim.dut.instance());
        self.releases.step(|| counters.read(dut));
    }

    /// Simulates some cycles.
    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycle();
        }
    }

    /// Changes the rules as software does: withdraw, write, set valid. Nothing may be inside.
    pub fn load_rules(&mut self, table: Option<&RuleTable>) {
        self.sim.set("match_valid", false);
        self.run(8);
        if let Some(table) = table {
            let driven = drive_rules(self.sim.dut.instance_mut(), &table.port_values());
            driven.unwrap_or_else(|error| panic!("{error}"));
            self.sim.set("match_valid", true);
        }
        self.run(8);
        self.reference.latch_rules(table.cloned());
    }

    /// Changes the contexts as software does: withdraw, write, set valid. Nothing may be inside.
    pub fn load_contexts(&mut self, contexts: &Contexts) {
        let mut contexts = contexts.clone();
        contexts.enabled[self.setup.contexts..].fill(false);
        self.sim.set("her_gen_valid", false);
        self.run(2);
        contexts.drive(self.sim.dut.instance_mut());
        self.sim.set("her_gen_valid", true);
        self.run(4);
        self.reference.latch_contexts(Some(contexts));
    }

    /// Changes the bounds of contexts. Nothing may be inside, so that it is certain which packets they are for.
    ///
    /// # Panics
    /// If the path has none.
    pub fn bound_slots(&mut self, bounds: [u16; CONTEXTS]) {
        let bounded = &bounds[..self.setup.contexts];
        let bytes: Vec<u8> = bounded.iter().flat_map(|bound| bound.to_le_bytes()).collect();
        self.sim.set_bytes("slot_bound", &bytes);
        self.reference.bounds = bounds;
    }

    /// Sends a packet and records the prediction.
    ///
    /// # Panics
    /// If its beats are not those of the path.
    pub fn send(&mut self, packet: Packet) -> MatchResult {
        assert_eq!(packet.beat_bytes, self.setup.beat_bytes, "bytes of a beat");
        let packet = Rc::new(packet);
        let result = self.reference.send(&packet);
        if result == MatchResult::Bypass {
            self.nic.expect(Rc::clone(&packet));
        }
        self.source.send(packet);
        result
    }

    /// From now on there certainly is room and a slot for every packet, or not.
    pub fn set_uncongested(&mut self, uncongested: bool) {
        self.reference.uncongested = uncongested;
    }

    /// Changes when slots are freed.
    pub fn set_release(&mut self, release: Release) {
        self.releases.policy = release;
    }

    /// Packets whose way has not ended, at most: those that are not out of the path, and all slots that are out.
    pub fn under_way(&self) -> u64 {
        let (now, base) = (self.counters(), &self.base);
        let predicted = &self.reference.predicted;
        let sent = base.packets() + predicted.bypassed + predicted.matched;
        sent - now.packets() + now.small.used + now.large.used
    }

    /// Slots that the cluster has of a context.
    pub fn slots_of(&self, context: usize) -> usize {
        self.owners.values().filter(|owner| **owner == context).count()
    }

    /// Slots that the cluster has and has not begun to free.
    pub fn held(&self) -> usize {
        self.releases.held()
    }

    /// Sends a packet as soon as it certainly finds a slot of its class.
    ///
    /// # Panics
    /// As [`send`](Self::send), and if the packets in flight do not end.
    pub fn send_with_slot(&mut self, packet: Packet) -> MatchResult {
        self.wait_for_less_than(self.setup.certain_packets());
        self.send(packet)
    }

    /// Runs until less packets than that are in flight.
    ///
    /// # Panics
    /// If it takes too long.
    fn wait_for_less_than(&mut self, packets: u64) {
        let deadline = self.sim.cycle_count() + PATIENCE;
        while self.under_way() >= packets {
            assert!(
                self.sim.cycle_count() < deadline,
                "{} packets are still under way: {:?}",
                self.under_way(),
                self.counters()
            );
            self.cycle();
        }
    }

    /// Frees a slot of a class that the cluster has; whether it has one.
    pub fn free_one(&mut self, class: Class) -> bool {
        self.releases.release_one(class)
    }

    /// Frees an address at which no slot starts.
    pub fn free_foreign(&mut self, address: u64) {
        self.releases.send_foreign(address);
    }

    /// Frees a slot before all slots are in their lists.
    pub fn free_early(&mut self, address: u64) {
        self.releases.send_early(address);
    }

    /// Frees a slot that surely is not out.
    pub fn free_again(&mut self, slot: Slot) {
        self.releases.send_double(slot);
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        self.counters.read(self.sim.dut.instance())
    }

    /// Resets the path in whatever it does; packets that are not out are forgotten.
    pub fn reset(&mut self) {
        self.sim.reset();
        self.source.clear();
        self.nic.clear();
        self.slave.take_bursts();
        self.her.receive_all();
        self.releases.reset();
        self.uses.reset(self.slave.monitor().counts().response.beats);
        self.owners.clear();
        self.reference.reset();
        self.base = Counters::default();
        self.most_live = 0;
    }

    /// Checks the outputs of the last cycle.
    fn observe(&mut self) -> Result<(), String> {
        for slot in self.releases.taken() {
            if !self.uses.free(slot) {
                return Err(format!("the bench itself frees {:#x} twice", slot.address));
            }
            self.owners.remove(&slot);
        }
        for written in self.slave.take_bursts() {
            self.uses.burst(&written)?;
        }
        while let Some(item) = self.her.receive() {
            self.take_her(&item)?;
            self.last_her = Some(item);
        }
        self.nic.receive_all();
        if self.sim.dut.instance().is_high(self.arvalid) {
            return Err("there is a read".to_owned());
        }
        Ok(())
    }

    fn take_her(&mut self, item: &Item) -> Result<(), String> {
        let &[message_id, _, address, _, transfer, ..] = &item.values[..] else {
            return Err("a HER has fewer fields than it needs".to_owned());
        };
        let answered = self.slave.monitor().counts().response.beats;
        let mut failed = Vec::new();
        let used = self.uses.hand_over(address, answered, |used| failed.push(used))?;
        for used in failed {
            self.reference.fail(used)?;
        }
        let announced = self.announced.as_ref();
        let side = announced.and_then(|announced| announced.borrow().of(address));
        self.reference
            .her(&item.values, side, used, &self.slave.memory())?;
        if self.setup.slot_bounds {
            let context = spinneret_regmap::message_id::context(message_id as u32) as usize;
            let (held, bound) = (self.slots_of(context), self.reference.bounds[context]);
            if bound > 0 && held >= bound.into() {
                return Err(format!(
                    "context {context} gets another slot and has {held} of {bound}"
                ));
            }
            self.owners.insert(used.slot, context);
        }
        self.releases.hold(used.slot, transfer, message_id);
        self.most_live = self.most_live.max(self.uses.live() as u64);
        Ok(())
    }
}

/// Cycles in which a free, a dropped packet and the counters come to rest.
const SETTLE_CYCLES: u64 = 64;

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
        self.run(SETTLE_CYCLES);
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
        self.run(SETTLE_CYCLES);
        let counters = self.counters();
        assert_eq!(
            (counters.small.used, counters.large.used, self.uses.live()),
            (0, 0, 0),
            "slots are lost"
        );
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

    /// Compares the counters when nothing is in flight.
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

    /// Checks invariants between the counters.
    fn check_state(&self, now: &Counters) {
        let allocator = now.drops[Cause::Overload] + now.drops[Cause::NoSlot] + now.drops[Cause::Oversize];
        assert_eq!(now.alloc_dropped, allocator, "alloc_dropped_pkts");
        let used = now.small.used + now.large.used;
        assert_eq!(used, self.uses.live() as u64, "slots that are out at rest");
        if self.setup.slot_bounds {
            let shown = self.sim.get("slots_used_o").to_le_bytes();
            for (context, used) in shown.chunks(2).enumerate() {
                let used = usize::from(used[0]) | usize::from(used[1]) << 8;
                assert_eq!(used, self.slots_of(context), "slots of context {context}");
            }
        }
        for occupancy in [now.small, now.large] {
            assert!(occupancy.used <= occupancy.peak, "{occupancy:?}");
        }
        assert!(now.small.peak + now.large.peak >= self.most_live, "{now:?}");
    }
}

impl<M: Model> Finish for IngressBench<M> {
    fn finish(mut self) {
        self.settle();
        self.free_all();
        self.sim.finish();
    }
}
