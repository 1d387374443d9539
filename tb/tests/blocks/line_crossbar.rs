//! `line_crossbar` against its contract in plain Rust, clock by clock, and `line_memory`.

use spinneret_models::{LineCrossbar, LineCrossbarSmall, LineCrossbarWide, LineMemoryBlock, LineMemoryUltra};
use spinneret_regmap::pspin::{HANDLER_BASE, L1_BASE, L1_STRIDE, PACKET_BASE};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, Parameters, case};
use std::collections::{BTreeMap, VecDeque};

/// Clocks from the acceptance of a read to its data, and of an access to its memory's port.
const READ_CLOCKS: usize = 6;

type Line = [u8; 64];

/// A write: line, strobes, data.
type Write = (u64, u64, Line);

/// Contents of a line before it is written.
fn initial(line: u64) -> Line {
    std::array::from_fn(|byte| {
        (line ^ line >> 8 ^ line >> 16)
            .wrapping_mul(37)
            .wrapping_add(byte as u64) as u8
    })
}

/// Lines by their number.
#[derive(Debug, Default)]
struct Lines(BTreeMap<u64, Line>);

impl Lines {
    fn read(&self, line: u64) -> Line {
        self.0.get(&line).copied().unwrap_or_else(|| initial(line))
    }

    fn write(&mut self, (line, strobes, data): Write) {
        let mut value = self.read(line);
        let bytes = (0..64).filter(|byte| strobes >> byte & 1 == 1);
        bytes.for_each(|byte| value[byte] = data[byte]);
        self.0.insert(line, value);
    }
}

/// Accesses of a clock, by reader and writer.
#[derive(Clone, Debug)]
struct Inputs {
    reads: Vec<Option<u64>>,
    writes: Vec<Option<Write>>,
    hold: bool,
    /// Line of writer 0 while it offers nothing.
    held: u64,
}

/// Readers and writers that were accepted.
#[derive(Debug, Default, PartialEq, Eq)]
struct Accepted {
    reads: Vec<usize>,
    writes: Vec<usize>,
}

struct Bench<M> {
    sim: Simulation<M>,
    rng: ChaCha8Rng,
    /// Prefix, first line and number of lines of each memory, and the lines that came through its port.
    memories: Vec<(String, u64, u64, Lines)>,
    /// Data that the memories return in this clock and in the next one.
    returned: VecDeque<Vec<Option<Line>>>,
    /// The contract: contents, whose turn is last at each memory, data of this clock and the ones after it.
    lines: Lines,
    read_order: Vec<Vec<usize>>,
    write_order: Vec<Vec<usize>>,
    expected: VecDeque<Vec<Option<Line>>>,
}

impl<M: Model> Finish for Bench<M> {
    fn finish(mut self) {
        for _ in 0..=READ_CLOCKS {
            self.clock(&self.nothing());
        }
        for (prefix, first, count, lines) in &self.memories {
            let of_memory = self.lines.0.range(first..&(first + count));
            assert!(of_memory.eq(&lines.0), "{prefix} has other contents");
        }
    }
}

impl<M: Model> Bench<M> {
    fn new(run: &mut TestRun) -> Self {
        let parameters = Parameters::of::<M>();
        let count = |name: &str| parameters.get(name) as usize;
        let (readers, writers, clusters) = (count("readers"), count("writers"), count("clusters"));
        let line = |address: u32| u64::from(address) / 64;
        let memory = |name: String, base, count| (name, line(base), count, Lines::default());
        let mut memories = vec![
            memory("handler".into(), HANDLER_BASE, 16384),
            memory("packet".into(), PACKET_BASE, 8192),
        ];
        for cluster in 0..clusters {
            let base = L1_BASE + L1_STRIDE * cluster as u32;
            memories.push(memory(format!("l1_{cluster}"), base, 4096));
        }
        let order = |blocks: usize| vec![(0..blocks).collect::<Vec<_>>(); memories.len()];
        let mut bench = Self {
            sim: run.simulation::<M>(),
            rng: run.rng("data"),
            returned: vec![vec![None; memories.len()]; 2].into(),
            lines: Lines::default(),
            read_order: order(readers),
            write_order: order(writers),
            expected: vec![vec![None; readers]; READ_CLOCKS].into(),
            memories,
        };
        bench.sim.reset();
        bench
    }

    fn nothing(&self) -> Inputs {
        Inputs {
            reads: vec![None; self.read_order[0].len()],
            writes: vec![None; self.write_order[0].len()],
            hold: false,
            held: 0,
        }
    }

    /// The memory at whose turn an access is: told by bits 26, 20, and as many as clusters need from 22 on.
    fn place(&self, line: u64) -> usize {
        let bits = |number: u32, count: usize| (line << 6 >> number) as usize % count;
        match bits(26, 2) {
            1 => bits(20, 2),
            _ => 2 + bits(22, self.memories.len() - 2),
        }
    }

    fn exists(&self, line: u64) -> bool {
        let inside =
            |(_, first, count, _): &(String, u64, u64, Lines)| (*first..first + count).contains(&line);
        self.memories.iter().any(inside)
    }

    fn get(&self, port: &str) -> Line {
        let mut line = [0; 64];
        let bytes = self.sim.dut.get(port).expect("it is a port").to_bytes_le();
        line[..bytes.len()].copy_from_slice(&bytes);
        line
    }

    /// Simulates a clock and compares everything with the contract.
    fn clock(&mut self, inputs: &Inputs) -> Accepted {
        self.drive(inputs);
        self.sim.dut.eval();
        let accepted = self.accept(inputs);
        let high = |port: String| self.sim.get(&port) == 1;
        for (number, read) in inputs.reads.iter().enumerate() {
            let ready = high(format!("read_{number}_ready"));
            assert_eq!(
                ready,
                accepted.reads.contains(&number),
                "reader {number}: {inputs:x?}"
            );
            if let Some(line) = read {
                assert_eq!(
                    high(format!("read_{number}_failed")),
                    !self.exists(*line),
                    "{line:x}"
                );
            }
        }
        for (number, write) in inputs.writes.iter().enumerate() {
            let ready = high(format!("write_{number}_ready"));
            assert_eq!(
                ready,
                accepted.writes.contains(&number),
                "writer {number}: {inputs:x?}"
            );
            if let Some((line, _, _)) = write {
                assert_eq!(
                    high(format!("write_{number}_failed")),
                    !self.exists(*line),
                    "{line:x}"
                );
            }
        }
        let data = self.expected.pop_front().expect("there is a row for each clock");
        for (number, data) in data.iter().enumerate() {
            assert_eq!(high(format!("read_{number}_data_valid")), data.is_some());
            let shown = self.get(&format!("read_{number}_data"));
            assert_eq!(shown, data.unwrap_or([0; 64]), "reader {number}");
        }
        self.serve_ports();
        self.sim.cycle();
        accepted
    }

    fn drive(&mut self, inputs: &Inputs) {
        let sim = &mut self.sim;
        sim.set("hold", inputs.hold);
        for (number, line) in inputs.reads.iter().enumerate() {
            sim.set(&format!("read_{number}_valid"), line.is_some());
            sim.set(&format!("read_{number}_line"), line.unwrap_or(0));
        }
        for (number, write) in inputs.writes.iter().enumerate() {
            let (line, strobes, data) = write.unwrap_or((inputs.held, u64::MAX, [0xee; 64]));
            sim.set(&format!("write_{number}_valid"), write.is_some());
            sim.set(&format!("write_{number}_line"), line);
            sim.set(&format!("write_{number}_strobe"), strobes);
            sim.set_bytes(&format!("write_{number}_data"), &data);
        }
        let returned = self.returned.pop_front().expect("there are two rows");
        for ((prefix, ..), data) in self.memories.iter().zip(returned) {
            let data = data.unwrap_or_else(|| self.rng.random());
            sim.set_bytes(&format!("{prefix}_read_data"), &data);
        }
    }

    /// The contract: who is accepted, and what it does.
    fn accept(&mut self, inputs: &Inputs) -> Accepted {
        let mut accepted = Accepted::default();
        let grant = |order: &mut Vec<usize>, asks: &dyn Fn(usize) -> bool| {
            let at = order.iter().position(|number| asks(*number))?;
            let number = order.remove(at);
            order.push(number);
            Some(number)
        };
        let mut data = vec![None; inputs.reads.len()];
        for memory in 0..self.memories.len() {
            let mut order = self.read_order[memory].clone();
            let asks = |number: usize| inputs.reads[number].is_some_and(|line| self.place(line) == memory);
            if let Some(number) = grant(&mut order, &asks) {
                let line = inputs.reads[number].expect("it asks");
                data[number] = self.exists(line).then(|| self.lines.read(line));
                accepted.reads.push(number);
            }
            self.read_order[memory] = order;
        }
        self.expected.push_back(data);
        for memory in 0..self.memories.len() {
            let mut order = self.write_order[memory].clone();
            let asks = |number: usize| {
                let named = inputs.writes[0].map_or(inputs.held, |(line, ..)| line);
                let is_held = inputs.hold && memory < 2 && number != 0 && self.place(named) == memory;
                !is_held && inputs.writes[number].is_some_and(|(line, ..)| self.place(line) == memory)
            };
            if let Some(number) = grant(&mut order, &asks) {
                let write = inputs.writes[number].expect("it asks");
                if self.exists(write.0) && write.1 != 0 {
                    self.lines.write(write);
                }
                accepted.writes.push(number);
            }
            self.write_order[memory] = order;
        }
        accepted
    }

    /// The memories at their ports: a read sees what was there before the write of its clock.
    fn serve_ports(&mut self) {
        let mut row = Vec::new();
        for number in 0..self.memories.len() {
            let (prefix, first, ..) = &self.memories[number];
            let (first, port) = (*first, |name: &str| format!("{prefix}_{name}"));
            let is_read = self.sim.get(&port("read")) == 1;
            let read = first + self.sim.get(&port("read_line"));
            let line = first + self.sim.get(&port("write_line"));
            let (strobes, data) = (self.sim.get(&port("write_strobe")), self.get(&port("write_data")));
            let lines = &mut self.memories[number].3;
            row.push(is_read.then(|| lines.read(read)));
            if strobes != 0 {
                lines.write((line, strobes, data));
            }
        }
        self.returned.push_back(row);
    }

    /// A line of any memory, or next to one.
    fn random_line(&mut self) -> u64 {
        let rng = &mut self.rng;
        let (_, first, count, _) = &self.memories[rng.random_range(0..self.memories.len())];
        let line = first + [0, 1, count / 2, count - 1][rng.random_range(0..4)];
        match rng.random_range(0..16) {
            0 => line ^ 1 << rng.random_range(0..26),
            1 => first - 1,
            2 => first + count,
            _ => line,
        }
    }

    fn random_write(&mut self) -> Write {
        let strobes = match self.rng.random_range(0..4) {
            0 => 0,
            1 => u64::MAX,
            _ => self.rng.random(),
        };
        (self.random_line(), strobes, self.rng.random())
    }
}

fn random_traffic<M: Model>(run: &mut TestRun, clocks: usize) {
    let mut bench = Bench::<M>::new(run);
    let mut inputs = bench.nothing();
    let (mut reads, mut writes, mut failed) = (0, 0, 0);
    for clock in 0..clocks {
        // Busy and idle times; an offer stays until it is accepted, with few exceptions.
        let busy = [0.9, 0.3, 0.05][clock / 100 % 3];
        inputs.hold = if clock % 7 == 0 {
            bench.rng.random_bool(0.3)
        } else {
            inputs.hold
        };
        if clock % 7 == 0 {
            inputs.held = bench.random_line();
        }
        for number in 0..inputs.reads.len() {
            if inputs.reads[number].is_none() && bench.rng.random_bool(busy) {
                inputs.reads[number] = Some(bench.random_line());
            }
        }
        for number in 0..inputs.writes.len() {
            if inputs.writes[number].is_none() && bench.rng.random_bool(busy) {
                inputs.writes[number] = Some(bench.random_write());
            }
        }
        let accepted = bench.clock(&inputs);
        for number in accepted.reads {
            let line = inputs.reads[number].take().expect("it was offered");
            failed += u32::from(!bench.exists(line));
            reads += 1;
        }
        for number in accepted.writes {
            inputs.writes[number] = None;
            writes += 1;
        }
        if bench.rng.random_bool(0.02) {
            inputs.reads[0] = None;
            inputs.writes[1] = None;
        }
    }
    assert!(
        reads > 2000 && writes > 2000 && failed > 200,
        "{reads}, {writes}, {failed}"
    );
    bench.finish();
}

#[test]
fn random_accesses_have_their_effect_in_order() {
    for seed in 1..=2 {
        run_test(seed, |run| random_traffic::<LineCrossbar>(run, 6000));
        run_test(seed, |run| random_traffic::<LineCrossbarSmall>(run, 6000));
    }
    run_test(3, |run| random_traffic::<LineCrossbarWide>(run, 1500));
}

#[test]
fn those_who_meet_at_a_memory_take_turns() {
    case(1, Bench::<LineCrossbar>::new, |bench| {
        let mut inputs = bench.nothing();
        let line = bench.memories[1].1;
        inputs.reads.fill(Some(line));
        inputs.writes.fill(Some((line, 1, [0; 64])));
        for clock in 0..24 {
            let accepted = bench.clock(&inputs);
            assert_eq!(
                (accepted.reads, accepted.writes),
                (vec![clock % 6], vec![clock % 6])
            );
        }
    });
}

#[test]
fn all_memories_are_read_and_written_in_a_clock() {
    case(1, Bench::<LineCrossbar>::new, |bench| {
        let mut inputs = bench.nothing();
        for clock in 0..20 {
            for number in 0..4 {
                let line = bench.memories[number].1 + clock;
                inputs.reads[number] = Some(line);
                inputs.writes[number] = Some((line, u64::MAX, [clock as u8; 64]));
            }
            let all = vec![0, 1, 2, 3];
            let accepted = bench.clock(&inputs);
            assert_eq!((&accepted.reads, &accepted.writes), (&all, &all));
        }
    });
}

#[test]
fn while_memories_are_held_the_first_writer_alone_writes_them() {
    case(1, Bench::<LineCrossbar>::new, |bench| {
        for memory in 0..4 {
            let mut inputs = bench.nothing();
            let line = bench.memories[memory].1 + 5;
            inputs.reads[3] = Some(line);
            inputs.writes[2] = Some((line, u64::MAX, [7; 64]));
            (inputs.hold, inputs.held) = (true, line);
            let accepted = bench.clock(&inputs);
            let free = if memory < 2 { vec![] } else { vec![2] };
            assert_eq!((accepted.reads, accepted.writes), (vec![3], free));
            inputs.held = bench.memories[1 - memory.min(1)].1;
            assert_eq!(bench.clock(&inputs).writes, [2]);
            inputs.writes[0] = Some((line, u64::MAX, [8; 64]));
            assert!(memory > 1 || bench.clock(&inputs).writes == [0]);
            inputs.hold = false;
            inputs.writes[0] = None;
            assert_eq!(bench.clock(&inputs).writes, [2]);
        }
    });
}

#[test]
fn reads_before_a_reset_have_no_data() {
    case(1, Bench::<LineCrossbar>::new, |bench| {
        for clocks in 0..READ_CLOCKS {
            let mut inputs = bench.nothing();
            inputs.reads[2] = Some(bench.memories[0].1);
            bench.clock(&inputs);
            for _ in 0..clocks {
                bench.clock(&bench.nothing());
            }
            bench.drive(&bench.nothing());
            bench.returned.push_back(vec![None; 4]);
            // In the first clock after a reset there may be data that is not valid.
            bench.sim.set("rst", true);
            bench.sim.run(2);
            bench.sim.set("rst", false);
            for row in &mut bench.expected {
                row.fill(None);
            }
            for order in bench.read_order.iter_mut().chain(&mut bench.write_order) {
                order.sort_unstable();
            }
            for _ in 0..=READ_CLOCKS {
                bench.clock(&bench.nothing());
            }
        }
    });
}

/// A line is there two clocks after it was asked for, as it was before a write of the same clock, and stays.
fn memory_traffic<M: Model>(run: &mut TestRun) {
    let count = Parameters::of::<M>().get("lines");
    let mut rng = run.rng("traffic");
    let mut sim = run.simulation::<M>();
    let mut lines = Lines::default();
    let mut asked: VecDeque<Option<Line>> = [None, None].into();
    let mut shown = None;
    for clock in 0..4000 {
        let line = |rng: &mut ChaCha8Rng| {
            if rng.random() {
                rng.random_range(0..count)
            } else {
                3
            }
        };
        let (read, is_read, to) = (line(&mut rng), rng.random(), line(&mut rng));
        let is_filled = clock < count;
        let (to, strobes) = match rng.random_range(0..3) {
            _ if is_filled => (clock, u64::MAX),
            0 => (to, 0),
            1 => (to, u64::MAX),
            _ => (to, rng.random()),
        };
        let data: Line = rng.random();
        sim.set("s_read", is_read && !is_filled);
        sim.set("s_read_line", read);
        sim.set("s_write_strobe", strobes);
        sim.set("s_write_line", to);
        sim.set_bytes("s_write_data", &data);
        sim.dut.eval();
        shown = asked.pop_front().flatten().or(shown);
        if let Some(expected) = shown {
            let mut got = sim.dut.get("s_read_data").expect("it is a port").to_bytes_le();
            got.resize(64, 0);
            assert_eq!(got, expected, "clock {clock}");
        }
        asked.push_back((is_read && !is_filled).then(|| lines.read(read)));
        if strobes != 0 {
            lines.write((to, strobes, data));
        }
        sim.cycle();
    }
    assert!(shown.is_some());
}

#[test]
fn a_memory_returns_lines_after_two_clocks() {
    run_test(1, memory_traffic::<LineMemoryUltra>);
    run_test(2, memory_traffic::<LineMemoryBlock>);
}
