//! Matched frames are delivered whole, and others pass untouched.

use crate::{Bench, any_marked_with, for_ruleset, four_rulesets, marked, marked_with, matched, unloaded};
use spinneret_models::{PspinIngressDatapath, PspinIngressDatapathW64};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::ingress::{
    CONTEXTS, Cause, Class, Contexts, FIELDS, IngressBench, Outcome, Release, Stimulus,
};

/// A path with rulesets for all contexts, of which these are enabled.
fn with_contexts(run: &mut TestRun, enabled: [bool; CONTEXTS]) -> (Bench, Contexts) {
    let mut bench = Bench::new(run.simulation(), Stimulus::default());
    let contexts = Contexts::random(&mut run.rng("contexts"), enabled);
    bench.load_rules(Some(&four_rulesets()));
    bench.load_contexts(&contexts);
    (bench, contexts)
}

/// Sends a packet for a ruleset; the values of its HER, or none if it is dropped.
fn her_of(bench: &mut Bench, ruleset: u8) -> Option<Vec<u64>> {
    bench.last_her = None;
    bench.send(for_ruleset(ruleset, 100, u64::from(ruleset)));
    bench.settle();
    bench.last_her.take().map(|item| item.values)
}

#[test]
fn a_her_carries_message_id_end_of_message_length_and_context() {
    run_test(1, |run| {
        let (mut bench, contexts) = with_contexts(run, [true; CONTEXTS]);
        for (size, id) in [(47, 0), (48, 0x4433_2211_u64), (1500, 0x4433_2211)] {
            for last in [false, true] {
                let mut packet = for_ruleset(2, size, 9);
                packet.bytes[1] = last.into();
                for (offset, byte) in [0x11, 0x22, 0x33, 0x44].into_iter().enumerate() {
                    if let Some(place) = packet.bytes.get_mut(44 + offset) {
                        *place = byte;
                    }
                }
                bench.send(packet);
                bench.settle();
                let values = bench.last_her.take().map(|item| item.values).unwrap_or_default();
                let class = if size <= 128 { Class::Small } else { Class::Large };
                let slots = bench.setup.slots[class];
                assert!(slots.contains(values[2]), "{:#x}", values[2]);
                assert_eq!(
                    [values[0], values[1], values[3], values[4]],
                    [id, last.into(), size as u64, size as u64]
                );
                assert_eq!(values[5..], contexts.fields[2], "{FIELDS:?}");
            }
        }
        bench.finish();
    });
}

#[test]
fn hers_come_in_the_order_of_their_packets() {
    case(1, marked, |bench| {
        let mut ids = Vec::new();
        for number in 0..600_u64 {
            let mut packet = matched([64, 1500, 128, 129, 48][number as usize % 5], number);
            packet.bytes[44..48].copy_from_slice(&(number as u32).to_le_bytes());
            bench.send(packet);
        }
        while ids.len() < 600 {
            bench.cycle();
            ids.extend(bench.last_her.take().map(|item| item.values[0]));
        }
        assert_eq!(ids, (0..600).collect::<Vec<_>>());
    });
}

#[test]
fn packets_of_a_disabled_context_use_context_0() {
    run_test(1, |run| {
        let (mut bench, contexts) = with_contexts(run, [true, false, true, false]);
        for (ruleset, context) in [(0, 0), (1, 0), (2, 2), (3, 0)] {
            let values = her_of(&mut bench, ruleset).unwrap_or_default();
            assert_eq!(values[5..], contexts.fields[context], "ruleset {ruleset}");
        }
        bench.finish();
    });
}

#[test]
fn packets_without_context_are_dropped_and_block_nothing() {
    run_test(1, |run| {
        let (mut bench, contexts) = with_contexts(run, [false, false, true, false]);
        for ruleset in [0, 1, 3] {
            assert_eq!(her_of(&mut bench, ruleset), None, "ruleset {ruleset}");
        }
        let values = her_of(&mut bench, 2).unwrap_or_default();
        assert_eq!(values[5..], contexts.fields[2]);
        assert_eq!(bench.counters().drops[Cause::NoContext], 3);
        for number in 0..400 {
            bench.send(for_ruleset(number as u8 % 4, 64 + number as usize, number));
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.drops[Cause::NoContext]), (100, 300));
        bench.finish();
    });
}

#[test]
fn contexts_are_taken_only_while_they_are_valid() {
    run_test(1, |run| {
        let (mut bench, old) = with_contexts(run, [true; CONTEXTS]);
        let new = Contexts::random(&mut run.rng("new contexts"), [false, true, true, true]);
        bench.sim.set("her_gen_valid", false);
        bench.run(4);
        new.drive(bench.sim.dut.instance_mut());
        bench.run(4);
        for ruleset in 0..4 {
            let values = her_of(&mut bench, ruleset).unwrap_or_default();
            assert_eq!(values[5..], old.fields[usize::from(ruleset)], "ruleset {ruleset}");
        }
        bench.load_contexts(&new);
        assert_eq!(her_of(&mut bench, 0), None);
        for ruleset in 1..4 {
            let values = her_of(&mut bench, ruleset).unwrap_or_default();
            assert_eq!(values[5..], new.fields[usize::from(ruleset)], "ruleset {ruleset}");
        }
        bench.finish();
    });
}

#[test]
fn without_contexts_every_matched_packet_is_dropped() {
    case(1, unloaded, |bench| {
        bench.load_rules(Some(&four_rulesets()));
        for number in 0..20 {
            bench.send(for_ruleset(number as u8 % 4, 100, number));
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.drops[Cause::NoContext]), (0, 20));
    });
}

#[test]
fn rules_are_taken_only_while_they_are_valid() {
    run_test(1, |run| {
        let (mut bench, _) = with_contexts(run, [true; CONTEXTS]);
        bench.load_rules(None);
        bench.send(for_ruleset(1, 64, 1));
        let bypassed = Outcome {
            bypassed: 1,
            ..Outcome::default()
        };
        assert_eq!(bench.settle(), bypassed);
        bench.load_rules(Some(&four_rulesets()));
        assert!(her_of(&mut bench, 1).is_some());
        bench.finish();
    });
}

#[test]
fn a_her_waits_for_the_cluster_unchanged() {
    run_test(1, |run| {
        let (mut bench, contexts) = with_contexts(run, [true; CONTEXTS]);
        bench.her.set_pause(Pause::AlwaysAfter(0));
        bench.send(for_ruleset(1, 500, 3));
        bench.run(200);
        assert_eq!(bench.counters().hers, 0);
        // The HER at the port keeps its context, whatever software does; the channel's monitor looks.
        let other = Contexts::random(&mut run.rng("other contexts"), [false; CONTEXTS]);
        other.drive(bench.sim.dut.instance_mut());
        bench.run(50);
        bench.her.set_pause(Pause::Never);
        bench.settle();
        let values = bench.last_her.take().map(|item| item.values).unwrap_or_default();
        assert_eq!(values[5..], contexts.fields[1]);
        bench.finish();
    });
}

#[test]
fn without_rules_everything_is_unmatched() {
    case(1, unloaded, |bench| {
        for number in 0..50 {
            bench.send(matched(64 + number as usize, number));
        }
        assert_eq!(bench.settle().bypassed, 50);
    });
}

/// Alternating matched and unmatched packets of these sizes, until the matched side is stuck; unmatched ones must
/// go on at full rate, and everything must be delivered or counted once the stall is over.
fn passes_by<M: Model>(
    mut bench: IngressBench<M>,
    sizes: [usize; 2],
    recover: impl Fn(&mut IngressBench<M>),
) -> IngressBench<M> {
    bench.run(64);
    let stalls = bench.source.monitor().counts().stalls;
    let cycle = bench.sim.cycle_count();
    let mut beats = 0;
    for number in 0..3000 {
        let [first, second] = sizes;
        let packets = [
            bench.setup.matched(first, number),
            bench.setup.unmatched(second, number),
        ];
        for packet in packets {
            beats += packet.beats() as u64;
            bench.send(packet);
        }
    }
    while !bench.source.is_idle() {
        bench.cycle();
    }
    assert_eq!(bench.sim.cycle_count() - cycle, beats, "the input was held up");
    assert_eq!(bench.source.monitor().counts().stalls, stalls);
    // The matcher holds back what it has not decided.
    bench.run(32);
    assert_eq!(bench.nic.missing(), 0, "unmatched packets are stuck");
    recover(&mut bench);
    let outcome = bench.settle();
    assert_eq!((outcome.bypassed, outcome.matched), (3000, 3000));
    assert_eq!(outcome.hers + outcome.drops.sum(), 3000);
    bench
}

const SIZES: [[usize; 2]; 4] = [[64, 64], [60, 1500], [1500, 60], [1537, 128]];

fn pressed(slave: SlaveConfig, her: Pause, release: Release) -> Stimulus {
    Stimulus {
        uncongested: false,
        slave,
        her,
        release,
        ..Stimulus::default()
    }
}

#[test]
fn a_memory_that_takes_no_addresses_or_data_does_not_block_unmatched_frames() {
    run_test(1, |run| {
        let stuck = || Pause::AlwaysAfter(0);
        for (address, data) in [
            (stuck(), Pause::Never),
            (Pause::Never, stuck()),
            (stuck(), stuck()),
        ] {
            for sizes in SIZES {
                let slave = SlaveConfig {
                    address: address.clone(),
                    data: data.clone(),
                    ..SlaveConfig::default()
                };
                let bench = marked_with(run, pressed(slave, Pause::Never, Release::AtOnce));
                let bench = passes_by(bench, sizes, |bench| {
                    assert_eq!(bench.counters().hers, 0);
                    bench.slave.set_pauses(Pause::Never, Pause::Never);
                });
                let drops = bench.counters().drops;
                assert!(drops[Cause::Overload] > 2000, "{drops}");
                assert_eq!(drops[Cause::NoSlot], 0, "{drops}");
                bench.finish();
            }
        }
    });
}

#[test]
fn a_memory_that_answers_late_does_not_block_unmatched_frames() {
    run_test(1, |run| {
        for sizes in SIZES {
            let slave = SlaveConfig {
                latency: Latency::exactly(20_000),
                ..SlaveConfig::default()
            };
            let bench = marked_with(run, pressed(slave, Pause::Never, Release::AtOnce));
            let bench = passes_by(bench, sizes, |bench| bench.slave.set_latency(Latency::exactly(1)));
            let drops = bench.counters().drops;
            assert!(drops[Cause::Overload] > 0, "{drops}");
            bench.finish();
        }
    });
}

spinneret_tb::each_model! {
    [PspinIngressDatapath, PspinIngressDatapathW64]:
        1 a_cluster_that_takes_no_her_does_not_block_unmatched_frames;
}

fn a_cluster_that_takes_no_her_does_not_block_unmatched_frames<M: Model>(run: &mut TestRun) {
    for sizes in SIZES {
        let stimulus = pressed(SlaveConfig::default(), Pause::AlwaysAfter(0), Release::AtOnce);
        let bench: IngressBench<M> = any_marked_with(run, stimulus);
        let bench = passes_by(bench, sizes, |bench| {
            assert_eq!(bench.counters().hers, 0);
            bench.her.set_pause(Pause::Never);
        });
        bench.finish();
    }
}

#[test]
fn a_lack_of_slots_does_not_block_unmatched_frames() {
    run_test(1, |run| {
        for sizes in SIZES {
            let stimulus = pressed(SlaveConfig::default(), Pause::Never, Release::Never);
            let bench = passes_by(marked_with(run, stimulus), sizes, |_| {});
            let drops = bench.counters().drops;
            let [size, _] = sizes;
            // Packets that are too large give their slots back and never use them up.
            assert_eq!(drops[Cause::NoSlot] > 1500, size <= 1536, "{drops}");
            assert_eq!(drops[Cause::Overload], 0, "{drops}");
            bench.finish();
        }
    });
}
