//! The pipeline and the simulator in lockstep: one hart for each thread, every instruction compared.

mod program;

pub use program::{Layout, random_program};

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use spinneret_cluster::rv::{
    Access, Bus, Costs, CsrSet, Fault, Hart, Misaligned, Privilege, Reservations, Step, Trap, Width,
};
use spinneret_sim::model::PortHandle;
use spinneret_sim::prelude::*;

/// Where data begins, and how much there is.
pub const DATA: u32 = 0x1000_0000;
const DATA_BYTES: usize = 0x1_0000;
/// Program memory.
pub const PROGRAM: u32 = 0x1d00_0000;
const PROGRAM_WORDS: usize = 8192;
/// Bytes of a grain of the protection ranges.
const GRAIN: u32 = 64;
/// The cause of a thread that is stopped.
const STOPPED: u64 = 24;
/// Clocks from the read of a counter to the report of its instruction, without those of memory.
const COUNTER_AGE: u64 = 3;

/// Memories as the harts see them, and the ranges of each thread.
#[derive(Clone, Debug)]
struct World {
    program: Vec<u8>,
    data: Vec<u8>,
    ranges: Vec<Vec<(u32, u32)>>,
    thread: usize,
    /// The word that the last step wrote.
    stored: Option<u32>,
}

impl World {
    fn place(&self, address: u32, bytes: u32, who: Privilege) -> Result<usize, Fault> {
        let offset = address.wrapping_sub(DATA) as usize;
        let inside = |(first, end): &(u32, u32)| (first * GRAIN..end * GRAIN).contains(&address);
        let allowed = who == Privilege::Machine || self.ranges[self.thread].iter().any(inside);
        (allowed && offset + bytes as usize <= DATA_BYTES)
            .then_some(offset)
            .ok_or(Fault)
    }
}

impl Bus for World {
    fn fetch(&mut self, address: u32, _: Privilege) -> Result<u32, Fault> {
        let at = address.wrapping_sub(PROGRAM) as usize;
        let half = |at: usize| {
            self.program
                .get(at..at + 2)
                .map(|half| u32::from(half[0]) | u32::from(half[1]) << 8)
        };
        let low = half(at).ok_or(Fault)?;
        if low & 3 == 3 {
            half(at + 2).map(|high| high << 16 | low).ok_or(Fault)
        } else {
            Ok(low)
        }
    }

    /// A failing `sc.w` is refused as a store would be.
    fn reserves(&self, address: u32, who: Privilege) -> Reservations {
        match self.place(address, 4, who) {
            Ok(_) => Reservations::Kept,
            Err(Fault) => Reservations::Refused,
        }
    }

    fn load(&mut self, address: u32, width: Width, who: Privilege) -> Result<Access, Fault> {
        let at = self.place(address, width.bytes(), who)?;
        let bytes = &self.data[at..at + width.bytes() as usize];
        let value = bytes
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u32::from(*byte));
        Ok(Access::Done { value, clocks: 0 })
    }

    fn store(&mut self, address: u32, width: Width, value: u32, who: Privilege) -> Result<Access, Fault> {
        let (at, len) = (self.place(address, width.bytes(), who)?, width.bytes() as usize);
        self.data[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
        self.stored = Some(address & !3);
        Ok(Access::Done { value: 0, clocks: 0 })
    }

    fn modify(
        &mut self,
        address: u32,
        who: Privilege,
        change: &mut dyn FnMut(u32) -> u32,
    ) -> Result<Access, Fault> {
        let at = self.place(address, 4, who)?;
        let word: &mut [u8; 4] = (&mut self.data[at..at + 4]).try_into().expect("four bytes");
        let value = u32::from_le_bytes(*word);
        *word = change(value).to_le_bytes();
        self.stored = Some(address);
        Ok(Access::Done { value, clocks: 0 })
    }
}

/// The memory behind the data port, and what it still has to answer.
#[derive(Debug)]
struct Memory {
    words: Vec<u32>,
    reserved: Vec<Option<u32>>,
    /// Percentage of offers that are not taken.
    busy: u32,
    answers: std::collections::VecDeque<u32>,
}

impl Memory {
    /// Does an access; gives the word before it.
    fn access(
        &mut self,
        thread: usize,
        address: u32,
        [strobe, data]: [u32; 2],
        write: bool,
        atomic: u32,
    ) -> u32 {
        let at = (address - DATA) as usize / 4;
        let old = self.words[at];
        let new = match atomic {
            0b10_0010 => {
                self.reserved[thread] = Some(address);
                return old;
            }
            0b10_0011 => {
                let stores = self.reserved[thread] == Some(address);
                self.reserved[thread] = None;
                if !stores {
                    return 1;
                }
                self.written(thread, address);
                self.words[at] = data;
                return 0;
            }
            0b10_0001 => data,
            0b10_0000 => old.wrapping_add(data),
            0b10_0100 => old ^ data,
            0b10_1100 => old & data,
            0b10_1000 => old | data,
            0b11_0000 => (old as i32).min(data as i32) as u32,
            0b11_0100 => (old as i32).max(data as i32) as u32,
            0b11_1000 => old.min(data),
            0b11_1100 => old.max(data),
            _ if write => {
                let mask = (0..4)
                    .filter(|byte| strobe >> byte & 1 == 1)
                    .fold(0, |mask, byte| mask | 0xff << (8 * byte));
                old & !mask | data & mask
            }
            _ => return old,
        };
        self.words[at] = new;
        self.written(thread, address);
        old
    }

    fn written(&mut self, thread: usize, address: u32) {
        for (other, reserved) in self.reserved.iter_mut().enumerate() {
            if other != thread && *reserved == Some(address) {
                *reserved = None;
            }
        }
    }
}

macro_rules! ports {
    ($($name:ident)+) => {
        /// Ports of the pipeline.
        #[derive(Debug)]
        struct Ports { $($name: PortHandle,)+ }

        impl Ports {
            fn find(dut: &impl Model) -> Self {
                let find = |name: &str| dut.instance().find(name).unwrap_or_else(|| panic!("no port {name}"));
                Self { $($name: find(stringify!($name)),)+ }
            }
        }
    };
}

ports! {
    m_valid m_thread m_address m_is_write m_atomic m_strobe m_data m_ready m_refused m_read_data
    trap trap_thread stop
    rvfi_valid rvfi_thread rvfi_insn rvfi_trap rvfi_cause rvfi_is_user rvfi_rd_addr rvfi_rd_wdata rvfi_pc_rdata rvfi_pc_wdata
}

/// A pipeline, its memory, and a hart for each thread.
#[derive(Debug)]
pub struct Lockstep<M: Model> {
    sim: Simulation<M>,
    ports: Ports,
    harts: Vec<Hart>,
    world: World,
    memory: Memory,
    memory_clocks: usize,
    costs: Costs,
    rng: ChaCha8Rng,
    started: u64,
    /// Instructions compared, those that trapped, and clocks.
    pub retired: u64,
    /// Traps among them, by cause.
    pub traps: Vec<u64>,
    /// Percentage of clocks in which a thread is stopped.
    pub stops: u32,
}

impl<M: Model> Lockstep<M> {
    /// A pipeline of that many threads with a program in it, after reset.
    pub fn new(run: &mut TestRun, threads: usize, memory_clocks: usize, program: &[u32], busy: u32) -> Self {
        let mut sim = run.simulation::<M>();
        sim.set_cycle_limit(u64::MAX);
        let mut rng = run.rng("lockstep");
        for (address, word) in program.iter().enumerate() {
            sim.set("program_write", true);
            sim.set("program_addr", address as u64);
            sim.set("program_data", *word);
            sim.cycle();
        }
        sim.set("program_write", false);
        let ranges: Vec<Vec<(u32, u32)>> = (0..threads)
            .map(|_| {
                (0..4)
                    .map(|_| {
                        let first = (DATA / GRAIN) + rng.random_range(0..1000);
                        (first, first + rng.random_range(0..300))
                    })
                    .collect()
            })
            .collect();
        for (thread, ranges) in ranges.iter().enumerate() {
            for (number, (first, end)) in ranges.iter().enumerate() {
                sim.set("range_write", true);
                sim.set("range_thread", thread as u64);
                sim.set("range_number", number as u64);
                sim.set("range_first", *first);
                sim.set("range_end", *end);
                sim.cycle();
            }
        }
        sim.set("range_write", false);
        let words: Vec<u32> = (0..DATA_BYTES / 4).map(|_| rng.random()).collect();
        let data = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(4 * PROGRAM_WORDS, 0);
        let hart = |thread| Hart::new(thread, PROGRAM + 0x80).with_csrs(CsrSet::Hpu);
        sim.reset();
        let ports = Ports::find(&sim.dut);
        let started = sim.cycle_count();
        Self {
            ports,
            started,
            sim,
            harts: (0..threads as u32).map(hart).collect(),
            world: World {
                program: bytes,
                data,
                ranges,
                thread: 0,
                stored: None,
            },
            memory: Memory {
                words,
                reserved: vec![None; threads],
                busy,
                answers: Default::default(),
            },
            memory_clocks,
            costs: Costs {
                misaligned: Misaligned::Split,
                ..Costs::unit()
            },
            rng,
            retired: 0,
            traps: vec![0; 32],
            stops: 0,
        }
    }

    /// Clocks since the reset.
    pub fn clocks(&self) -> u64 {
        self.sim.cycle_count() - self.started
    }

    fn get(&self, port: PortHandle) -> u64 {
        self.sim.dut.instance().value(port) as u64
    }

    fn set(&mut self, port: PortHandle, value: u64) {
        self.sim.dut.instance_mut().set_value(port, value.into());
    }

    /// Serves the offer of this clock.
    fn serve(&mut self) {
        let p = &self.ports;
        let (valid, thread) = (self.get(p.m_valid) == 1, self.get(p.m_thread) as usize);
        let address = self.get(p.m_address) as u32;
        let lanes = [self.get(p.m_strobe) as u32, self.get(p.m_data) as u32];
        let (write, atomic) = (self.get(p.m_is_write) == 1, self.get(p.m_atomic) as u32);
        let refused = address.wrapping_sub(DATA) as usize >= DATA_BYTES;
        let ready = !self.rng.random_ratio(self.memory.busy, 100);
        let answer = if valid && ready && !refused {
            self.memory.access(
                thread,
                address,
                lanes,
                write,
                if atomic >> 5 == 1 { atomic } else { 0 },
            )
        } else {
            self.rng.random()
        };
        self.memory.answers.push_back(answer);
        let (ready_port, refused_port, data_port) = (p.m_ready, p.m_refused, p.m_read_data);
        self.set(ready_port, ready.into());
        // Without an offer, anything.
        let refused = if valid { refused } else { self.rng.random() };
        self.set(refused_port, refused.into());
        let data = match self.memory.answers.len() > self.memory_clocks {
            true => self.memory.answers.pop_front().expect("an answer"),
            false => 0,
        };
        self.set(data_port, data.into());
    }

    /// Compares the instruction that is reported in this clock.
    fn compare(&mut self) {
        let p = &self.ports;
        if self.get(p.trap) == 1 {
            let thread = self.get(p.trap_thread) as usize;
            self.memory.reserved[thread] = None;
        }
        if self.get(p.rvfi_valid) == 0 {
            return;
        }
        let (thread, pc) = (self.get(p.rvfi_thread) as usize, self.get(p.rvfi_pc_rdata) as u32);
        let (trapped, cause) = (self.get(p.rvfi_trap) == 1, self.get(p.rvfi_cause));
        let (rd, value) = (
            self.get(p.rvfi_rd_addr) as usize,
            self.get(p.rvfi_rd_wdata) as u32,
        );
        let (next, is_user) = (self.get(p.rvfi_pc_wdata) as u32, self.get(p.rvfi_is_user) == 1);
        let insn = self.get(p.rvfi_insn) as u32;
        let now = self.clocks() - COUNTER_AGE - self.memory_clocks as u64;
        let hart = &mut self.harts[thread];
        let what = format!(
            "thread {thread}, {pc:#010x}: {}, instruction {}",
            spinneret_isa::Instruction::decode(insn),
            self.retired
        );
        assert_eq!(pc, hart.pc(), "address of {what}");
        assert_eq!(is_user, hart.privilege() == Privilege::User, "mode of {what}");
        self.world.thread = thread;
        self.world.stored = None;
        hart.wake();
        let step = if trapped && cause == STOPPED {
            assert!(is_user, "machine mode is not stopped: {what}");
            hart.raise(Trap::Custom(STOPPED as u32), 0);
            Some(STOPPED as u32)
        } else {
            match hart.step(&mut self.world, &self.costs, now) {
                Step::Retired { .. } => None,
                Step::Waits => panic!("nothing waits: {what}"),
                Step::Trapped { trap, .. } => Some(trap.cause()),
            }
        };
        assert_eq!(trapped.then_some(cause as u32), step, "trap of {what}");
        assert_eq!(value, hart.x(rd), "x{rd} of {what}");
        assert_eq!(next, hart.pc(), "address after {what}");
        if let Some(address) = self.world.stored {
            for (other, hart) in self.harts.iter_mut().enumerate() {
                if other != thread {
                    hart.lost_reservation(address);
                }
            }
        }
        self.retired += 1;
        if trapped {
            self.traps[cause as usize] += 1;
        }
    }

    /// Runs that many clocks.
    ///
    /// # Panics
    /// At the first difference.
    pub fn run(&mut self, clocks: u64) {
        for _ in 0..clocks {
            self.serve();
            let stop = if self.rng.random_ratio(self.stops, 100) {
                self.rng.random_range(0..1 << self.harts.len())
            } else {
                0_u64
            };
            self.set(self.ports.stop, stop);
            self.sim.cycle();
            self.compare();
        }
    }

    /// Ends the test.
    ///
    /// # Panics
    /// If the memories differ.
    pub fn finish(self) {
        let words = self
            .world
            .data
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        // Instructions in the pipeline have accessed memory already.
        let differing = words
            .zip(&self.memory.words)
            .filter(|(hart, word)| hart != *word)
            .count();
        assert!(differing <= self.harts.len(), "{differing} words differ");
        self.sim.finish();
    }
}
