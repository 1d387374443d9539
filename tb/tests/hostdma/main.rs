//! The host DMA against its reference models, and each line of its contract.

use spinneret_models::{PspinHostmemDma, PspinHostmemDmaBoard};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case, with};
use spinneret_tb::hostdma::{Counters, HostDmaBench, Stimulus, Traffic, latencies, rates};

/// Makes a test of each generic function for each configuration of the host DMA.
macro_rules! test_each {
    ($($test:ident),+ $(,)?) => {
        spinneret_tb::test_models! {
            reference: PspinHostmemDma, board: PspinHostmemDmaBoard, small: PspinHostmemDmaSmall;
            [$($test),+]
        }
    };
}

mod errors;
mod guard;
mod transfers;

/// Default address of writes.
const BASE: u64 = 0x12_3456_7000;

/// A host DMA with all windows open.
fn open<M: Model>(run: &mut TestRun, stimulus: Stimulus) -> HostDmaBench<M> {
    let mut bench = HostDmaBench::new(run.simulation(), stimulus);
    bench.open_windows(BASE);
    bench
}

/// A host DMA of a board with all windows open.
fn board_with(run: &mut TestRun, stimulus: Stimulus) -> HostDmaBench<PspinHostmemDmaBoard> {
    open(run, stimulus)
}

/// An incrementing burst.
fn burst(id: u64, address: u64, beats: u64, size: u64) -> Burst {
    Burst {
        id,
        address,
        beats,
        size,
        kind: BurstKind::Incrementing,
    }
}

/// A burst of whole beats with these strobes; its bytes depend on the number.
fn strobed(bus: u64, address: u64, strobes: &[u128], number: u64) -> WriteRequest {
    let lanes = |beat: u64| {
        let byte = |lane: u64| (number * 31 + beat * 7 + lane + 1) as u8;
        (0..bus).map(byte).collect()
    };
    let beats = (0..).zip(strobes).map(|(beat, strobes)| (lanes(beat), *strobes));
    WriteRequest::new(burst(number % 16, address, strobes.len() as u64, bus), beats)
}

/// The ones from a bit to another; the zeros between them, if the first is above the second.
fn between(low: u32, high: u32, width: u32) -> u128 {
    let all = u128::MAX >> (128 - width);
    let ones = |from: u32, to: u32| (u128::MAX >> (127 - (to - from))) << from;
    if low <= high {
        ones(low, high)
    } else if low - high > 1 {
        all & !ones(high + 1, low - 1)
    } else {
        all
    }
}

/// A DMA that takes its time, fails nothing, and answers out of order.
fn slow() -> Stimulus {
    let mut stimulus = Stimulus::latency(40);
    stimulus.writes.spread = 60;
    stimulus.reads.spread = 60;
    stimulus
}

spinneret_tb::each_model! {
    [PspinHostmemDma, PspinHostmemDmaBoard]:
        1 carries_bursts_at_the_rate_that_was_promised;
}

/// Bytes of a burst, clocks of latency, and bytes a clock each way at least, while both go at the same time. Without
/// latency that is a beat a clock, from burst to burst too.
const RATES: [(u64, u64, f64); 6] = [
    (64, 0, 60.0),
    (512, 0, 60.0),
    (4096, 0, 60.0),
    (64, 100, 20.0),
    (512, 100, 60.0),
    (4096, 100, 60.0),
];

/// Clocks from AW to B of a write of 64 bytes that is alone, and from AR to R of such a read, as the contract says.
const WRITE_CYCLES: u64 = 7;
const READ_CYCLES: u64 = 13;

fn carries_bursts_at_the_rate_that_was_promised<M: Model>(run: &mut TestRun) {
    for (bytes, latency, bar) in RATES {
        let (rates, _) = rates(run.simulation::<M>(), bytes, latency);
        let worst = rates.writes.min(rates.reads);
        assert!(
            worst >= bar,
            "{} with {bytes} bytes, latency {latency}: {rates:?}",
            M::NAME
        );
    }
    let (alone, _) = latencies(run.simulation::<M>(), 64, 0);
    assert_eq!(
        (alone.write, alone.read),
        (WRITE_CYCLES, READ_CYCLES),
        "{}",
        M::NAME
    );
}

/// Bursts of 1 to 4 beats, some of which fail.
fn send<M: Model>(bench: &mut HostDmaBench<M>, count: u64) {
    let bus = bench.setup.beat_bytes;
    for number in 0..count {
        let len = (number % 4 + 1) * bus - number % 3;
        let bytes: Vec<u8> = (0..len).map(|index| (index * 5 + number) as u8).collect();
        let address = BASE + number % 64 * 256;
        bench.write(WriteRequest::bytes(number % 16, address, &bytes, bus as usize));
        bench.read(ReadRequest::bytes(
            number % 16,
            address + 65536,
            len as usize,
            bus as usize,
        ));
    }
}

/// BREADY and RREADY stay low until everything is stuck, and for long times afterwards.
fn answers_wait_for_the_cluster<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, slow());
    bench.cluster.set_pauses(&MasterPauses {
        response: Pause::AlwaysAfter(0),
        read_data: Pause::AlwaysAfter(0),
        ..MasterPauses::default()
    });
    send(&mut bench, 600);
    bench.run(5000);
    assert_eq!(bench.under_way(), [600, 600]);
    for busy in [1, 3, 20] {
        bench.cluster.set_pauses(&MasterPauses {
            response: Pause::Bursty { busy, idle: 50 },
            read_data: Pause::Bursty { busy, idle: 50 },
            ..MasterPauses::default()
        });
        bench.run(3000);
    }
    bench.cluster.set_pauses(&MasterPauses::default());
    bench.settle();
    bench.finish();
}

/// While one half is stuck the other goes on.
fn halves_do_not_wait_for_each_other<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Stimulus::default());
    for stuck in 0..2 {
        bench.cluster.set_pauses(&MasterPauses {
            response: Pause::AlwaysAfter(if stuck == 0 { 0 } else { u64::MAX }),
            read_data: Pause::AlwaysAfter(if stuck == 1 { 0 } else { u64::MAX }),
            ..MasterPauses::default()
        });
        send(&mut bench, 400);
        bench.run(6000);
        let left = bench.under_way();
        assert_eq!(left[1 - stuck], 0, "half {stuck} is stuck");
        assert_eq!(left[stuck], 400);
        bench.cluster.set_pauses(&MasterPauses::default());
        bench.settle();
    }
    bench.finish();
}

/// Data long before its address, and long after it.
fn data_and_addresses_come_in_any_order<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Stimulus::default());
    bench.cluster.set_skew(Skew::Random { most: 100 });
    send(&mut bench, 400);
    bench.settle();
    bench.finish();
}

/// Each segment of the RAM takes, finishes and answers when it likes.
fn segments_of_the_ram_wait_each_by_itself<M: Model>(run: &mut TestRun) {
    use spinneret_sim::dma::Latency;
    for (percent, most) in [(0, 30), (50, 1), (70, 10), (90, 40)] {
        let ram = RamConfig {
            commands: Pause::Random { percent },
            latency: Latency { least: 1, most },
        };
        let stimulus = Stimulus {
            ram_writes: ram.clone(),
            ram_reads: ram,
            ..Stimulus::default()
        };
        let mut bench = open::<M>(run, stimulus);
        send(&mut bench, 300);
        bench.settle();
        bench.finish();
    }
}

/// Descriptors are taken seldom.
fn descriptors_wait_for_the_dma<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, slow());
    for dma in [&bench.writes, &bench.reads] {
        dma.set_pause(Pause::Random { percent: 95 });
    }
    send(&mut bench, 300);
    bench.settle();
    bench.finish();
}

/// A line with holes stays in use until its last run is written, also when the ring is full after it.
fn a_line_is_kept_until_all_its_runs_are_written<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Stimulus::default());
    let bus = bench.setup.beat_bytes;
    // The first descriptor is taken, the second waits.
    bench.writes.set_pause(Pause::AlwaysAfter(1));
    bench.write(strobed(bus, BASE, &[0xff | 0xf << 12], 1));
    let bytes = vec![7; 4096];
    for page in 1..=bench.setup.ram.bytes / 4096 + 1 {
        bench.write(WriteRequest::bytes(1, BASE + 4096 * page, &bytes, bus as usize));
    }
    bench.run(2 * bench.setup.lines() + 200);
    assert!(bench.writes.is_offered() && bench.writes.in_flight() == 0);
    bench.writes.set_pause(Pause::Never);
    bench.settle();
    bench.finish();
}

test_each!(
    answers_wait_for_the_cluster,
    halves_do_not_wait_for_each_other,
    data_and_addresses_come_in_any_order,
    segments_of_the_ram_wait_each_by_itself,
    descriptors_wait_for_the_dma,
    a_line_is_kept_until_all_its_runs_are_written,
    a_reset_of_both_sides_in_every_cycle_leaves_nothing_behind,
    resets_in_random_traffic_leave_nothing_behind
);

/// A write and a read of some beats each.
fn send_both<M: Model>(bench: &mut HostDmaBench<M>, number: u64) {
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
        send_both(bench, number);
    }
    bench.settle();
    let Counters { writes, reads } = bench.counters();
    assert_eq!((writes.bursts, reads.bursts), (6, 6));
}

/// Resets both sides in each cycle of some bursts.
fn a_reset_of_both_sides_in_every_cycle_leaves_nothing_behind<M: Model>(run: &mut TestRun) {
    for latency in [0, 20] {
        let mut bench = open::<M>(run, Stimulus::latency(latency));
        for cycles in 1..60 + latency {
            (0..4).for_each(|number| send_both(&mut bench, number));
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
    for (name, stimulus) in spinneret_tb::hostdma::stimuli() {
        let mut bench = open::<M>(run, stimulus);
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

/// After a reset of this side alone what is in flight is waited for.
#[test]
fn a_reset_of_this_side_alone_in_every_cycle_waits_for_what_is_in_flight() {
    run_test(1, |run| {
        for latency in [0, 1, 3, 20] {
            let mut bench = open::<PspinHostmemDmaBoard>(run, Stimulus::latency(latency));
            for cycles in 1..60 + latency {
                (0..4).for_each(|number| send_both(&mut bench, number));
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
    case(1, with(board_with, Stimulus::latency(500)), |bench| {
        (0..40).for_each(|number| send_both(bench, number));
        bench.run(300);
        assert_eq!((bench.writes.in_flight(), bench.reads.in_flight()), (40, 40));
        for dma in [&bench.writes, &bench.reads] {
            dma.set_latency(Latency::exactly(0));
        }
        bench.reset_alone();
        let start = bench.sim.cycle_count();
        works(bench);
        assert!(bench.sim.cycle_count() > start + 200, "it waits");
    });
}

/// A descriptor that waits for the DMA when the reset comes stays valid and is waited for.
#[test]
fn a_descriptor_that_waits_outlives_a_reset_of_this_side() {
    case(1, with(board_with, Stimulus::latency(5)), |bench| {
        for dma in [&bench.writes, &bench.reads] {
            dma.set_pause(Pause::AlwaysAfter(0));
        }
        (0..4).for_each(|number| send_both(bench, number));
        bench.run(100);
        bench.reset_alone();
        bench.run(100);
        for dma in [&bench.writes, &bench.reads] {
            assert!(dma.is_offered());
            dma.set_pause(Pause::Never);
        }
        works(bench);
        assert_eq!(bench.descriptors, [7, 7]);
    });
}

/// RAM answers to commands from before a reset of this side alone do not reach a new transfer.
#[test]
fn late_answers_of_the_ram_meet_no_new_transfer() {
    run_test(1, |run| {
        for cycles in [1, 2, 8, 20, 30] {
            let stimulus = Stimulus {
                ram_writes: RamConfig::after(cycles),
                ram_reads: RamConfig::after(cycles),
                ..Stimulus::default()
            };
            let mut bench = open::<PspinHostmemDmaBoard>(run, stimulus);
            for before in 1..60 + 2 * cycles {
                (0..4).for_each(|number| send_both(&mut bench, number));
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
    case(1, with(board_with, Stimulus::latency(100_000)), |bench| {
        (0..4).for_each(|number| send_both(bench, number));
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
    });
}

/// While the DMA is in reset it gets no descriptors, and bursts wait.
#[test]
fn nothing_is_given_to_a_dma_in_reset() {
    case(1, with(board_with, Stimulus::default()), |bench| {
        bench.hold_dma(true);
        bench.run(2);
        (0..6).for_each(|number| send_both(bench, number));
        bench.run(200);
        assert_eq!(bench.descriptors, [0, 0]);
        assert_eq!(bench.under_way(), [6, 6]);
        bench.hold_dma(false);
        bench.settle();
        let Counters { writes, reads } = bench.counters();
        assert_eq!((writes.bursts, reads.bursts), (6, 6));
    });
}

/// Resets of this side alone in the middle of random traffic, and of both.
#[test]
fn resets_of_one_side_or_both_in_random_traffic_leave_nothing_behind() {
    run_test(1, |run| {
        let mut rng = run.rng("resets");
        for (name, stimulus) in spinneret_tb::hostdma::stimuli() {
            let mut bench = open::<PspinHostmemDmaBoard>(run, stimulus);
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
