//! Resets at any time.

use crate::{BASE, open};
use spinneret_models::PspinHostmemDmaBoard;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case, with};
use spinneret_tb::hostdma::{Behaviour, Counters, HostDmaBench, Traffic};

/// A write and a read of some beats each.
fn send<M: Model>(bench: &mut HostDmaBench<M>, number: u64) {
    let bus = bench.setup.beat_bytes;
    let bytes = vec![number as u8; 3 * bus as usize];
    bench.write(WriteRequest::bytes(
        number % 16,
        BASE + 256 * number,
        &bytes,
        bus as usize,
    ));
    bench.read(ReadRequest::bytes(
        number % 16,
        BASE + 65536 + 256 * number,
        bytes.len(),
        bus as usize,
    ));
}

/// Bursts go through a host DMA that was just reset.
fn works<M: Model>(bench: &mut HostDmaBench<M>) {
    for number in 0..6 {
        send(bench, number);
    }
    bench.settle();
    let Counters { writes, reads } = bench.counters();
    assert_eq!((writes.bursts, reads.bursts), (6, 6));
}

/// Resets both sides in each cycle of some bursts.
fn a_reset_of_both_sides_in_every_cycle_leaves_nothing_behind<M: Model>(run: &mut TestRun) {
    for latency in [0, 20] {
        let mut bench = open::<M>(run, Behaviour::latency(latency));
        for cycles in 1..60 + latency {
            (0..4).for_each(|number| send(&mut bench, number));
            bench.run(cycles);
            bench.reset();
            works(&mut bench);
            bench.reset();
        }
        bench.finish();
    }
}

/// Resets both sides in the middle of random traffic.
fn resets_in_random_traffic_leave_nothing_behind<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("resets");
    for (name, behaviour) in spinneret_tb::hostdma::behaviours() {
        let mut bench = open::<M>(run, behaviour);
        let mut traffic = Traffic::new(bench.setup, run.rng(name));
        for _ in 0..10 {
            for _ in 0..60 {
                bench.write(traffic.write());
                bench.read(traffic.read());
            }
            bench.run(rng.random_range(1..500));
            bench.reset();
        }
        works(&mut bench);
        bench.finish();
    }
}

test_each!(
    a_reset_of_both_sides_in_every_cycle_leaves_nothing_behind,
    resets_in_random_traffic_leave_nothing_behind
);

/// After a reset of this side alone what is in flight is waited for.
#[test]
fn a_reset_of_this_side_alone_in_every_cycle_waits_for_what_is_in_flight() {
    run_test(1, |run| {
        for latency in [0, 1, 3, 20] {
            let mut bench = open::<PspinHostmemDmaBoard>(run, Behaviour::latency(latency));
            for cycles in 1..60 + latency {
                (0..4).for_each(|number| send(&mut bench, number));
                bench.run(cycles);
                bench.reset_alone();
                works(&mut bench);
                bench.reset_alone();
            }
            bench.finish();
        }
    });
}

/// Nothing is taken as long as a descriptor from before the reset has no status; a status that is late meets no new
/// transfer.
#[test]
fn nothing_is_taken_before_the_last_old_status() {
    case(
        1,
        with(open::<PspinHostmemDmaBoard>, Behaviour::latency(500)),
        |bench| {
            (0..40).for_each(|number| send(bench, number));
            bench.run(300);
            assert_eq!((bench.writes.in_flight(), bench.reads.in_flight()), (40, 40));
            for dma in [&bench.writes, &bench.reads] {
                dma.set_latency(Latency::exactly(0));
            }
            bench.reset_alone();
            let start = bench.sim.cycle_count();
            works(bench);
            assert!(bench.sim.cycle_count() > start + 200, "it waits");
        },
    );
}

/// A descriptor that waits for the DMA when the reset comes stays valid and is waited for.
#[test]
fn a_descriptor_that_waits_outlives_a_reset_of_this_side() {
    case(
        1,
        with(open::<PspinHostmemDmaBoard>, Behaviour::latency(5)),
        |bench| {
            for dma in [&bench.writes, &bench.reads] {
                dma.set_pause(Pause::AlwaysAfter(0));
            }
            (0..4).for_each(|number| send(bench, number));
            bench.run(100);
            bench.reset_alone();
            bench.run(100);
            for dma in [&bench.writes, &bench.reads] {
                assert!(dma.is_offered());
                dma.set_pause(Pause::Never);
            }
            works(bench);
            assert_eq!(bench.descriptors, [7, 7]);
        },
    );
}

/// What the RAM was asked for before a reset of this side alone, and answers after it, meets no new transfer.
#[test]
fn late_answers_of_the_ram_meet_no_new_transfer() {
    run_test(1, |run| {
        for cycles in [1, 2, 8, 20, 30] {
            let behaviour = Behaviour {
                ram_writes: RamConfig::after(cycles),
                ram_reads: RamConfig::after(cycles),
                ..Behaviour::default()
            };
            let mut bench = open::<PspinHostmemDmaBoard>(run, behaviour);
            for before in 1..60 + 2 * cycles {
                (0..4).for_each(|number| send(&mut bench, number));
                bench.run(before);
                bench.reset_alone();
                works(&mut bench);
                bench.reset_alone();
            }
            bench.finish();
        }
    });
}

/// A reset of the DMA is one of both sides, also if `rstn` stays high: what is lost is never answered as if it were done.
#[test]
fn a_reset_of_the_dma_forgets_everything() {
    case(
        1,
        with(open::<PspinHostmemDmaBoard>, Behaviour::latency(100_000)),
        |bench| {
            (0..4).for_each(|number| send(bench, number));
            bench.run(100);
            assert_eq!((bench.writes.in_flight(), bench.reads.in_flight()), (4, 4));
            bench.hold_dma(true);
            (0..10).for_each(|_| bench.sim.cycle());
            bench.hold_dma(false);
            (0..200).for_each(|_| bench.sim.cycle());
            assert!(bench.cluster.take_writes().is_empty() && bench.cluster.take_reads().is_empty());
            let Counters { writes, reads } = bench.counters();
            assert_eq!((writes.bursts, reads.bursts), (0, 0));
            for dma in [&bench.writes, &bench.reads] {
                dma.set_latency(Latency::exactly(0));
            }
            bench.reset();
            works(bench);
        },
    );
}

/// While the DMA is in reset it gets no descriptors, and bursts wait.
#[test]
fn nothing_is_given_to_a_dma_in_reset() {
    case(
        1,
        with(open::<PspinHostmemDmaBoard>, Behaviour::default()),
        |bench| {
            bench.hold_dma(true);
            bench.run(2);
            (0..6).for_each(|number| send(bench, number));
            bench.run(200);
            assert_eq!(bench.descriptors, [0, 0]);
            assert_eq!(bench.under_way(), [6, 6]);
            bench.hold_dma(false);
            bench.settle();
            let Counters { writes, reads } = bench.counters();
            assert_eq!((writes.bursts, reads.bursts), (6, 6));
        },
    );
}

/// Resets of this side alone in the middle of random traffic, and of both.
#[test]
fn resets_of_one_side_or_both_in_random_traffic_leave_nothing_behind() {
    run_test(1, |run| {
        let mut rng = run.rng("resets");
        for (name, behaviour) in spinneret_tb::hostdma::behaviours() {
            let mut bench = open::<PspinHostmemDmaBoard>(run, behaviour);
            let mut traffic = Traffic::new(bench.setup, run.rng(name));
            for _ in 0..20 {
                for _ in 0..60 {
                    bench.write(traffic.write());
                    bench.read(traffic.read());
                }
                bench.run(rng.random_range(1..500));
                if rng.random_ratio(1, 4) {
                    bench.reset();
                } else {
                    bench.reset_alone();
                }
            }
            works(&mut bench);
            bench.finish();
        }
    });
}
