//! Corundum's DMA and its RAM: the test plays the design, cycle by cycle.

mod support;

use spinneret_sim::dma::{
    Accepted, CorundumDma, Descriptor, DmaConfig, DmaFaults, HostMemory, Latency, Pause, RamConfig,
    RamReadPort, RamShape, RamWritePort, SegmentedRam, Status, Transfer,
};
use spinneret_sim::model::{Direction, Model};
use spinneret_sim::models::{FixtureDma, FixtureSlice};
use spinneret_sim::seed::Seed;
use spinneret_sim::simulation::Simulation;
use support::{limited, panic_message};

const SHAPE: RamShape = RamShape {
    segments: 2,
    segment_bytes: 8,
    bytes: 512,
};

/// The models around a design that the test plays.
struct Bench {
    sim: Simulation<FixtureDma>,
    host: HostMemory,
    writes: CorundumDma,
    reads: CorundumDma,
    ram_writes: RamWritePort,
    ram_reads: RamReadPort,
}

fn bench_with(config: DmaConfig, ram: [RamConfig; 2]) -> Bench {
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

fn bench(config: DmaConfig) -> Bench {
    bench_with(config, [RamConfig::after(1), RamConfig::after(2)])
}

fn latency(cycles: u64) -> DmaConfig {
    DmaConfig {
        latency: Latency::exactly(cycles),
        ..DmaConfig::default()
    }
}

fn descriptor(dma_addr: u64, ram_addr: u64, len: u64, tag: u64) -> Descriptor {
    Descriptor {
        dma_addr,
        ram_addr,
        len,
        tag,
    }
}

impl Bench {
    fn set(&mut self, name: &str, value: u128) {
        let dut = self.sim.dut.instance_mut();
        let port = dut.port(name, Direction::Input).unwrap();
        dut.set_value(port, value);
    }

    fn value(&self, name: &str) -> u128 {
        let dut = self.sim.dut.instance();
        dut.value(dut.find(name).unwrap())
    }

    /// Offers a descriptor until it is taken; the cycle in which it is.
    fn ask(&mut self, transfer: Transfer, descriptor: Descriptor) -> u64 {
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

    /// Writes a line of the RAM: 16 bytes.
    fn write_line(&mut self, line: u64, bytes: [u8; 16], enables: u128) {
        self.set("t_wr_addr", u128::from(line) * 0x41);
        self.set("t_wr_data", u128::from_le_bytes(bytes));
        self.set("t_wr_be", enables);
        self.set("t_wr_valid", 3);
        self.sim.cycle();
        self.set("t_wr_valid", 0);
    }

    /// Reads a line of the RAM, with the usual latency.
    fn read_line(&mut self, line: u64) -> [u8; 16] {
        self.set("t_rd_addr", u128::from(line) * 0x41);
        self.set("t_rd_valid", 3);
        self.sim.cycle();
        self.set("t_rd_valid", 0);
        self.sim.run(2);
        assert_eq!(self.value("ram_rd_resp_valid"), 3);
        self.value("ram_rd_resp_data").to_le_bytes()
    }

    /// Runs until nothing is in flight; the statuses of a direction.
    fn statuses(&mut self, transfer: Transfer) -> Vec<Status> {
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

fn bytes(first: u8) -> [u8; 16] {
    std::array::from_fn(|index| first.wrapping_add(index as u8))
}

#[test]
fn bytes_go_from_the_ram_to_the_host_at_any_alignment() {
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
    assert!(statuses.iter().all(|status| status.code == 0 && !status.stray));
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
fn bytes_come_from_the_host_at_any_alignment() {
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
fn statuses_come_after_latency_and_movement() {
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
fn descriptors_fail_as_they_are_told() {
    let config = DmaConfig {
        faults: DmaFaults::At(vec![(0x1010..=0x1010, 9), (0x1000..=0x10ff, 1)]),
        ..latency(0)
    };
    let mut bench = bench(config);
    bench.write_line(0, bytes(0), 0xffff);
    bench.sim.run(2);
    let mut moved = std::collections::BTreeSet::new();
    for (dma_addr, len, code) in [
        (0x1000, 16, 1),
        (0x1001, 16, 9),
        (0x10ff, 2, 1),
        (0x0ff0, 16, 0),
        (0x1100, 16, 0),
    ] {
        for _ in 0..30 {
            bench.ask(Transfer::ToHost, descriptor(dma_addr, 0, len.min(16), 3));
            let accepted = bench.writes.next_accepted().unwrap();
            assert_eq!(accepted.code, code, "{dma_addr:#x}");
            let moved_bytes = &bytes(0)[..accepted.moved as usize];
            bench.host.expect(dma_addr, moved_bytes);
            if code != 0 && len == 16 {
                moved.insert(accepted.moved);
            }
            let status = bench.statuses(Transfer::ToHost)[0];
            assert_eq!((status.tag, status.code), (3, code));
            assert_eq!(bench.host.check(), Ok(()));
        }
    }
    assert!(
        moved.contains(&0) && moved.contains(&16) && moved.len() > 5,
        "{moved:?}"
    );
    bench.sim.finish();
}

#[test]
fn the_ram_holds_garbage_when_a_read_fails() {
    let config = DmaConfig {
        faults: DmaFaults::Random { percent: 100 },
        ..latency(0)
    };
    let mut bench = bench(config);
    let mut wrong = 0;
    for number in 0..20 {
        bench.ask(Transfer::FromHost, descriptor(0x1000 + 16 * number, 0, 16, 0));
        assert_ne!(bench.statuses(Transfer::FromHost)[0].code, 0);
        wrong += usize::from(bench.read_line(0)[..] != bench.host.read(0x1000 + 16 * number, 16)[..]);
    }
    assert!(wrong > 5, "{wrong}");
    bench.sim.finish();
}

#[test]
fn strays_have_tags_that_are_not_in_flight() {
    let config = DmaConfig {
        strays: 50,
        tags: 16,
        spread: 20,
        ..latency(0)
    };
    let mut bench = bench(config);
    let mut strays = Vec::new();
    for number in 0..200 {
        bench.ask(
            Transfer::FromHost,
            descriptor(0x1000, 16 * (number % 32), 16, number % 16),
        );
        for status in bench.statuses(Transfer::FromHost) {
            if status.stray {
                strays.push(status.tag);
            } else {
                assert_eq!(status.tag, number % 16);
            }
        }
        bench.read_line(number % 32);
    }
    assert!(strays.iter().any(|tag| *tag >= 16) && strays.iter().any(|tag| *tag < 16));
    bench.reads.set_strays(0);
    bench.sim.run(3);
    while bench.reads.next_status().is_some() {}
    bench.reads.send_stray(77, 4);
    bench.sim.run(1);
    let status = bench.reads.next_status().unwrap();
    assert_eq!((status.tag, status.code, status.stray), (77, 4, true));
    assert_eq!(bench.value("s_axis_read_desc_status_valid"), 1);
    assert_eq!(bench.value("s_axis_read_desc_status_tag"), 77);
    bench.writes.set_strays(0);
    bench.sim.finish();
}

#[test]
fn ports_pause_each_by_itself_and_keep_their_order() {
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

/// What the simulation says of a design that does this.
fn broken(action: impl FnOnce(&mut Bench)) -> String {
    let mut bench = bench(latency(20));
    panic_message(|| action(&mut bench))
}

#[test]
fn broken_descriptors_are_found() {
    let ask = |descriptor| {
        broken(|bench| {
            bench.ask(Transfer::ToHost, descriptor);
        })
    };
    for (descriptor, expected) in [
        (
            descriptor(0, 0, 0, 0),
            "m_axis_write_desc: a descriptor has no bytes",
        ),
        (descriptor(0xfff, 0, 2, 0), "leaves the page of its first byte"),
        (descriptor(0, 510, 3, 0), "leaves the 512 bytes that it may use"),
    ] {
        let message = ask(descriptor);
        assert!(message.contains(expected), "{message}");
    }
    let message = broken(|bench| {
        bench.ask(Transfer::FromHost, descriptor(0, 0, 1, 5));
        bench.ask(Transfer::FromHost, descriptor(0, 64, 1, 5));
    });
    assert!(
        message.contains("m_axis_read_desc: tag 5 of a descriptor is in flight"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.set("t_write_ram_sel", 3);
        bench.ask(Transfer::ToHost, descriptor(0, 0, 1, 0));
    });
    assert!(message.contains("a descriptor selects RAM 3, not 0"), "{message}");
    let message = broken(|bench| {
        bench.set("t_write_imm_en", 1);
        bench.ask(Transfer::ToHost, descriptor(0, 0, 1, 0));
    });
    assert!(message.contains("a descriptor has immediate data"), "{message}");
    let message = broken(|bench| {
        bench.writes.set_pause(Pause::AlwaysAfter(0));
        bench.set("t_write_len", 1);
        bench.set("t_write_valid", 1);
        bench.sim.run(3);
        bench.set("t_write_len", 2);
        bench.sim.run(1);
    });
    assert!(
        message.contains("m_axis_write_desc_len changed while valid was high and ready was low"),
        "{message}"
    );
}

#[test]
fn bytes_in_use_are_not_touched() {
    let message = broken(|bench| {
        bench.write_line(0, bytes(0), 1);
        bench.ask(Transfer::ToHost, descriptor(0, 0, 1, 0));
        bench.write_line(1, bytes(0), 1);
        bench.write_line(0, bytes(0), 0);
    });
    assert!(
        message.contains("ram_wr_cmd: RAM bytes 0x0 to 0x7 are written while a descriptor in flight"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.ram_writes.set_latency(Latency::exactly(5));
        bench.write_line(0, bytes(0), 1);
        bench.ask(Transfer::ToHost, descriptor(0, 12, 1, 0));
    });
    assert!(
        message.contains("a descriptor covers RAM bytes 0x8 to 0xf, which are not written yet"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.ask(Transfer::FromHost, descriptor(0, 0, 1, 0));
        bench.read_line(0);
    });
    assert!(
        message.contains("ram_rd_cmd: RAM bytes 0x0 to 0x7 are read while a descriptor in flight"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.ask(Transfer::FromHost, descriptor(0, 0, 1, 0));
        bench.statuses(Transfer::FromHost);
        bench.ask(Transfer::FromHost, descriptor(0, 0, 1, 0));
    });
    assert!(
        message.contains("a descriptor covers RAM bytes 0x0 to 0x7, whose data was not read yet"),
        "{message}"
    );
}

#[test]
fn broken_commands_are_found() {
    let message = broken(|bench| {
        bench.ram_writes.set_pause(Pause::AlwaysAfter(0));
        bench.set("t_wr_valid", 2);
        bench.sim.run(2);
        bench.set("t_wr_valid", 1);
        bench.sim.run(1);
    });
    assert!(
        message.contains("ram_wr_cmd: valid of segment 1 went low before ready was high"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.ram_reads.set_pause(Pause::AlwaysAfter(0));
        bench.set("t_rd_valid", 1);
        bench.sim.run(2);
        bench.set("t_rd_addr", 1);
        bench.sim.run(1);
    });
    assert!(
        message.contains("ram_rd_cmd: the command of segment 0 changed while valid was high"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.read_line(32);
    });
    assert!(
        message.contains("line 0x20 of segment 0 is beyond the 512 bytes that the design may use"),
        "{message}"
    );
    let message = broken(|bench| {
        bench.set("t_rd_valid", 1);
        bench.sim.reset();
    });
    assert!(
        message.contains("ram_rd_cmd: valid is high in reset"),
        "{message}"
    );
}

#[test]
fn a_reset_forgets_what_is_under_way() {
    let mut bench = bench(latency(50));
    for _ in 0..3 {
        bench.write_line(0, bytes(0), 0xffff);
        bench.sim.run(2);
        bench.ask(Transfer::ToHost, descriptor(0, 0, 16, 0));
        bench.ask(Transfer::FromHost, descriptor(0, 0, 16, 0));
        bench.sim.reset();
        assert_eq!((bench.writes.in_flight(), bench.reads.in_flight()), (0, 0));
        bench.sim.run(100);
        assert_eq!(bench.writes.next_status(), None);
    }
    assert_eq!(bench.host.check(), Ok(()), "nothing was written");
    bench.sim.finish();
}

#[test]
fn a_dma_with_a_reset_of_its_own_goes_on() {
    let config = DmaConfig {
        survives_reset: true,
        ..latency(0)
    };
    // The status comes in each cycle of the reset, and after it.
    for cycles in 0..8 {
        let mut bench = bench(config.clone());
        bench.writes.set_latency(Latency::exactly(cycles));
        bench.write_line(0, bytes(3), 0xffff);
        bench.sim.run(2);
        bench.host.expect(0x10, &bytes(3));
        let taken = bench.ask(Transfer::ToHost, descriptor(0x10, 0, 16, 9));
        bench.sim.reset();
        let statuses = bench.statuses(Transfer::ToHost);
        assert_eq!((statuses[0].tag, statuses[0].cycle), (9, taken + cycles + 1));
        assert_eq!(bench.host.check(), Ok(()));
        bench.sim.finish();
    }
}

#[test]
fn what_has_no_dma_is_refused() {
    let mut sim = limited::<FixtureSlice>(1);
    let (host, ram) = (HostMemory::new(0), SegmentedRam::new(SHAPE, Seed(0)));
    let prefixes = Transfer::ToHost.prefixes();
    let config = DmaConfig::default();
    let error =
        CorundumDma::attach(&mut sim, Transfer::ToHost, prefixes, &host, &ram, config).expect_err("a stream");
    assert!(
        error
            .to_string()
            .starts_with("fixture_slice has no port `m_axis_write_desc_dma_addr`"),
        "{error}"
    );
    let mut sim = limited::<FixtureDma>(1);
    let shape = RamShape { segments: 1, ..SHAPE };
    let ram = SegmentedRam::new(shape, Seed(0));
    let error =
        RamWritePort::attach(&mut sim, "ram_wr", &ram, RamConfig::after(1)).expect_err("two segments");
    assert_eq!(
        error.to_string(),
        "port `ram_wr_cmd_valid` of fixture_dma is 2 bits wide; each segment has 1"
    );
}
