//! Frames of every kind and size: delivered, dropped or passed on.

use super::marked;
use crate::support::{any_marked_with, one};
use spinneret_sim::prelude::*;
use spinneret_tb::ingress::{Behaviour, Cause, Class, IngressBench, Packet, Setup};

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

pub(super) fn every_size_is_delivered_intact_with_its_exact_length<M: Model>(run: &mut TestRun) {
    for percent in [0, 60] {
        let behaviour = Behaviour {
            input: Pause::Random { percent },
            slave: SlaveConfig {
                address: Pause::Random { percent: percent / 3 },
                data: Pause::Random { percent: percent / 3 },
                latency: Latency { least: 1, most: 20 },
                ..SlaveConfig::default()
            },
            ..Behaviour::default()
        };
        let mut bench: IngressBench<M> = any_marked_with(run, behaviour);
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

pub(super) fn as_many_beats_as_a_small_slot_has_take_one<M: Model>(run: &mut TestRun) {
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

pub(super) fn bad_and_oversize_frames_are_dropped_whole<M: Model>(run: &mut TestRun) {
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

pub(super) fn a_last_beat_without_bytes_is_no_error<M: Model>(run: &mut TestRun) {
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

pub(super) fn impossible_tkeep_drops_matched_frames_and_nothing_else<M: Model>(run: &mut TestRun) {
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

pub(super) fn unmatched_frames_pass_untouched_and_in_order<M: Model>(run: &mut TestRun) {
    for nic in [Pause::Never, Pause::Random { percent: 40 }] {
        let mut rng = run.rng("side band");
        let behaviour = Behaviour {
            nic,
            ..Behaviour::default()
        };
        let mut bench: IngressBench<M> = any_marked_with(run, behaviour);
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
