//! The AXI slaves of the clusters, `line_writer` and `line_reader`, with `program_writer`, `line_crossbar` and memories behind
//! them.

use spinneret_models::LineSlavesBench;
use spinneret_regmap::pspin::{
    HANDLER_BASE, HANDLER_BYTES, L1_BASE, L1_BYTES, L1_STRIDE, PACKET_BASE, PACKET_BYTES, PROGRAM_BASE,
    PROGRAM_BYTES,
};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use std::collections::BTreeMap;

/// Bytes of a line.
const LINE: u64 = 64;
/// The memories that can be read.
const MEMORIES: [(u32, u32); 4] = [
    (HANDLER_BASE, HANDLER_BYTES),
    (PACKET_BASE, PACKET_BYTES),
    (L1_BASE, L1_BYTES),
    (L1_BASE + L1_STRIDE, L1_BYTES),
];

struct Bench {
    sim: Simulation<LineSlavesBench>,
    rng: ChaCha8Rng,
    masters: [AxiMaster; 2],
    memory: Memory,
    /// Words of program memory, and those that are expected.
    program: BTreeMap<u64, u64>,
    words: BTreeMap<u64, u64>,
    written: BTreeMap<(usize, u64), Response>,
    wanted: BTreeMap<(usize, u64), (Burst, Response)>,
}

fn contains(base: u32, bytes: u32, address: u64) -> bool {
    (u64::from(base)..u64::from(base) + u64::from(bytes)).contains(&address)
}

fn is_program(address: u64) -> bool {
    contains(PROGRAM_BASE, PROGRAM_BYTES, address)
}

impl Bench {
    fn new(run: &mut TestRun, pause: &Pause) -> Self {
        let mut sim = run.simulation::<LineSlavesBench>();
        sim.set_cycle_limit(u64::MAX);
        let masters = ["s_0", "s_1"].map(|prefix| {
            let pauses = MasterPauses::all(pause);
            let skew = Skew::Random { most: 3 };
            let master = sim.axi_master(prefix, MasterConfig { pauses, skew });
            // Illegal bursts are sent on purpose.
            let monitors = [master.write_monitor(), master.read_monitor()];
            monitors.iter().flatten().for_each(AxiMonitor::check_slave_only);
            master
        });
        sim.reset();
        Self {
            sim,
            rng: run.rng("traffic"),
            masters,
            memory: Memory::default(),
            program: BTreeMap::new(),
            words: BTreeMap::new(),
            written: BTreeMap::new(),
            wanted: BTreeMap::new(),
        }
    }

    /// How a burst has to be answered; only the second slave writes program memory.
    fn response(burst: &Burst, writes_program: bool) -> Response {
        let is_mapped = MEMORIES
            .iter()
            .any(|(base, bytes)| contains(*base, *bytes, burst.address));
        if burst.kind != BurstKind::Incrementing || burst.size > LINE {
            Response::SlaveError
        } else if is_mapped || writes_program && is_program(burst.address) {
            Response::Okay
        } else {
            Response::DecodeError
        }
    }

    fn write(&mut self, master: usize, request: WriteRequest) {
        let burst = request.burst;
        let response = Self::response(&burst, master == 1);
        if response == Response::Okay {
            for (number, beat) in (0..).zip(&request.beats) {
                let line = burst.beat_address(number) & !(LINE - 1);
                if is_program(line) {
                    let word = (line - u64::from(PROGRAM_BASE)) / 4;
                    for (at, bytes) in beat.bytes.chunks(4).enumerate() {
                        if beat.strobes >> (4 * at) & 15 == 15 {
                            let bytes = bytes.try_into().expect("words have four bytes");
                            let value = u64::from(u32::from_le_bytes(bytes));
                            self.words.insert(word + at as u64, value);
                        }
                    }
                } else {
                    self.memory.write(line, &beat.bytes, beat.strobes);
                }
            }
        }
        let number = self.masters[master].write(request.illegal());
        self.written.insert((master, number), response);
    }

    /// A read, whose data is compared with the memory as it is when the data comes.
    fn read(&mut self, master: usize, burst: Burst) {
        let number = self.masters[master].read(ReadRequest::new(burst).illegal());
        let response = Self::response(&burst, false);
        self.wanted.insert((master, number), (burst, response));
    }

    fn settle(&mut self) {
        while !self.masters.iter().all(AxiMaster::is_idle) {
            self.cycle();
        }
    }

    fn cycle(&mut self) {
        self.sim.cycle();
        if self.sim.get("program_write") == 1 {
            let [place, word] = ["program_addr", "program_data"].map(|port| self.sim.get(port));
            self.program.insert(place, word);
        }
        for master in 0..2 {
            for done in self.masters[master].take_writes() {
                let expected = self.written.remove(&(master, done.number));
                assert_eq!(Some(done.response), expected, "{done:x?}");
                if master == 1 && self.masters[1].writes_left() == 0 {
                    assert_eq!(self.program, self.words, "an answer before the words");
                }
            }
            for done in self.masters[master].take_reads() {
                let (burst, response) = self.wanted.remove(&(master, done.number)).expect("it was sent");
                for (number, beat) in (0..).zip(&done.beats) {
                    assert_eq!(beat.response, response, "{burst:x?}");
                    let line = burst.beat_address(number) & !(LINE - 1);
                    for (lane, byte) in (0..).zip(&beat.bytes) {
                        let is_data = response == Response::Okay;
                        let wanted = if is_data {
                            self.memory.byte(line + lane)
                        } else {
                            Some(0)
                        };
                        assert!(
                            wanted.is_none_or(|wanted| wanted == *byte),
                            "{burst:x?}, beat {number}, lane {lane}: {byte:#x} instead of {wanted:x?}"
                        );
                    }
                }
            }
        }
    }

    /// A burst of any size, length and alignment in one of eight pages; that of each master has a different parity.
    fn burst(&mut self, region: u64) -> Burst {
        let rng = &mut self.rng;
        let (base, bytes) = MEMORIES[rng.random_range(0..MEMORIES.len())];
        let page = [0, u64::from(bytes) / 4096 - 2][rng.random_range(0..2)] + region;
        let size = 1 << rng.random_range(0..=6);
        let offset = rng.random_range(0..4096);
        let address = u64::from(base) + 4096 * page + offset;
        let first = address & !(size - 1);
        let most = ((4096 - first % 4096) / size).min(20);
        Burst {
            id: rng.random_range(0..64),
            address,
            beats: rng.random_range(1..=most),
            size,
            kind: BurstKind::Incrementing,
        }
    }

    /// A burst that has to fail.
    fn bad_burst(&mut self) -> Burst {
        let good = self.burst(0);
        let kinds = [BurstKind::Fixed, BurstKind::Wrapping, BurstKind::Reserved];
        let edges = [
            0xfff_f000,
            0x1004_0000,
            0x1044_0000,
            0x1080_0000,
            0x1bff_f000,
            0x1c18_0000,
            0x1cff_f000,
            0x1d00_8000,
        ];
        match self.rng.random_range(0..3) {
            0 => Burst {
                kind: kinds[self.rng.random_range(0..kinds.len())],
                ..good
            },
            1 => Burst { size: 128, ..good },
            _ => Burst {
                address: edges[self.rng.random_range(0..edges.len())],
                ..good
            },
        }
    }

    fn data(&mut self, burst: Burst) -> WriteRequest {
        let beats = (0..burst.beats).map(|number| {
            let mut bytes = vec![0; LINE as usize];
            self.rng.fill_bytes(&mut bytes);
            let lanes = burst.lanes(number, LINE);
            let strobes = if self.rng.random() {
                lanes
            } else {
                lanes & self.rng.random::<u128>()
            };
            (bytes, strobes)
        });
        WriteRequest::new(burst, beats.collect::<Vec<_>>())
    }
}

impl Finish for Bench {
    fn finish(mut self) {
        self.settle();
        assert_eq!(self.program, self.words);
        self.sim.finish();
    }
}

fn burst_traffic(run: &mut TestRun, pause: &Pause) {
    let mut bench = Bench::new(run, pause);
    for round in 0..60 {
        for master in 0..2 {
            for _ in 0..bench.rng.random_range(1..6) {
                let burst = match bench.rng.random_range(0..6) {
                    0 => bench.bad_burst(),
                    1 => Burst {
                        address: u64::from(PROGRAM_BASE) + bench.rng.random_range(0..8) * 4096,
                        ..bench.burst(0)
                    },
                    _ => bench.burst(master as u64),
                };
                let most = (4096 - burst.address % 4096).div_ceil(burst.size.min(LINE));
                let burst = Burst {
                    beats: burst.beats.min(most),
                    ..burst
                };
                let request = bench.data(burst);
                bench.write(master, request);
            }
        }
        // Writes of handler memory and packet buffer by the second one wait meanwhile.
        bench.sim.set("hold", 1_u64);
        for _ in 0..bench.rng.random_range(0..60) {
            bench.cycle();
        }
        bench.sim.set("hold", 0_u64);
        bench.settle();
        for master in 0..2 {
            for _ in 0..bench.rng.random_range(1..8) {
                let region = bench.rng.random_range(0..2);
                let burst = match bench.rng.random_range(0..6) {
                    0 => bench.bad_burst(),
                    1 => Burst {
                        address: u64::from(PROGRAM_BASE) + 64,
                        beats: 1,
                        ..bench.burst(0)
                    },
                    _ => bench.burst(region),
                };
                bench.read(master, burst);
            }
        }
        bench.settle();
        if round % 20 == 19 {
            for master in 0..2 {
                let burst = bench.burst(master);
                bench.read(master as usize, burst);
            }
            bench.sim.run(bench.rng.random_range(0..20));
            bench.sim.reset();
            for master in &bench.masters {
                master.clear();
                drop(master.take_reads());
            }
            bench.wanted.clear();
        }
    }
    bench.finish();
}

#[test]
fn random_bursts_write_and_read_the_memories() {
    for (seed, percent) in [(1, 0), (2, 20), (3, 60), (4, 40)] {
        run_test(seed, |run| burst_traffic(run, &Pause::Random { percent }));
    }
}

/// Clocks until everything is done.
fn clocks(bench: &mut Bench) -> u64 {
    let start = bench.sim.cycle_count();
    bench.settle();
    bench.sim.cycle_count() - start
}

#[test]
fn a_burst_moves_a_beat_a_clock() {
    let never = |run: &mut TestRun| Bench::new(run, &Pause::Never);
    case(1, never, |bench| {
        for (master, (base, _)) in MEMORIES.into_iter().take(2).enumerate() {
            let bytes = vec![master as u8; 4096];
            bench.write(master, WriteRequest::bytes(0, base.into(), &bytes, 64));
        }
        let written = clocks(bench);
        for (master, (base, _)) in MEMORIES.into_iter().take(2).enumerate() {
            bench.read(
                master,
                Burst {
                    id: 0,
                    address: base.into(),
                    beats: 64,
                    size: 64,
                    kind: BurstKind::Incrementing,
                },
            );
        }
        let read = clocks(bench);
        assert!(
            (64..=76).contains(&written),
            "{written} clocks for writes of 64 lines"
        );
        assert!((64..=80).contains(&read), "{read} clocks for reads of 64 lines");
    });
}

#[test]
fn short_bursts_follow_with_a_clock_between() {
    let never = |run: &mut TestRun| Bench::new(run, &Pause::Never);
    case(1, never, |bench| {
        let (base, _) = MEMORIES[0];
        let addresses = (0..32).map(|burst| u64::from(base) + 128 * burst);
        for address in addresses.clone() {
            bench.write(0, WriteRequest::bytes(0, address, &[address as u8; 128], 64));
        }
        let written = clocks(bench);
        for address in addresses {
            bench.read(
                0,
                Burst {
                    id: 0,
                    address,
                    beats: 2,
                    size: 64,
                    kind: BurstKind::Incrementing,
                },
            );
        }
        let read = clocks(bench);
        assert!(
            (64..=104).contains(&written),
            "{written} clocks for writes of 64 lines"
        );
        assert!((64..=120).contains(&read), "{read} clocks for reads of 64 lines");
    });
}

#[test]
fn program_memory_takes_whole_words() {
    let never = |run: &mut TestRun| Bench::new(run, &Pause::Never);
    case(1, never, |bench| {
        let bytes: Vec<u8> = (0..=255).collect();
        let end = u64::from(PROGRAM_BASE + PROGRAM_BYTES);
        bench.write(1, WriteRequest::bytes(0, end - 256, &bytes, 64));
        // Two bytes before a word, three words, a byte.
        bench.write(
            1,
            WriteRequest::bytes(0, u64::from(PROGRAM_BASE) + 6, &bytes[..15], 64),
        );
        bench.settle();
        assert_eq!(bench.program.len(), 64 + 3);
        assert_eq!(bench.program[&2], 0x0504_0302);
    });
}
