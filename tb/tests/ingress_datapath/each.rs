//! Lines of the contract that hold in each configuration, with sizes at the borders of its slots and beats.

use crate::{any_marked_with, for_this_ruleset, four_rulesets, one, without_frees};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::Finish;
use spinneret_tb::ingress::{
    CONTEXTS, Cause, Class, Contexts, Counters, IngressBench, Packet, Refusals, Setup, Stimulus,
};

spinneret_tb::test_models! {
    reference: PspinIngressDatapath, small: PspinIngressDatapathSmall, stall: PspinIngressDatapathStall,
        board: PspinIngressDatapathBoard, w64: PspinIngressDatapathW64, w256: PspinIngressDatapathW256;
    [
        every_size_is_delivered_intact_with_its_exact_length,
        as_many_beats_as_a_small_slot_has_take_one,
        bad_and_oversize_frames_are_dropped_whole,
        a_last_beat_without_bytes_is_no_error,
        impossible_tkeep_drops_matched_frames_and_nothing_else,
        unmatched_frames_pass_untouched_and_in_order,
        hers_carry_message_ids_lengths_and_the_context_that_serves,
        refused_bursts_drop_their_packets_alone,
        all_slots_are_given_out_once_and_come_back,
        wrong_frees_are_refused_and_change_nothing,
        a_reset_in_every_cycle_of_a_frame_leaves_nothing_behind,
    ]
}

/// A path that matches packets by their first byte, without pauses.
fn marked<M: Model>(run: &mut TestRun) -> IngressBench<M> {
    any_marked_with(run, Stimulus::default())
}

/// Sizes at the borders of beats and slots, those that fit a slot and those that do not.
fn sizes(setup: &Setup) -> [Vec<usize>; 2] {
    let (beat, small) = (setup.beat_bytes, setup.slots[Class::Small].bytes as usize);
    let large = setup.slots[Class::Large].bytes as usize;
    let borders = [beat, 2 * beat, small, 2 * small, 1500, large];
    let around = borders.into_iter().flat_map(|size| [size - 1, size, size + 1]);
    let near = [4, 60, large + beat - 1, large + beat, large + beat + 1];
    let far = [4283, 4284, 4285, 9000, 9600, 16383, 16384];
    let all = around.chain(near).chain(far).filter(|size| *size >= 4);
    let (fit, over) = all.partition(|size| *size <= large);
    [fit, over]
}

fn every_size_is_delivered_intact_with_its_exact_length<M: Model>(run: &mut TestRun) {
    for percent in [0, 60] {
        let stimulus = Stimulus {
            input: Pause::Random { percent },
            slave: SlaveConfig {
                address: Pause::Random { percent: percent / 3 },
                data: Pause::Random { percent: percent / 3 },
                latency: Latency { least: 1, most: 20 },
                ..SlaveConfig::default()
            },
            ..Stimulus::default()
        };
        let mut bench: IngressBench<M> = any_marked_with(run, stimulus);
        let large = bench.setup.slots[Class::Large].bytes as usize;
        let [borders, _] = sizes(&bench.setup);
        // A rule needs a whole word, so there is nothing to match in fewer bytes.
        let step = if large < 2000 { 1 } else { 37 };
        let all: Vec<usize> = (4..=400)
            .chain((400..=large).step_by(step))
            .chain(borders)
            .collect();
        for (number, size) in all.iter().enumerate() {
            bench.send_with_slot(bench.setup.matched(*size, number as u64));
        }
        assert_eq!(bench.settle().hers, all.len() as u64);
        bench.finish();
    }
}

fn as_many_beats_as_a_small_slot_has_take_one<M: Model>(run: &mut TestRun) {
    let mut bench = marked::<M>(run);
    let beat = bench.setup.beat_bytes;
    let [small, large] = [Class::Small, Class::Large].map(|class| bench.setup.slots[class].bytes as usize);
    let packet = |size| bench.setup.matched(size, 1);
    for (packet, class) in [
        (packet(4), Class::Small),
        (packet(small - beat).with_null_last(), Class::Small),
        (packet(small - beat + 1), Class::Small),
        (packet(small), Class::Small),
        (packet(small).with_null_last(), Class::Large),
        (packet(small + 1), Class::Large),
        (packet(large), Class::Large),
        (packet(large).with_null_last(), Class::Large),
    ] {
        let (beats, length) = (packet.beats(), packet.length());
        bench.send(packet);
        assert_eq!(bench.settle().hers, 1);
        let values = bench.last_her.take().map(|item| item.values).unwrap_or_default();
        let slot = bench.setup.slots.at(values[2]).map(|slot| slot.class);
        assert_eq!((slot, values[3]), (Some(class), length), "{beats} beats");
    }
    bench.finish();
}

fn bad_and_oversize_frames_are_dropped_whole<M: Model>(run: &mut TestRun) {
    let mut bench = marked::<M>(run);
    let [fit, over] = sizes(&bench.setup);
    let sound = |size| bench.setup.matched(size, 7);
    let bad = fit
        .iter()
        .chain(&over)
        .map(|size| (sound(*size).marked_bad(), Cause::BadFrame));
    let oversize = over.iter().map(|size| (sound(*size), Cause::Oversize));
    let all: Vec<(Packet, Cause)> = bad.chain(oversize).collect();
    for (packet, cause) in all {
        let bytes = packet.length();
        bench.send_with_slot(bench.setup.matched(100, 1));
        bench.send_with_slot(packet);
        bench.send_with_slot(bench.setup.matched(1500, 2));
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.drops), (2, one(cause)), "{bytes} bytes");
    }
    bench.finish();
}

fn a_last_beat_without_bytes_is_no_error<M: Model>(run: &mut TestRun) {
    let mut bench = marked::<M>(run);
    let setup = bench.setup;
    let large = setup.slots[Class::Large].bytes as usize;
    let sizes = [
        setup.beat_bytes,
        setup.slots[Class::Small].bytes as usize,
        1500,
        large,
    ];
    for size in sizes {
        bench.send_with_slot(setup.matched(size, 1).with_null_last());
        bench.send_with_slot(setup.unmatched(size, 2).with_null_last());
        bench.send_with_slot(setup.matched(size, 3));
    }
    let outcome = bench.settle();
    assert_eq!((outcome.hers, outcome.bypassed, outcome.drops.sum()), (8, 4, 0));
    bench.send_with_slot(setup.matched(large + 1, 4).with_null_last());
    bench.send_with_slot(setup.matched(64, 5).with_null_last().marked_bad());
    let drops = bench.settle().drops;
    assert_eq!((drops[Cause::Oversize], drops[Cause::BadFrame]), (1, 1));
    bench.finish();
}

fn impossible_tkeep_drops_matched_frames_and_nothing_else<M: Model>(run: &mut TestRun) {
    let mut bench = marked::<M>(run);
    let setup = bench.setup;
    let inspected = setup.inspected_bytes() / setup.beat_bytes;
    let lanes = setup.beat_bytes;
    let full = u64::MAX >> (64 - lanes);
    let large = setup.slots[Class::Large].bytes as usize / lanes;
    let (mut bad, mut sent) = (0, 0);
    for beats in [inspected + 2, large, large + 2] {
        for keep in [0, 1, full >> 1, full << 1, full ^ 0x10, 1 << (lanes - 1), 2] {
            for beat in [inspected, beats - 2, beats - 1] {
                let packet = setup.matched(beats * lanes, 1).with_keep(beat, keep);
                bad += u64::from(packet.is_bad());
                bench.send_with_slot(packet);
                bench.send_with_slot(setup.unmatched(beats * lanes, 1).with_keep(beat, keep));
                bench.send_with_slot(setup.matched(100, 2));
                sent += 1;
            }
        }
    }
    let outcome = bench.settle();
    let drops = &outcome.drops;
    assert_eq!((drops[Cause::BadFrame], outcome.bypassed), (bad, sent), "{drops}");
    assert_eq!(outcome.hers + drops.sum(), 2 * sent, "{drops}");
    assert!(bad > sent / 2, "{bad} of {sent} frames are bad");
    bench.finish();
}

fn unmatched_frames_pass_untouched_and_in_order<M: Model>(run: &mut TestRun) {
    for nic in [Pause::Never, Pause::Random { percent: 40 }] {
        let mut rng = run.rng("side band");
        let stimulus = Stimulus {
            nic,
            ..Stimulus::default()
        };
        let mut bench: IngressBench<M> = any_marked_with(run, stimulus);
        let setup = bench.setup;
        for size in (1..=300).chain([1500, 1514, 1536, 1537, 4284, 9000, 9600, 16384]) {
            let mut user = || rng.random::<u128>() >> (128 - setup.user_bits);
            bench.send(Packet {
                user: user(),
                early_user: user(),
                id: rng.random_range(0..2),
                dest: rng.random_range(0..256),
                ..setup.unmatched(size, size as u64)
            });
        }
        assert_eq!(bench.settle().bypassed, 308);
        bench.finish();
    }
}

fn hers_carry_message_ids_lengths_and_the_context_that_serves<M: Model>(run: &mut TestRun) {
    let mut bench: IngressBench<M> = IngressBench::new(run.simulation(), Stimulus::default());
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

fn refused_bursts_drop_their_packets_alone<M: Model>(run: &mut TestRun) {
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

fn all_slots_are_given_out_once_and_come_back<M: Model>(run: &mut TestRun) {
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

fn wrong_frees_are_refused_and_change_nothing<M: Model>(run: &mut TestRun) {
    let mut bench: IngressBench<M> = any_marked_with(run, without_frees());
    let slots = bench.setup.slots;
    let mut wanted = Refusals::default();
    for class in Class::ALL {
        let own = slots[class];
        for number in [0, own.count / 2, own.count - 1] {
            let address = own.address(number);
            // All slots are free, so every free is a double free.
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

fn a_reset_in_every_cycle_of_a_frame_leaves_nothing_behind<M: Model>(run: &mut TestRun) {
    let mut bench: IngressBench<M> = any_marked_with(
        run,
        Stimulus {
            uncongested: false,
            ..Stimulus::default()
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
