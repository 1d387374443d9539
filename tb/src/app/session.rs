//! A session of software at the BAR: accesses of all kinds, legal or not, while packets go by.

use super::bench::AppBench;
use super::context::{Context, READ_OFFSET};
use super::packets::{CONTEXTS, from_host, from_wire, marked_bad, matched, random_size, unmatched};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use spinneret_regmap::{
    Access, Word, bar, bar_access, cl, egress, guard, her, host_read, host_write, ingress, me, registers,
    stats, words,
};
use spinneret_sim::axil::Response;
use std::collections::BTreeMap;

/// Matched packets under way at most, so that none is dropped.
const UNDER_WAY: usize = 4;
/// Their shortest, so that the word that rules look at is there.
const LEAST_BYTES: usize = 4;
/// Their longest, so that all of them find room.
const MOST_BYTES: usize = 600;
/// Pages of host memory, at whose borders the stand-in ends its bursts.
const PAGE: u64 = 4096;

/// Offsets into the BAR at which the cluster has memory that nothing else uses.
const MEMORY: [std::ops::Range<u32>; 2] = [0x0_8000..0x10_0000, 0x40_0000..0x40_8000];
/// Offsets at which it has none.
const NO_MEMORY: [std::ops::Range<u32>; 2] = [0x18_0000..0x40_0000, 0x40_8000..0x80_0000];

/// A session of software at the BAR.
#[derive(Debug)]
pub struct Session {
    rng: ChaCha8Rng,
    /// What was written to the cluster's memory, by offset.
    memory: BTreeMap<u32, u32>,
    /// Accesses that were answered with errors, as the BAR counts them.
    outside: u32,
    errors: u32,
    /// Bursts to host memory.
    written: u32,
    /// Bursts from host memory.
    read: u32,
}

impl Session {
    /// A session with a bench that is brought up and at rest, and was not used but for that.
    pub fn new(rng: ChaCha8Rng) -> Self {
        Self {
            rng,
            memory: BTreeMap::new(),
            outside: 0,
            errors: 0,
            written: 0,
            read: 0,
        }
    }

    /// Accesses of all kinds, and packets between them.
    ///
    /// # Panics
    /// At the first answer that is not the model's.
    pub fn run(&mut self, bench: &mut AppBench, accesses: usize) {
        for _ in 0..accesses {
            for _ in 0..self.rng.random_range(0..3) {
                self.send(bench);
            }
            match self.rng.random_range(0..20) {
                0..8 => self.register(bench),
                8..10 => self.no_register(bench),
                10..13 => self.outside(bench),
                13..17 => self.memory(bench),
                17 => self.no_memory(bench),
                18 => _ = bench.get(cl::FIFO.offset),
                _ => bench.run(self.rng.random_range(1..200)),
            }
        }
    }

    /// Compares every register when nothing is under way.
    ///
    /// # Panics
    /// At the first that is not as the model says.
    pub fn compare(&mut self, bench: &mut AppBench) {
        bench.settle();
        let counts = bench.model.counts;
        let good = (counts.matched - counts.bad) as u32;
        let mut known: BTreeMap<u32, u32> = BTreeMap::new();
        let mut know =
            |register: Option<u32>, value: u32| _ = register.map(|register| known.insert(register, value));
        for (name, value) in [
            ("bypassed", counts.bypassed as u32),
            ("matched", counts.matched as u32),
            ("hers", good),
            ("dropped_bad_frame", counts.bad as u32),
        ] {
            know(ingress::offset(name), value);
        }
        know(egress::offset("frames"), counts.returned as u32);
        know(egress::offset("completions"), counts.returned as u32);
        know(host_write::offset("bursts"), self.written);
        know(host_read::offset("bursts"), self.read);
        know(bar_access::offset("outside"), self.outside);
        know(bar_access::offset("errors"), self.errors);
        know(Some(cl::STATUS.offset), 1);
        let ran = if good > 0 { 3 } else { 0 };
        know(stats::CLUSTER.address(0), ran);
        for register in registers() {
            // Peaks and messages are not known, and constants are compared elsewhere.
            if register.access != Access::ReadOnly
                || register.group == "caps"
                || register.name.ends_with("_peak")
                || register.group == "events"
            {
                continue;
            }
            for offset in (0..register.count).filter_map(|element| register.address(element)) {
                let wanted = known.get(&offset).copied().unwrap_or(0);
                assert_eq!(bench.get(offset), wanted, "{register} at {offset:#06x}");
            }
        }
        for word in words().filter(|word| word.register.access == Access::ReadWrite) {
            // The bench compares what is read.
            bench.get(word.offset());
        }
        for (offset, word) in &self.memory {
            assert_eq!(
                bench.bar_read(*offset),
                (*word, Response::Okay),
                "memory at {offset:#x}"
            );
        }
    }

    /// Sends a packet or a frame, if there is room.
    fn send(&mut self, bench: &mut AppBench) {
        let rng = &mut self.rng;
        let size = random_size(rng);
        match rng.random_range(0..4) {
            0 => {
                let bytes = unmatched(rng, size);
                bench.transmit(rng.random_range(0..2), from_host(rng, bytes));
            }
            1 | 2 => {
                let bytes = unmatched(rng, size);
                bench.receive(rng.random_range(0..2), from_wire(rng, bytes));
            }
            _ if bench.model.under_way() < UNDER_WAY => {
                let context = rng.random_range(0..CONTEXTS);
                let bytes = matched(rng, context, size.clamp(LEAST_BYTES, MOST_BYTES));
                let frame = from_wire(rng, bytes);
                if rng.random_ratio(1, 10) {
                    bench.receive(0, marked_bad(frame));
                } else {
                    // Without rules in force it is a packet like any other.
                    if bench.model.is_active() {
                        self.count_bursts(bench.model.contexts()[context], frame.bytes.len() as u64);
                    }
                    bench.receive(0, frame);
                }
            }
            _ => {}
        }
    }

    /// Counts the bursts to and from the host that a packet needs.
    fn count_bursts(&mut self, context: Option<Context>, bytes: u64) {
        let Some(context) = context else { return };
        let address = context.host_address;
        let pages = (address + bytes - 1) / PAGE - address / PAGE + 1;
        self.written += if context.actions.copy { pages as u32 } else { 0 };
        self.read += u32::from(context.actions.read);
    }

    /// Reads or writes a word of the registers, aligned or not.
    fn register(&mut self, bench: &mut AppBench) {
        let count = words().count();
        let chosen = words().nth(self.rng.random_range(0..count));
        let word: Word = chosen.unwrap_or_else(|| panic!("there are {count} words"));
        let offset = bar::CONTROL_REGISTERS.start + word.offset() + self.rng.random_range(0..4);
        if self.rng.random() {
            bench.bar_read(offset);
            return;
        }
        let data = match bench.kept(word) {
            true => bench.mirror.value(word.offset()).unwrap_or(0),
            false => self.rng.random(),
        };
        bench.bar_write_bytes(offset, data, self.rng.random_range(0..16));
    }

    /// Reads or writes where there is no register.
    fn no_register(&mut self, bench: &mut AppBench) {
        let offset = loop {
            let offset = self.rng.random_range(0..bar::CONTROL_REGISTERS.size_bytes);
            if spinneret_regmap::find(offset & !3).is_none() {
                break bar::CONTROL_REGISTERS.start + offset;
            }
        };
        self.either(bench, offset);
    }

    /// Reads or writes outside of all windows.
    fn outside(&mut self, bench: &mut AppBench) {
        let offset = self.rng.random_range(bar::UNMAPPED.start..=bar::UNMAPPED.last());
        self.outside += 1;
        assert_eq!(self.either(bench, offset), Response::DecodeError, "{offset:#x}");
    }

    /// Reads or writes where the cluster has no memory.
    fn no_memory(&mut self, bench: &mut AppBench) {
        let which = self.rng.random_range(0..NO_MEMORY.len());
        let offset = self.rng.random_range(NO_MEMORY[which].clone());
        self.errors += 1;
        assert_eq!(self.either(bench, offset), Response::DecodeError, "{offset:#x}");
    }

    fn either(&mut self, bench: &mut AppBench, offset: u32) -> Response {
        if self.rng.random() {
            bench.bar_read(offset).1
        } else {
            bench.bar_write_bytes(offset, self.rng.next_u32(), self.rng.random_range(0..16))
        }
    }

    /// Writes a word of the cluster's memory, or reads one that was written.
    fn memory(&mut self, bench: &mut AppBench) {
        let known = self.memory.len();
        if known > 0 && self.rng.random() {
            let which = self.memory.iter().nth(self.rng.random_range(0..known));
            let (offset, word) = which.unwrap_or_else(|| panic!("{known} words are known"));
            assert_eq!(
                bench.bar_read(*offset),
                (*word, Response::Okay),
                "memory at {offset:#x}"
            );
            return;
        }
        let which = self.rng.random_range(0..MEMORY.len());
        let offset = self.rng.random_range(MEMORY[which].clone()) & !3;
        let (data, strobes) = match self.memory.contains_key(&offset) {
            true => (self.rng.random(), self.rng.random_range(0..16)),
            false => (self.rng.random(), 0xf),
        };
        let word = self.memory.entry(offset).or_default();
        for byte in (0..4).filter(|byte| strobes >> byte & 1 == 1) {
            let mask = 0xff << (8 * byte);
            *word = *word & !mask | data & mask;
        }
        assert_eq!(bench.bar_write_bytes(offset, data, strobes), Response::Okay);
    }
}

impl AppBench {
    /// Whether a register has to keep its value, as the packets that go by depend on it.
    fn kept(&self, word: Word) -> bool {
        let offset = word.offset();
        let switches = [me::VALID.offset, her::VALID.offset, guard::ENFORCE.offset];
        // What is in force follows its registers.
        let in_force = match word.register.group {
            "me" => self.mirror.value(me::VALID.offset),
            "her" | "her_meta" => self.mirror.value(her::VALID.offset),
            _ => None,
        };
        switches.contains(&offset)
            || in_force == Some(1)
            || word.register.name == cl::CTRL.name && word.register.group == cl::CTRL.group
            || word.register.group == guard::ENFORCE.group
                && self.mirror.value(guard::ENFORCE.offset) == Some(1)
    }
}

/// Nothing that a session copies reaches what is read.
const _: () = assert!(READ_OFFSET >= MOST_BYTES as u64 + 64);
