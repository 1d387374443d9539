//! The host DMA against its reference models, and each line of its contract.

use spinneret_models::{PspinHostmemDma, PspinHostmemDmaBoard};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::Finish;
use spinneret_tb::hostdma::{Behaviour, HostDmaBench, latencies, rates};

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
mod resets;
mod transfers;

/// Where tests write, unless it matters.
const BASE: u64 = 0x12_3456_7000;

/// A host DMA with all windows open.
fn open<M: Model>(run: &mut TestRun, behaviour: Behaviour) -> HostDmaBench<M> {
    let mut bench = HostDmaBench::new(run.simulation(), behaviour);
    bench.open_windows(BASE);
    bench
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
fn slow() -> Behaviour {
    let mut behaviour = Behaviour::latency(40);
    behaviour.writes.spread = 60;
    behaviour.reads.spread = 60;
    behaviour
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
    let mut bench = open::<M>(run, Behaviour::default());
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
    let mut bench = open::<M>(run, Behaviour::default());
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
        let behaviour = Behaviour {
            ram_writes: ram.clone(),
            ram_reads: ram,
            ..Behaviour::default()
        };
        let mut bench = open::<M>(run, behaviour);
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

/// A line with holes stays in use until its last run is written, also when the ring is full behind it.
fn a_line_is_kept_until_all_its_runs_are_written<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Behaviour::default());
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
    a_line_is_kept_until_all_its_runs_are_written
);
