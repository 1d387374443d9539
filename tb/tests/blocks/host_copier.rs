//! `host_copier`: random commands against plain copies of bytes, and each line of its contract.

mod bench;

use bench::{Bench, HOST, PART, PLACES};
use spinneret_hdl::hpu::cluster::LONGEST;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{STALLED, case};

fn random_traffic(fails: bool) -> impl Fn(&mut Bench) {
    move |bench| {
        if fails {
            bench.fail();
        }
        let half = Pause::Random { percent: 50 };
        for round in 0..24 {
            bench.lines.set_ready([100, 60, 30][round % 3]);
            let pause = [Pause::Never, half.clone()][round % 2].clone();
            bench.host_writes.set_pauses(pause.clone(), pause.clone());
            bench.host_reads.set_pauses(pause.clone(), pause.clone());
            bench.sends.set_pause(pause);
            let most = [1, 40, 150][round / 2 % 3];
            bench.host_writes.set_latency(Latency { least: 1, most });
            bench.host_reads.set_latency(Latency { least: 1, most });
            let (from, to) = (PLACES[round % 2].clone(), PLACES[(round + 1) % 2].clone());
            for _ in 0..50 {
                bench.random(&from, &to);
                let pause = bench.rng.random_range(0..[2, 60][round / 2 % 2]);
                (0..pause).for_each(|_| bench.clock());
            }
            bench.settle();
        }
    }
}

fn check(test: impl Fn(&mut Bench)) {
    case(0x0001_405b, Bench::new, test);
}

#[test]
fn random_commands_do_what_they_say() {
    check(random_traffic(false));
}

#[test]
fn random_commands_meet_errors_of_the_host() {
    check(random_traffic(true));
}

#[test]
fn every_alignment_is_copied() {
    check(|bench| {
        bench.queue = Some(0);
        for place in 0..64 {
            for host in 0..64 {
                let bytes = bench.rng.random_range(1..200);
                bench.copy(0, true, 64 * (host % 7) + host, PLACES[0].start + place, bytes);
                bench.copy(
                    1,
                    false,
                    PART + host,
                    PLACES[1].start + 64 * (place % 7) + place,
                    bytes,
                );
                bench
                    .waiting
                    .iter()
                    .for_each(|commands| assert!(commands.len() <= 32));
                while bench.waiting.iter().any(|commands| commands.len() > 8) {
                    bench.clock();
                }
            }
            bench.settle();
        }
    });
}

#[test]
fn bursts_are_of_full_lines_within_1_kib() {
    check(|bench| {
        for (to_host, host, memory) in [
            (true, 0xfc1, PLACES[0].start + 5),
            (false, PART + 0xfc1, PLACES[1].start),
        ] {
            bench.copy(0, to_host, host, memory, 8300);
            let context = bench.waiting[0][0].queue >> 2 & 3;
            bench.users.clear();
            bench.settle();
            let slave = if to_host {
                &bench.host_writes
            } else {
                &bench.host_reads
            };
            let bursts = slave.take_bursts();
            let seen: Vec<_> = bursts
                .iter()
                .map(|burst| (burst.burst.address, burst.burst.beats))
                .collect();
            let base = HOST + (host as u64 & !0xfff);
            let mut expected = vec![(base + 0xfc0, 1)];
            expected.extend((0..8).map(|part| (base + 0x1000 + 0x400 * part, 16)));
            expected.push((base + 0x3000, 1));
            assert_eq!(seen, expected);
            assert!(
                bursts
                    .iter()
                    .all(|burst| (burst.burst.id, burst.burst.size) == (0, 64))
            );
            assert!(!bench.users.is_empty());
            assert!(
                bench
                    .users
                    .iter()
                    .all(|user| *user == [u64::from(!to_host), context])
            );
        }
    });
}

#[test]
fn words_are_written_in_one_beat() {
    check(|bench| {
        for size in 1..=16 {
            bench.direct(size as usize % 2, 2 * PART + 64 * size as usize, size, true);
            bench.settle();
            let bursts = bench.host_writes.take_bursts();
            let seen: Vec<_> = bursts
                .iter()
                .map(|burst| (burst.burst.beats, burst.bytes))
                .collect();
            assert_eq!(seen, [(1, u64::from(size))]);
        }
        // They need not wait for a long copy.
        bench.copy(0, true, 0, PLACES[0].start, 16000);
        bench.direct(1, 2 * PART, 8, true);
        while bench.done.is_empty() {
            bench.clock();
        }
        assert_eq!(bench.done[0].0, 1);
    });
}

#[test]
fn commands_that_do_nothing_end_at_once() {
    check(|bench| {
        for to_host in [true, false] {
            for bytes in [0, (1 << LONGEST) + 1, u32::MAX] {
                bench.copy(0, to_host, 0, PLACES[0].start, bytes);
            }
        }
        for (size, writes) in [(0, true), (17, true), (0x1ff, true), (8, false)] {
            bench.direct(1, 2 * PART, size, writes);
        }
        bench.add(1, 3, [u32::MAX; 7]);
        let start = bench.sim.cycle_count();
        assert!(bench.settle().iter().all(|clock| clock - start < 40));
        assert!(bench.host_writes.take_bursts().is_empty() && bench.host_reads.take_bursts().is_empty());
    });
}

#[test]
fn a_command_is_done_when_its_effect_is_there() {
    check(|bench| {
        bench.host_writes.set_latency(Latency::exactly(50));
        bench.lines.set_ready(20);
        for number in 0..20 {
            // `settle` compares in the clock of the end.
            bench.copy(
                number % 2,
                number % 4 < 2,
                [PART, 3][usize::from(number % 4 < 2)],
                PLACES[0].start + 9,
                500,
            );
            bench.settle();
        }
    });
}

#[test]
fn a_copy_to_the_host_keeps_its_bursts_after_a_failure() {
    check(|bench| {
        bench.queue = Some(0);
        bench.copy(0, true, 0, PLACES[0].end - 0x1000, 0x2100);
        bench.copy(0, true, 0x4000, PLACES[0].start, 100);
        bench.settle();
        let bursts = bench.host_writes.take_bursts();
        let bytes: Vec<_> = bursts
            .iter()
            .map(|burst| (burst.burst.beats, burst.bytes))
            .collect();
        let expected = [vec![(16, 0x400); 4], vec![(16, 0); 4], vec![(4, 0), (2, 100)]];
        assert_eq!(bytes, expected.concat());
    });
}

#[test]
fn a_path_that_stands_stops_no_other() {
    check(|bench| {
        bench.queue = Some(0);
        bench.sends.set_pause(STALLED);
        for _ in 0..12 {
            bench.add(0, 1, [7; 7]);
        }
        for number in 0..20 {
            bench.copy(
                0,
                number % 2 == 0,
                [PART, 0][usize::from(number % 2 == 0)] + 64 * number,
                PLACES[0].start,
                64,
            );
        }
        while bench.done.len() < 20 {
            bench.clock();
        }
        assert!(bench.waiting[0].is_empty());
        bench.sends.set_pause(Pause::Never);
    });
}

#[test]
fn a_long_copy_delays_another_context_by_its_parts_only() {
    check(|bench| {
        for to_host in [true, false] {
            let host = if to_host { 0 } else { PART };
            bench.queue = Some(0);
            bench.copy(0, to_host, host, PLACES[0].start, 0x3f00);
            (0..60).for_each(|_| bench.clock());
            bench.queue = Some(4);
            bench.copy(0, to_host, host + 0x4000, PLACES[1].start, 64);
            let start = bench.sim.cycle_count();
            while bench.done.is_empty() {
                bench.clock();
            }
            let clocks = bench.sim.cycle_count() - start;
            assert!(
                bench.open_bytes() > 64 && clocks < 120,
                "{to_host}: {clocks} clocks"
            );
            bench.settle();
        }
    });
}

#[test]
fn few_packets_are_on_their_way() {
    check(|bench| {
        bench.respond = false;
        for _ in 0..12 {
            bench.add(1, 1, [7; 7]);
        }
        (0..200).for_each(|_| bench.clock());
        assert_eq!(bench.sends.total(), 8);
        bench.respond = true;
    });
}

#[test]
fn one_line_is_copied_in_a_clock() {
    check(|bench| {
        // As long as a host takes.
        bench.host_writes.set_latency(Latency::exactly(100));
        bench.host_reads.set_latency(Latency::exactly(100));
        bench.queue = Some(0);
        for to_host in [true, false] {
            let host = if to_host { 0 } else { PART };
            for number in 0..16 {
                bench.copy(number % 2, to_host, host + 1536 * number, PLACES[0].start, 1500);
            }
            let start = bench.sim.cycle_count();
            let clocks = bench.settle();
            let (first, last) = (clocks[0] - start, clocks[15] - start);
            assert!(first < 160, "{to_host}: the first copy takes {first} clocks");
            assert!(last - first <= 15 * 26, "{to_host}: {clocks:?}");
        }
    });
}
