//! The allocator against its reference model, and each line of its contract.

use spinneret_models::{
    PspinPktAlloc, PspinPktAllocHalves, PspinPktAllocOdd, PspinPktAllocStall, PspinPktAllocTiny,
};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case, with};
use spinneret_tb::pkt_alloc::{AllocBench, AllocParams, Counts, Descriptor, Rates, Slots};

const fn slots(base: u64, size: u64, count: u64) -> Slots {
    Slots { base, size, count }
}

const REFERENCE: AllocParams = AllocParams {
    large: slots(0x1c10_0000, 1536, 256),
    small: slots(0x1c16_0000, 128, 1024),
    stall: false,
    free_latency: 5,
};
const HALVES: AllocParams = AllocParams {
    large: slots(0x1c10_0000, 1536, 170),
    small: slots(0x1c13_fc00, 128, 2048),
    stall: false,
    free_latency: 5,
};
const TINY: AllocParams = AllocParams {
    large: slots(0x40, 192, 3),
    small: slots(0x280, 64, 5),
    stall: false,
    free_latency: 3,
};
const ODD: AllocParams = AllocParams {
    large: slots(0, 7, 36),
    small: slots(252, 1, 1),
    stall: false,
    free_latency: 5,
};
const STALL: AllocParams = AllocParams {
    large: slots(0x1c10_0000, 9664, 13),
    small: slots(0x1c11_eac0, 256, 24),
    stall: true,
    free_latency: 5,
};

const NORMAL: Rates = Rates {
    packets: 100,
    frees: 100,
    bad_frees: 10,
    ready: 100,
};

fn fresh<M: Model>(run: &mut TestRun, params: AllocParams) -> AllocBench<M> {
    AllocBench::new(run.simulation(), params)
}

/// An allocator that takes packets.
fn open<M: Model>(run: &mut TestRun, params: AllocParams) -> AllocBench<M> {
    let mut bench = fresh(run, params);
    bench.open();
    bench
}

/// Random traffic: plenty and few slots, good and bad frees, backpressure, frees from the first cycle on.
fn random_traffic<M: Model>(params: AllocParams, cycles: u64) {
    run_test(1, |run| {
        let mut rng = run.rng("traffic");
        let mut bench = AllocBench::new(run.simulation::<M>(), params);
        let mut held = Vec::new();
        for _ in 0..2 {
            let slots = params.large.count.max(params.small.count);
            let early = Rates {
                bad_frees: 100,
                ..NORMAL
            };
            bench.random(&mut rng, slots + 10, early, &mut held);
            for (packets, frees, bad_frees, ready) in [
                (100, 100, 10, 100),
                (100, 10, 5, 100),
                (30, 60, 80, 100),
                (100, 90, 10, 60),
                (60, 100, 5, 30),
            ] {
                let rates = Rates {
                    packets,
                    frees,
                    bad_frees,
                    ready,
                };
                bench.random(&mut rng, cycles, rates, &mut held);
            }
            bench.conserve(&mut held);
            // Every cause has occurred.
            let counts = bench.counts();
            assert!(
                counts.oversize > 0 && (counts.no_slot > 0) != params.stall,
                "{counts:?}"
            );
            assert!(
                counts.no_start > 0 && counts.not_out > 0 && counts.early > 0,
                "{counts:?}"
            );
            bench.reset();
        }
        bench.finish();
    });
}

#[test]
fn random_traffic_reference() {
    random_traffic::<PspinPktAlloc>(REFERENCE, 40_000);
}

#[test]
fn random_traffic_halves() {
    random_traffic::<PspinPktAllocHalves>(HALVES, 40_000);
}

#[test]
fn random_traffic_tiny() {
    random_traffic::<PspinPktAllocTiny>(TINY, 40_000);
}

#[test]
fn random_traffic_odd() {
    random_traffic::<PspinPktAllocOdd>(ODD, 40_000);
}

#[test]
fn random_traffic_stall() {
    random_traffic::<PspinPktAllocStall>(STALL, 40_000);
}

#[test]
fn opens_after_as_many_clocks_as_there_are_slots_and_three() {
    case(1, with(fresh::<PspinPktAlloc>, REFERENCE), |bench| {
        assert_eq!(bench.open(), 1024 + 3);
        bench.conserve(&mut Vec::new());
    });
}

#[test]
fn descriptor_follows_its_packet_in_the_next_clock() {
    case(1, with(open::<PspinPktAlloc>, REFERENCE), |bench| {
        bench.packets.push_back((7, 60));
        bench.run(1);
        assert!(bench.packets.is_empty() && bench.descriptors.is_empty());
        bench.run(1);
        let descriptor = bench.descriptors.pop_front();
        let expected = Descriptor {
            address: REFERENCE.small.base,
            length: 60,
            tag: 7,
            drop: false,
        };
        assert_eq!(descriptor, Some(expected));
    });
}

#[test]
fn class_follows_from_the_length() {
    case(1, with(open::<PspinPktAlloc>, REFERENCE), |bench| {
        let class = |address| if address < REFERENCE.small.base { 'L' } else { 'S' };
        for (length, expected) in [
            (0, 'S'),
            (1, 'S'),
            (128, 'S'),
            (129, 'L'),
            (1500, 'L'),
            (1536, 'L'),
        ] {
            let descriptor = bench.allocate(length);
            assert_eq!(
                (class(descriptor.address), descriptor.drop),
                (expected, false),
                "{length} bytes"
            );
        }
    });
}

#[test]
fn oversize_packets_are_dropped_with_a_descriptor_whatever_is_free() {
    case(1, with(open::<PspinPktAllocTiny>, TINY), |bench| {
        for round in 0..2 {
            for length in [193, 9000, u64::from(u32::MAX)] {
                let descriptor = bench.allocate(length);
                assert_eq!((descriptor.drop, descriptor.address), (true, 0));
            }
            let given: Vec<bool> = (0..3).map(|_| bench.allocate(192).drop).collect();
            assert_eq!(given, [round > 0; 3]);
        }
        bench.run(4);
        let expected = Counts {
            oversize: 6,
            no_slot: 3,
            ..Counts::default()
        };
        assert_eq!(bench.counts(), expected);
    });
}

#[test]
fn small_packets_use_large_slots_when_small_ones_run_out() {
    case(1, with(open::<PspinPktAllocTiny>, TINY), |bench| {
        let given: Vec<u64> = (0..9).map(|_| bench.allocate(10).address).collect();
        assert_eq!(given, [0x280, 0x2c0, 0x300, 0x340, 0x380, 0x40, 0x100, 0x1c0, 0]);
        // The class of what comes back follows from its address, not from the packet that was in it.
        bench.free(0x100);
        assert_eq!(bench.allocate(192).address, 0x100);
    });
}

#[test]
fn an_empty_class_does_not_block_the_other() {
    case(1, with(open::<PspinPktAllocTiny>, TINY), |bench| {
        let dropped: Vec<bool> = (0..4).map(|_| bench.allocate(192).drop).collect();
        assert_eq!(dropped, [false, false, false, true]);
        assert_eq!(bench.allocate(64).address, 0x280);
    });
}

#[test]
fn bad_frees_change_nothing_and_are_counted_by_cause() {
    case(1, with(fresh::<PspinPktAlloc>, REFERENCE), |bench| {
        bench.free(0x1c10_0000);
        bench.open();
        let slot = bench.allocate(1000).address;
        // No slot starts there: inside of slots, around the buffer, anywhere.
        for address in [
            slot + 1,
            slot + 64,
            slot + 512,
            slot + 1024,
            0x1c16_0040,
            0x1c0f_ff80,
            0x1c0f_fa00,
            0x1c18_0000,
            0x1c90_0000,
            0x3c10_0000,
            0,
            0xffff_ff80,
        ] {
            bench.free(address);
        }
        // Slots that are not out.
        for address in [slot + 1536, 0x1c16_0000, 0x1c17_ff80] {
            bench.free(address);
        }
        let expected = Counts {
            no_start: 12,
            not_out: 3,
            early: 1,
            ..Counts::default()
        };
        assert_eq!(bench.counts(), expected);
        bench.free(slot);
        assert_eq!(bench.counts(), expected);
        bench.conserve(&mut Vec::new());
    });
}

#[test]
fn double_frees_are_refused_at_any_distance() {
    case(1, with(open::<PspinPktAllocTiny>, TINY), |bench| {
        for (round, distance) in (0..16).enumerate() {
            for length in [30, 100] {
                let slot = bench.allocate(length).address;
                bench.frees.extend([slot, slot]);
                bench.cycle(false, true, true);
                (0..distance).for_each(|_| bench.cycle(false, false, true));
                bench.run(20);
            }
            assert_eq!(
                bench.counts().not_out,
                2 * (round as u64 + 1),
                "{distance} cycles"
            );
        }
        bench.conserve(&mut Vec::new());
    });
}

#[test]
fn one_packet_and_one_free_every_clock() {
    case(1, with(open::<PspinPktAlloc>, REFERENCE), |bench| {
        for lengths in [[64, 64], [1500, 1500], [64, 1500]] {
            let count = 3000;
            bench
                .packets
                .extend((0..count).map(|tag| (tag, lengths[tag as usize % 2])));
            for _ in 0..count {
                bench.run(1);
                let given = bench.descriptors.drain(..);
                bench.frees.extend(given.map(|given| {
                    assert!(!given.drop);
                    given.address
                }));
            }
            assert!(bench.packets.is_empty(), "{} packets waited", bench.packets.len());
            assert!(bench.frees.len() <= 1, "{} frees waited", bench.frees.len());
            bench.run(1);
            bench
                .frees
                .extend(bench.descriptors.drain(..).map(|given| given.address));
            bench.run(2);
        }
        bench.run(20);
        assert_eq!(bench.counts(), Counts::default());
        bench.conserve(&mut Vec::new());
    });
}

#[test]
fn missing_slots_never_block_packets() {
    case(1, with(open::<PspinPktAllocTiny>, TINY), |bench| {
        bench.packets.extend((0..100).map(|tag| (tag, 1 + tag)));
        bench.run(100);
        assert!(bench.packets.is_empty());
        bench.run(10);
        let dropped = bench.descriptors.drain(..).filter(|given| given.drop).count();
        assert_eq!((dropped, bench.counts().no_slot), (92, 92));
    });
}

#[test]
fn stalling_allocator_waits_for_a_slot_and_still_drops_oversize() {
    case(1, with(open::<PspinPktAllocStall>, STALL), |bench| {
        bench.packets.extend((0..13).map(|tag| (tag, 9000)));
        bench
            .packets
            .extend([(100, 9665), (101, 10), (102, 300), (103, 10)]);
        bench.run(50);
        let mut given: Vec<Descriptor> = bench.descriptors.drain(..).collect();
        assert_eq!(given.len(), 15);
        assert_eq!((given[13].drop, given[14].drop), (true, false));
        bench.frees.push_back(given[4].address);
        bench.run(20);
        given.extend(bench.descriptors.drain(..));
        assert_eq!((given[15].tag, given[15].address), (102, given[4].address));
        assert_eq!((given[16].tag, given[16].drop), (103, false));
        let expected = Counts {
            oversize: 1,
            ..Counts::default()
        };
        assert_eq!(bench.counts(), expected);
    });
}

#[test]
fn reset_in_the_middle_of_traffic_frees_every_slot() {
    case(1, with(fresh::<PspinPktAllocTiny>, TINY), |bench| {
        let mut rng = bench.sim.rng("resets");
        for _ in 0..300 {
            let mut held = Vec::new();
            let cycles = rng.random_range(1..60);
            bench.random(&mut rng, cycles, NORMAL, &mut held);
            bench.reset();
            if rng.random_bool(0.3) {
                bench.open();
                bench.conserve(&mut Vec::new());
            }
        }
        bench.reset();
    });
}
