//! `AxiCrossing`, also of AXI4-Lite: random bursts byte by byte through the clocks, by the rules of AXI on both
//! sides.

use crate::Clocks;
use spinneret_models::{AxiCrossing, AxiCrossing4, AxiLiteCrossing};
use spinneret_sim::prelude::*;
use std::collections::BTreeMap;

spinneret_tb::each_model! {
    [AxiCrossing, AxiCrossing4]:
        1 bursts_cross_byte_by_byte;
}

/// Bursts of each kind in a run.
const BURSTS: usize = 60;
/// Bytes of memory that bursts use, from address 0.
const BYTES: u64 = 3 * 4096;

fn some(rng: &mut ChaCha8Rng) -> Pause {
    Pause::Random {
        percent: 20 * rng.random_range(0..4),
    }
}

/// A legal burst of any kind.
fn burst(rng: &mut ChaCha8Rng, bus: u64) -> Burst {
    let size: u64 = 1 << rng.random_range(0..=bus.trailing_zeros());
    let (kind, beats) = match rng.random_range(0..4) {
        0 => (BurstKind::Fixed, rng.random_range(1..=16)),
        1 => (BurstKind::Wrapping, 2 << rng.random_range(0..4)),
        _ => (BurstKind::Incrementing, rng.random_range(1..=20)),
    };
    let offset = size * rng.random_range(0..=(4096 - beats * size) / size);
    Burst {
        id: rng.random_range(0..16),
        address: 4096 * rng.random_range(0..BYTES / 4096) + offset,
        beats,
        size,
        kind,
    }
}

fn write(rng: &mut ChaCha8Rng, bus: u64) -> WriteRequest {
    let burst = burst(rng, bus);
    let beats = (0..burst.beats).map(|number| {
        let bytes = (0..bus).map(|_| rng.random()).collect();
        (bytes, rng.random::<u128>() & burst.lanes(number, bus))
    });
    let beats: Vec<_> = beats.collect();
    WriteRequest::new(burst, beats)
}

/// Applies a write to the expected memory.
fn apply(memory: &mut Memory, write: &WriteRequest, bus: u64) {
    for (number, beat) in (0..).zip(&write.beats) {
        let address = write.burst.beat_address(number);
        memory.write(address - address % bus, &beat.bytes, beat.strobes);
    }
}

/// Numbers by id, in their order.
fn by_id(done: impl Iterator<Item = (u64, u64)>) -> BTreeMap<u64, Vec<u64>> {
    let mut sorted: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    done.for_each(|(id, number)| sorted.entry(id).or_default().push(number));
    sorted
}

fn bursts_cross_byte_by_byte<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("bursts");
    for clocks in Clocks::all(&mut run.rng("clocks")) {
        let mut sim: Simulation<M> = run.simulation_with(&clocks.sides("s", "m"));
        let pauses = MasterPauses {
            write_address: some(&mut rng),
            write_data: some(&mut rng),
            response: some(&mut rng),
            read_address: some(&mut rng),
            read_data: some(&mut rng),
        };
        let skew = Skew::Random { most: 10 };
        let master = sim
            .in_domain("s_clk")
            .axi_master("s", MasterConfig { pauses, skew });
        let latency = Latency { least: 1, most: 20 };
        let writes = SlaveConfig {
            address: some(&mut rng),
            data: some(&mut rng),
            latency,
            order: AnswerOrder::Reordered,
            faults: Faults::At(Vec::new()),
        };
        let reads = SlaveConfig {
            address: some(&mut rng),
            data: some(&mut rng),
            latency,
            order: AnswerOrder::Interleaved,
            ..SlaveConfig::default()
        };
        let writes = sim.in_domain("m_clk").axi_write_slave("m", writes);
        let shared = writes.shared_memory();
        let reads = AxiSlave::attach(&mut sim, "m", Half::Read, reads, shared).expect("a master");
        let bus = master.bus_bytes() as u64;
        sim.reset();
        let mut expected = Memory::default();
        let known: Vec<u8> = (0..BYTES).map(|_| rng.random()).collect();
        expected.fill(0, &known);
        reads.memory_mut().fill(0, &known);
        for _ in 0..BURSTS {
            let write = write(&mut rng, bus);
            apply(&mut expected, &write, bus);
            master.write(write);
        }
        let order = master.expected_writes();
        while !master.is_idle() {
            sim.cycle();
        }
        let done = master.take_writes();
        assert_eq!(
            by_id(done.iter().map(|write| (write.burst.id, write.number))),
            order
        );
        assert!(done.iter().all(|write| write.response == Response::Okay));
        let bytes = BYTES as usize;
        assert_eq!(
            reads.memory_mut().read(0, bytes),
            expected.read(0, bytes),
            "{clocks:?}"
        );
        for _ in 0..BURSTS {
            master.read(ReadRequest::new(burst(&mut rng, bus)));
        }
        let order = master.expected_reads();
        while !master.is_idle() {
            sim.cycle();
        }
        let done = master.take_reads();
        assert_eq!(by_id(done.iter().map(|read| (read.burst.id, read.number))), order);
        for read in &done {
            let mut bytes = Vec::new();
            for number in 0..read.burst.beats {
                let count = read.burst.lane_range(number, bus).len();
                bytes.extend(expected.read(read.burst.beat_address(number), count));
            }
            let seen: Vec<_> = read.bytes().into_iter().map(Some).collect();
            assert_eq!(seen, bytes, "{clocks:?}, {:x?}", read.burst);
        }
    }
}

/// Every bit of the address channels gets to the same bit of the other side.
#[test]
fn side_band_crosses_in_its_place() {
    run_test(1, |run| {
        let mut rng = run.rng("side band");
        let clocks = Clocks::random(&mut rng);
        for channel in ["aw", "ar"] {
            let mut fields = vec![
                "id", "addr", "len", "size", "burst", "lock", "cache", "prot", "user",
            ];
            if channel == "aw" {
                fields.push("atop");
            }
            let mut sim: Simulation<AxiCrossing> = run.simulation_with(&clocks.sides("s", "m"));
            let source =
                sim.in_domain("s_clk")
                    .channel_source(&format!("s_{channel}"), &fields, Pause::Never);
            let sink = sim
                .in_domain("m_clk")
                .channel_sink(&format!("m_{channel}"), &fields, Pause::Never);
            let width = |field: &&str| {
                let port = sim.dut.instance().find(&format!("s_{channel}{field}"));
                port.expect("a port").width()
            };
            let widths: Vec<usize> = fields.iter().map(width).collect();
            sim.reset();
            let item = |rng: &mut ChaCha8Rng| -> Vec<u64> {
                widths
                    .iter()
                    .map(|width| rng.random_range(0..1_u64 << width))
                    .collect()
            };
            let items: Vec<Vec<u64>> = (0..50).map(|_| item(&mut rng)).collect();
            items.iter().for_each(|item| source.send(&item[..]));
            sim.run_until(|_| sink.waiting() == items.len());
            let received: Vec<_> = sink.receive_all().into_iter().map(|item| item.values).collect();
            assert_eq!(received, items);
        }
    });
}

#[test]
fn single_accesses_cross_word_by_word() {
    run_test(1, |run| {
        let mut rng = run.rng("accesses");
        for clocks in Clocks::all(&mut run.rng("clocks")) {
            let mut sim: Simulation<AxiLiteCrossing> = run.simulation_with(&clocks.sides("s", "m"));
            let config = MasterConfig {
                pauses: MasterPauses::all(&some(&mut rng)),
                skew: Skew::Random { most: 5 },
            };
            let master = sim.in_domain("s_clk").axil_master("s", config);
            let slave = LiteSlaveConfig {
                latency: Latency { least: 1, most: 9 },
                write_faults: Faults::At(vec![(0x200..=0x20f, Response::DecodeError)]),
                read_faults: Faults::At(vec![(0x300..=0x30f, Response::SlaveError)]),
                ..LiteSlaveConfig::default()
            };
            let slave = sim.in_domain("m_clk").axil_slave("m", slave);
            sim.reset();
            let mut expected = Memory::default();
            for word in 0..256_u64 {
                let value: u32 = rng.random();
                expected.fill(4 * word, &value.to_le_bytes());
                slave.memory().fill(4 * word, &value.to_le_bytes());
            }
            let mut wrong = 0;
            for _ in 0..80 {
                let (address, data) = (4 * rng.random_range(0..256_u64), u64::from(rng.random::<u32>()));
                let strobes = rng.random_range(0..16_u8);
                if !(0x200..=0x20f).contains(&address) {
                    expected.write(address, &(data as u32).to_le_bytes(), u128::from(strobes));
                } else {
                    wrong += usize::from(strobes != 0);
                }
                master.write(LiteWrite::new(address, data).strobed(strobes));
            }
            while !master.is_idle() {
                sim.cycle();
            }
            let done = master.take_writes();
            let failed = done
                .iter()
                .filter(|write| write.response == Response::DecodeError)
                .count();
            assert!(done.len() == 80 && failed >= wrong, "{clocks:?}");
            let reads: Vec<u64> = (0..80).map(|_| 4 * rng.random_range(0..256)).collect();
            for address in &reads {
                master.read(LiteRead::new(*address));
            }
            while !master.is_idle() {
                sim.cycle();
            }
            for (read, address) in master.take_reads().iter().zip(&reads) {
                if (0x300..=0x30f).contains(address) {
                    assert_eq!(read.response, Response::SlaveError);
                    continue;
                }
                let bytes: Vec<_> = (read.data as u32).to_le_bytes().into_iter().map(Some).collect();
                assert_eq!(bytes, expected.read(*address, 4), "{clocks:?}, {address:x}");
            }
            slave.take_accesses();
        }
    });
}
