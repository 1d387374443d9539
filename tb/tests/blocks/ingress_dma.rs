//! The ingress DMA against its reference model, and each line of its contract.

use spinneret_models::{PspinIngressDma, PspinIngressDmaSmall, PspinIngressDmaW64, PspinIngressDmaW256};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case, with};
use spinneret_tb::ingress_dma::{BUFFER_START, DmaBench, Outcome, Packet, Pauses, random_packet};

/// Bytes of a beat and of the largest burst.
const REFERENCE: (u64, u64) = (64, 128);
const SMALL: (u64, u64) = (16, 128);
const W64: (u64, u64) = (8, 128);
const W256: (u64, u64) = (32, 128);

fn bench(run: &mut TestRun, slave: SlaveConfig) -> DmaBench<PspinIngressDma> {
    DmaBench::new(run.simulation(), REFERENCE, Pauses::default(), slave)
}

fn after(cycles: u64) -> SlaveConfig {
    SlaveConfig {
        latency: Latency::exactly(cycles),
        ..SlaveConfig::default()
    }
}

fn packet(address: u64, length: usize) -> Packet {
    let bytes = (0..length).map(|byte| (byte * 7 + byte / 256) as u8).collect();
    Packet::new(address, length as u64 ^ 0xa5a5, bytes)
}

/// Stimuli of all bus models.
fn stimuli() -> Vec<(Pauses, SlaveConfig)> {
    let random = |percent| Pause::Random { percent };
    let bursty = |busy, idle| Pause::Bursty { busy, idle };
    let pauses = |stream, descriptor, her, free| Pauses {
        stream,
        descriptor,
        her,
        free,
    };
    let slave = |address, data, least, most, percent| SlaveConfig {
        address,
        data,
        latency: Latency { least, most },
        order: AnswerOrder::Reordered,
        faults: Faults::Random { percent },
    };
    let never = || Pause::Never;
    vec![
        (Pauses::default(), slave(never(), never(), 1, 1, 5)),
        (Pauses::default(), slave(never(), never(), 1, 100, 0)),
        (
            pauses(random(30), random(30), random(30), random(30)),
            slave(random(30), random(30), 1, 20, 10),
        ),
        (
            pauses(bursty(40, 20), bursty(3, 30), bursty(5, 100), bursty(2, 200)),
            slave(bursty(20, 60), never(), 5, 60, 10),
        ),
        (
            pauses(never(), random(80), random(75), random(95)),
            slave(never(), bursty(20, 60), 1, 10, 30),
        ),
        (
            pauses(random(80), never(), never(), never()),
            slave(random(80), random(10), 1, 3, 2),
        ),
    ]
}

fn random_traffic<M: Model>(run: &mut TestRun, sizes: (u64, u64), packets: u64) {
    let mut rng = run.rng("packets");
    let mut total = Outcome::default();
    let stimuli = stimuli();
    let share = packets / stimuli.len() as u64;
    for (pauses, slave) in stimuli {
        let mut bench = DmaBench::new(run.simulation::<M>(), sizes, pauses, slave);
        for _ in 0..share.div_ceil(500) {
            for _ in 0..share.min(500) {
                bench.send(random_packet(&mut rng, sizes.0, 30));
            }
            total += bench.settle();
        }
        bench.finish();
    }
    assert!(
        total.good > packets / 2 && total.write_errors > packets / 50 && total.bad_frames > packets / 100,
        "{total:?} of {packets}"
    );
}

#[test]
fn random_packets_reference() {
    run_test(1, |run| {
        random_traffic::<PspinIngressDma>(run, REFERENCE, 18_000);
    });
}

#[test]
fn random_packets_small() {
    run_test(2, |run| {
        random_traffic::<PspinIngressDmaSmall>(run, SMALL, 6_000);
    });
}

#[test]
fn random_packets_of_narrow_beats() {
    run_test(3, |run| {
        random_traffic::<PspinIngressDmaW64>(run, W64, 6_000);
        random_traffic::<PspinIngressDmaW256>(run, W256, 6_000);
    });
}

/// One beat a clock, whatever the latency of responses.
fn takes_one_beat_a_clock<M: Model>(run: &mut TestRun, sizes: (u64, u64)) {
    for latency in [1, 10, 30] {
        for size in [1, 64, 65, 128, 256, 512, 1024, 1500, 1518] {
            let mut bench: DmaBench<M> =
                DmaBench::new(run.simulation(), sizes, Pauses::default(), after(latency));
            for number in 0..300 {
                bench.send(packet(BUFFER_START + number % 256 * 1536, size));
            }
            while bench.her.waiting() < 300 {
                bench.sim.cycle();
            }
            let items = bench.her.receive_all();
            for pair in items.windows(2) {
                let cycles = pair[1].cycle - pair[0].cycle;
                let beats = (size as u64).div_ceil(sizes.0);
                assert_eq!(
                    cycles,
                    beats,
                    "{}: {size} bytes, responses after {latency}",
                    M::NAME
                );
            }
            bench.slave.take_bursts();
        }
    }
}

#[test]
fn takes_one_beat_a_clock_whatever_the_response_latency() {
    run_test(1, |run| {
        takes_one_beat_a_clock::<PspinIngressDma>(run, REFERENCE);
        takes_one_beat_a_clock::<PspinIngressDmaW64>(run, W64);
        takes_one_beat_a_clock::<PspinIngressDmaW256>(run, W256);
    });
}

/// Clocks that the last of 2000 one-beat packets comes after the first, with that response latency.
fn clocks_of_small_packets(run: &mut TestRun, latency: u64) -> u64 {
    let mut bench = bench(run, after(latency));
    for number in 0..2000 {
        bench.send(packet(BUFFER_START + 128 * number, 64));
    }
    while bench.her.waiting() < 2000 {
        bench.sim.cycle();
    }
    let items = bench.her.receive_all();
    bench.slave.take_bursts();
    bench.sim.finish();
    items[1999].cycle - items[0].cycle
}

#[test]
fn responses_may_take_as_long_as_bursts_can_wait() {
    run_test(1, |run| {
        // 64 bursts and one more wait at most, each for its latency and two clocks of the queue.
        assert_eq!(clocks_of_small_packets(run, 63), 1999);
        assert!(clocks_of_small_packets(run, 64) > 1999);
    });
}

#[test]
fn a_packet_takes_its_beats_its_response_and_two_or_three_clocks() {
    run_test(1, |run| {
        for latency in [1, 10, 30] {
            let mut bench = bench(run, after(latency));
            for size in [1, 60, 64, 65, 128, 1500, 4096, 9000] {
                bench.send(packet(BUFFER_START, size));
                bench.sim.run(300);
                let first = bench.source.monitor().last_frame().unwrap().first_cycle;
                let her = bench.her.receive().unwrap().cycle;
                let beats = size.div_ceil(64) as u64;
                // The descriptor takes a clock, and a frame of several beats starts when two are there.
                let ahead = if beats == 1 { 0 } else { 1 };
                assert_eq!(her - first, beats + latency + 2 + ahead, "{size} bytes");
            }
            // Failed slots take as long.
            bench.slave.set_faults(Faults::Random { percent: 100 });
            bench.send(packet(BUFFER_START, 64));
            bench.sim.run(300);
            let first = bench.source.monitor().last_frame().unwrap().first_cycle;
            assert_eq!(bench.free.receive().unwrap().cycle - first, 3 + latency);
            bench.slave.take_bursts();
        }
    });
}

#[test]
fn no_burst_crosses_4_kib() {
    case(1, with(bench, after(3)), |bench| {
        for start in (0..4096).step_by(64) {
            for size in [64, 65, 4096 - start as usize, 4097 - start as usize, 1500, 9600] {
                bench.send(packet(BUFFER_START + start, size));
            }
            assert_eq!(bench.settle().good, 6);
        }
    });
}

#[test]
fn one_failed_burst_fails_its_packet_alone() {
    run_test(1, |run| {
        // Three bursts a packet; the failed one is the first, the second or the last.
        for failed in 0..3 {
            for response in [Response::SlaveError, Response::DecodeError] {
                let mut bench = bench(run, after(7));
                let at = BUFFER_START + 0x4000 + 0x1000 * failed + 0xfc0 * u64::from(failed == 0);
                bench.slave.set_faults(Faults::At(vec![(at..=at, response)]));
                for slot in 0..3 {
                    bench.send(packet(BUFFER_START + 0x4000 * slot + 0xfc0, 0x40 + 0x1000 + 100));
                    bench.send(packet(BUFFER_START + 0x10_000, 64));
                }
                let outcome = bench.settle();
                assert_eq!((outcome.good, outcome.write_errors), (5, 1), "burst {failed}");
                bench.finish();
            }
        }
    });
}

#[test]
fn frames_that_are_not_as_long_as_their_descriptor_fail_alone() {
    run_test(1, |run| {
        for (length, frame) in [
            (64, 63),
            (64, 65),
            (64, 1500),
            (65, 64),
            (1500, 64),
            (1500, 1499),
            (9600, 1),
            (1, 9600),
            (0, 1),
            (100, 200),
        ] {
            for null_last in [false, true] {
                let mut bench = bench(run, after(2));
                bench.send(packet(BUFFER_START, 100));
                let mut wrong = packet(BUFFER_START + 0x3000, frame);
                wrong.length = length;
                if null_last {
                    wrong.frame = wrong.frame.with_null_last();
                }
                bench.send(wrong);
                bench.send(packet(BUFFER_START + 0x8000, 1500));
                let outcome = bench.settle();
                assert_eq!((outcome.good, outcome.bad_frames), (2, 1), "{length} for {frame}");
                bench.finish();
            }
        }
    });
}

#[test]
fn odd_but_sound_frames_pass() {
    case(1, with(bench, after(2)), |bench| {
        for size in [0, 1, 63, 64, 65, 128, 1500, 16384] {
            let mut odd = packet(BUFFER_START, size);
            odd.frame = odd.frame.with_null_last();
            bench.send(odd);
            bench.send(packet(BUFFER_START + 0x8000, 64));
        }
        assert_eq!(bench.settle().good, 16);
    });
}

#[test]
fn bytes_that_are_not_in_the_lowest_lanes_fail_their_packet() {
    run_test(1, |run| {
        let mut sim = run.simulation::<PspinIngressDma>();
        let descriptors = sim.channel_source("write_desc", &["addr", "len", "tag"], Pause::Never);
        let beats = sim.channel_source("s_axis_pspin_rx_t", &["keep", "last"], Pause::Never);
        let slave = sim.axi_write_slave("m_axi_pspin", after(2));
        let her = sim.channel_sink("her_gen", &["addr", "len", "tag"], Pause::Never);
        let free = sim.channel_sink("m_free", &["addr"], Pause::Never);
        sim.reset();
        let (full, address) = (u64::MAX, BUFFER_START + 0xfc0);
        // Length, lanes of the two beats, bytes written.
        for (length, first, second, written) in [
            (128, full, full & !2, 127),
            (128, full & !1, full, 127),
            (68, full, 0xf0, 64),
            (68, full, 0xfe, 67),
            (68, full >> 1, 0xf, 67),
            (68, 0, 0xf, 4),
        ] {
            descriptors.send(&[address, length, 7]);
            beats.send(&[first, 0]);
            beats.send(&[second, 1]);
            sim.run(20);
            assert_eq!(free.receive().map(|item| item.values), Some(vec![address]));
            assert_eq!(
                slave.memory().written(),
                written,
                "{length} bytes in {first:#x}, {second:#x}"
            );
            slave.memory_mut().forget(address, 128);
        }
        descriptors.send(&[address, 68, 7]);
        beats.send(&[full, 0]);
        beats.send(&[0xf, 1]);
        sim.run(20);
        assert_eq!(her.receive().map(|item| item.values), Some(vec![address, 68, 7]));
        assert_eq!(sim.dut.get("bad_frame_pkts_o").unwrap(), 6_u8.into());
    });
}

#[test]
fn an_address_within_a_beat_writes_nothing_and_fails() {
    case(1, with(bench, after(2)), |bench| {
        for offset in [1, 32, 63] {
            bench.send(packet(BUFFER_START + offset, 1500));
        }
        assert_eq!(bench.settle().bad_frames, 3);
        assert_eq!(bench.slave.memory().written(), 0);
    });
}

#[test]
fn packets_wait_for_the_her_generator_and_none_is_lost() {
    case(1, with(bench, after(10)), |bench| {
        bench.her.set_pause(Pause::AlwaysAfter(0));
        for number in 0..3000 {
            bench.send(packet(BUFFER_START + 128 * number, 64));
        }
        bench.sim.run(1000);
        assert!(bench.source.waiting() > 2800, "the stream must stop");
        bench.her.set_pause(Pause::Random { percent: 75 });
        assert_eq!(bench.settle().good, 3000);
    });
}

#[test]
fn slots_wait_for_the_allocator_while_good_packets_pass() {
    case(1, with(bench, after(10)), |bench| {
        bench.free.set_pause(Pause::AlwaysAfter(0));
        let bad = BUFFER_START + 0x1000;
        bench
            .slave
            .set_faults(Faults::At(vec![(bad..=bad, Response::SlaveError)]));
        for number in 0..100 {
            bench.send(packet(if number % 12 == 0 { bad } else { BUFFER_START }, 64));
        }
        bench.sim.run(300);
        assert_eq!(bench.her.waiting(), 91, "nine slots fit into the queue");
        for _ in 0..20 {
            bench.send(packet(bad, 64));
        }
        bench.sim.run(300);
        bench.free.set_pause(Pause::Never);
        assert_eq!(bench.settle().write_errors, 29);
    });
}

#[test]
fn nothing_is_read() {
    case(1, with(bench, after(1)), |bench| {
        bench.send(packet(BUFFER_START, 64));
        for _ in 0..50 {
            bench.sim.cycle();
            assert_eq!(bench.sim.dut.get("m_axi_pspin_arvalid").unwrap(), 0_u8.into());
        }
    });
}

#[test]
fn reset_in_the_middle_of_traffic_leaves_nothing_behind() {
    run_test(1, |run| {
        let mut rng = run.rng("resets");
        let slave = SlaveConfig {
            address: Pause::Random { percent: 20 },
            data: Pause::Random { percent: 20 },
            latency: Latency { least: 1, most: 20 },
            faults: Faults::Random { percent: 10 },
            ..SlaveConfig::default()
        };
        let mut bench = bench(run, slave);
        for _ in 0..60 {
            bench.her.set_pause(Pause::Random { percent: 50 });
            bench.free.set_pause(Pause::Random { percent: 90 });
            for _ in 0..15 {
                bench.send(random_packet(&mut rng, 64, 5));
            }
            bench.sim.run(rng.random_range(1..80));
            bench.reset();
            for _ in 0..15 {
                bench.send(random_packet(&mut rng, 64, 5));
            }
            bench.settle();
        }
        bench.finish();
    });
}
