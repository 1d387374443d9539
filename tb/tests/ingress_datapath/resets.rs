//! Resets at any time.

use crate::support::{Bench, marked, marked_with, matched, unmatched};
use spinneret_sim::prelude::*;
use spinneret_tb::ingress::{Behaviour, Cause, Class, Counters, Refusals, Release, load_mark, random_packet};

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
    run_test(1, |run| {
        let mut bench = marked(run);
        for (size, cycles) in [(64, 20), (1500, 60), (9600, 5), (16384, 100)] {
            let step = if size == 1500 { 5 } else { 3 };
            for cycle in (1..cycles).step_by(step) {
                for number in 0..3 {
                    bench.send(matched(size, number));
                }
                bench.run(cycle);
                bench.reset();
                works(&mut bench);
            }
        }
        bench.finish();
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
        let behaviour = Behaviour {
            slave,
            her: Pause::Random { percent: 50 },
            feedback: Pause::Random { percent: 50 },
            ..Behaviour::default()
        };
        let mut bench = marked_with(run, behaviour);
        for _ in 0..40 {
            bench.set_calm(false);
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
            bench.set_calm(true);
            bench.set_release(Release::AtOnce);
            bench.slave.set_faults(Faults::Never);
            works(&mut bench);
        }
        bench.finish();
    });
}

#[test]
fn a_reset_with_everything_stalled_and_all_slots_out_leaves_nothing_behind() {
    run_test(1, |run| {
        let mut bench = marked(run);
        for stall in 0..4 {
            bench.set_calm(false);
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
            bench.set_calm(true);
            bench.set_release(Release::AtOnce);
            works(&mut bench);
        }
        bench.finish();
    });
}

#[test]
fn before_the_slots_are_there_matched_packets_have_none() {
    run_test(1, |run| {
        let behaviour = Behaviour {
            calm: false,
            ..Behaviour::default()
        };
        let mut bench = Bench::closed(run.simulation(), behaviour);
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

#[test]
fn frees_before_the_slots_are_there_are_refused() {
    run_test(1, |run| {
        let mut bench = Bench::closed(run.simulation(), Behaviour::default());
        for class in Class::ALL {
            let slots = bench.setup.slots[class];
            for number in [0, 1, slots.count - 1] {
                bench.free_early(slots.address(number));
            }
        }
        bench.run(bench.setup.opening_cycles());
        load_mark(&mut bench);
        let refused = Refusals {
            early: 6,
            ..Refusals::default()
        };
        assert_eq!(bench.settle().refused, refused);
        // None of them is there twice.
        bench.set_calm(false);
        bench.set_release(Release::Never);
        for number in 0..1300 {
            bench.send(matched(100, number));
        }
        assert_eq!(bench.settle().hers, 1280);
        bench.finish();
    });
}
