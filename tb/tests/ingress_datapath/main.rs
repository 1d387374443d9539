//! The ingress path against its reference model, and each line of its contract.

mod delivery;
mod drops;
mod each;
mod slots;
mod traffic;

use spinneret_models::{PspinIngressDatapath, PspinIngressDatapathStall};
use spinneret_packets::reference::matcher::RuleTable;
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MatcherParams, Ruleset};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::ingress::{
    Cause, Class, Contexts, Counters, Drops, IngressBench, Packet, Refusals, Release, Setup, Stimulus,
    load_mark,
};
use std::sync::LazyLock;

/// The reference configuration.
static REFERENCE: LazyLock<Setup> = LazyLock::new(Setup::of::<PspinIngressDatapath>);

/// The path in the reference configuration between bus models.
type Bench = IngressBench<PspinIngressDatapath>;

/// A path in any configuration that matches packets whose first byte is the mark, all contexts enabled.
fn any_marked_with<M: Model>(run: &mut TestRun, stimulus: Stimulus) -> IngressBench<M> {
    let mut bench = IngressBench::new(run.simulation(), stimulus);
    load_mark(&mut bench);
    bench
}

/// The same in the reference configuration.
fn marked_with(run: &mut TestRun, stimulus: Stimulus) -> Bench {
    any_marked_with(run, stimulus)
}

/// The same, without pauses.
fn marked(run: &mut TestRun) -> Bench {
    marked_with(run, Stimulus::default())
}

/// A path without rules, without pauses.
fn unloaded(run: &mut TestRun) -> Bench {
    Bench::new(run.simulation(), Stimulus::default())
}

/// Stimulus in which packets may lack room or a slot, and the cluster frees no slot.
fn without_frees() -> Stimulus {
    Stimulus {
        uncongested: false,
        release: Release::Never,
        ..Stimulus::default()
    }
}

/// A path whose cluster frees no slot.
fn marked_without_frees(run: &mut TestRun) -> Bench {
    marked_with(run, without_frees())
}

/// A packet that matches.
fn matched(size: usize, number: u64) -> Packet {
    REFERENCE.matched(size, number)
}

/// A packet that does not match.
fn unmatched(size: usize, number: u64) -> Packet {
    REFERENCE.unmatched(size, number)
}

/// Ruleset n matches packets whose first byte is n + 1; the second byte 1 ends a message.
fn four_rulesets() -> RuleTable {
    let table = RuleTable::new(&MatcherParams::REFERENCE, rulesets());
    table.unwrap_or_else(|error| panic!("{error}"))
}

/// The rulesets of [`four_rulesets`].
fn rulesets() -> Vec<Ruleset> {
    let set = |number: u32| Ruleset {
        join: Join::And,
        rules: vec![Rule::equal(0, 0xff00_0000, (number + 1) << 24)],
        end_of_message: Rule::equal(0, 0x00ff_0000, 0x0001_0000),
    };
    (0..4).map(set).collect()
}

/// The packet for a ruleset of [`four_rulesets`].
fn for_this_ruleset(ruleset: u8, mut packet: Packet) -> Packet {
    packet.bytes[0] = ruleset + 1;
    packet
}

/// A packet for a ruleset of [`four_rulesets`].
fn for_ruleset(ruleset: u8, size: usize, number: u64) -> Packet {
    for_this_ruleset(ruleset, unmatched(size, number))
}

/// One packet dropped for that cause.
fn one(cause: Cause) -> Drops {
    let mut drops = Drops::default();
    drops[cause] = 1;
    drops
}

type StallBench = IngressBench<PspinIngressDatapathStall>;

/// Cycles after which what does not go on waits.
const LONG: u64 = 2000;

/// A path whose cluster frees no slot.
fn without_release(run: &mut TestRun) -> StallBench {
    any_marked_with(run, without_frees())
}

/// Lets the cluster have all slots of both classes.
fn take_all_slots(bench: &mut StallBench) {
    let setup = bench.setup;
    for number in 0..setup.slots.total() {
        bench.send(setup.matched(64, number));
    }
    bench.settle();
    assert_eq!(bench.held() as u64, setup.slots.total());
}

/// HERs and unmatched packets that came out so far.
fn out(bench: &StallBench) -> (u64, u64) {
    (bench.her.total(), bench.nic.received())
}

#[test]
fn without_slots_the_input_stops_and_goes_on_with_each_slot_that_is_freed() {
    case(1, without_release, |bench| {
        take_all_slots(bench);
        let setup = bench.setup;
        let (hers, bypassed) = out(bench);
        // More than the path can hold, so that the input has to stop.
        for number in 0..400 {
            bench.send(setup.matched(100, number));
            bench.send(setup.unmatched(100, number));
        }
        bench.run(LONG);
        let waiting = bench.source.waiting();
        assert!(waiting > 100, "{waiting} packets wait for the input");
        bench.run(LONG);
        assert_eq!(bench.source.waiting(), waiting, "the input goes on without slots");
        assert_eq!(out(bench).0, hers, "a HER without a slot");
        // Each slot, of whichever class, lets one packet through.
        for (freed, class) in [Class::Large, Class::Small, Class::Large].into_iter().enumerate() {
            assert!(bench.free_one(class));
            bench.run(LONG);
            assert_eq!(
                out(bench).0,
                hers + freed as u64 + 1,
                "slots freed: {}",
                freed + 1
            );
        }
        assert!(out(bench).1 < bypassed + 400, "unmatched frames do not wait");
        bench.set_release(Release::AtOnce);
        let outcome = bench.settle();
        assert_eq!(
            (outcome.hers, outcome.bypassed, outcome.drops.sum()),
            (400, 400, 0)
        );
    });
}

#[test]
fn a_large_packet_waits_for_a_large_slot_and_those_behind_it_wait_too() {
    case(1, without_release, |bench| {
        let setup = bench.setup;
        for number in 0..setup.slots[Class::Large].count {
            bench.send(setup.matched(1500, number));
        }
        bench.settle();
        let (hers, _) = out(bench);
        // All small slots are free.
        bench.send(setup.matched(1500, 1));
        bench.send(setup.matched(64, 2));
        bench.run(LONG);
        assert_eq!(out(bench).0, hers);
        assert!(bench.free_one(Class::Large));
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.drops.sum()), (2, 0));
    });
}

#[test]
fn frames_that_cannot_be_delivered_are_dropped_as_ever_with_the_last_slot() {
    case(1, without_release, |bench| {
        take_all_slots(bench);
        assert!(bench.free_one(Class::Large));
        bench.run(64);
        let setup = bench.setup;
        // One slot is left, so each of them has to give it back to the next.
        for number in 0..30 {
            let [bad, oversize] = [
                setup.matched(1500, number).marked_bad(),
                setup.matched(9600, number),
            ];
            bench.send(bad);
            bench.send(oversize);
        }
        let drops = bench.settle().drops;
        assert_eq!(
            (drops[Cause::BadFrame], drops[Cause::Oversize], drops.sum()),
            (30, 30, 60)
        );
        bench.slave.set_faults(Faults::Random { percent: 100 });
        for number in 0..30 {
            bench.send(setup.matched(1500, number));
        }
        assert_eq!(bench.settle().drops[Cause::WriteError], 30);
        bench.slave.set_faults(Faults::Never);
        bench.load_contexts(&Contexts::random(&mut bench.sim.rng("none"), [false; 4]));
        for number in 0..30 {
            bench.send(setup.matched(1500, number));
        }
        assert_eq!(bench.settle().drops[Cause::NoContext], 30);
        bench.load_contexts(&Contexts::random(&mut bench.sim.rng("all"), [true; 4]));
        bench.send(setup.matched(1500, 1));
        assert_eq!(bench.settle().hers, 1);
    });
}

#[test]
fn bad_frames_wait_for_a_slot_too() {
    run_test(1, |run| {
        for size in [64, 1500, 9600] {
            let mut bench = without_release(run);
            take_all_slots(&mut bench);
            bench.send(bench.setup.matched(size, 1).marked_bad());
            bench.run(LONG);
            assert_eq!(bench.counters().drops.sum(), 0, "{size} bytes");
            assert!(bench.free_one(Class::Large));
            assert_eq!(bench.settle().drops, one(Cause::BadFrame), "{size} bytes");
            bench.finish();
        }
    });
}

/// Packets of all kinds through a path that is stuck, then not any more: all are delivered.
fn waits_for(run: &mut TestRun, stuck: Stimulus, recover: impl Fn(&mut StallBench)) {
    let stimulus = Stimulus {
        uncongested: false,
        ..stuck
    };
    let mut bench: StallBench = any_marked_with(run, stimulus);
    let setup = bench.setup;
    for number in 0..300 {
        bench.send(setup.matched([64, 1500, 128, 60][number as usize % 4], number));
        bench.send(setup.unmatched([64, 1500, 60][number as usize % 3], number));
    }
    bench.run(2 * LONG);
    let waiting = bench.source.waiting();
    assert!(waiting > 0, "the path holds everything");
    bench.run(LONG);
    assert_eq!(bench.source.waiting(), waiting, "the input goes on");
    assert_eq!(bench.counters().drops.sum(), 0);
    recover(&mut bench);
    let outcome = bench.settle();
    assert_eq!(
        (outcome.hers, outcome.bypassed, outcome.drops.sum()),
        (300, 300, 0)
    );
    bench.finish();
}

#[test]
fn everything_waits_for_the_memory_and_the_cluster() {
    run_test(1, |run| {
        let stuck = || Pause::AlwaysAfter(0);
        for (address, data) in [(stuck(), Pause::Never), (Pause::Never, stuck())] {
            let slave = SlaveConfig {
                address,
                data,
                ..SlaveConfig::default()
            };
            let stimulus = Stimulus {
                slave,
                ..Stimulus::default()
            };
            waits_for(run, stimulus, |bench| {
                bench.slave.set_pauses(Pause::Never, Pause::Never);
            });
        }
        let slave = SlaveConfig {
            latency: Latency::exactly(20_000),
            ..SlaveConfig::default()
        };
        let stimulus = Stimulus {
            slave,
            ..Stimulus::default()
        };
        waits_for(run, stimulus, |bench| {
            bench.slave.set_latency(Latency::exactly(1))
        });
        let stimulus = Stimulus {
            her: stuck(),
            ..Stimulus::default()
        };
        waits_for(run, stimulus, |bench| bench.her.set_pause(Pause::Never));
    });
}

#[test]
fn before_the_slots_are_there_packets_wait_and_frees_are_refused() {
    run_test(1, |run| {
        let stimulus = Stimulus {
            uncongested: false,
            ..Stimulus::default()
        };
        let mut bench: StallBench = any_marked_with(run, stimulus);
        // The rules stay where they are, so that a packet matches while the slots are still being filled in.
        bench.reset();
        let slots = bench.setup.slots;
        for class in Class::ALL {
            bench.free_early(slots[class].address(0));
        }
        for number in 0..60 {
            bench.send(bench.setup.matched([64, 1500][number as usize % 2], number));
        }
        let outcome = bench.settle();
        let refused = Refusals {
            early: 2,
            ..Refusals::default()
        };
        assert_eq!(
            (outcome.hers, outcome.drops.sum(), outcome.refused),
            (60, 0, refused)
        );
        bench.finish();
    });
}

#[test]
fn a_reset_ends_all_waiting() {
    case(1, without_release, |bench| {
        let setup = bench.setup;
        for size in [64, 1500] {
            take_all_slots(bench);
            for number in 0..400 {
                bench.send(setup.matched(size, number));
                bench.send(setup.unmatched(64, number));
            }
            bench.run(LONG);
            assert!(!bench.source.is_idle());
            bench.reset();
            assert_eq!(bench.counters(), Counters::default());
            bench.run(setup.opening_cycles());
        }
        bench.set_release(Release::AtOnce);
        for number in 0..50 {
            bench.send(setup.matched([64, 1500][number as usize % 2], number));
            bench.send(setup.unmatched(64, number));
        }
        let outcome = bench.settle();
        assert_eq!((outcome.hers, outcome.bypassed, outcome.drops.sum()), (50, 50, 0));
    });
}
