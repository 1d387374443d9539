//! HERs, slots, and resets that take them back.

use super::marked;
use crate::support::{any_marked_with, for_this_ruleset, four_rulesets, one, without_frees};
use spinneret_sim::prelude::*;
use spinneret_tb::ingress::{Behaviour, CONTEXTS, Cause, Class, Contexts, Counters, IngressBench, Refusals};

pub(super) fn hers_carry_message_ids_lengths_and_the_context_that_serves<M: Model>(run: &mut TestRun) {
    let mut bench: IngressBench<M> = IngressBench::new(run.simulation(), Behaviour::default());
    let setup = bench.setup;
    let contexts = Contexts::random(&mut run.rng("contexts"), [true, false, true, true]);
    bench.load_rules(Some(&four_rulesets()));
    bench.load_contexts(&contexts);
    for (ruleset, context) in [(0, 0), (1, 0), (2, 2), (3, 3)] {
        for id in [0_u32, 0x8765_43ff, 0xffff_ff00, u32::MAX] {
            let mut packet = for_this_ruleset(ruleset, setup.unmatched(60 + id as usize % 1000, 9));
            packet.bytes[44..48].copy_from_slice(&id.to_le_bytes());
            let length = packet.length();
            bench.send(packet);
            assert_eq!(bench.settle().hers, 1);
            let values = bench.last_her.take().map(|item| item.values).unwrap_or_default();
            let bits = setup.her_message_id_bits;
            // The contract's words, without the model: all of the id, or its low bits with the context between them.
            let id = if setup.context_in_message_id {
                (u64::from(id) % (1 << (bits - 2)) / 4) * 16 + context as u64 * 4 + u64::from(id) % 4
            } else {
                id.into()
            };
            assert_eq!((values[0], values[3], values[4]), (id, length, length));
            assert_eq!(values[5..], contexts.fields[context], "ruleset {ruleset}");
        }
    }
    bench.load_contexts(&Contexts::random(&mut run.rng("none"), [false; CONTEXTS]));
    bench.send(for_this_ruleset(1, setup.unmatched(100, 1)));
    assert_eq!(bench.settle().drops, one(Cause::NoContext));
    bench.finish();
}

pub(super) fn refused_bursts_drop_their_packets_alone<M: Model>(run: &mut TestRun) {
    let mut bench = marked::<M>(run);
    let setup = bench.setup;
    bench.slave.set_faults(Faults::Random { percent: 20 });
    for number in 0..300 {
        let size = [64, 1500, 300][number as usize % 3];
        bench.send_with_slot(setup.matched(size, number));
    }
    let outcome = bench.settle();
    assert!(outcome.drops[Cause::WriteError] > 30, "{}", outcome.drops);
    assert_eq!(outcome.hers + outcome.drops[Cause::WriteError], 300);
    bench.slave.set_faults(Faults::Never);
    for number in 0..60 {
        bench.send_with_slot(setup.matched([64, 1500][number as usize % 2], number));
    }
    assert_eq!(bench.settle().hers, 60);
    bench.finish();
}

pub(super) fn all_slots_are_given_out_once_and_come_back<M: Model>(run: &mut TestRun) {
    let mut bench: IngressBench<M> = any_marked_with(run, without_frees());
    let setup = bench.setup;
    let (small, large) = (setup.slots[Class::Small], setup.slots[Class::Large]);
    for round in 0..3 {
        // Small packets take all slots: first the small ones, then the large ones.
        for (count, used) in [
            (small.count, (small.count, 0)),
            (large.count, (small.count, large.count)),
        ] {
            for number in 0..count {
                bench.send(setup.matched(small.bytes as usize, number));
            }
            let outcome = bench.settle();
            assert_eq!((outcome.hers, outcome.drops.sum()), (count, 0), "round {round}");
            let counters = bench.counters();
            assert_eq!((counters.small.used, counters.large.used), used, "round {round}");
        }
        bench.free_all();
    }
    bench.finish();
}

pub(super) fn wrong_frees_are_refused_and_change_nothing<M: Model>(run: &mut TestRun) {
    let mut bench: IngressBench<M> = any_marked_with(run, without_frees());
    let slots = bench.setup.slots;
    let mut wanted = Refusals::default();
    for class in Class::ALL {
        let own = slots[class];
        for number in [0, own.count / 2, own.count - 1] {
            let address = own.address(number);
            // Nobody has a slot now, so every free is a second one.
            let slot = slots.at(address);
            slot.into_iter().for_each(|slot| bench.free_again(slot));
            slot.into_iter().for_each(|slot| bench.free_again(slot));
            wanted.not_out += 2;
            for offset in [1, 63, 64, own.bytes / 2 + 1, own.bytes - 64, own.bytes - 1] {
                bench.free_foreign(address + offset);
                wanted.no_start += 1;
            }
        }
    }
    let (first, end) = (
        slots[Class::Large].base,
        slots[Class::Small].address(slots[Class::Small].count),
    );
    for address in [
        0,
        first - 64,
        first - slots[Class::Large].bytes,
        end,
        u64::from(u32::MAX),
    ] {
        bench.free_foreign(address);
        wanted.no_start += 1;
    }
    assert_eq!(bench.settle().refused, wanted);
    // Every slot is there once.
    for number in 0..slots.total() {
        bench.send(bench.setup.matched(64, number));
    }
    assert_eq!(bench.settle().hers, slots.total());
    bench.free_all();
    bench.finish();
}

pub(super) fn a_reset_in_every_cycle_of_a_frame_leaves_nothing_behind<M: Model>(run: &mut TestRun) {
    let mut bench: IngressBench<M> = any_marked_with(
        run,
        Behaviour {
            calm: false,
            ..Behaviour::default()
        },
    );
    let setup = bench.setup;
    let large = setup.slots[Class::Large].bytes as usize;
    let beats = |size: usize| (size / setup.beat_bytes) as u64;
    for (size, cycles) in [(64, 20), (1500, beats(1500) + 30), (large + 1, beats(large) + 30)] {
        for cycle in (1..cycles).step_by(if size == large + 1 { 29 } else { 3 }) {
            for number in 0..3 {
                bench.send(setup.matched(size, number));
            }
            bench.run(cycle);
            bench.reset();
            assert_eq!(bench.counters(), Counters::default());
            bench.run(setup.opening_cycles());
            for number in 0..6 {
                bench.send_with_slot(setup.matched([64, 128, 1500][number as usize % 3], number));
                bench.send_with_slot(setup.unmatched(200, number));
            }
            let outcome = bench.settle();
            assert_eq!((outcome.hers, outcome.bypassed, outcome.drops.sum()), (6, 6, 0));
        }
    }
    bench.finish();
}
