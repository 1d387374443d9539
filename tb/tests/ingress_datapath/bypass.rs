//! Unmatched traffic: untouched, in order, and never blocked by matched traffic.

use crate::support::{Bench, marked_with, matched, unmatched};
use rand::RngExt;
use spinneret_sim::axi::{Latency, SlaveConfig};
use spinneret_sim::stream::Pause;
use spinneret_sim::test_run::run_test;
use spinneret_tb::ingress::{Behaviour, Cause, Packet, Release};

#[test]
fn unmatched_frames_pass_untouched_and_in_order() {
    run_test("unmatched_frames_pass_untouched_and_in_order", 1, |run| {
        for nic in [Pause::Never, Pause::Random { percent: 40 }] {
            let mut rng = run.rng("side band");
            let behaviour = Behaviour {
                nic,
                ..Behaviour::default()
            };
            let mut bench = marked_with(run, behaviour);
            for size in (1..=300).chain([1500, 1514, 1536, 1537, 4284, 9000, 9600, 16384]) {
                bench.send(Packet {
                    id: rng.random_range(0..2),
                    dest: rng.random_range(0..256),
                    user: rng.random::<u16>().into(),
                    early_user: rng.random::<u16>().into(),
                    ..unmatched(size, size as u64)
                });
            }
            assert_eq!(bench.settle().bypassed, 308);
            bench.finish();
        }
    });
}

#[test]
fn without_rules_everything_is_unmatched() {
    run_test("without_rules_everything_is_unmatched", 1, |run| {
        let mut bench = Bench::new(run.simulation(), Behaviour::default());
        for number in 0..50 {
            bench.send(matched(64 + number as usize, number));
        }
        assert_eq!(bench.settle().bypassed, 50);
        bench.finish();
    });
}

/// Matched and unmatched packets by turns, of these sizes, until the matched side is stuck; unmatched ones must
/// go on at full rate, and everything must be delivered or counted once the stall is over.
fn passes_by(mut bench: Bench, sizes: [usize; 2], recover: impl Fn(&mut Bench)) -> Bench {
    bench.run(64);
    let stalls = bench.source.monitor().counts().stalls;
    let cycle = bench.sim.cycle_count();
    let mut beats = 0;
    for number in 0..3000 {
        let [first, second] = sizes;
        let packets = [matched(first, number), unmatched(second, number)];
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

fn pressed(slave: SlaveConfig, her: Pause, release: Release) -> Behaviour {
    Behaviour {
        calm: false,
        slave,
        her,
        release,
        ..Behaviour::default()
    }
}

#[test]
fn a_memory_that_takes_no_addresses_or_data_does_not_block_unmatched_frames() {
    let name = "a_memory_that_takes_no_addresses_or_data_does_not_block_unmatched_frames";
    run_test(name, 1, |run| {
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
    run_test(
        "a_memory_that_answers_late_does_not_block_unmatched_frames",
        1,
        |run| {
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
        },
    );
}

#[test]
fn a_cluster_that_takes_no_her_does_not_block_unmatched_frames() {
    run_test(
        "a_cluster_that_takes_no_her_does_not_block_unmatched_frames",
        1,
        |run| {
            for sizes in SIZES {
                let behaviour = pressed(SlaveConfig::default(), Pause::AlwaysAfter(0), Release::AtOnce);
                let bench = passes_by(marked_with(run, behaviour), sizes, |bench| {
                    assert_eq!(bench.counters().hers, 0);
                    bench.her.set_pause(Pause::Never);
                });
                bench.finish();
            }
        },
    );
}

#[test]
fn a_lack_of_slots_does_not_block_unmatched_frames() {
    run_test("a_lack_of_slots_does_not_block_unmatched_frames", 1, |run| {
        for sizes in SIZES {
            let behaviour = pressed(SlaveConfig::default(), Pause::Never, Release::Never);
            let bench = passes_by(marked_with(run, behaviour), sizes, |_| {});
            let drops = bench.counters().drops;
            let [size, _] = sizes;
            // Packets that are too large give their slots back and never use them up.
            assert_eq!(drops[Cause::NoSlot] > 1500, size <= 1536, "{drops}");
            assert_eq!(drops[Cause::Overload], 0, "{drops}");
            bench.finish();
        }
    });
}
