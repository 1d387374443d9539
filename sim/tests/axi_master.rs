//! The master of AXI4, in front of the slaves behind a design that passes all channels on, and in front of
//! designs that are slaves.

mod support;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::axi::{
    AxiMaster, Burst, BurstKind, Faults, Latency, MasterConfig, MasterPauses, Memory, Pause, ReadDone,
    ReadFaults, ReadOrder, ReadRequest, ReadSlave, ReadSlaveConfig, Response, Skew, SlaveConfig, WriteDone,
    WriteRequest, WriteSlave,
};
use spinneret_sim::model::Model;
use spinneret_sim::models::{FixtureAxiMaster, FixtureAxiPass, FixtureAxiSlave};
use spinneret_sim::seed::Seed;
use spinneret_sim::simulation::Simulation;
use std::collections::BTreeMap;
use support::{limited, panic_message};

const BUS: u64 = 8;

/// A master and both slaves, with a design between them.
struct Bench {
    sim: Simulation<FixtureAxiPass>,
    master: AxiMaster,
    writes: WriteSlave,
    reads: ReadSlave,
}

fn bench(config: MasterConfig, writes: SlaveConfig, reads: ReadSlaveConfig) -> Bench {
    let mut sim = limited(400_000);
    let master = sim.axi_master("s_axi", config);
    let writes = sim.axi_write_slave("m_axi", writes);
    let memory = writes.shared_memory();
    let reads = ReadSlave::attach_to(&mut sim, "m_axi", reads, memory).expect("the fixture reads");
    sim.reset();
    Bench {
        sim,
        master,
        writes,
        reads,
    }
}

fn calm() -> Bench {
    bench(
        MasterConfig::default(),
        SlaveConfig::default(),
        ReadSlaveConfig::default(),
    )
}

impl Bench {
    fn settle(&mut self) {
        while !self.master.is_idle() {
            self.sim.cycle();
        }
    }

    /// Lets the slaves take bursts that break rules.
    fn tolerate(&self) {
        self.writes.monitor().check_slave_only();
        self.reads.monitor().check_slave_only();
    }

    fn set_fault(&mut self, fault: u64) {
        self.sim.dut.set("fault", fault).expect("the fixture has faults");
    }
}

fn burst(id: u64, address: u64, beats: u64, size: u64, kind: BurstKind) -> Burst {
    Burst {
        id,
        address,
        beats,
        size,
        kind,
    }
}

/// The message with which a master refuses a burst.
fn refusal(send: impl FnOnce() -> u64) -> String {
    panic_message(|| {
        send();
    })
}

/// A legal burst of any kind in the first 16 KiB.
fn random_burst(rng: &mut ChaCha8Rng) -> Burst {
    let size: u64 = 1 << rng.random_range(0..4);
    let page = 4096 * rng.random_range(0..4);
    let (kind, beats, address) = match rng.random_range(0..4) {
        0 => (
            BurstKind::Fixed,
            rng.random_range(1..=16),
            rng.random_range(0..4096),
        ),
        1 => {
            let beats = 2 << rng.random_range(0..4);
            (
                BurstKind::Wrapping,
                beats,
                size * rng.random_range(0..4096 / size),
            )
        }
        _ => {
            let beats = rng.random_range(1..=20);
            let offset = rng.random_range(0..=4096 - beats * size);
            (BurstKind::Incrementing, beats, offset)
        }
    };
    burst(rng.random_range(0..6), page + address, beats, size, kind)
}

/// Random lanes with random legal strobes.
fn random_write(rng: &mut ChaCha8Rng, burst: Burst) -> WriteRequest {
    let mut beats = Vec::new();
    for number in 0..burst.beats {
        let bytes: [u8; BUS as usize] = rng.random();
        let strobes = rng.random::<u128>() & burst.lanes(number, BUS);
        beats.push((bytes.to_vec(), strobes));
    }
    let request = WriteRequest::new(burst, beats);
    if rng.random_ratio(1, 10) {
        return request.exclusive();
    }
    request
}

/// What a write has to make of a memory.
fn apply(memory: &mut Memory, write: &WriteRequest) {
    for (number, beat) in (0..).zip(&write.beats) {
        let address = write.burst.beat_address(number);
        memory.write(address - address % BUS, &beat.bytes, beat.strobes);
    }
}

fn random_pauses(seed: u64) -> MasterPauses {
    let stalls = |channel: u64| Pause::Random {
        percent: 30 * (((seed >> channel) ^ seed) as u32 % 3),
    };
    MasterPauses {
        write_address: stalls(1),
        write_data: stalls(2),
        response: stalls(0),
        read_address: stalls(3),
        read_data: stalls(0),
    }
}

#[test]
fn random_traffic_is_written_and_read_byte_by_byte() {
    let mut data_first = 0;
    for seed in 0..12 {
        let mut rng = Seed(seed).rng("traffic");
        let skews = [Skew::Together, Skew::Random { most: 12 }];
        let config = MasterConfig {
            pauses: random_pauses(seed),
            skew: skews[seed as usize % 2],
        };
        let writes = SlaveConfig {
            data: Pause::Random {
                percent: 10 * seed as u32 / 2,
            },
            latency: Latency { least: 1, most: 30 },
            reorder: true,
            ..SlaveConfig::default()
        };
        let reads = ReadSlaveConfig {
            latency: Latency { least: 1, most: 30 },
            order: ReadOrder::Interleaved,
            ..ReadSlaveConfig::default()
        };
        let mut bench = bench(config, writes, reads);
        let mut expected = Memory::default();
        let mut bursts = BTreeMap::new();
        for _ in 0..150 {
            let burst = random_burst(&mut rng);
            let write = random_write(&mut rng, burst);
            apply(&mut expected, &write);
            bursts.insert(bench.master.write(write), burst);
        }
        let order = bench.master.expected_writes();
        bench.settle();
        let done = bench.master.take_writes();
        compare_order(order, done.iter().map(|write| (write.burst.id, write.number)));
        assert!(done.iter().all(|write| write.burst == bursts[&write.number]));
        assert!(done.iter().all(|write| write.response == Response::Okay));
        data_first += done
            .iter()
            .filter(|write| write.data_cycle < write.address_cycle)
            .count();
        assert_eq!(
            bench.writes.memory().read(0, 5 * 4096),
            expected.read(0, 5 * 4096)
        );
        // Everything is written, so that every byte that is read is known.
        bench.reads.memory_mut().fill(0, &vec![0x5a; 5 * 4096]);
        expected.fill(0, &vec![0x5a; 5 * 4096]);
        read_back(&mut bench, &mut rng, &expected);
        bench.sim.finish();
    }
    assert!(data_first > 20, "data came first {data_first} times");
}

/// Reads and writes at once, reads elsewhere than writes.
fn read_back(bench: &mut Bench, rng: &mut ChaCha8Rng, expected: &Memory) {
    for _ in 0..150 {
        bench.master.read(ReadRequest::new(random_burst(rng)));
        let mut burst = random_burst(rng);
        burst.address += 1 << 40;
        bench.master.write(random_write(rng, burst));
    }
    let orders = (bench.master.expected_reads(), bench.master.expected_writes());
    bench.settle();
    let (reads, writes) = (bench.master.take_reads(), bench.master.take_writes());
    compare_order(orders.0, reads.iter().map(|read| (read.burst.id, read.number)));
    compare_order(
        orders.1,
        writes.iter().map(|write| (write.burst.id, write.number)),
    );
    for read in &reads {
        assert_eq!(read.beats.len() as u64, read.burst.beats);
        let mut bytes = Vec::new();
        for number in 0..read.burst.beats {
            let count = read.burst.lane_range(number, BUS).len();
            bytes.extend(expected.read(read.burst.beat_address(number), count));
        }
        let seen: Vec<_> = read.bytes().into_iter().map(Some).collect();
        assert_eq!(seen, bytes, "{:x?}", read.burst);
        assert!(read.address_cycle < read.first_cycle && read.first_cycle <= read.last_cycle);
    }
    assert!(bench.master.is_idle());
}

/// Whether everything that was expected came, for each id in its order.
fn compare_order(expected: BTreeMap<u64, Vec<u64>>, seen: impl Iterator<Item = (u64, u64)>) {
    let mut sorted: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut numbers = Vec::new();
    for (id, number) in seen {
        sorted.entry(id).or_default().push(number);
        numbers.push(number);
    }
    assert_eq!(sorted, expected);
    assert!(!numbers.is_sorted(), "the slaves reorder");
}

#[test]
fn responses_go_to_their_bursts() {
    use Response::{DecodeError, Okay, SlaveError};
    let bad = vec![(0x100..=0x1ff, SlaveError), (0x200..=0x2ff, DecodeError)];
    let mut bench = bench(
        MasterConfig::default(),
        SlaveConfig {
            faults: Faults::At(bad.clone()),
            ..SlaveConfig::default()
        },
        ReadSlaveConfig {
            faults: ReadFaults::At(bad),
            ..ReadSlaveConfig::default()
        },
    );
    let addresses = [0, 0x100, 0x200, 0x3f8, 0x1f8];
    for address in addresses {
        bench.master.write(WriteRequest::bytes(2, address, &[1; 16], 8));
        bench.master.read(ReadRequest::bytes(2, address, 16, 8));
    }
    bench.settle();
    let writes = bench.master.take_writes();
    let responses: Vec<_> = writes.iter().map(|write| write.response).collect();
    assert_eq!(responses, [Okay, SlaveError, DecodeError, Okay, SlaveError]);
    let reads = bench.master.take_reads();
    let responses: Vec<_> = reads.iter().map(ReadDone::response).collect();
    assert_eq!(responses, [Okay, SlaveError, DecodeError, Okay, DecodeError]);
    let beats: Vec<_> = reads[4].beats.iter().map(|beat| beat.response).collect();
    assert_eq!(beats, [SlaveError, DecodeError]);
    bench.sim.finish();
}

#[test]
fn every_channel_moves_a_beat_a_clock() {
    let mut bench = calm();
    for number in 0..50 {
        bench
            .master
            .write(WriteRequest::bytes(number % 4, 8 * number, &[7; 8], 8));
        bench
            .master
            .read(ReadRequest::bytes(number % 4, 64 * number, 64, 8));
    }
    bench.settle();
    let writes = bench.master.take_writes();
    let first = writes[0];
    assert_eq!(first.address_cycle, first.data_cycle, "together");
    assert_eq!(first.response_cycle, first.data_cycle + 1);
    for (number, write) in (0..).zip(&writes) {
        let moved = WriteDone {
            number: write.number,
            burst: write.burst,
            response: Response::Okay,
            address_cycle: first.address_cycle + number,
            data_cycle: first.data_cycle + number,
            response_cycle: first.response_cycle + number,
        };
        assert_eq!(*write, moved);
    }
    let reads = bench.master.take_reads();
    assert_eq!(reads[0].first_cycle, reads[0].address_cycle + 1);
    assert_eq!(reads[49].last_cycle, reads[0].first_cycle + 50 * 8 - 1);
    bench.sim.finish();
}

#[test]
fn skews_go_both_ways_and_no_further_than_asked_for() {
    let config = MasterConfig {
        skew: Skew::Random { most: 3 },
        ..MasterConfig::default()
    };
    let mut bench = bench(config, SlaveConfig::default(), ReadSlaveConfig::default());
    let mut seen = [0; 7];
    for _ in 0..140 {
        bench.master.write(WriteRequest::bytes(0, 0, &[1; 8], 8));
        bench.settle();
        let write = bench.master.take_writes()[0];
        let skew = write.data_cycle as i64 - write.address_cycle as i64;
        seen[(skew + 3) as usize] += 1;
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
    bench.sim.finish();
}

#[test]
fn illegal_bursts_are_sent_on_purpose_only() {
    let mut bench = calm();
    bench.tolerate();
    let write = |burst: Burst, strobes| {
        let beats = (0..burst.beats).map(|_| (vec![1; 8], strobes));
        WriteRequest::new(burst, beats.collect::<Vec<_>>())
    };
    let mut late = write(burst(0, 0, 4, 8, BurstKind::Incrementing), 0xff);
    late.beats[3].last = false;
    let mut early = write(burst(0, 0, 4, 8, BurstKind::Incrementing), 0xff);
    early.beats[1].last = true;
    for (request, expected) in [
        (
            write(burst(0, 0xff8, 2, 8, BurstKind::Incrementing), 0xff),
            "4 KiB",
        ),
        (
            write(burst(0, 0, 2, 128, BurstKind::Incrementing), 0xff),
            "do not fit a bus",
        ),
        (
            write(burst(0, 0, 17, 8, BurstKind::Fixed), 0xff),
            "a FIXED burst has 17",
        ),
        (write(burst(0, 4, 4, 8, BurstKind::Wrapping), 0xff), "not aligned"),
        (
            write(burst(0, 0, 3, 8, BurstKind::Wrapping), 0xff),
            "a WRAP burst has 3",
        ),
        (write(burst(0, 0, 1, 8, BurstKind::Reserved), 0xff), "reserved"),
        (
            write(burst(0, 3, 1, 2, BurstKind::Incrementing), 0xff),
            "outside of the bytes",
        ),
        (late, "beat 4 of 4 at 0x0 comes without WLAST"),
        (early, "beat 2 of 4 at 0x0 comes with WLAST"),
    ] {
        let message = refusal(|| bench.master.write(request.clone()));
        assert!(
            message.starts_with("s_axi: ") && message.contains(expected),
            "{message}"
        );
        assert!(
            message.ends_with("mark it as illegal if that is what is tested"),
            "{message}"
        );
        bench.master.write(request.illegal());
    }
    let read = ReadRequest::new(burst(1, u64::MAX, 3, 128, BurstKind::Wrapping));
    let message = refusal(|| bench.master.read(read));
    assert!(message.contains("do not fit a bus of 8"), "{message}");
    bench.master.read(read.illegal());
    bench.settle();
    assert_eq!(bench.master.take_writes().len(), 9);
    assert_eq!(bench.master.take_reads()[0].beats.len(), 3);
    bench.sim.finish();
}

#[test]
fn what_does_not_fit_the_ports_is_refused() {
    let message = |action: &dyn Fn(&AxiMaster) -> u64| {
        let bench = calm();
        refusal(|| action(&bench.master))
    };
    let read = |id, address| ReadRequest::bytes(id, address, 1, 8);
    let text = message(&|master| master.read(read(256, 0)));
    assert_eq!(text, "s_axi: id 256 does not fit 8 bits");
    let text = message(&|master| master.write(WriteRequest::bytes(0, 0, &[], 8).atomic(0x40)));
    assert_eq!(text, "s_axi: atop 0x40 does not fit 6 bits");
    let mut sim = limited::<FixtureAxiSlave>(100);
    let master = sim.axi_master("s_axi", MasterConfig::default());
    let text = refusal(|| master.read(read(0, 0)));
    assert_eq!(text, "s_axi has no read channels");
    let write = |address| WriteRequest::bytes(0, address, &[], 4);
    let text = refusal(|| master.write(write(1 << 32)));
    assert_eq!(text, "s_axi: address 0x100000000 does not fit 32 bits");
    let text = refusal(|| master.write(write(0).exclusive()));
    assert_eq!(text, "s_axi: the design has no exclusive accesses");
    let text = refusal(|| master.write(write(0).atomic(0x30)));
    assert_eq!(text, "s_axi: the design has no atomic operations");
}

#[test]
fn a_slave_without_read_channels_is_written() {
    let mut sim = limited::<FixtureAxiSlave>(10_000);
    let config = MasterConfig {
        pauses: random_pauses(1),
        skew: Skew::Random { most: 9 },
    };
    let master = sim.axi_master("s_axi", config);
    sim.reset();
    let mut rng = Seed(1).rng("writes");
    for number in 0..100 {
        let bytes = vec![0; rng.random_range(0..40)];
        master.write(WriteRequest::bytes(
            number % 16,
            64 * number,
            &bytes,
            master.bus_bytes(),
        ));
    }
    while !master.is_idle() {
        sim.cycle();
    }
    let numbers: Vec<_> = master.take_writes().iter().map(|write| write.number).collect();
    assert!(numbers.into_iter().eq(0..100));
    assert!(master.read_monitor().is_none());
    let counts = master.write_monitor().map(|monitor| monitor.counts());
    assert_eq!(counts.map(|counts| counts.response.frames), Some(100));
    sim.finish();
}

#[test]
fn atomic_operations_have_their_id_for_themselves() {
    let mut bench = bench(
        MasterConfig {
            pauses: random_pauses(5),
            skew: Skew::Random { most: 5 },
        },
        SlaveConfig {
            latency: Latency { least: 1, most: 60 },
            reorder: true,
            ..SlaveConfig::default()
        },
        ReadSlaveConfig {
            latency: Latency { least: 1, most: 60 },
            order: ReadOrder::Interleaved,
            ..ReadSlaveConfig::default()
        },
    );
    // What a load returns is not mixed up with reads of the same id, which its monitor checks.
    let mut loads = BTreeMap::new();
    for number in 0..200 {
        let id = number % 3;
        bench.master.read(ReadRequest::bytes(id, 8 * number, 24, 8));
        let write = WriteRequest::bytes(id, 8 * number, &[1; 32], 8);
        let (atop, beats) = [(0, 0), (0x10, 0), (0x25, 4), (0x30, 4), (0x31, 2)][number as usize % 5];
        let number = bench.master.write(write.atomic(atop));
        if beats > 0 {
            loads.insert(number, beats);
        }
    }
    bench.settle();
    let (writes, reads) = (bench.master.take_writes(), bench.master.take_reads());
    assert_eq!((writes.len(), reads.len()), (200, 200 + loads.len()));
    for read in reads.iter().filter(|read| read.atomic) {
        assert_eq!(loads.remove(&read.number), Some(read.beats.len()));
        assert_eq!(read.response(), Response::SlaveError);
    }
    assert!(loads.is_empty());
    let refused = writes
        .iter()
        .filter(|write| write.response == Response::SlaveError);
    assert_eq!(refused.count(), 160);
    bench.sim.finish();
}

#[test]
fn broken_slaves_are_found() {
    for (fault, expected) in [
        (4, "s_axi_r: beat 1 of 2 from 0x40 for id 2 comes with RLAST"),
        (5, "s_axi_r: beat 2 of 2 from 0x40 for id 2 comes without RLAST"),
        (6, "s_axi_r: there is a beat for id 3, which waits for none"),
        (7, "s_axi_r: s_axi_rdata changed while valid was high"),
        (8, "s_axi_r: RRESP is EXOKAY"),
        (9, "s_axi_r: there is a beat for id 0, which waits for none"),
        (12, "s_axi_b: there is a response for id 3, which waits for none"),
        (13, "s_axi_b: there is a response for id 0, which waits for none"),
        (14, "s_axi_b: s_axi_bresp changed while valid was high"),
        (15, "s_axi_b: BRESP is EXOKAY"),
    ] {
        let mut bench = calm();
        let late = Pause::Cycle([[true; 5].as_slice(), &[false]].concat());
        bench.master.set_pauses(MasterPauses {
            response: late.clone(),
            read_data: late,
            ..MasterPauses::default()
        });
        bench.set_fault(fault);
        bench.master.write(WriteRequest::bytes(2, 0x40, &[1; 16], 8));
        bench.master.read(ReadRequest::bytes(2, 0x40, 16, 8));
        let message = panic_message(|| bench.sim.run(100));
        assert!(message.contains(expected), "fault {fault}: {message}");
    }
}

#[test]
fn answers_that_are_too_early_are_found() {
    let mut bench = calm();
    bench.set_fault(16);
    bench.master.read(ReadRequest::bytes(0, 0, 8, 8));
    let message = panic_message(|| bench.sim.run(20));
    let expected = "s_axi_r: there is a beat for id 0, which waits for none";
    assert!(message.contains(expected), "{message}");
    let mut bench = calm();
    bench.set_fault(17);
    bench.master.write(WriteRequest::bytes(0, 0, &[1; 16], 8));
    let message = panic_message(|| bench.sim.run(20));
    let expected = "s_axi_b: there is a response for id 0 before its burst is complete";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn illegal_bursts_do_not_hide_broken_slaves() {
    let mut bench = calm();
    bench.tolerate();
    bench.set_fault(4);
    let read = ReadRequest::new(burst(2, 0xff8, 4, 8, BurstKind::Reserved));
    bench.master.read(read.illegal());
    let message = panic_message(|| bench.sim.run(100));
    assert!(
        message.contains("beat 1 of 4 from 0xff8 for id 2 comes with RLAST"),
        "{message}"
    );
}

#[test]
fn exclusive_accesses_may_be_answered_as_such() {
    let mut bench = calm();
    bench.set_fault(15);
    bench
        .master
        .write(WriteRequest::bytes(0, 0, &[1; 8], 8).exclusive());
    bench.settle();
    assert_eq!(bench.master.take_writes()[0].response, Response::ExclusiveOkay);
    bench.set_fault(8);
    bench.master.read(ReadRequest::bytes(0, 0, 8, 8).exclusive());
    bench.settle();
    assert_eq!(bench.master.take_reads()[0].response(), Response::ExclusiveOkay);
    bench.sim.finish();
}

#[test]
fn nothing_is_left_at_the_end() {
    for (cycles, expected) in [
        (
            0,
            "s_axi: master: 1 writes are not sent, 0 wait for a response, 0 responses were not looked at; \
             1 reads are not sent, 0 wait for data, 0 were not looked at",
        ),
        (
            6,
            "0 writes are not sent, 1 wait for a response, 0 responses were not looked at; 0 reads are not \
             sent, 1 wait for data, 0 were not looked at",
        ),
        (
            60,
            "0 wait for a response, 1 responses were not looked at; 0 reads are not sent, 0 wait for data, \
              1 were not looked at",
        ),
    ] {
        let mut bench = calm();
        bench.writes.set_latency(Latency::exactly(30));
        bench.reads.set_latency(Latency::exactly(30));
        bench.master.write(WriteRequest::bytes(0, 0, &[1; 16], 8));
        bench.master.read(ReadRequest::bytes(0, 0, 16, 8));
        bench.sim.run(cycles);
        let message = panic_message(|| bench.sim.finish());
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_reset_forgets_what_is_begun_and_sends_the_rest() {
    let mut kept = 0;
    for cycles in 1..80 {
        let config = MasterConfig {
            pauses: random_pauses(cycles),
            skew: Skew::Random { most: 6 },
        };
        let mut bench = bench(config, SlaveConfig::default(), ReadSlaveConfig::default());
        bench.writes.set_latency(Latency::exactly(20));
        for number in 0..8 {
            bench
                .master
                .write(WriteRequest::bytes(number, 64 * number, &[1; 32], 8));
            bench.master.read(ReadRequest::bytes(number, 64 * number, 32, 8));
        }
        bench.sim.run(cycles);
        bench.sim.reset();
        let left = (bench.master.writes_left(), bench.master.reads_left());
        bench.master.take_writes();
        bench.master.take_reads();
        bench.writes.take_written();
        bench.settle();
        assert_eq!(bench.master.take_writes().len(), left.0);
        assert_eq!(bench.master.take_reads().len(), left.1);
        assert_eq!(bench.writes.take_written().len(), left.0);
        kept += usize::from(left.0 > 0 && left.0 < 8);
        bench.sim.finish();
    }
    assert!(kept > 20, "{kept} resets came in the middle");
}

#[test]
fn a_reset_forgets_data_whose_address_was_not_sent() {
    let config = MasterConfig {
        skew: Skew::Random { most: 6 },
        pauses: MasterPauses {
            write_address: Pause::AlwaysAfter(0),
            ..MasterPauses::default()
        },
    };
    let mut bench = bench(config, SlaveConfig::default(), ReadSlaveConfig::default());
    bench
        .writes
        .set_pauses(Pause::Never, Pause::Cycle(vec![true, false]));
    let monitor = bench.master.write_monitor().expect("the fixture writes");
    let mut seen = [0; 2];
    for _ in 0..40 {
        let before = monitor.counts().data.beats;
        bench.master.write(WriteRequest::bytes(0, 0, &[1; 64], 8));
        bench.sim.run(6);
        let data_moved = monitor.counts().data.beats > before;
        bench.sim.reset();
        assert_eq!(bench.master.writes_left(), usize::from(!data_moved));
        bench.master.clear();
        seen[usize::from(data_moved)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
    bench.sim.finish();
}

#[test]
fn a_burst_that_was_offered_before_a_reset_begins_anew() {
    let mut bench = calm();
    bench
        .writes
        .set_pauses(Pause::AlwaysAfter(0), Pause::AlwaysAfter(0));
    bench.master.write(WriteRequest::bytes(0, 0, &[1; 8], 8));
    bench.sim.run(5);
    bench.sim.reset();
    bench.writes.set_pauses(Pause::Never, Pause::Never);
    bench.master.set_pauses(MasterPauses {
        write_address: Pause::Cycle([[true; 9].as_slice(), &[false]].concat()),
        ..MasterPauses::default()
    });
    bench.settle();
    let write = bench.master.take_writes()[0];
    assert_eq!(write.address_cycle, write.data_cycle, "together");
    bench.sim.finish();
}

#[test]
fn what_is_not_begun_can_be_forgotten() {
    let mut bench = calm();
    for number in 0..8 {
        bench.master.write(WriteRequest::bytes(number, 0, &[1; 64], 8));
        bench.master.read(ReadRequest::bytes(number, 0, 8, 8));
    }
    bench.sim.run(3);
    bench.master.clear();
    assert!((1..8).contains(&bench.master.writes_left()));
    bench.settle();
    bench.master.take_writes();
    bench.master.take_reads();
    bench.sim.finish();
}

#[test]
fn what_is_no_slave_is_refused() {
    let mut sim = limited::<FixtureAxiMaster>(1);
    let error = AxiMaster::attach(&mut sim, "m_axi", MasterConfig::default()).expect_err("a master");
    assert_eq!(
        error.to_string(),
        "port `m_axi_awid` of fixture_axi_master is an output of the design; an input is needed"
    );
    let error = AxiMaster::attach(&mut sim, "x_axi", MasterConfig::default()).expect_err("nothing");
    assert!(
        error.to_string().contains("has no port `x_axi_awvalid`"),
        "{error}"
    );
}
