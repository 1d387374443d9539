//! The read channels of AXI4: the slave, its memory and the monitor, behind a design that passes all
//! channels on, or breaks a rule of each side.

use crate::support::{assert_contains, limited, panic_message, panics_with};
use spinneret_fixtures::{FixtureAxiPass, FixtureAxiSlave, FixtureSlice};
use spinneret_sim::prelude::*;

const INCR: u64 = 1;
const BEAT: &[&str] = &["id", "resp", "last", "data"];

/// A slave behind the fixture, and its other side.
struct Bench {
    sim: Simulation<FixtureAxiPass>,
    addresses: ChannelSource,
    beats: ChannelSink,
    slave: AxiSlave,
    monitor: AxiMonitor,
}

fn bench(config: SlaveConfig) -> Bench {
    let mut sim = limited(200_000);
    let addresses = sim.channel_source("s_axi_ar", &["id", "addr", "len", "size", "burst"], Pause::Never);
    let beats = sim.channel_sink("s_axi_r", BEAT, Pause::Never);
    let slave = sim.axi_read_slave("m_axi", config);
    let monitor = sim.axi_monitor("s_axi", Half::Read);
    sim.reset();
    Bench {
        sim,
        addresses,
        beats,
        slave,
        monitor,
    }
}

impl Bench {
    /// Reads whole beats.
    fn read(&self, id: u64, address: u64, beats: u64) {
        self.addresses.send(&[id, address, beats - 1, 3, INCR]);
    }

    fn settle(&mut self, beats: u64) -> Vec<Item> {
        while self.beats.total() < beats {
            self.sim.cycle();
        }
        self.beats.receive_all()
    }

    fn set_fault(&mut self, fault: u64) {
        self.sim.dut.set("fault", fault).expect("the fixture has faults");
    }
}

/// The expected lanes of a beat, and a mask of the lanes that count.
fn expected_lanes(memory: &Memory, address: u64, size: u64) -> (u64, u64) {
    let mut bytes = [0; 8];
    let first = (address % 8) as usize;
    let end = (address - address % size + size - (address - address % 8)) as usize;
    memory.overlay(address, &mut bytes[first..end]);
    let mut mask = [0; 8];
    mask[first..end].fill(0xff);
    (u64::from_le_bytes(bytes), u64::from_le_bytes(mask))
}

#[test]
fn random_reads_return_the_memory_byte_by_byte() {
    for seed in 0..12 {
        let mut rng = Seed(seed).rng("reads");
        let stalls = Pause::Random {
            percent: 20 * (seed as u32 % 3),
        };
        let order = [
            AnswerOrder::InOrder,
            AnswerOrder::Reordered,
            AnswerOrder::Interleaved,
        ][seed as usize % 3];
        let mut bench = bench(SlaveConfig {
            address: stalls.clone(),
            data: Pause::Bursty {
                busy: 6,
                idle: seed as u32 % 4,
            },
            latency: Latency { least: 1, most: 40 },
            order,
            faults: Faults::Random { percent: 10 },
        });
        bench.beats.set_pause(stalls);
        let bytes: Vec<u8> = (0..4 * 4096).map(|_| rng.random()).collect();
        bench.slave.memory_mut().fill(0, &bytes);
        let mut sent = Vec::new();
        for _ in 0..200 {
            let (id, size) = (rng.random_range(0..8), rng.random_range(0..4));
            let beats: u64 = rng.random_range(1..=16);
            let offset = rng.random_range(0..=4096 - (beats << size));
            let address = 4096 * rng.random_range(0..4) + offset;
            bench.addresses.send(&[id, address, beats - 1, size, INCR]);
            sent.push((id, address, beats, 1 << size));
        }
        let total = sent.iter().map(|(_, _, beats, _)| beats).sum();
        let received = bench.settle(total);
        let reads = bench.slave.take_bursts();
        assert_eq!(reads.len(), sent.len());
        let mut failed = 0;
        for id in 0..8 {
            let mut of_id = received.iter().filter(|item| item.values[0] == id);
            for (read, (_, address, beats, size)) in reads.iter().zip(&sent).filter(|(_, sent)| sent.0 == id)
            {
                let burst = read.burst;
                assert_eq!(
                    (burst.address, burst.beats, burst.size),
                    (*address, *beats, *size)
                );
                let mut worst = Response::Okay;
                for number in 0..*beats {
                    let values = &of_id.next().expect("a beat").values;
                    let response = Response::from_code(values[1]);
                    worst = worst.max(response);
                    if response == Response::Okay {
                        let memory = bench.slave.memory();
                        let (data, mask) = expected_lanes(&memory, burst.beat_address(number), *size);
                        assert_eq!(values[3] & mask, data, "{burst:x?} beat {number}");
                    }
                }
                assert_eq!(worst, read.response);
                failed += u64::from(worst.is_error());
            }
            assert_eq!(of_id.count(), 0);
        }
        assert!((5..=45).contains(&failed), "{failed} of 200 reads fail");
        let ids: Vec<_> = received.iter().map(|item| item.values[0]).collect();
        let in_order = sent
            .iter()
            .flat_map(|(id, _, beats, _)| vec![*id; *beats as usize]);
        assert_eq!(
            ids.iter().copied().eq(in_order),
            order == AnswerOrder::InOrder,
            "order of all beats"
        );
        let counts = bench.monitor.counts();
        assert_eq!(counts.data, bench.slave.monitor().counts().data);
        assert_eq!((counts.address.frames, counts.data.frames), (200, 200));
        bench.sim.finish();
    }
}

#[test]
fn beats_come_exactly_after_their_latency_and_without_bubbles() {
    for latency in [1, 2, 10, 40] {
        let mut bench = bench(SlaveConfig {
            latency: Latency::exactly(latency),
            ..SlaveConfig::default()
        });
        for number in 0..20 {
            bench.read(number % 3, 64 * number, 4);
        }
        let beats = bench.settle(80);
        let first = bench.slave.take_bursts()[0].cycle + latency;
        let cycles = beats.iter().map(|item| item.cycle);
        assert!(cycles.eq(first..first + 80), "latency {latency}");
        bench.sim.finish();
    }
}

#[test]
fn reads_of_one_beat_are_answered_every_clock() {
    let mut bench = bench(SlaveConfig {
        latency: Latency::exactly(40),
        ..SlaveConfig::default()
    });
    (0..100).for_each(|number| bench.read(0, 8 * number, 1));
    let beats = bench.settle(100);
    let reads = bench.slave.take_bursts();
    assert!(
        beats
            .iter()
            .zip(&reads)
            .all(|(beat, read)| beat.cycle == read.cycle + 40)
    );
    assert_eq!(beats[99].cycle - beats[0].cycle, 99);
    bench.sim.finish();
}

#[test]
fn chosen_beats_fail_and_carry_no_data() {
    let responder = BeatResponder::new(|burst, number| match (burst.address, number) {
        (0x40, 1) => Response::SlaveError,
        (0x80, 3) => Response::DecodeError,
        _ => Response::Okay,
    });
    let mut bench = bench(SlaveConfig {
        faults: Faults::PerBeat(responder),
        ..SlaveConfig::default()
    });
    bench.slave.memory_mut().fill(0, &[0x55; 4096]);
    [0, 0x40, 0x80]
        .iter()
        .for_each(|address| bench.read(1, *address, 4));
    let beats = bench.settle(12);
    let codes: Vec<_> = beats.iter().map(|item| item.values[1]).collect();
    assert_eq!(codes, [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 3]);
    for beat in &beats {
        assert_eq!(beat.values[3] == 0x5555_5555_5555_5555, beat.values[1] == 0);
    }
    let responses: Vec<_> = bench
        .slave
        .take_bursts()
        .iter()
        .map(|read| read.response)
        .collect();
    assert_eq!(
        responses,
        [Response::Okay, Response::SlaveError, Response::DecodeError]
    );
    bench.slave.set_faults(Faults::Never);
    bench.slave.set_latency(Latency::exactly(7));
    bench.read(1, 0x40, 4);
    assert!(bench.settle(16).iter().all(|beat| beat.values[1] == 0));
    bench.sim.finish();
}

/// The message of a read of four beats with a fault.
fn broken(fault: u64) -> String {
    let late = Pause::Cycle([[true; 5].as_slice(), &[false]].concat());
    let mut bench = bench(SlaveConfig {
        address: late.clone(),
        ..SlaveConfig::default()
    });
    bench.beats.set_pause(late);
    bench.set_fault(fault);
    bench.read(4, 0x100, 4);
    panic_message(|| {
        bench.sim.run(100);
        bench.beats.receive_all();
        bench.sim.finish();
    })
}

#[test]
fn broken_designs_are_reported() {
    for (fault, expected) in [
        (1, "m_axi_ar: valid went low before ready was high"),
        (
            2,
            "m_axi_ar: m_axi_araddr changed while valid was high and ready was low",
        ),
        (
            18,
            "m_axi_ar: m_axi_arqos changed while valid was high and ready was low",
        ),
        (4, "s_axi_r: beat 1 of 4 from 0x100 for id 4 comes with RLAST"),
        (5, "s_axi_r: beat 4 of 4 from 0x100 for id 4 comes without RLAST"),
        (6, "s_axi_r: a beat for id 5, which has no read under way"),
        (
            7,
            "s_axi_r: s_axi_rdata changed while valid was high and ready was low",
        ),
        (8, "s_axi_r: RRESP is EXOKAY for a burst that is not exclusive"),
        (9, "s_axi_r: a beat for id 0, which has no read under way"),
        (
            10,
            "s_axi: monitor has seen 1 reads, 0 beats; 1 reads and 0 beats are under way",
        ),
    ] {
        let message = broken(fault);
        assert_contains(&message, expected);
    }
}

#[test]
fn valid_in_reset_is_reported() {
    for (fault, expected) in [
        (3, "m_axi_ar: valid is high in reset"),
        (11, "s_axi_r: valid is high in reset"),
    ] {
        let mut bench = bench(SlaveConfig::default());
        bench.set_fault(fault);
        panics_with(expected, || bench.sim.reset());
    }
}

#[test]
fn illegal_reads_are_reported() {
    for (address, expected) in [
        (
            [0, 0xff8, 1, 3, INCR],
            "m_axi_ar: a burst of 2 beats of 8 bytes at 0xff8 crosses a 4 KiB boundary",
        ),
        (
            [0, 0, 0, 4, INCR],
            "m_axi_ar: beats of 16 bytes do not fit a bus of 8",
        ),
        ([0, 0, 0, 3, 3], "m_axi_ar: burst type 3 is reserved"),
        ([0, 0, 2, 3, 2], "m_axi_ar: a WRAP burst has 3 beats"),
        ([0, 0, 16, 3, 0], "m_axi_ar: a FIXED burst has 17 beats"),
    ] {
        let mut bench = bench(SlaveConfig::default());
        bench.addresses.send(&address);
        panics_with(expected, || bench.sim.run(20));
    }
}

#[test]
fn illegal_reads_are_answered_if_only_the_slave_is_checked() {
    let mut bench = bench(SlaveConfig::default());
    bench.monitor.check_slave_only();
    bench.slave.monitor().check_slave_only();
    bench.addresses.send(&[2, 0xffd, 2, 7, 3]);
    assert_eq!(bench.settle(3).len(), 3);
    bench.sim.finish();
}

#[test]
fn reads_in_flight_at_the_end_are_reported() {
    let mut bench = bench(SlaveConfig {
        latency: Latency::exactly(50),
        ..SlaveConfig::default()
    });
    bench.read(0, 0, 2);
    bench.sim.run(20);
    assert_eq!(bench.monitor.under_way(), 1);
    panics_with(
        "m_axi: monitor has seen 1 reads, 0 beats; 1 reads and 0 beats are under way",
        || bench.sim.finish(),
    );
}

#[test]
fn a_reset_discards_what_is_in_flight() {
    let mut bench = bench(SlaveConfig {
        latency: Latency::exactly(30),
        order: AnswerOrder::Interleaved,
        ..SlaveConfig::default()
    });
    for cycles in 1..60 {
        (0..8).for_each(|number| bench.read(number, 64 * number, 4));
        bench.sim.run(cycles);
        bench.sim.reset();
        let before = bench.beats.total();
        let left = bench.addresses.waiting() as u64;
        bench.settle(before + 4 * left);
        bench.sim.run(40);
        assert_eq!(bench.beats.total(), before + 4 * left);
    }
    bench.sim.finish();
}

#[test]
fn ports_without_read_channels_are_rejected() {
    let mut sim = limited::<FixtureSlice>(1);
    let error = AxiMonitor::attach(&mut sim, "m_axi", Half::Read).expect_err("a stream");
    assert_contains(&error, "fixture_slice has no port `m_axi_arvalid`");
    let mut sim = limited::<FixtureAxiSlave>(1);
    assert!(
        AxiMonitor::attach(&mut sim, "s_axi", Half::Read).is_err(),
        "it only writes"
    );
    let mut sim = limited::<FixtureAxiPass>(1);
    let error = AxiSlave::attach(
        &mut sim,
        "s_axi",
        Half::Read,
        SlaveConfig::default(),
        SharedMemory::default(),
    )
    .expect_err("a slave");
    assert_eq!(
        error.to_string(),
        "port `s_axi_arid` of fixture_axi_pass is an input of the design; an output is needed"
    );
}
