//! Slots: which a packet gets, and how they come back.

use crate::support::{marked, marked_with, marked_without_frees, matched};
use spinneret_models::PspinIngressDatapath;
use spinneret_sim::prelude::*;
use spinneret_tb::ingress::{Behaviour, Cause, Class, Occupancy, Release, Setup, Slot, SlotMap};

#[test]
fn small_packets_take_large_slots_when_there_are_no_small_ones() {
    run_test(1, |run| {
        let mut bench = marked_without_frees(run);
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
        bench.set_calm(true);
        for number in 0..2000 {
            bench.send(matched([64, 1500][number as usize % 2], number));
        }
        assert_eq!(bench.settle().hers, 2000);
        bench.finish();
    });
}

#[test]
fn large_packets_never_take_small_slots() {
    run_test(1, |run| {
        let mut bench = marked_without_frees(run);
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
        bench.finish();
    });
}

#[test]
fn slots_come_back_in_any_order() {
    run_test(1, |run| {
        let mut bench = marked_with(
            run,
            Behaviour {
                release: Release::Random {
                    percent: 70,
                    most: 100,
                },
                ..Behaviour::default()
            },
        );
        for number in 0..4000 {
            bench.send(matched([64, 256, 1500, 128][number as usize % 4], number));
        }
        assert_eq!(bench.settle().hers, 4000);
        bench.finish();
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
        let behaviour = Behaviour {
            slave,
            ..Behaviour::default()
        };
        let mut bench = marked_with(run, behaviour);
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
    run_test(1, |run| {
        let mut bench = marked(run);
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
        bench.finish();
    });
}

#[test]
fn a_slot_whose_packet_failed_is_not_the_clusters_when_it_is_given_out_again() {
    run_test(1, |run| {
        let mut bench = marked_without_frees(run);
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
        bench.finish();
    });
}

/// The slots of the reference configuration.
fn bench_slots() -> SlotMap {
    Setup::of::<PspinIngressDatapath>().slots
}

#[test]
fn a_slot_is_given_out_once_while_the_cluster_has_it() {
    run_test(1, |run| {
        let mut bench = marked_without_frees(run);
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
        bench.finish();
    });
}
