//! Bytes, and when they move.

mod faults;

use crate::support::limited;
use spinneret_fixtures::FixtureDma;
use spinneret_sim::dma::{Accepted, Descriptor, RamPort, SegmentedRam, Status, Transfer};
use spinneret_sim::prelude::*;

#[test]
fn transfers_to_the_host_work_at_any_alignment() {
    let mut bench = bench(latency(3));
    for line in 0..4 {
        bench.write_line(line, bytes(16 * line as u8), 0xffff);
    }
    bench.sim.run(2);
    let whole: Vec<u8> = (0..64).collect();
    let mut number = 0;
    for len in [1, 2, 15, 16, 17, 31, 33] {
        for ram_addr in 0..20 {
            let dma_addr = 0x1000 + 128 * number + number % 23;
            let range = ram_addr as usize..(ram_addr + len) as usize;
            bench.host.expect(dma_addr, &whole[range]);
            bench.ask(Transfer::ToHost, descriptor(dma_addr, ram_addr, len, number % 9));
            number += 1;
            bench.sim.run(8);
        }
    }
    let statuses = bench.statuses(Transfer::ToHost);
    assert_eq!(statuses.len(), number as usize);
    assert!(
        statuses
            .iter()
            .all(|status| status.code == 0 && !status.unsolicited)
    );
    assert_eq!(bench.host.check(), Ok(()));
    bench.sim.finish();
}

#[test]
fn only_enabled_bytes_are_written() {
    let mut bench = bench(latency(0));
    bench.write_line(0, bytes(0), 0xffff);
    bench.write_line(0, bytes(100), 0x8101);
    bench.sim.run(2);
    let mut expected = bytes(0);
    for lane in [0, 8, 15] {
        expected[lane] = 100 + lane as u8;
    }
    bench.host.expect(0, &expected);
    bench.ask(Transfer::ToHost, descriptor(0, 0, 16, 0));
    bench.statuses(Transfer::ToHost);
    assert_eq!(bench.host.check(), Ok(()));
    assert_eq!(bench.ram_writes.taken(), 4);
    bench.sim.finish();
}

#[test]
fn transfers_from_the_host_work_at_any_alignment() {
    let mut bench = bench(latency(0));
    bench.host.set(0x2ff8, b"from the host");
    bench.ask(Transfer::FromHost, descriptor(0x2ff8, 3, 8, 0));
    bench.ask(Transfer::FromHost, descriptor(0x3000, 16, 15, 1));
    bench.statuses(Transfer::FromHost);
    assert_eq!(bench.read_line(0)[3..11], *b"from the");
    assert_eq!(bench.read_line(1)[..5], *b" host");
    assert_eq!(bench.read_line(1)[5..15], bench.host.read(0x3005, 10)[..]);
    assert_eq!((bench.ram_reads.taken(), bench.ram_reads.stalls()), (6, 0));
    bench.sim.finish();
}

#[test]
fn statuses_come_after_latency_and_transfer() {
    for (cycles, lines) in [(0, 1), (0, 4), (100, 1), (100, 32)] {
        let mut bench = bench(latency(cycles));
        let first = bench.ask(Transfer::FromHost, descriptor(0x1000, 0, 16 * lines, 0));
        let status = bench.statuses(Transfer::FromHost)[0];
        assert_eq!(status.cycle, first + cycles + lines, "{cycles} {lines}");
        let accepted = bench.reads.next_accepted();
        let expected = Accepted {
            descriptor: descriptor(0x1000, 0, 16 * lines, 0),
            code: 0,
            moved: 16 * lines,
            cycle: first,
        };
        assert_eq!(accepted, Some(expected));
        bench.sim.finish();
    }
}

#[test]
fn a_line_moves_every_clock() {
    let mut bench = bench(latency(10));
    let first = bench.ask(Transfer::FromHost, descriptor(0x1000, 0, 16, 0));
    for tag in 1..8 {
        bench.ask(Transfer::FromHost, descriptor(0x1000, 16 * tag, 16, tag));
    }
    let cycles = bench
        .statuses(Transfer::FromHost)
        .into_iter()
        .map(|status| status.cycle);
    assert!(cycles.eq(first + 11..first + 19));
    bench.sim.finish();
}

#[test]
fn statuses_overtake_each_other_but_writes_do_not() {
    let config = DmaConfig {
        spread: 40,
        ..latency(5)
    };
    let mut bench = bench(config);
    for line in 0..32 {
        bench.write_line(line, [line as u8; 16], 0xffff);
    }
    bench.sim.run(2);
    for tag in 0..32 {
        bench.host.expect(0x1000, &[tag as u8; 16]);
        bench.ask(Transfer::ToHost, descriptor(0x1000, 16 * tag, 16, tag));
    }
    let statuses = bench.statuses(Transfer::ToHost);
    let mut tags: Vec<u64> = statuses.iter().map(|status| status.tag).collect();
    assert!(!tags.is_sorted());
    tags.sort_unstable();
    assert!(tags.into_iter().eq(0..32));
    assert_eq!(bench.host.check(), Ok(()), "the last descriptor counts");
    bench.sim.finish();
}

#[test]
fn ports_pause_independently_and_keep_their_order() {
    let ram = RamConfig {
        commands: Pause::Random { percent: 50 },
        latency: Latency { least: 1, most: 9 },
    };
    let mut bench = bench_with(latency(0), [ram.clone(), ram]);
    let mut done = [0, 0];
    let mut taken = [0, 0];
    let (mut apart, mut valid) = (false, 3);
    for cycle in 0..450 {
        // Each segment writes its own lines, as fast as it can.
        let addresses = (taken[0] % 32) | (taken[1] % 32) << 6;
        bench.set("t_wr_addr", addresses);
        bench.set("t_wr_valid", valid);
        bench.sim.cycle();
        let ready = bench.value("ram_wr_cmd_ready") & valid;
        for segment in 0..2 {
            taken[segment] += ready >> segment & 1;
            done[segment] += bench.value("ram_wr_done") >> segment & 1;
        }
        apart |= taken[0] != taken[1];
        if cycle > 380 {
            valid &= !ready;
        }
    }
    assert!(apart && taken[0] > 100, "{taken:?}");
    assert_eq!(taken, done);
    assert_eq!(taken.iter().sum::<u128>(), u128::from(bench.ram_writes.taken()));
    bench.sim.finish();
}

#[test]
fn answers_wait_for_the_design() {
    let mut bench = bench(latency(0));
    bench.set("t_rd_resp_ready", 1);
    bench.set("t_rd_valid", 3);
    bench.sim.cycle();
    bench.set("t_rd_valid", 0);
    bench.sim.run(5);
    assert_eq!(bench.value("ram_rd_resp_valid"), 2);
    assert_eq!(bench.ram_reads.stalls(), 4);
    bench.set("t_rd_resp_ready", 3);
    bench.sim.run(2);
    assert_eq!(bench.value("ram_rd_resp_valid"), 0);
    bench.sim.finish();
}

/// The RAM of either direction.
pub(crate) const SHAPE: RamShape = RamShape {
    segments: 2,
    segment_bytes: 8,
    bytes: 512,
};

/// The models around a design that the test plays.
pub(crate) struct Bench {
    pub(crate) sim: Simulation<FixtureDma>,
    pub(crate) host: HostMemory,
    pub(crate) writes: CorundumDma,
    pub(crate) reads: CorundumDma,
    pub(crate) ram_writes: RamPort,
    pub(crate) ram_reads: RamPort,
}

pub(crate) fn bench_with(config: DmaConfig, ram: [RamConfig; 2]) -> Bench {
    let mut sim = limited(100_000);
    let host = HostMemory::new(7);
    let [to_host, from_host] = [1, 2].map(|seed| SegmentedRam::new(SHAPE, Seed(seed)));
    let [write, read] = ram;
    let bench = Bench {
        writes: sim.corundum_dma(Transfer::ToHost, &host, &to_host, config.clone()),
        reads: sim.corundum_dma(Transfer::FromHost, &host, &from_host, config),
        ram_writes: sim.ram_write_port("ram_wr", &to_host, write),
        ram_reads: sim.ram_read_port("ram_rd", &from_host, read),
        sim,
        host,
    };
    let mut bench = bench;
    bench.set("t_rd_resp_ready", 3);
    bench.sim.reset();
    bench
}

pub(crate) fn bench(config: DmaConfig) -> Bench {
    bench_with(config, [RamConfig::after(1), RamConfig::after(2)])
}

pub(crate) fn latency(cycles: u64) -> DmaConfig {
    DmaConfig {
        latency: Latency::exactly(cycles),
        ..DmaConfig::default()
    }
}

pub(crate) fn descriptor(dma_addr: u64, ram_addr: u64, len: u64, tag: u64) -> Descriptor {
    Descriptor {
        dma_addr,
        ram_addr,
        len,
        tag,
    }
}

impl Bench {
    pub(crate) fn set(&mut self, name: &str, value: u128) {
        let dut = self.sim.dut.instance_mut();
        let port = dut.port(name, Direction::Input).unwrap();
        dut.set_value(port, value);
    }

    pub(crate) fn value(&self, name: &str) -> u128 {
        let dut = self.sim.dut.instance();
        dut.value(dut.find(name).unwrap())
    }

    /// Offers a descriptor until it is taken; the cycle in which it is.
    pub(crate) fn ask(&mut self, transfer: Transfer, descriptor: Descriptor) -> u64 {
        let (side, dma) = match transfer {
            Transfer::ToHost => ("write", self.writes.clone()),
            Transfer::FromHost => ("read", self.reads.clone()),
        };
        for (field, value) in [
            ("dma_addr", descriptor.dma_addr),
            ("ram_addr", descriptor.ram_addr),
            ("len", descriptor.len),
            ("tag", descriptor.tag),
            ("valid", 1),
        ] {
            self.set(&format!("t_{side}_{field}"), value.into());
        }
        let before = dma.counts().beats;
        while dma.counts().beats == before {
            self.sim.cycle();
        }
        self.set(&format!("t_{side}_valid"), 0);
        self.sim.cycle_count() - 1
    }

    /// Lets the DMA take the read that is offered; the cycle in which it does.
    pub(crate) fn ask_again(&mut self) -> u64 {
        self.reads.set_pause(Pause::Never);
        self.sim.cycle();
        self.set("t_read_valid", 0);
        self.sim.cycle_count() - 1
    }

    /// Writes a line of the RAM: 16 bytes.
    pub(crate) fn write_line(&mut self, line: u64, bytes: [u8; 16], enables: u128) {
        self.set("t_wr_addr", u128::from(line) * 0x41);
        self.set("t_wr_data", u128::from_le_bytes(bytes));
        self.set("t_wr_be", enables);
        self.set("t_wr_valid", 3);
        self.sim.cycle();
        self.set("t_wr_valid", 0);
    }

    /// Reads a line of the RAM, with the usual latency.
    pub(crate) fn read_line(&mut self, line: u64) -> [u8; 16] {
        self.set("t_rd_addr", u128::from(line) * 0x41);
        self.set("t_rd_valid", 3);
        self.sim.cycle();
        self.set("t_rd_valid", 0);
        self.sim.run(2);
        assert_eq!(self.value("ram_rd_resp_valid"), 3);
        self.value("ram_rd_resp_data").to_le_bytes()
    }

    /// Runs until nothing is in flight; the statuses of a direction.
    pub(crate) fn statuses(&mut self, transfer: Transfer) -> Vec<Status> {
        while self.writes.in_flight() + self.reads.in_flight() > 0 {
            self.sim.cycle();
        }
        let dma = match transfer {
            Transfer::ToHost => &self.writes,
            Transfer::FromHost => &self.reads,
        };
        std::iter::from_fn(|| dma.next_status()).collect()
    }
}

pub(crate) fn bytes(first: u8) -> [u8; 16] {
    std::array::from_fn(|index| first.wrapping_add(index as u8))
}
