//! Random traffic, and when things move.

mod rules;

use crate::support::{BUS, apply, limited, panic_message, random_burst, random_write};
use spinneret_fixtures::{FixtureAxiPass, FixtureAxiSlave};
use spinneret_sim::prelude::*;
use std::collections::BTreeMap;

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
            order: AnswerOrder::Reordered,
            ..SlaveConfig::default()
        };
        let reads = SlaveConfig {
            latency: Latency { least: 1, most: 30 },
            order: AnswerOrder::Interleaved,
            ..SlaveConfig::default()
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
fn atomic_operations_do_not_share_their_id() {
    let mut bench = bench(
        MasterConfig {
            pauses: random_pauses(5),
            skew: Skew::Random { most: 5 },
        },
        SlaveConfig {
            latency: Latency { least: 1, most: 60 },
            order: AnswerOrder::Reordered,
            ..SlaveConfig::default()
        },
        SlaveConfig {
            latency: Latency { least: 1, most: 60 },
            order: AnswerOrder::Interleaved,
            ..SlaveConfig::default()
        },
    );
    // Loads are not confused with reads of the same id, which the monitor of the loads checks.
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
fn responses_belong_to_their_bursts() {
    use Response::{DecodeError, Okay, SlaveError};
    let bad = vec![(0x100..=0x1ff, SlaveError), (0x200..=0x2ff, DecodeError)];
    let mut bench = bench(
        MasterConfig::default(),
        SlaveConfig {
            faults: Faults::At(bad.clone()),
            ..SlaveConfig::default()
        },
        SlaveConfig {
            faults: Faults::At(bad),
            ..SlaveConfig::default()
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
            valid_cycle: first.valid_cycle + number,
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
fn skews_stay_within_the_configured_bounds() {
    let config = MasterConfig {
        skew: Skew::Random { most: 3 },
        ..MasterConfig::default()
    };
    let mut bench = bench(config, SlaveConfig::default(), SlaveConfig::default());
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
fn exclusive_accesses_may_get_exokay() {
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
fn user_signals_are_set_by_the_request_or_random() {
    let mut bench = calm();
    let users = [Some(5), None, Some(0), Some(15), None, Some(5), None, None];
    for user in users {
        let (write, read) = (WriteRequest::bytes(0, 0, &[1], 8), ReadRequest::bytes(0, 0, 1, 8));
        bench.master.write(WriteRequest { user, ..write });
        bench.master.read(ReadRequest { user, ..read });
    }
    let mut seen = [Vec::new(), Vec::new()];
    while !bench.master.is_idle() {
        let before = bench.counts();
        bench.sim.cycle();
        let dut = bench.sim.dut.instance();
        for (number, channel) in ["aw", "ar"].into_iter().enumerate() {
            if bench.counts()[number] > before[number] {
                let port = dut
                    .find(&format!("m_axi_{channel}user"))
                    .expect("the fixture has user signals");
                seen[number].push(dut.value(port) as u64);
            }
        }
    }
    for seen in &seen {
        assert_eq!(seen.len(), users.len());
        for (seen, user) in seen.iter().zip(users) {
            assert_eq!(*seen, user.unwrap_or(*seen));
        }
    }
    let free = |seen: &[u64]| [seen[1], seen[4], seen[6], seen[7]];
    assert_ne!(free(&seen[0]), free(&seen[1]), "what is not said is random");
    assert_eq!(bench.master.take_writes().len(), users.len());
    assert_eq!(bench.master.take_reads().len(), users.len());
    bench.sim.finish();
}

/// A master and both slaves, with a design between them.
pub(crate) struct Bench {
    pub(crate) sim: Simulation<FixtureAxiPass>,
    pub(crate) master: AxiMaster,
    pub(crate) writes: AxiSlave,
    pub(crate) reads: AxiSlave,
}

/// A bench with these configurations, after a reset.
pub(crate) fn bench(config: MasterConfig, writes: SlaveConfig, reads: SlaveConfig) -> Bench {
    let mut sim = limited(400_000);
    let master = sim.axi_master("s_axi", config);
    let writes = sim.axi_write_slave("m_axi", writes);
    let memory = writes.shared_memory();
    let reads = AxiSlave::attach(&mut sim, "m_axi", Half::Read, reads, memory).expect("the fixture reads");
    sim.reset();
    Bench {
        sim,
        master,
        writes,
        reads,
    }
}

/// A bench without pauses.
pub(crate) fn calm() -> Bench {
    bench(
        MasterConfig::default(),
        SlaveConfig::default(),
        SlaveConfig::default(),
    )
}

impl Bench {
    /// Runs until everything is answered.
    pub(crate) fn settle(&mut self) {
        while !self.master.is_idle() {
            self.sim.cycle();
        }
    }

    /// Addresses that were transferred, of writes and of reads.
    pub(crate) fn counts(&self) -> [u64; 2] {
        [
            self.writes.monitor().counts().address.beats,
            self.reads.monitor().counts().address.beats,
        ]
    }

    /// Lets the slaves take bursts that break rules.
    pub(crate) fn tolerate(&self) {
        self.writes.monitor().check_slave_only();
        self.reads.monitor().check_slave_only();
    }

    /// Lets the fixture break a rule.
    pub(crate) fn set_fault(&mut self, fault: u64) {
        self.sim.dut.set("fault", fault).expect("the fixture has faults");
    }
}

/// A burst.
pub(crate) fn burst(id: u64, address: u64, beats: u64, size: u64, kind: BurstKind) -> Burst {
    Burst {
        id,
        address,
        beats,
        size,
        kind,
    }
}

/// The message with which a master refuses a burst.
pub(crate) fn refusal(send: impl FnOnce() -> u64) -> String {
    panic_message(|| {
        send();
    })
}

/// Pauses that depend on a seed, from none to many.
pub(crate) fn random_pauses(seed: u64) -> MasterPauses {
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
