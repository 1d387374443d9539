//! The path with few slots and small queues: narrow beats, jumbo slots, few packets under way.

use crate::support::{any_marked_with, without_frees};
use spinneret_models::PspinIngressDatapathSmall;
use spinneret_sim::prelude::*;
use spinneret_tb::ingress::{Behaviour, Cause, Class, IngressBench};

type Bench = IngressBench<PspinIngressDatapathSmall>;

/// A path whose packets may lack room or a slot; the cluster frees slots at once.
fn pressed(run: &mut TestRun, behaviour: Behaviour) -> Bench {
    any_marked_with(
        run,
        Behaviour {
            calm: false,
            ..behaviour
        },
    )
}

/// A memory whose responses come so late that none does while the test looks.
fn late() -> Behaviour {
    Behaviour {
        slave: SlaveConfig {
            latency: Latency::exactly(40_000),
            ..SlaveConfig::default()
        },
        ..Behaviour::default()
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
        let stuck = Behaviour {
            slave: SlaveConfig {
                address: Pause::AlwaysAfter(0),
                data: Pause::AlwaysAfter(0),
                ..SlaveConfig::default()
            },
            ..Behaviour::default()
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

#[test]
fn packets_that_lack_a_slot_are_counted_and_the_others_delivered() {
    run_test(1, |run| {
        let mut bench: Bench = any_marked_with(run, without_frees());
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
        bench.finish();
    });
}

/// Matched and unmatched packets by turns while the matched side is stuck; unmatched ones must go on at full rate.
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
        let cluster = Behaviour {
            her: stuck(),
            ..Behaviour::default()
        };
        passes_by(pressed(run, cluster), |bench| bench.her.set_pause(Pause::Never));
        for (address, data) in [(stuck(), Pause::Never), (Pause::Never, stuck())] {
            let slave = SlaveConfig {
                address,
                data,
                ..SlaveConfig::default()
            };
            let memory = Behaviour {
                slave,
                ..Behaviour::default()
            };
            passes_by(pressed(run, memory), |bench| {
                bench.slave.set_pauses(Pause::Never, Pause::Never);
            });
        }
        passes_by(any_marked_with(run, without_frees()), |_| {});
    });
}
