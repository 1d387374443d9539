//! Sessions of random traffic, and rounds of them.

use super::AppBench;
use super::driver::{Actions, Clocks, Context, READ_OFFSET, Stimulus};
use super::packets::{CONTEXTS, from_host, from_wire, marked_bad, matched, random_size, unmatched};
use crate::bench::Finish;
use spinneret_regmap::{
    Access, Word, bar, bar_access, cl, egress, guard, her, host_read, host_write, ingress, me, registers,
    stats, words,
};
use spinneret_sim::prelude::*;
use std::collections::BTreeMap;
use std::fmt;

/// Matched packets in flight at most, so that none is dropped.
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
    /// Expected contents of the cluster's memory, by offset.
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
    /// A session with a bench that is configured and idle, and otherwise unused.
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
    pub fn run<M: Model>(&mut self, bench: &mut AppBench<M>, accesses: usize) {
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

    /// Compares every register when nothing is in flight.
    ///
    /// # Panics
    /// At the first that is not as the model says.
    pub fn compare<M: Model>(&mut self, bench: &mut AppBench<M>) {
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
    fn send<M: Model>(&mut self, bench: &mut AppBench<M>) {
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
    fn register<M: Model>(&mut self, bench: &mut AppBench<M>) {
        let count = words().count();
        let chosen = words().nth(self.rng.random_range(0..count));
        let word: Word = chosen.unwrap_or_else(|| panic!("there are {count} words"));
        let offset = bar::CONTROL_REGISTERS.start + word.offset() + self.rng.random_range(0..4);
        if self.rng.random() {
            bench.bar_read(offset);
            return;
        }
        let data = match bench.kept(word) {
            true => bench.registers.value(word.offset()).unwrap_or(0),
            false => self.rng.random(),
        };
        bench.bar_write_bytes(offset, data, self.rng.random_range(0..16));
    }

    /// Reads or writes where there is no register.
    fn no_register<M: Model>(&mut self, bench: &mut AppBench<M>) {
        let offset = loop {
            let offset = self.rng.random_range(0..bar::CONTROL_REGISTERS.size_bytes);
            if spinneret_regmap::find(offset & !3).is_none() {
                break bar::CONTROL_REGISTERS.start + offset;
            }
        };
        self.either(bench, offset);
    }

    /// Reads or writes outside of all windows.
    fn outside<M: Model>(&mut self, bench: &mut AppBench<M>) {
        let offset = self.rng.random_range(bar::UNMAPPED.start..=bar::UNMAPPED.last());
        self.outside += 1;
        assert_eq!(self.either(bench, offset), Response::DecodeError, "{offset:#x}");
    }

    /// Reads or writes where the cluster has no memory.
    fn no_memory<M: Model>(&mut self, bench: &mut AppBench<M>) {
        let which = self.rng.random_range(0..NO_MEMORY.len());
        let offset = self.rng.random_range(NO_MEMORY[which].clone());
        self.errors += 1;
        assert_eq!(self.either(bench, offset), Response::DecodeError, "{offset:#x}");
    }

    fn either<M: Model>(&mut self, bench: &mut AppBench<M>, offset: u32) -> Response {
        if self.rng.random() {
            bench.bar_read(offset).1
        } else {
            bench.bar_write_bytes(offset, self.rng.next_u32(), self.rng.random_range(0..16))
        }
    }

    /// Writes a word of the cluster's memory, or reads one that was written.
    fn memory<M: Model>(&mut self, bench: &mut AppBench<M>) {
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

impl<M: Model> AppBench<M> {
    /// Returns whether packets depend on the value of this register.
    fn kept(&self, word: Word) -> bool {
        let offset = word.offset();
        let switches = [me::VALID.offset, her::VALID.offset, guard::ENFORCE.offset];
        // The model follows the registers.
        let in_force = match word.register.group {
            "me" => self.registers.value(me::VALID.offset),
            "her" | "her_meta" => self.registers.value(her::VALID.offset),
            _ => None,
        };
        switches.contains(&offset)
            || in_force == Some(1)
            || word.register.name == cl::CTRL.name && word.register.group == cl::CTRL.group
            || word.register.group == guard::ENFORCE.group
                && self.registers.value(guard::ENFORCE.offset) == Some(1)
    }
}

/// Nothing that a session copies reaches what is read.
const _: () = assert!(READ_OFFSET >= MOST_BYTES as u64 + 64);

/// Packets and frames between two comparisons of everything.
const BATCH: u64 = 100;
/// Frames that wait in Corundum at most.
const WAITING: usize = 30;

crate::counts! {
    /// Packets and frames by outcome.
    pub struct Totals {
        /// Packets that passed, of interface 0.
        pub bypassed: u64,
        /// Packets that matched.
        pub matched: u64,
        /// Those of them that came to the cluster.
        pub hers: u64,
        /// Those that were dropped and counted.
        pub dropped: u64,
        /// Frames of the cluster on the wire.
        pub frames: u64,
        /// Resets of the cluster.
        pub resets: u64,
        /// Clocks of the core that were simulated.
        pub clocks: u64,
    }
}

/// `70 passed, 30 matched: 28 to the cluster, 2 dropped, 28 frames came back; 1 reset`.
impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} matched: {} to the cluster, {} dropped, {} frames came back; {} resets",
            self.bypassed, self.matched, self.hers, self.dropped, self.frames, self.resets
        )
    }
}

/// Packets and frames through an application block: all contexts do what is drawn, but each sends its packets back, so
/// that what became of them is seen; between batches the cluster may be reset in full traffic.
///
/// # Panics
/// At the first error.
pub fn run_round<M: Model>(sim: Simulation<M>, clocks: Clocks, count: u64) -> Totals {
    // Rounds of one seed differ, as their clocks do.
    let mut rng = sim.rng(&format!("everything with {clocks:?}"));
    let stimulus = Stimulus::random(&mut rng);
    let mut bench = AppBench::new(sim, clocks, &stimulus);
    let contexts = random_contexts(&mut rng);
    bench.bring_up(contexts);
    bench.model.complete = false;
    let (mut left, mut resets) = (count, 0);
    while left > 0 {
        let batch = left.min(BATCH);
        for _ in 0..batch {
            send(&mut bench, &mut rng);
        }
        left -= batch;
        if rng.random_ratio(1, 4) {
            reset_cluster(&mut bench, &mut rng);
            resets += 1;
        } else {
            bench.settle();
        }
    }
    let clocks = bench.now();
    let account = bench.settle();
    bench.finish();
    Totals {
        bypassed: account.bypassed,
        matched: account.matched,
        hers: account.hers,
        dropped: account.dropped(),
        frames: account.frames,
        resets,
        clocks,
    }
}

/// Contexts that all send their packets back, and do more at random.
fn random_contexts(rng: &mut ChaCha8Rng) -> [Option<Context>; CONTEXTS] {
    std::array::from_fn(|number| Some(Context::new(number, Actions::of(rng.random_range(0..16) | 1))))
}

/// Sends a packet or a frame as soon as few wait, now and then after a pause.
fn send<M: Model>(bench: &mut AppBench<M>, rng: &mut ChaCha8Rng) {
    bench.run_until(1_000_000, "frames that wait in Corundum", |bench| {
        let waiting = bench.rx.iter().chain(&bench.tx).map(|source| source.waiting());
        waiting.sum::<usize>() < WAITING
    });
    if rng.random_ratio(1, 8) {
        bench.run(rng.random_range(1..500));
    }
    let size = random_size(rng);
    match rng.random_range(0..7) {
        0 => {
            let bytes = unmatched(rng, size);
            let frame = from_host(rng, bytes);
            bench.transmit(rng.random_range(0..2), frame);
        }
        1 | 2 => {
            let bytes = unmatched(rng, size);
            let frame = from_wire(rng, bytes);
            bench.receive(rng.random_range(0..2), frame);
        }
        _ => {
            let context = rng.random_range(0..CONTEXTS);
            let bytes = matched(rng, context, size);
            let frame = from_wire(rng, bytes);
            let bad = rng.random_ratio(1, 20);
            bench.receive(0, if bad { marked_bad(frame) } else { frame });
        }
    }
}

/// The cluster is reset while packets come, and works again.
fn reset_cluster<M: Model>(bench: &mut AppBench<M>, rng: &mut ChaCha8Rng) {
    bench.hold_cluster();
    for _ in 0..rng.random_range(0..20) {
        send(bench, rng);
    }
    bench.run(rng.random_range(0..300));
    bench.release_cluster();
    bench.wait_for_rest();
    // The cluster's progress on the lost packets is unknown.
    bench.read_stdout();
    bench.forget_effects();
}
