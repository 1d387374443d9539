//! The models around a design that the test plays, cycle by cycle.

use crate::support::limited;
use spinneret_fixtures::FixtureDma;
use spinneret_sim::dma::{Descriptor, RamPort, SegmentedRam, Status, Transfer};
use spinneret_sim::prelude::*;

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
