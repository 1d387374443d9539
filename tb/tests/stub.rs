//! The stand-in for the cluster against its reference model.

use spinneret_models::{PspinWrapBench, PspinWrapBenchSmall};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::stub::{Her, Stimulus, StubBench};

/// Bytes of a line.
const LINE: u64 = 64;
/// The region of packets.
const PACKETS: u64 = 3;
/// Bytes at the end of that region that HERs read into.
const HANDLER: u64 = 512;

/// Pauses, a host that is slow and fails, all from the seed.
fn stimulus(rng: &mut ChaCha8Rng) -> Stimulus {
    let pause = Pause::Random {
        percent: [0, 20, 60][rng.random_range(0..3)],
    };
    let percent = [0, 15][rng.random_range(0..2)];
    let latency = Latency { least: 1, most: 12 };
    Stimulus {
        writes: SlaveConfig {
            address: pause.clone(),
            data: pause.clone(),
            latency,
            faults: Faults::Random { percent },
            ..SlaveConfig::default()
        },
        reads: SlaveConfig {
            address: pause.clone(),
            data: pause.clone(),
            latency,
            faults: Faults::Random { percent },
            ..SlaveConfig::default()
        },
        pause,
        delay: 9,
        unread_percent: 40,
    }
}

/// A burst within a region, of any size, length and alignment.
fn burst<M: Model>(rng: &mut ChaCha8Rng, bench: &StubBench<M>, region: u64) -> Burst {
    let memory_map = bench.memory_map;
    let size = 1 << rng.random_range(0..=6);
    let offset = rng.random_range(0..memory_map.region_bytes());
    let address = memory_map.address(rng, region, offset);
    // No burst crosses 4 KiB, and regions are whole pages.
    let first = address & !(size - 1);
    let most = ((4096 - first % 4096) / size).min(256);
    Burst {
        id: rng.random_range(0..64),
        address,
        beats: rng.random_range(1..=most.min(20)),
        size,
        kind: BurstKind::Incrementing,
    }
}

/// A burst that has to fail.
fn bad_burst<M: Model>(rng: &mut ChaCha8Rng, bench: &StubBench<M>) -> Burst {
    let good = burst(rng, bench, 0);
    match rng.random_range(0..4) {
        0 => Burst {
            kind: [BurstKind::Fixed, BurstKind::Wrapping, BurstKind::Reserved][rng.random_range(0..3)],
            ..good
        },
        1 => Burst { size: 128, ..good },
        // Right after the windows, and right before them.
        2 => {
            let edges = [0x1bff_f000, 0x1c18_0000, 0x1cff_f000, 0x1d00_8000, 0, 0xffff_f000];
            let address = edges[rng.random_range(0..6)];
            Burst { address, ..good }
        }
        _ => {
            let address = u64::from(rng.random::<u32>() & !0xfff) | 1 << 31;
            Burst { address, ..good }
        }
    }
}

/// A write with random data and strobes.
fn write(rng: &mut ChaCha8Rng, burst: Burst) -> WriteRequest {
    let beats = (0..burst.beats).map(|number| {
        let mut bytes = vec![0; LINE as usize];
        rng.fill_bytes(&mut bytes);
        let lanes = burst.lanes(number, LINE);
        let strobes = if rng.random() {
            lanes
        } else {
            lanes & rng.random::<u128>()
        };
        (bytes, strobes)
    });
    WriteRequest::new(burst, beats.collect::<Vec<_>>())
}

/// Fills the region of packets with random bytes.
fn fill_packets<M: Model>(rng: &mut ChaCha8Rng, bench: &mut StubBench<M>) {
    let most = bench.memory_map.region_bytes().min(16384);
    for line in (0..most / LINE).step_by(16) {
        let address = bench.memory_map.address(rng, PACKETS, line * LINE);
        let mut bytes = vec![0; 16 * LINE as usize];
        rng.fill_bytes(&mut bytes);
        bench.write(0, WriteRequest::bytes(1, address, &bytes, LINE as usize));
    }
    bench.settle();
}

/// A HER for a packet of that many bytes.
fn her<M: Model>(rng: &mut ChaCha8Rng, bench: &StubBench<M>, number: u64, size: u64) -> Her {
    let memory_map = bench.memory_map;
    let most = memory_map.region_bytes().min(16384) - HANDLER;
    let size = size.min(most - LINE);
    let mut offset = rng.random_range(0..(most - size) / LINE) * LINE;
    if rng.random_range(0..3) == 0 {
        offset += rng.random_range(0..LINE);
    }
    let near_page = rng.random_range(0..2) * (4096 - rng.random_range(0..200));
    let handler = most + rng.random_range(0..HANDLER);
    Her {
        message: rng.random_range(0..1024),
        address: 0x1c00_0000 + PACKETS * memory_map.region_bytes() + offset,
        size,
        transfer_size: u64::from(rng.random::<u32>()),
        host: ((number + 1) << 20) | (near_page + rng.random_range(0..LINE)),
        handler: 0x1c00_0000 + PACKETS * memory_map.region_bytes() + handler,
        operations: u64::from(rng.random::<u32>()),
    }
}

/// HERs of every kind, with bursts of the masters at the same time.
fn traffic<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("traffic");
    let stimulus = stimulus(&mut rng);
    let mut bench = StubBench::new(run.simulation::<M>(), stimulus);
    fill_packets(&mut rng, &mut bench);
    for number in 0..400 {
        let size = [0, 1, 64, 1500, 3000][rng.random_range(0..5)];
        let size = if size > 64 {
            rng.random_range(1..=size)
        } else {
            size
        };
        let her = her(&mut rng, &bench, number, size);
        bench.send(her);
        if rng.random_range(0..4) == 0 {
            let burst = burst(&mut rng, &bench, 1);
            bench.write(1, write(&mut rng, burst));
        }
        while bench.open() > 6 {
            bench.cycle();
        }
        if number % 150 == 149 {
            bench.run(rng.random_range(0..200));
            bench.reset();
            fill_packets(&mut rng, &mut bench);
        }
    }
    bench.finish();
}

#[test]
fn random_hers_match_the_model() {
    for seed in 1..=4 {
        run_test(seed, traffic::<PspinWrapBench>);
        run_test(seed, traffic::<PspinWrapBenchSmall>);
    }
}

/// A bench without pauses, with an empty memory.
fn empty(run: &mut TestRun) -> StubBench<PspinWrapBench> {
    StubBench::new(run.simulation(), Stimulus::default())
}

/// A bench without pauses, with packets in its memory.
fn calm<M: Model>(run: &mut TestRun) -> StubBench<M> {
    let mut bench = StubBench::new(run.simulation::<M>(), Stimulus::default());
    fill_packets(&mut run.rng("packets"), &mut bench);
    bench
}

/// A HER for a packet at the start of its region.
fn plain<M: Model>(bench: &StubBench<M>, message: u64, operations: u64) -> Her {
    let region = 0x1c00_0000 + 3 * bench.memory_map.region_bytes();
    Her {
        message,
        address: region,
        size: 100,
        transfer_size: 60,
        host: 0x1_0000_0000 + 0x10000 * message,
        handler: region + 0x800,
        operations,
    }
}

#[test]
fn copies_are_right_at_every_alignment() {
    case(1, calm::<PspinWrapBench>, |bench| {
        let mut number = 0;
        for offset in 0..LINE {
            for size in [1, 2, 63, 64, 65, 127, 128, 129, 1500, 4200] {
                for source in [0, 1, offset, 63] {
                    number += 1;
                    let mut her = plain(bench, number % 1024, 2);
                    her.host = (number << 20) + 4096 - 2 * LINE + offset;
                    her.address += source;
                    her.size = size;
                    bench.send(her);
                    while bench.open() > 4 {
                        bench.cycle();
                    }
                }
            }
        }
    });
}

#[test]
fn every_combination_of_operations_is_done_in_order() {
    case(1, calm::<PspinWrapBenchSmall>, |bench| {
        for operations in 0..16 {
            bench.send(plain(bench, operations, operations));
            bench.settle();
        }
        assert_eq!((bench.done, bench.words), (16, 8));
    });
}

#[test]
fn hers_wait_for_a_fetch_enable_and_for_room() {
    case(1, calm::<PspinWrapBenchSmall>, |bench| {
        bench.enable(0);
        bench.run(4);
        for message in 0..6 {
            bench.send(plain(bench, message, 1));
        }
        bench.run(50);
        assert_eq!(
            (bench.waiting(), bench.sim.get("busy"), bench.sim.get("eoc")),
            (6, 0, 0)
        );
        // Either cluster's enable is enough. The command is not taken, so two HERs are inside and the others wait.
        bench.commands.set_pause(Pause::AlwaysAfter(0));
        bench.enable(2);
        bench.run(50);
        assert_eq!(bench.waiting() as u64, 6 - bench.memory_map.hers);
        assert_eq!((bench.sim.get("busy"), bench.sim.get("active")), (3, 1));
        assert_eq!((bench.sim.get("mpq_full"), bench.sim.get("eoc")), (0xffff, 0));
        bench.commands.set_pause(Pause::Never);
        bench.settle();
        bench.run(4);
        assert_eq!((bench.sim.get("mpq_full"), bench.sim.get("eoc")), (0, 3));
    });
}

#[test]
fn stdout_drops_the_newest_word_when_it_is_full() {
    case(1, calm::<PspinWrapBenchSmall>, |bench| {
        bench.reads_stdout = false;
        let room = bench.memory_map.words;
        for message in 0..room + 3 {
            bench.send(plain(bench, message, 8));
            bench.settle();
        }
        bench.reads_stdout = true;
        bench.settle();
        assert_eq!(bench.words, room);
    });
}

fn burst_traffic<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("traffic");
    let stimulus = stimulus(&mut rng);
    let mut bench = StubBench::new(run.simulation::<M>(), stimulus);
    for round in 0..60 {
        // Each master writes to a region of its own, then everybody reads everything.
        for master in 0..3 {
            for _ in 0..rng.random_range(1..6) {
                let burst = match rng.random_range(0..5) {
                    0 => bad_burst(&mut rng, &bench),
                    _ => burst(&mut rng, &bench, master as u64),
                };
                let request = write(&mut rng, burst);
                bench.write(master, request);
            }
        }
        bench.settle();
        for master in 0..3 {
            for _ in 0..rng.random_range(1..8) {
                let burst = match rng.random_range(0..5) {
                    0 => bad_burst(&mut rng, &bench),
                    _ => {
                        let region = rng.random_range(0..3);
                        burst(&mut rng, &bench, region)
                    }
                };
                bench.read(master, burst);
            }
        }
        bench.settle();
        if round % 20 == 19 {
            let request = write(&mut rng, burst(&mut run.rng("more"), &bench, 0));
            bench.write(0, request);
            bench.run(rng.random_range(0..20));
            bench.reset();
        }
    }
    bench.finish();
}

#[test]
fn random_bursts_write_and_read_the_memory() {
    for seed in 1..=4 {
        run_test(seed, burst_traffic::<PspinWrapBench>);
        run_test(seed, burst_traffic::<PspinWrapBenchSmall>);
    }
}

#[test]
fn one_line_is_written_and_one_read_in_a_clock() {
    case(1, empty, |bench| {
        let page = |master: u64| Burst {
            id: 0,
            address: 0x1c00_0000 + 4096 * master,
            beats: 64,
            size: 64,
            kind: BurstKind::Incrementing,
        };
        for master in 0..3 {
            let bytes = vec![master as u8; 4096];
            bench.write(
                master,
                WriteRequest::bytes(0, page(master as u64).address, &bytes, 64),
            );
        }
        let start = bench.sim.cycle_count();
        bench.settle();
        let cycles = bench.sim.cycle_count() - start;
        assert!(
            (192..=200).contains(&cycles),
            "{cycles} clocks for 192 lines of three masters"
        );
        for master in 0..3 {
            bench.read(master, page(master as u64));
        }
        let start = bench.sim.cycle_count();
        bench.settle();
        let cycles = bench.sim.cycle_count() - start;
        assert!(
            (192..=200).contains(&cycles),
            "{cycles} clocks for 192 lines of three masters"
        );
    });
}
