//! The pipeline and the simulator in lockstep: one hart for each thread, every instruction compared.
//!
//! ```text
//!  random or directed program        +----------+ offers  +--------+
//!  --------------------------------->| pipeline |-------->| Memory |
//!                                    +----------+         +--------+
//!                                     reports |             | accesses
//!                                             v             v
//!                                    compare: a Hart with a View a thread
//! ```
//!
//! The order of accesses is that of the data port. When an instruction is reported, the hart of its thread executes it; its
//! accesses have to be those that the thread made, no more and no fewer.

mod assemble;
mod coverage;
pub mod machine;
mod memory;
mod program;
mod round;
pub mod suites;
mod view;

pub use assemble::{Program, encode};
pub use coverage::Coverage;
pub use program::{Layout, random_program, random_program_beside};
pub use round::{ROUND, Totals, run_round};

use memory::{DATA_BYTES, Done, Memory, Offer};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use spinneret_cluster::rv::{Bus as _, Costs, CsrSet, Hart, Misaligned, Privilege, Step, Trap};
use spinneret_isa::{Instruction, Op, Unit};
use spinneret_models::{HpuPipeline4, HpuPipeline8, HpuPipeline16};
use spinneret_sim::model::{Instance, PortHandle};
use spinneret_sim::prelude::*;
use std::collections::VecDeque;
use view::{GRAIN, View};

/// Where data begins.
pub const DATA: u32 = 0x1000_0000;
/// Program memory.
pub const PROGRAM: u32 = 0x1d00_0000;
pub use spinneret_isa::cause::STOPPED;
/// Protection ranges of a thread. A slot compares half of them, so tests set all.
const RANGES: usize = 8;

/// A model of the pipeline.
pub trait Pipeline: Model {
    /// Threads.
    const THREADS: usize;
    /// Clocks from an access to its data.
    const MEMORY_CLOCKS: usize;
}

impl Pipeline for HpuPipeline4 {
    const THREADS: usize = 4;
    const MEMORY_CLOCKS: usize = 1;
}

impl Pipeline for HpuPipeline8 {
    const THREADS: usize = 8;
    const MEMORY_CLOCKS: usize = 1;
}

impl Pipeline for HpuPipeline16 {
    const THREADS: usize = 16;
    const MEMORY_CLOCKS: usize = 2;
}

/// A program and its surroundings. The default is a memory that is always ready, and no stops.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Words of program memory; nothing may be fetched after them.
    pub program: Vec<u32>,
    /// Percentage of offers that are not taken.
    pub busy: u32,
    /// Offers of each access that are not taken before one is.
    pub waits: u32,
    /// Percentage of clocks in which some threads are stopped.
    pub stops: u32,
    /// Threads that are stopped in all clocks.
    pub stopped: u64,
    /// Threads to which `busy`, `waits` and `stops` do not apply.
    pub spared: u64,
    /// Ranges of all threads in grains, at most 8; if there are none, random ones for each.
    pub ranges: Vec<(u32, u32)>,
}

/// A report of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Clocks since the reset.
    pub clock: u64,
    /// Its thread.
    pub thread: usize,
    /// Its bits.
    pub word: u32,
    /// Why it trapped, if it did.
    pub cause: Option<u32>,
    /// It is one of user mode.
    pub is_user: bool,
    /// The registers that it read, with their values.
    pub reads: [(usize, u32); 2],
    /// The register that it wrote.
    pub writes: (usize, u32),
    /// Its address and that of the next one.
    pub pc: [u32; 2],
    /// Address, masks and data of its access: read, then written.
    pub memory: (u32, [u32; 2], [u32; 2]),
}

macro_rules! ports {
    ($($name:ident)+) => {
        /// Ports of the pipeline.
        #[derive(Clone, Copy, Debug)]
        struct Ports { $($name: PortHandle,)+ }

        impl Ports {
            fn find(dut: &Instance) -> Self {
                let find = |name: &str| dut.find(name).unwrap_or_else(|| panic!("no port {name}"));
                Self { $($name: find(stringify!($name)),)+ }
            }
        }
    };
}

use ports;

ports! {
    m_valid m_thread m_address m_is_write m_atomic m_strobe m_data m_is_user m_ready m_refused m_read_data
    trap trap_thread stop
    rvfi_valid rvfi_thread rvfi_insn rvfi_trap rvfi_cause rvfi_is_user rvfi_pc_rdata rvfi_pc_wdata
    rvfi_rs1_addr rvfi_rs2_addr rvfi_rs1_rdata rvfi_rs2_rdata rvfi_rd_addr rvfi_rd_wdata
    rvfi_mem_addr rvfi_mem_rmask rvfi_mem_wmask rvfi_mem_rdata rvfi_mem_wdata
}

/// A pipeline, its memory, and a hart for each thread.
#[derive(Debug)]
pub struct Lockstep<M: Model> {
    sim: Simulation<M>,
    ports: Ports,
    harts: Vec<Hart>,
    view: View,
    memory: Memory,
    /// Offers that were not taken, and how often.
    waiting: Vec<Option<(Offer, u32)>>,
    /// Accesses whose answers are on their way.
    answers: VecDeque<Option<Done>>,
    costs: Costs,
    rng: ChaCha8Rng,
    started: u64,
    setup: Setup,
    totals: Totals,
}

impl<M: Pipeline> Lockstep<M> {
    /// A pipeline after its reset, with random data.
    pub fn new(mut sim: Simulation<M>, setup: Setup, mut rng: ChaCha8Rng) -> Self {
        sim.set_cycle_limit(u64::MAX);
        sim.set("program_write", true);
        for (address, word) in setup.program.iter().enumerate() {
            sim.set("program_addr", address as u64);
            sim.set("program_data", *word);
            sim.cycle();
        }
        sim.set("program_write", false);
        let mut random_range = |_| {
            let first = DATA / GRAIN + rng.random_range(0..1000);
            (first, first + rng.random_range(0..250))
        };
        let ranges: Vec<Vec<(u32, u32)>> = (0..M::THREADS)
            .map(|_| match &*setup.ranges {
                [] => (0..RANGES).map(&mut random_range).collect(),
                ranges => ranges.to_vec(),
            })
            .collect();
        sim.set("range_write", true);
        for (thread, ranges) in ranges.iter().enumerate() {
            for number in 0..RANGES {
                let (first, end) = ranges.get(number).copied().unwrap_or((0, 0));
                sim.set("range_thread", thread as u64);
                sim.set("range_number", number as u64);
                sim.set("range_first", first);
                sim.set("range_end", end);
                sim.cycle();
            }
        }
        sim.set("range_write", false);
        let program = setup.program.iter().flat_map(|word| word.to_le_bytes()).collect();
        let words = (0..DATA_BYTES / 4).map(|_| rng.random()).collect();
        let mut bench = Self {
            ports: Ports::find(sim.dut.instance()),
            started: sim.cycle_count(),
            sim,
            harts: Vec::new(),
            view: View {
                program,
                ranges,
                done: Vec::new(),
                thread: 0,
            },
            memory: Memory {
                words,
                reserved: Vec::new(),
            },
            waiting: Vec::new(),
            answers: VecDeque::new(),
            costs: Costs {
                misaligned: Misaligned::Split,
                ..Costs::unit()
            },
            rng,
            setup,
            totals: Totals::default(),
        };
        bench.reset();
        bench
    }

    /// Resets the pipeline for one clock, in the middle of everything. Programs have to set registers again before they read them.
    pub fn reset(&mut self) {
        self.totals.clocks += self.clocks();
        self.sim.set("rst", true);
        self.sim.cycle();
        self.sim.set("rst", false);
        self.started = self.sim.cycle_count();
        let hart = |thread| Hart::new(thread, PROGRAM + 0x80).with_csrs(CsrSet::Hpu);
        self.harts = (0..M::THREADS as u32).map(hart).collect();
        self.view.done = vec![Vec::new(); M::THREADS];
        self.memory.reserved = vec![None; M::THREADS];
        self.waiting = vec![None; M::THREADS];
        self.answers = VecDeque::from(vec![None; M::MEMORY_CLOCKS]);
    }

    /// Counts of the comparisons so far.
    pub fn totals(&self) -> Totals {
        Totals {
            clocks: self.totals.clocks + self.clocks(),
            ..self.totals.clone()
        }
    }

    /// Instructions compared so far.
    pub fn instructions(&self) -> u64 {
        self.totals.instructions
    }

    fn clocks(&self) -> u64 {
        self.sim.cycle_count() - self.started
    }

    /// The word of data at an address.
    pub fn word(&self, address: u32) -> u32 {
        self.memory.words[(address - DATA) as usize / 4]
    }

    /// Stops these threads from now on, one a bit.
    pub fn set_stopped(&mut self, threads: u64) {
        self.setup.stopped = threads;
    }

    /// Sets the word of data at an address.
    pub fn set_word(&mut self, address: u32, word: u32) {
        self.memory.words[(address - DATA) as usize / 4] = word;
    }

    fn get(&self, port: PortHandle) -> u32 {
        self.sim.dut.instance().value(port) as u32
    }

    fn is_high(&self, port: PortHandle) -> bool {
        self.sim.dut.instance().is_high(port)
    }

    fn set(&mut self, port: PortHandle, value: u32) {
        self.sim.dut.instance_mut().set_value(port, value.into());
    }

    fn offer(&self) -> Option<Offer> {
        let p = &self.ports;
        self.is_high(p.m_valid).then(|| Offer {
            thread: self.get(p.m_thread) as usize,
            address: self.get(p.m_address),
            is_write: self.is_high(p.m_is_write),
            atomic: match self.get(p.m_atomic) {
                atomic if atomic >> 5 == 1 => atomic,
                _ => 0,
            },
            strobe: self.get(p.m_strobe),
            data: self.get(p.m_data),
            is_user: self.is_high(p.m_is_user),
        })
    }

    /// Whether the memory takes an offer in this clock. One that was not taken has to come again.
    fn takes(&mut self, offer: Offer) -> bool {
        let waiting = &mut self.waiting[offer.thread];
        let waited = waiting.map_or(0, |(before, waited)| {
            assert_eq!(offer, before, "an offer that was not taken has changed");
            waited
        });
        let is_spared = self.setup.spared >> offer.thread & 1 == 1;
        let is_busy = self.rng.random_ratio(self.setup.busy, 100) || waited < self.setup.waits;
        let takes = is_spared || !is_busy;
        *waiting = (!takes).then_some((offer, waited + 1));
        takes
    }

    /// Serves the offer of this clock, and drives inputs that do not matter with random values. Returns the access that is
    /// answered.
    fn serve(&mut self) -> Option<Done> {
        let offer = self.offer();
        let is_refused = offer.map_or_else(|| self.rng.random(), |offer| offer.is_refused());
        let mut done = None;
        let mut is_ready = self.rng.random();
        if let Some(offer) = offer.filter(|offer| !offer.is_refused()) {
            is_ready = self.takes(offer);
            if is_ready {
                let access = self.memory.access(offer);
                self.view.done[offer.thread].push(access);
                done = Some(access);
            }
        }
        self.set(self.ports.m_ready, is_ready.into());
        self.set(self.ports.m_refused, is_refused.into());
        self.answers.push_back(done);
        let answered = self.answers.pop_front().flatten();
        let answer = answered.map_or_else(|| self.rng.random(), |done| done.answer);
        self.set(self.ports.m_read_data, answer);
        answered
    }

    /// Threads that are stopped in this clock.
    fn stop(&mut self) -> u32 {
        let is_random = self.rng.random_ratio(self.setup.stops, 100);
        let random = if is_random { self.rng.random() } else { 0 };
        let all = (1 << M::THREADS) - 1;
        all & (self.setup.stopped as u32 | random & !(self.setup.spared as u32))
    }

    fn report(&self) -> Option<Report> {
        let (p, get) = (&self.ports, |port| self.get(port));
        self.is_high(p.rvfi_valid).then(|| Report {
            clock: self.clocks(),
            thread: get(p.rvfi_thread) as usize,
            word: get(p.rvfi_insn),
            cause: self.is_high(p.rvfi_trap).then(|| get(p.rvfi_cause)),
            is_user: self.is_high(p.rvfi_is_user),
            reads: [
                (get(p.rvfi_rs1_addr) as usize, get(p.rvfi_rs1_rdata)),
                (get(p.rvfi_rs2_addr) as usize, get(p.rvfi_rs2_rdata)),
            ],
            writes: (get(p.rvfi_rd_addr) as usize, get(p.rvfi_rd_wdata)),
            pc: [get(p.rvfi_pc_rdata), get(p.rvfi_pc_wdata)],
            memory: (
                get(p.rvfi_mem_addr),
                [get(p.rvfi_mem_rmask), get(p.rvfi_mem_wmask)],
                [get(p.rvfi_mem_rdata), get(p.rvfi_mem_wdata)],
            ),
        })
    }

    /// Compares an instruction with the hart of its thread.
    fn compare(&mut self, report: &Report) {
        let Report {
            thread,
            is_user,
            pc: [pc, next],
            ..
        } = *report;
        let now = report.clock - M::MEMORY_CLOCKS as u64;
        let hart = &mut self.harts[thread];
        let instruction = Instruction::decode(report.word);
        let what = || format!("{} of thread {thread}: {report:x?}", instruction.at(pc));
        assert_eq!(pc, hart.pc(), "address of {}", what());
        assert_eq!(is_user, hart.privilege() == Privilege::User, "mode of {}", what());
        let registers = [instruction.rs1(), instruction.rs2()];
        let reads = registers.map(|register| (register, hart.x(register)));
        if let Ok(word) = self.view.fetch(pc, Privilege::Machine) {
            let mask = if word & 3 == 3 { u32::MAX } else { 0xffff };
            assert_eq!(report.word, word & mask, "bits of {}", what());
            assert_eq!(report.reads, reads, "operands of {}", what());
        }
        self.view.thread = thread;
        let cause = if report.cause == Some(STOPPED) {
            assert!(is_user, "machine mode is stopped: {}", what());
            hart.raise(Trap::Custom(STOPPED), 0);
            // The first half of a store may have been done.
            self.view.done[thread].clear();
            Some(STOPPED)
        } else {
            match hart.step(&mut self.view, &self.costs, now) {
                Step::Retired { .. } => None,
                Step::Waits => panic!("nothing waits: {}", what()),
                Step::Trapped { trap, .. } => Some(trap.cause()),
            }
        };
        assert_eq!(report.cause, cause, "trap of {}", what());
        let rd = if cause.is_none() { instruction.rd() } else { 0 };
        assert_eq!(report.writes, (rd, hart.x(rd)), "result of {}", what());
        assert_eq!(next, hart.pc(), "address after {}", what());
        let access = access(&instruction, reads.map(|(_, value)| value), report);
        if cause.is_none() {
            assert_eq!(report.memory.1, access.1, "masks of {}", what());
        }
        if cause.is_none() && access.1 != [0, 0] {
            assert_eq!(report.memory, access, "access of {}", what());
        }
        let unit = instruction.op().row().map(|row| row.unit);
        for done in self.view.done[thread].drain(..) {
            let is_used = done.used == done.offer.strobe || done.is_failed_store();
            assert!(is_used, "{:?} is too much for {}", done.offer, what());
            assert_eq!(done.offer.is_write, unit == Some(Unit::Store), "{}", what());
            let atomic = if unit == Some(Unit::Atomic) {
                1 << 5 | report.word >> 27
            } else {
                0
            };
            assert_eq!(done.offer.atomic, atomic, "{}", what());
        }
        self.totals.instructions += 1;
        if let Some(cause) = cause {
            self.totals.traps[cause as usize] += 1;
        }
    }

    /// Runs a clock, and returns the instruction that is reported in it.
    ///
    /// # Panics
    /// If it differs from what the hart of its thread does.
    pub fn clock(&mut self) -> Option<Report> {
        let answered = self.serve();
        let stop = self.stop();
        self.set(self.ports.stop, stop);
        self.sim.cycle();
        if self.is_high(self.ports.trap) {
            let thread = self.get(self.ports.trap_thread) as usize;
            self.memory.reserved[thread] = None;
            self.waiting[thread] = None;
        }
        let report = self.report();
        if let Some(report) = &report {
            self.compare(report);
        }
        if let Some(done) = answered.filter(Done::has_stored) {
            for (thread, hart) in self.harts.iter_mut().enumerate() {
                if thread != done.offer.thread {
                    hart.lost_reservation(done.offer.address);
                }
            }
        }
        report
    }

    /// Runs that many clocks, and returns all reports.
    ///
    /// # Panics
    /// As [`Self::clock`].
    pub fn run(&mut self, clocks: u64) -> Vec<Report> {
        (0..clocks).filter_map(|_| self.clock()).collect()
    }

    /// Ends the test.
    pub fn finish(self) -> Totals {
        let totals = self.totals();
        self.sim.finish();
        totals
    }
}

/// Address, masks and data of an access as [`Report::memory`] has them.
fn access(instruction: &Instruction, reads: [u32; 2], report: &Report) -> (u32, [u32; 2], [u32; 2]) {
    let unit = instruction.op().row().map(|row| row.unit);
    let (bytes, bits) = match instruction.op() {
        Op::Lb | Op::Lbu | Op::Sb => (1, 0xff),
        Op::Lh | Op::Lhu | Op::Sh => (3, 0xffff),
        _ => (15, u32::MAX),
    };
    let is_atomic = unit == Some(Unit::Atomic);
    let does_read = is_atomic || unit == Some(Unit::Load);
    let does_write = unit == Some(Unit::Store) || (is_atomic && instruction.op() != Op::LrW);
    let masks = [does_read, does_write].map(|does| if does { bytes } else { 0 });
    let offset = if is_atomic { 0 } else { instruction.imm() as u32 };
    let read = match report.writes {
        // Nothing shows what was read.
        (0, _) => report.memory.2[0],
        (_, value) => value & bits,
    };
    let written = if does_write { reads[1] & bits } else { 0 };
    (
        reads[0].wrapping_add(offset),
        masks,
        [if does_read { read } else { 0 }, written],
    )
}
