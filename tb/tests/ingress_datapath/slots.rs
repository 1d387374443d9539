//! Slots: which a packet gets, and how they come back.

use crate::{
    any_marked_with, for_ruleset, marked, marked_with, marked_without_frees, matched, one, rulesets,
    without_frees,
};
use spinneret_models::{PspinIngressDatapath, PspinIngressDatapathBoard, PspinIngressDatapathSmall};
use spinneret_packets::reference::matcher::RuleTable;
use spinneret_rules::MatcherParams;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::ingress::{
    CONTEXTS, Cause, Class, Contexts, IngressBench, Occupancy, Release, Setup, Slot, SlotMap, Stimulus,
};

#[test]
fn small_packets_take_large_slots_when_there_are_no_small_ones() {
    case(1, marked_without_frees, |bench| {
        for number in 0..1024 {
            bench.send(matched(128, number));
        }
        bench.settle();
        let counters = bench.counters();
        assert_eq!((counters.small.used, counters.large.used), (1024, 0));
        for number in 0..300 {
            bench.send(matched(64, number));
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.drops[Cause::NoSlot]), (256, 44));
        let full = |count| Occupancy {
            used: count,
            peak: count,
        };
        let counters = bench.counters();
        assert_eq!((counters.small, counters.large), (full(1024), full(256)));
        // All slots serve again once they are freed.
        bench.free_all();
        let counters = bench.counters();
        assert_eq!((counters.small.peak, counters.large.peak), (1024, 256));
        bench.set_release(Release::AtOnce);
        bench.set_uncongested(true);
        for number in 0..2000 {
            bench.send(matched([64, 1500][number as usize % 2], number));
        }
        assert_eq!(bench.settle().hers, 2000);
    });
}

#[test]
fn large_packets_never_take_small_slots() {
    case(1, marked_without_frees, |bench| {
        for number in 0..300 {
            bench.send(matched(129, number));
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.drops[Cause::NoSlot]), (256, 44));
        // A lack of large slots is nothing to small packets.
        for number in 0..1024 {
            bench.send(matched(100, number));
        }
        assert_eq!(bench.settle().hers, 1024);
    });
}

fn freed_at_random(run: &mut TestRun) -> IngressBench<PspinIngressDatapath> {
    let (percent, most) = (70, 100);
    let release = Release::Random { percent, most };
    marked_with(
        run,
        Stimulus {
            release,
            ..Stimulus::default()
        },
    )
}

#[test]
fn slots_come_back_in_any_order() {
    case(1, freed_at_random, |bench| {
        for number in 0..4000 {
            bench.send(matched([64, 256, 1500, 128][number as usize % 4], number));
        }
        assert_eq!(bench.settle().hers, 4000);
    });
}

#[test]
fn the_cluster_cannot_free_what_is_still_on_its_way_to_it() {
    run_test(1, |run| {
        // Responses take so long that both packets are in the write engine while their slots are freed.
        let slave = SlaveConfig {
            latency: Latency::exactly(300),
            ..SlaveConfig::default()
        };
        let stimulus = Stimulus {
            slave,
            ..Stimulus::default()
        };
        let mut bench = marked_with(run, stimulus);
        let first = |class| Slot {
            class,
            address: bench_slots()[class].address(0),
        };
        bench.send(matched(64, 1));
        bench.send(matched(1500, 2));
        bench.run(80);
        for class in [Class::Small, Class::Large, Class::Small, Class::Large] {
            bench.free_again(first(class));
        }
        bench.run(60);
        let counters = bench.counters();
        assert_eq!((counters.small.used, counters.large.used), (1, 1));
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.refused.not_out), (2, 4));
        bench.finish();
    });
}

#[test]
fn the_cluster_cannot_free_what_waits_for_it() {
    case(1, marked, |bench| {
        bench.her.set_pause(Pause::AlwaysAfter(0));
        for number in 0..20 {
            bench.send(matched(100, number));
        }
        bench.run(200);
        for number in 0..20 {
            let class = Class::Small;
            let address = bench_slots()[class].address(number);
            bench.free_again(Slot { class, address });
        }
        bench.run(60);
        assert_eq!(bench.counters().small.used, 20);
        // From the HER on the slots are the cluster's, which frees them at once.
        bench.her.set_pause(Pause::Never);
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.refused.not_out), (20, 20));
    });
}

#[test]
fn a_slot_whose_packet_failed_is_not_the_clusters_when_it_is_given_out_again() {
    case(1, marked_without_frees, |bench| {
        // The cluster keeps all small slots but the first, so that all that follows goes there.
        for number in 0..1024 {
            bench.send(matched(64, number));
        }
        bench.settle();
        assert!(bench.free_one(Class::Small));
        bench.settle();
        let slot = Slot {
            class: Class::Small,
            address: bench_slots()[Class::Small].address(0),
        };
        let all = slot.address..=slot.address + 127;
        bench
            .slave
            .set_faults(Faults::At(vec![(all, Response::SlaveError)]));
        bench.send(matched(64, 1));
        assert_eq!(bench.settle().drops[Cause::WriteError], 1);
        // Its next packet waits for the cluster, which frees the slot too early.
        bench.slave.set_faults(Faults::Never);
        bench.her.set_pause(Pause::AlwaysAfter(0));
        bench.send(matched(64, 2));
        bench.run(60);
        bench.free_again(slot);
        bench.run(60);
        bench.her.set_pause(Pause::Never);
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.refused.not_out), (1, 1));
        assert_eq!(
            bench.last_her.take().map(|item| item.values[2]),
            Some(slot.address)
        );
    });
}

/// The slots of the reference configuration.
fn bench_slots() -> SlotMap {
    Setup::of::<PspinIngressDatapath>().slots
}

#[test]
fn a_slot_is_given_out_once_while_the_cluster_has_it() {
    case(1, marked_without_frees, |bench| {
        let mut seen = Vec::new();
        for number in 0..1300 {
            bench.send(matched([64, 200][usize::from(number % 5 == 0)], number));
        }
        while !bench.source.is_idle() || bench.held() < 1280 {
            bench.cycle();
            seen.extend(bench.last_her.take().map(|item| item.values[2]));
        }
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!((count, seen.len()), (1280, 1280));
    });
}

type Bench = IngressBench<PspinIngressDatapathSmall>;

/// A path whose packets may lack room or a slot; the cluster frees slots at once.
fn pressed(run: &mut TestRun, stimulus: Stimulus) -> Bench {
    any_marked_with(
        run,
        Stimulus {
            uncongested: false,
            ..stimulus
        },
    )
}

/// A memory whose responses come so late that none does while the test looks.
fn late() -> Stimulus {
    Stimulus {
        slave: SlaveConfig {
            latency: Latency::exactly(40_000),
            ..SlaveConfig::default()
        },
        ..Stimulus::default()
    }
}

/// Sends everything and waits until the path has seen it.
fn pass_all(bench: &mut Bench) {
    while !bench.source.is_idle() {
        bench.cycle();
    }
    bench.run(64);
}

#[test]
fn as_many_packets_as_it_has_places_for_are_under_way() {
    run_test(1, |run| {
        // Both sides of the queue of beats: with a beat each it is nearly empty, with many it is not full.
        for size in [16, 190] {
            let mut bench = pressed(run, late());
            let (setup, sent) = (bench.setup, 40);
            for number in 0..sent {
                bench.send(setup.matched(size, number));
            }
            pass_all(&mut bench);
            let dropped = bench.counters().drops[Cause::Overload];
            assert_eq!(dropped, sent - setup.packets, "{size} bytes");
            bench.slave.set_latency(Latency::exactly(1));
            let outcome = bench.settle();
            assert_eq!((outcome.hers, outcome.drops.sum()), (setup.packets, dropped));
            bench.finish();
        }
    });
}

#[test]
fn a_frame_is_let_in_only_if_the_longest_would_find_room() {
    run_test(1, |run| {
        let stuck = Stimulus {
            slave: SlaveConfig {
                address: Pause::AlwaysAfter(0),
                data: Pause::AlwaysAfter(0),
                ..SlaveConfig::default()
            },
            ..Stimulus::default()
        };
        let mut bench = pressed(run, stuck);
        let setup = bench.setup;
        let large = setup.slots[Class::Large].bytes as usize;
        // The first takes more than half of the queue, so that a second of that size could not follow.
        bench.send(setup.matched(large, 1));
        bench.send(setup.matched(large, 2));
        bench.send(setup.matched(64, 3));
        pass_all(&mut bench);
        assert_eq!(bench.counters().drops[Cause::Overload], 2);
        bench.slave.set_pauses(Pause::Never, Pause::Never);
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.drops[Cause::Overload]), (1, 2));
        bench.send_with_slot(setup.matched(large, 4));
        assert_eq!(bench.settle().hers, 1);
        bench.finish();
    });
}

fn small_without_frees(run: &mut TestRun) -> IngressBench<PspinIngressDatapathSmall> {
    any_marked_with(run, without_frees())
}

#[test]
fn packets_that_lack_a_slot_are_counted_and_the_others_delivered() {
    case(1, small_without_frees, |bench| {
        let setup = bench.setup;
        let (small, large) = (setup.slots[Class::Small], setup.slots[Class::Large]);
        for number in 0..2 * large.count {
            bench.send(setup.matched(small.bytes as usize + 1, number));
            bench.run(100);
        }
        let outcome = bench.settle();
        assert_eq!(
            (outcome.hers, outcome.drops[Cause::NoSlot]),
            (large.count, large.count)
        );
        // A lack of large slots is nothing to small packets.
        for number in 0..2 * small.count {
            bench.send(setup.matched(small.bytes as usize, number));
            bench.run(100);
        }
        let outcome = bench.settle();
        assert_eq!(
            (outcome.hers, outcome.drops[Cause::NoSlot]),
            (small.count, small.count)
        );
    });
}

/// Alternating matched and unmatched packets while the matched side is stuck; unmatched ones must go on at full rate.
fn passes_by(mut bench: Bench, recover: impl Fn(&mut Bench)) {
    bench.run(64);
    let (setup, cycle) = (bench.setup, bench.sim.cycle_count());
    let mut beats = 0;
    for number in 0..300 {
        let sizes = [[16, 16], [60, 1500], [1500, 60], [9700, 128]][number as usize % 4];
        for packet in [setup.matched(sizes[0], number), setup.unmatched(sizes[1], number)] {
            beats += packet.beats() as u64;
            bench.send(packet);
        }
    }
    while !bench.source.is_idle() {
        bench.cycle();
    }
    assert_eq!(bench.sim.cycle_count() - cycle, beats, "the input was held up");
    bench.run(64);
    assert_eq!(bench.nic.missing(), 0, "unmatched packets are stuck");
    recover(&mut bench);
    let outcome = bench.settle();
    assert_eq!((outcome.bypassed, outcome.hers + outcome.drops.sum()), (300, 300));
    bench.finish();
}

#[test]
fn nothing_behind_the_matching_engine_blocks_unmatched_frames() {
    run_test(1, |run| {
        let stuck = || Pause::AlwaysAfter(0);
        passes_by(pressed(run, late()), |bench| {
            bench.slave.set_latency(Latency::exactly(1));
        });
        let cluster = Stimulus {
            her: stuck(),
            ..Stimulus::default()
        };
        passes_by(pressed(run, cluster), |bench| bench.her.set_pause(Pause::Never));
        for (address, data) in [(stuck(), Pause::Never), (Pause::Never, stuck())] {
            let slave = SlaveConfig {
                address,
                data,
                ..SlaveConfig::default()
            };
            let memory = Stimulus {
                slave,
                ..Stimulus::default()
            };
            passes_by(pressed(run, memory), |bench| {
                bench.slave.set_pauses(Pause::Never, Pause::Never);
            });
        }
        passes_by(any_marked_with(run, without_frees()), |_| {});
    });
}

/// A path with bounds, whose cluster frees no slot: ruleset n is of context n.
fn bounded(run: &mut TestRun) -> IngressBench<PspinIngressDatapathBoard> {
    let mut bench = IngressBench::new(run.simulation(), without_frees());
    let rulesets = RuleTable::new(&MatcherParams::BOARD, rulesets());
    bench.load_rules(Some(&rulesets.unwrap_or_else(|error| panic!("{error}"))));
    bench.load_contexts(&Contexts::random(&mut run.rng("contexts"), [true; CONTEXTS]));
    bench
}

#[test]
fn a_context_at_its_bound_loses_its_own_packets_only() {
    case(1, bounded, |bench| {
        bench.bound_slots([0, 5, 1, 0]);
        for number in 0..400 {
            let context = number as u8 % 4;
            bench.send(for_ruleset(
                context,
                [64, 1500][usize::from(context == 1)],
                number,
            ));
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.drops[Cause::Bound]), (206, 194));
        let dropped = bench.sim.dut.get("dropped_bound_o").expect("the path has bounds");
        assert_eq!(dropped.to_u32_digits(), [0, 95, 99]);
        assert_eq!(
            [0, 1, 2, 3].map(|context| bench.slots_of(context)),
            [100, 5, 1, 100]
        );
        // The slots of dropped packets are free again.
        let counters = bench.counters();
        assert_eq!((counters.small.used, counters.large.used), (201, 5));
    });
}

#[test]
fn each_slot_that_comes_back_serves_a_packet_of_its_context() {
    case(1, bounded, |bench| {
        bench.bound_slots([0, 3, 0, 0]);
        // Of context 1 the cluster has large slots, of context 2 small ones.
        for number in 0..10 {
            bench.send(for_ruleset(1, 1500, number));
            bench.send(for_ruleset(2, 64, number));
        }
        assert_eq!(bench.settle().hers, 13);
        // A slot of another context is none of context 1.
        for (class, hers) in [(Class::Small, 0), (Class::Large, 1)] {
            assert!(bench.free_one(class));
            bench.settle();
            for number in 0..4 {
                bench.send(for_ruleset(1, 1500, number));
            }
            assert_eq!(bench.settle().hers, hers);
        }
        // Frees that are refused give nothing back.
        let slot = bench_slots()[Class::Large].address(200);
        bench.free_foreign(slot + 64);
        bench.free_again(Slot {
            class: Class::Large,
            address: slot,
        });
        bench.settle();
        bench.send(for_ruleset(1, 1500, 0));
        assert_eq!(bench.settle().drops, one(Cause::Bound));
    });
}

#[test]
fn a_bound_below_the_slots_in_use_takes_none_away() {
    case(1, bounded, |bench| {
        for number in 0..8 {
            bench.send(for_ruleset(3, 64, number));
        }
        bench.settle();
        bench.bound_slots([0, 0, 0, 2]);
        for (freed, hers) in [(0, 0), (6, 0), (1, 1)] {
            (0..freed).for_each(|_| assert!(bench.free_one(Class::Small)));
            bench.settle();
            bench.send(for_ruleset(3, 64, 0));
            assert_eq!(bench.settle().hers, hers, "{freed} freed");
        }
        bench.bound_slots([0; CONTEXTS]);
        bench.send(for_ruleset(3, 64, 0));
        assert_eq!(bench.settle().hers, 1);
    });
}

#[test]
fn packets_of_disabled_contexts_count_for_the_one_that_serves_them() {
    case(1, bounded, |bench| {
        let only_first = [true, false, false, false];
        bench.load_contexts(&Contexts::random(&mut bench.sim.rng("contexts"), only_first));
        bench.bound_slots([4, 0, 0, 0]);
        for number in 0..12 {
            bench.send(for_ruleset(number as u8 % 4, 64, number));
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.drops[Cause::Bound]), (4, 8));
    });
}

#[test]
fn a_reset_forgets_the_slots_of_contexts() {
    case(1, bounded, |bench| {
        bench.bound_slots([0, 2, 0, 0]);
        for _ in 0..2 {
            for number in 0..3 {
                bench.send(for_ruleset(1, 64, number));
            }
            assert_eq!(bench.settle().hers, 2);
            bench.reset();
            bench.run(bench.setup.opening_cycles());
        }
    });
}
