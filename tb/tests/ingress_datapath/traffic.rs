//! Throughput, the configuration for boards, and random traffic.

use crate::{Bench, marked, marked_with, matched, unmatched};
use spinneret_models::{
    PspinIngressDatapath, PspinIngressDatapathBoard, PspinIngressDatapathLean, PspinIngressDatapathSmall,
    PspinIngressDatapathStall, PspinIngressDatapathW64, PspinIngressDatapathW128, PspinIngressDatapathW256,
};
use spinneret_packets::reference::matcher::RuleTable;
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MatcherParams, Ruleset};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::ingress::{
    CONTEXTS, Cause, Class, Contexts, Counters, IngressBench, Load, Refusals, Release, Setup, Stimulus,
    Totals, load_mark, measure, random_packet, run_round, stimuli,
};
use spinneret_tb::ip_frames::Headers;

spinneret_tb::each_model! {
    [PspinIngressDatapath, PspinIngressDatapathBoard, PspinIngressDatapathW64, PspinIngressDatapathW128,
     PspinIngressDatapathW256, PspinIngressDatapathLean]:
        1 carries_one_beat_a_clock_whatever_the_response_latency,
        1 a_her_comes_as_soon_as_promised;
    [PspinIngressDatapathW64, PspinIngressDatapathW128, PspinIngressDatapathW256, PspinIngressDatapathLean]:
        8 random_packets_of_narrow_beats_are_delivered_or_dropped_for_their_own_cause,
        9 random_packets_of_narrow_beats_under_pressure_are_delivered_or_counted;
}

/// Bytes of a frame.
const SIZES: [usize; 9] = [64, 65, 128, 256, 512, 1024, 1500, 1514, 1518];

/// One beat a clock, whatever the latency of responses.
fn carries_one_beat_a_clock_whatever_the_response_latency<M: Model>(run: &mut TestRun) {
    for response in [1, 10, 30] {
        let mut bench = spinneret_tb::ingress::marked(run.simulation::<M>(), response);
        for size in SIZES {
            let beats = size.div_ceil(bench.setup.beat_bytes);
            for load in Load::ALL {
                let path = measure(&mut bench, size, load);
                assert!(
                    path.per_packet <= beats as f64,
                    "{} with {size} bytes, {}, responses after {response}: {} cycles",
                    M::NAME,
                    load.name(),
                    path.per_packet
                );
            }
        }
        bench.finish();
    }
}

/// From the first beat to its HER as many cycles as the contract says.
fn a_her_comes_as_soon_as_promised<M: Model>(run: &mut TestRun) {
    let mut bench = spinneret_tb::ingress::marked(run.simulation::<M>(), 1);
    for size in SIZES {
        let latency = measure(&mut bench, size, Load::Matched).latency;
        let promised = bench.setup.her_cycles(size);
        assert_eq!(latency, promised, "{} with {size} bytes", M::NAME);
    }
    bench.finish();
}

/// Bytes of the IP payload that the tests look at: UDP ports, and the message id of SLMP.
const UDP_PORT: u32 = 0x1234;
const MESSAGE_ID: u32 = 0x8765_43a6;

/// Ruleset 1 matches packets by their UDP destination port, wherever that is.
fn by_udp_port() -> RuleTable {
    let rule = Rule {
        relative: true,
        ..Rule::equal(0, 0xffff, UDP_PORT)
    };
    let set = Ruleset {
        join: Join::And,
        rules: vec![rule],
        end_of_message: Rule::NEVER,
    };
    let table = RuleTable::new(&MatcherParams::BOARD, vec![Ruleset::never(), set]);
    table.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_udp_port_matches_behind_any_ip_header_and_the_message_id_follows_it() {
    run_test(1, |run| {
        let stimulus = Stimulus::default();
        let mut bench = IngressBench::<PspinIngressDatapathBoard>::new(run.simulation(), stimulus);
        bench.load_rules(Some(&by_udp_port()));
        let contexts = Contexts::random(&mut run.rng("contexts"), [true; CONTEXTS]);
        bench.load_contexts(&contexts);
        for headers in Headers::all() {
            for (port, matches) in [(UDP_PORT, true), (UDP_PORT + 1, false)] {
                let start = headers.bytes();
                let mut packet = bench.setup.unmatched(start + 200, 1);
                headers.write(&mut packet.bytes);
                let payload = &mut packet.bytes[start..];
                payload[2..4].copy_from_slice(&(port as u16).to_be_bytes());
                payload[10..14].copy_from_slice(&MESSAGE_ID.to_le_bytes());
                bench.send(packet);
                let outcome = bench.settle();
                assert_eq!(
                    (outcome.hers, outcome.bypassed),
                    (matches.into(), (!matches).into())
                );
            }
            // Eight bits of the message id, with the context above the lowest two.
            let values = bench.last_her.take().map(|item| item.values).unwrap_or_default();
            assert_eq!(values[0], 0x29 << 4 | 1 << 2 | 2, "{headers:?}");
            assert_eq!(values[5..], contexts.fields[1], "{headers:?}");
        }
        bench.finish();
    });
}

/// Packets of all tests of the reference configuration.
const PACKETS: u64 = 20_000;
/// Packets of all tests of each of the others.
const PACKETS_OF_OTHERS: u64 = 12_000;

/// Causes for which packets with a slot are dropped.
const THEIR_OWN: [Cause; 4] = [
    Cause::WriteError,
    Cause::BadFrame,
    Cause::Oversize,
    Cause::NoContext,
];

/// Random packets under the selected stimuli, split evenly.
fn random_packets<M: Model>(run: &mut TestRun, packets: u64, wanted: impl Fn(&Stimulus) -> bool) -> Totals {
    let all = stimuli(&Setup::of::<M>());
    let share = packets.div_ceil(all.len() as u64);
    let mut totals = Totals::default();
    for (index, (_, stimulus)) in all.into_iter().enumerate() {
        if wanted(&stimulus) {
            let mut sim = run.simulation::<M>();
            sim.set_seed(Seed(run.seed().0.wrapping_add(index as u64)));
            totals += run_round(sim, stimulus, share);
        }
    }
    let packets = totals.packets();
    assert!(
        totals.bypassed > packets / 10 && totals.delivered > packets / 10,
        "{totals}"
    );
    assert!(totals.refused > 0, "{totals}");
    totals
}

/// Every one of these causes happened, and no other but bounds, which happen if the path has them.
fn assert_causes<M: Model>(totals: &Totals, causes: &[Cause]) {
    for cause in Cause::ALL {
        let wanted = match cause {
            Cause::Bound => Setup::of::<M>().slot_bounds,
            cause => causes.contains(&cause),
        };
        assert_eq!(totals.drops[cause] > 0, wanted, "{cause:?}: {totals}");
    }
}

fn random_packets_of_narrow_beats_are_delivered_or_dropped_for_their_own_cause<M: Model>(run: &mut TestRun) {
    let totals = random_packets::<M>(run, PACKETS_OF_OTHERS, |stimulus| stimulus.uncongested);
    assert_causes::<M>(&totals, &THEIR_OWN);
}

fn random_packets_of_narrow_beats_under_pressure_are_delivered_or_counted<M: Model>(run: &mut TestRun) {
    let totals = random_packets::<M>(run, PACKETS_OF_OTHERS, |stimulus| !stimulus.uncongested);
    assert_causes::<M>(&totals, &Cause::ALL);
}

#[test]
fn random_packets_with_room_are_delivered_or_dropped_for_their_own_cause() {
    run_test(1, |run| {
        let totals = random_packets::<PspinIngressDatapath>(run, PACKETS, |stimulus| stimulus.uncongested);
        assert_causes::<PspinIngressDatapath>(&totals, &THEIR_OWN);
    });
}

#[test]
fn random_packets_under_pressure_are_delivered_or_counted() {
    run_test(2, |run| {
        let totals = random_packets::<PspinIngressDatapath>(run, PACKETS, |stimulus| !stimulus.uncongested);
        assert_causes::<PspinIngressDatapath>(&totals, &Cause::ALL);
    });
}

#[test]
fn few_slots_and_small_queues_are_enough_for_few_packets() {
    run_test(3, |run| {
        let uncongested = |stimulus: &Stimulus| stimulus.uncongested;
        let totals = random_packets::<PspinIngressDatapathSmall>(run, PACKETS_OF_OTHERS, uncongested);
        assert_causes::<PspinIngressDatapathSmall>(&totals, &THEIR_OWN);
    });
}

#[test]
fn few_slots_and_small_queues_under_pressure_lose_nothing_silently() {
    run_test(4, |run| {
        let pressed = |stimulus: &Stimulus| !stimulus.uncongested;
        let totals = random_packets::<PspinIngressDatapathSmall>(run, PACKETS_OF_OTHERS, pressed);
        assert_causes::<PspinIngressDatapathSmall>(&totals, &Cause::ALL);
    });
}

#[test]
fn a_path_that_waits_drops_nothing_for_lack_of_room_or_slots() {
    run_test(5, |run| {
        let totals = random_packets::<PspinIngressDatapathStall>(run, PACKETS_OF_OTHERS, |_| true);
        assert_causes::<PspinIngressDatapathStall>(&totals, &THEIR_OWN);
    });
}

#[test]
fn rules_relative_to_the_ip_payload_decide_with_room() {
    run_test(6, |run| {
        let uncongested = |stimulus: &Stimulus| stimulus.uncongested;
        let totals = random_packets::<PspinIngressDatapathBoard>(run, PACKETS_OF_OTHERS, uncongested);
        assert_causes::<PspinIngressDatapathBoard>(&totals, &THEIR_OWN);
    });
}

#[test]
fn rules_relative_to_the_ip_payload_decide_under_pressure() {
    run_test(7, |run| {
        let pressed = |stimulus: &Stimulus| !stimulus.uncongested;
        let totals = random_packets::<PspinIngressDatapathBoard>(run, PACKETS_OF_OTHERS, pressed);
        // The queue of boards is longer than a round of these packets, so that there is room for all of them.
        let causes = Cause::ALL.into_iter().filter(|cause| *cause != Cause::Overload);
        assert_causes::<PspinIngressDatapathBoard>(&totals, &causes.collect::<Vec<_>>());
    });
}

/// Sound packets of all kinds go through a path that has just been reset.
fn works(bench: &mut Bench) {
    assert_eq!(bench.counters(), Counters::default());
    bench.run(bench.setup.opening_cycles());
    for number in 0..12 {
        bench.send(matched([64, 128, 1500][number as usize % 3], number));
        bench.send(unmatched(200, number));
    }
    let outcome = bench.settle();
    assert_eq!((outcome.hers, outcome.bypassed, outcome.drops.sum()), (12, 12, 0));
}

#[test]
fn a_reset_in_every_cycle_of_a_frame_leaves_nothing_behind() {
    case(1, marked, |bench| {
        for (size, cycles) in [(64, 20), (1500, 60), (9600, 5), (16384, 100)] {
            let step = if size == 1500 { 5 } else { 3 };
            for cycle in (1..cycles).step_by(step) {
                for number in 0..3 {
                    bench.send(matched(size, number));
                }
                bench.run(cycle);
                bench.reset();
                works(bench);
            }
        }
    });
}

#[test]
fn resets_in_random_traffic_leave_nothing_behind() {
    run_test(1, |run| {
        let mut rng = run.rng("resets");
        let slave = SlaveConfig {
            address: Pause::Random { percent: 30 },
            data: Pause::Random { percent: 30 },
            latency: Latency { least: 1, most: 40 },
            ..SlaveConfig::default()
        };
        let stimulus = Stimulus {
            slave,
            her: Pause::Random { percent: 50 },
            feedback: Pause::Random { percent: 50 },
            ..Stimulus::default()
        };
        let mut bench = marked_with(run, stimulus);
        for _ in 0..40 {
            bench.set_uncongested(false);
            bench.set_release(Release::Random {
                percent: 20,
                most: 50,
            });
            bench.slave.set_faults(Faults::Random { percent: 10 });
            for number in 0..60 {
                let mut packet = random_packet(&mut rng, &bench.setup);
                if number % 2 == 0 {
                    packet.bytes[0] = 0xff;
                }
                bench.send(packet);
            }
            bench.run(rng.random_range(1..400));
            bench.reset();
            bench.set_uncongested(true);
            bench.set_release(Release::AtOnce);
            bench.slave.set_faults(Faults::Never);
            works(&mut bench);
        }
        bench.finish();
    });
}

#[test]
fn a_reset_with_everything_stalled_and_all_slots_out_leaves_nothing_behind() {
    case(1, marked, |bench| {
        for stall in 0..4 {
            bench.set_uncongested(false);
            bench.set_release(Release::Never);
            match stall {
                0 => bench.her.set_pause(Pause::AlwaysAfter(0)),
                1 => bench.slave.set_pauses(Pause::AlwaysAfter(0), Pause::Never),
                2 => bench.slave.set_pauses(Pause::Never, Pause::AlwaysAfter(0)),
                _ => bench.nic.set_pause(Pause::AlwaysAfter(0)),
            }
            for number in 0..1500 {
                bench.send(matched([64, 1500][number as usize % 2], number));
                bench.send(unmatched(64, number));
            }
            bench.run(3000);
            bench.reset();
            bench.her.set_pause(Pause::Never);
            bench.nic.set_pause(Pause::Never);
            bench.slave.set_pauses(Pause::Never, Pause::Never);
            bench.set_uncongested(true);
            bench.set_release(Release::AtOnce);
            works(bench);
        }
    });
}

#[test]
fn before_the_slots_are_there_matched_packets_have_none() {
    run_test(1, |run| {
        let stimulus = Stimulus {
            uncongested: false,
            ..Stimulus::default()
        };
        let mut bench = Bench::closed(run.simulation(), stimulus);
        load_mark(&mut bench);
        for number in 0..50 {
            bench.send(matched([64, 1500][number as usize % 2], number));
            bench.send(unmatched(100, number));
        }
        let outcome = bench.settle();
        assert_eq!((outcome.bypassed, outcome.drops[Cause::NoSlot]), (50, 50));
        // A packet every few cycles; the first that is delivered says when the slots are there.
        let start = bench.sim.cycle_count();
        assert!(start < 950, "too late to see anything: cycle {start}");
        while bench.last_her.is_none() {
            assert!(bench.sim.cycle_count() < 1200, "{:?}", bench.counters());
            bench.send(matched(64, 1));
            bench.run(4);
        }
        let first = bench.last_her.as_ref().map_or(0, |item| item.cycle);
        assert!((1024..1060).contains(&first), "cycle {first}");
        bench.finish();
    });
}

fn just_reset(run: &mut TestRun) -> Bench {
    Bench::closed(run.simulation(), Stimulus::default())
}

#[test]
fn frees_before_the_slots_are_there_are_refused() {
    case(1, just_reset, |bench| {
        for class in Class::ALL {
            let slots = bench.setup.slots[class];
            for number in [0, 1, slots.count - 1] {
                bench.free_early(slots.address(number));
            }
        }
        bench.run(bench.setup.opening_cycles());
        load_mark(bench);
        let refused = Refusals {
            early: 6,
            ..Refusals::default()
        };
        assert_eq!(bench.settle().refused, refused);
        // None of them is there twice.
        bench.set_uncongested(false);
        bench.set_release(Release::Never);
        for number in 0..1300 {
            bench.send(matched(100, number));
        }
        assert_eq!(bench.settle().hers, 1280);
    });
}
