//! The write channels of AXI4: the slave, its memory and the monitor, on hand-written masters and slaves.

use crate::support::{assert_contains, limited, panic_message, panics_with};
use spinneret_fixtures::{FixtureAxiMaster, FixtureAxiSlave, FixtureSlice};
use spinneret_sim::prelude::*;

const FIELDS: &[&str] = &["id", "addr", "len", "size", "burst", "strobe", "value"];
const INCR: u64 = 1;

/// The master of the fixtures with a slave.
struct Bench {
    sim: Simulation<FixtureAxiMaster>,
    commands: ChannelSource,
    responses: ChannelSink,
    slave: AxiSlave,
}

fn bench(config: SlaveConfig) -> Bench {
    let mut sim = limited(200_000);
    let commands = sim.channel_source("cmd", FIELDS, Pause::Never);
    let responses = sim.channel_sink("resp", &["id", "code"], Pause::Never);
    let slave = sim.axi_write_slave("m_axi", config);
    sim.reset();
    Bench {
        sim,
        commands,
        responses,
        slave,
    }
}

impl Bench {
    /// A burst of whole beats.
    fn write(&self, id: u64, address: u64, beats: u64, value: u64) {
        self.commands
            .send(&[id, address, beats - 1, 3, INCR, 0xff, value]);
    }

    fn settle(&mut self, responses: u64) {
        while self.responses.total() < responses {
            self.sim.cycle();
        }
    }
}

fn set_fault<M: Model>(sim: &mut Simulation<M>, fault: u128) {
    let dut = sim.dut.instance_mut();
    let port = dut.port("fault", Direction::Input).unwrap();
    dut.set_value(port, fault);
}

#[test]
fn random_bursts_are_written_byte_by_byte() {
    for seed in 0..12 {
        let mut rng = Seed(seed).rng("bursts");
        let stalls = Pause::Random {
            percent: 20 * (seed as u32 % 3),
        };
        let mut bench = bench(SlaveConfig {
            address: stalls.clone(),
            data: Pause::Bursty {
                busy: 6,
                idle: seed as u32 % 4,
            },
            latency: Latency { least: 1, most: 40 },
            order: [AnswerOrder::Reordered, AnswerOrder::InOrder][seed as usize % 2],
            faults: Faults::Random { percent: 10 },
        });
        bench.responses.set_pause(stalls);
        let mut sent = Vec::new();
        for number in 0..200 {
            let beats: u64 = rng.random_range(1..=16);
            let address = 4096 * rng.random_range(0..4) + 8 * rng.random_range(0..=512 - beats);
            let (id, strobe) = (rng.random_range(0..16), rng.random_range(0..256));
            let value = number << 32;
            bench
                .commands
                .send(&[id, address, beats - 1, 3, INCR, strobe, value]);
            sent.push((id, address, beats, strobe, value));
        }
        bench.settle(200);
        let written = bench.slave.take_bursts();
        assert_eq!(written.len(), sent.len());
        let mut expected = Memory::default();
        for ((id, address, beats, strobe, value), seen) in sent.iter().zip(&written) {
            let burst = seen.burst;
            assert_eq!((*id, *address, *beats), (burst.id, burst.address, burst.beats));
            for beat in 0..*beats {
                if seen.response == Response::Okay {
                    let bytes = (value + beat).to_le_bytes();
                    expected.write(address + 8 * beat, &bytes, (*strobe).into());
                }
            }
        }
        let memory = bench.slave.memory();
        assert_eq!(memory.written(), expected.written());
        assert_eq!(memory.read(0, 4 * 4096), expected.read(0, 4 * 4096));
        drop(memory);
        compare_responses(&bench.responses, &written, seed % 2 == 1);
        assert_eq!(bench.slave.monitor().counts().address.frames, 200);
        bench.sim.finish();
    }
}

/// Responses of one id come in order, all of them without reordering.
fn compare_responses(responses: &ChannelSink, written: &[SlaveBurst], in_order: bool) {
    let item = |burst: &SlaveBurst| vec![burst.burst.id, burst.response.code().into()];
    let expected: Vec<_> = written.iter().map(item).collect();
    let received: Vec<_> = responses
        .receive_all()
        .into_iter()
        .map(|item| item.values)
        .collect();
    assert_eq!(expected == received, in_order, "order of all responses");
    for id in 0..16 {
        let of =
            |items: &[Vec<u64>]| -> Vec<_> { items.iter().filter(|item| item[0] == id).cloned().collect() };
        assert_eq!(of(&expected), of(&received), "responses of id {id}");
    }
}

#[test]
fn responses_come_exactly_after_their_latency() {
    for latency in [1, 2, 10, 30] {
        let mut bench = bench(SlaveConfig {
            latency: Latency::exactly(latency),
            ..SlaveConfig::default()
        });
        for number in 0..5 {
            bench.write(number, 64 * number, 4, 0);
        }
        bench.settle(5);
        let ends = bench.slave.take_bursts().into_iter().map(|burst| burst.cycle);
        let responses = bench.responses.receive_all().into_iter();
        assert!(responses.map(|item| item.cycle).eq(ends.map(|end| end + latency)));
        bench.sim.finish();
    }
}

#[test]
fn failed_bursts_write_nothing() {
    let faults = vec![
        (0x48..=0x48, Response::DecodeError),
        (0x40..=0x4f, Response::SlaveError),
    ];
    let mut bench = bench(SlaveConfig {
        faults: Faults::At(faults),
        ..SlaveConfig::default()
    });
    bench.write(0, 0x30, 2, 1);
    bench.write(1, 0x38, 2, 1);
    bench.write(2, 0x38, 3, 1);
    bench.write(3, 0x50, 1, 1);
    bench.settle(4);
    let codes: Vec<_> = bench
        .responses
        .receive_all()
        .iter()
        .map(|item| item.values[1])
        .collect();
    assert_eq!(codes, [0, 2, 3, 0]);
    assert_eq!(bench.slave.memory().written(), 24);
    bench.slave.set_faults(Faults::Never);
    bench.write(0, 0x40, 1, 1);
    bench.settle(5);
    assert_eq!(bench.slave.memory().written(), 32);
    bench.slave.memory_mut().forget(0x30, 16);
    assert_eq!(bench.slave.memory().written(), 16);
    bench.responses.receive_all();
    bench.sim.finish();
}

/// The message of a master that executes these bursts with a fault.
fn broken(fault: u128, commands: &[[u64; 7]]) -> String {
    let mut bench = bench(SlaveConfig {
        address: Pause::Cycle([[true; 5].as_slice(), &[false]].concat()),
        data: Pause::Cycle([[true; 5].as_slice(), &[false]].concat()),
        ..SlaveConfig::default()
    });
    set_fault(&mut bench.sim, fault);
    commands.iter().for_each(|command| bench.commands.send(command));
    panic_message(|| bench.sim.run(300))
}

#[test]
fn broken_masters_are_reported() {
    let four = [3, 0x100, 3, 3, INCR, 0xff, 0];
    for (fault, expected) in [
        (1, "m_axi_w: beat 3 of 4 at 0x100 comes with WLAST"),
        (2, "m_axi_w: beat 4 of 4 at 0x100 comes without WLAST"),
        (3, "m_axi_aw: valid went low before ready was high"),
        (
            4,
            "m_axi_w: m_axi_wdata changed while valid was high and ready was low",
        ),
        (
            6,
            "m_axi_w: m_axi_wstrb changed while valid was high and ready was low",
        ),
    ] {
        let message = broken(fault, &[four]);
        assert_contains(&message, expected);
    }
}

#[test]
fn illegal_bursts_are_reported() {
    for (command, expected) in [
        (
            [0, 0xff8, 1, 3, INCR, 0xff, 0],
            "m_axi_aw: a burst of 2 beats of 8 bytes at 0xff8 crosses a 4 KiB boundary",
        ),
        (
            [0, 0x104, 0, 3, INCR, 0xff, 0],
            "beat 1 of 1 at 0x104 has strobes 0xff outside of the bytes it addresses, 0xf0",
        ),
        (
            [0, 0x104, 1, 2, INCR, 0xf0, 0],
            "beat 2 of 2 at 0x104 has strobes 0xf0 outside of the bytes it addresses, 0xf",
        ),
        (
            [0, 0, 0, 4, INCR, 0xff, 0],
            "beats of 16 bytes do not fit a bus of 8",
        ),
        ([0, 0, 0, 3, 3, 0xff, 0], "burst type 3 is reserved"),
        ([0, 0, 2, 3, 2, 0xff, 0], "a WRAP burst has 3 beats"),
        ([0, 0, 16, 3, 0, 0xff, 0], "a FIXED burst has 17 beats"),
    ] {
        let message = broken(0, &[command]);
        assert_contains(&message, expected);
    }
}

#[test]
fn valid_in_reset_is_reported() {
    let mut sim = limited::<FixtureAxiMaster>(100);
    let _slave = sim.axi_write_slave("m_axi", SlaveConfig::default());
    set_fault(&mut sim, 5);
    panics_with("m_axi_aw: valid is high in reset", || sim.reset());
}

/// A slave of the fixtures with a monitor; the responses have to wait.
fn slave_bench() -> (
    Simulation<FixtureAxiSlave>,
    ChannelSource,
    ChannelSource,
    ChannelSink,
    AxiMonitor,
) {
    let mut sim = limited(2000);
    let address = sim.channel_source("s_axi_aw", &["id", "addr", "len", "size", "burst"], Pause::Never);
    let data = sim.channel_source("s_axi_w", &["data", "strb", "last"], Pause::Never);
    let pause = Pause::Cycle([[true; 12].as_slice(), &[false]].concat());
    let response = sim.channel_sink("s_axi_b", &["id", "resp"], pause);
    let monitor = sim.axi_monitor("s_axi", Half::Write);
    sim.reset();
    for number in 0..3 {
        address.send(&[number, 0x10 * number, 1, 2, INCR]);
        data.send(&[0, 0xf, 0]);
        data.send(&[0, 0xf, 1]);
    }
    (sim, address, data, response, monitor)
}

#[test]
fn good_slaves_pass_and_broken_ones_are_reported() {
    let (mut sim, address, data, response, monitor) = slave_bench();
    sim.run(100);
    assert!(address.is_idle() && data.is_idle());
    assert_eq!(response.receive_all().len(), 3);
    let counts = monitor.counts();
    assert_eq!((counts.data.beats, counts.data.frames), (6, 3));
    sim.finish();
    for (fault, expected) in [
        (1, "s_axi_b: a response for id 0 before its burst is complete"),
        (2, "s_axi_b: a response for id 1, which has no write under way"),
        (
            3,
            "s_axi_b: s_axi_bresp changed while valid was high and ready was low",
        ),
        (4, "s_axi_b: a response for id 0, which has no write under way"),
        (5, "s_axi_b: BRESP is EXOKAY"),
    ] {
        let (mut sim, ..) = slave_bench();
        set_fault(&mut sim, fault);
        panics_with(expected, || sim.run(100));
    }
}

#[test]
fn bursts_in_flight_at_the_end_are_reported() {
    let mut bench = bench(SlaveConfig {
        latency: Latency::exactly(50),
        ..SlaveConfig::default()
    });
    bench.write(0, 0, 2, 0);
    bench.sim.run(20);
    panics_with(
        "m_axi: monitor has seen 1 writes, 2 beats; 1 writes and 0 beats are under way",
        || bench.sim.finish(),
    );
}

#[test]
fn a_reset_discards_what_is_in_flight() {
    let mut bench = bench(SlaveConfig {
        latency: Latency::exactly(30),
        ..SlaveConfig::default()
    });
    for cycles in 1..60 {
        (0..8).for_each(|number| bench.write(number, 64 * number, 4, 0));
        bench.sim.run(cycles);
        bench.sim.reset();
        let before = bench.responses.total();
        let left = bench.commands.waiting() as u64;
        bench.settle(before + left);
        bench.responses.receive_all();
        bench.sim.run(40);
    }
    bench.sim.finish();
}

#[test]
fn ports_without_write_channels_are_rejected() {
    let mut sim = limited::<FixtureSlice>(1);
    let error = AxiMonitor::attach(&mut sim, "m_axi", Half::Write).expect_err("a stream");
    assert_contains(&error, "fixture_slice has no port `m_axi_awvalid`");
    let mut sim = limited::<FixtureAxiSlave>(1);
    let error = AxiSlave::attach(
        &mut sim,
        "s_axi",
        Half::Write,
        SlaveConfig::default(),
        SharedMemory::default(),
    )
    .expect_err("a slave");
    assert_eq!(
        error.to_string(),
        "port `s_axi_awid` of fixture_axi_slave is an input of the design; an output is needed"
    );
}
