//! Matched packets: in memory before their HER, with the right HER, in order.

use crate::support::{Bench, for_ruleset, four_rulesets, marked, marked_with, matched};
use spinneret_sim::axi::{Latency, SlaveConfig};
use spinneret_sim::model::Model;
use spinneret_sim::stream::Pause;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::ingress::{Behaviour, CONTEXTS, Cause, Class, Contexts, FIELDS, Outcome};

/// A path with rulesets for all contexts, of which these are enabled.
fn with_contexts(run: &mut TestRun, enabled: [bool; CONTEXTS]) -> (Bench, Contexts) {
    let mut bench = Bench::new(run.simulation(), Behaviour::default());
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
fn every_size_is_delivered_intact_with_its_exact_length() {
    run_test("every_size_is_delivered_intact_with_its_exact_length", 1, |run| {
        let pauses = |percent| Behaviour {
            input: Pause::Random { percent },
            slave: SlaveConfig {
                address: Pause::Random { percent: percent / 3 },
                data: Pause::Random { percent: percent / 3 },
                latency: Latency { least: 1, most: 20 },
                ..SlaveConfig::default()
            },
            ..Behaviour::default()
        };
        for behaviour in [Behaviour::default(), pauses(60)] {
            let mut bench = marked_with(run, behaviour);
            // A rule needs a whole word, so there is nothing to match in fewer bytes.
            for size in 4..=1536 {
                bench.send(matched(size, size as u64));
            }
            assert_eq!(bench.settle().hers, 1533);
            bench.finish();
        }
    });
}

#[test]
fn a_her_carries_message_id_end_of_message_length_and_context() {
    run_test(
        "a_her_carries_message_id_end_of_message_length_and_context",
        1,
        |run| {
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
        },
    );
}

#[test]
fn hers_come_in_the_order_of_their_packets() {
    run_test("hers_come_in_the_order_of_their_packets", 1, |run| {
        let mut bench = marked(run);
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
        bench.finish();
    });
}

#[test]
fn packets_of_a_disabled_context_use_context_0() {
    run_test("packets_of_a_disabled_context_use_context_0", 1, |run| {
        let (mut bench, contexts) = with_contexts(run, [true, false, true, false]);
        for (ruleset, context) in [(0, 0), (1, 0), (2, 2), (3, 0)] {
            let values = her_of(&mut bench, ruleset).unwrap_or_default();
            assert_eq!(values[5..], contexts.fields[context], "ruleset {ruleset}");
        }
        bench.finish();
    });
}

#[test]
fn packets_without_context_are_dropped_and_block_nobody() {
    run_test("packets_without_context_are_dropped_and_block_nobody", 1, |run| {
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
    run_test("contexts_are_taken_only_while_they_are_valid", 1, |run| {
        let (mut bench, old) = with_contexts(run, [true; CONTEXTS]);
        let new = Contexts::random(&mut run.rng("new contexts"), [false, true, true, true]);
        bench.drive("her_gen_valid", false);
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
    run_test("without_contexts_every_matched_packet_is_dropped", 1, |run| {
        let mut bench = Bench::new(run.simulation(), Behaviour::default());
        bench.load_rules(Some(&four_rulesets()));
        for number in 0..20 {
            bench.send(for_ruleset(number as u8 % 4, 100, number));
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.drops[Cause::NoContext]), (0, 20));
        bench.finish();
    });
}

#[test]
fn rules_are_taken_only_while_they_are_valid() {
    run_test("rules_are_taken_only_while_they_are_valid", 1, |run| {
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
    run_test("a_her_waits_for_the_cluster_unchanged", 1, |run| {
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
