//! Handlers of the runtime on the pipeline: tasks, memories and registers of one cluster, as a handler sees them.
//!
//! All memories answer at once. There are no bank conflicts and no copies: what is measured is the pipeline.

use crate::hpu_memory::new_word;
use anyhow::{Context as _, Result, ensure};
use spinneret_program::Program;
use spinneret_regmap::pspin::{
    DMA_BASE, DRIVER_BASE, HANDLER_BASE, HANDLER_BYTES, ICACHE_BASE, L1_BASE, L1_BYTES, L1_PACKETS,
    PACKET_BASE, PACKET_BYTES, PROGRAM_BASE, dma, driver as register,
};
use spinneret_sim::model::PortHandle;
use spinneret_sim::prelude::*;
use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Bytes between packets in L1 and in L2.
const SLOT: u32 = 2048;
/// Bytes of a context's handler memory, at the end of L2.
const CONTEXT_BYTES: u32 = 0x1_0000;
/// Clocks in which a task has to end.
const PATIENCE: u64 = 200_000;
/// Bytes of a grain of the protection ranges.
const GRAIN: u32 = 64;

/// A memory with its base address.
#[derive(Debug)]
struct Memory {
    base: u32,
    bytes: Vec<u8>,
}

impl Memory {
    fn new(base: u32, bytes: u32) -> Self {
        Self {
            base,
            bytes: vec![0; bytes as usize],
        }
    }

    fn at(&mut self, address: u32, len: usize) -> Option<&mut [u8]> {
        let start = address.wrapping_sub(self.base) as usize;
        self.bytes.get_mut(start..start + len)
    }
}

/// A task that an HPU runs, and its counts.
#[derive(Clone, Debug)]
struct Running {
    words: [u32; register::TASK.len()],
    packet: usize,
    since: Option<u64>,
    instructions: u64,
    error: u32,
}

/// A task that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// The packet, by its number.
    pub packet: usize,
    /// Its thread.
    pub thread: usize,
    /// Clocks from the first look at the task to its end.
    pub clocks: u64,
    /// Instructions in this time, those of the runtime included.
    pub instructions: u64,
    /// Cause of an error, or 0.
    pub error: u32,
}

/// Ports that are used in every clock.
#[derive(Debug)]
struct Ports {
    outputs: [PortHandle; 7],
    inputs: [PortHandle; 3],
    retired: [PortHandle; 4],
}

/// A pipeline with a program and packets.
#[derive(Debug)]
pub struct Handlers<M: Model> {
    sim: Simulation<M>,
    ports: Ports,
    memories: [Memory; 3],
    waiting: VecDeque<Running>,
    running: Vec<Option<Running>>,
    commands: Vec<[u32; register::COMMAND_WORDS as usize]>,
    /// Source, destination and bytes of each thread's next copy.
    copies: Vec<[u32; 3]>,
    /// Address of the last instruction of each thread.
    pcs: Vec<u32>,
    program: Program,
    /// Words of accesses, the last one last; there are as many as clocks until they are due.
    answers: VecDeque<u32>,
    /// Tasks that have ended, in the order of their ends.
    pub done: Vec<Done>,
    /// Packets that handlers have sent.
    pub sent: Vec<Vec<u8>>,
}

impl<M: Model> Handlers<M> {
    /// Loads a program and resets the pipeline; its threads, and the clocks of its memories.
    ///
    /// # Errors
    /// If the model has not the ports of a pipeline.
    pub fn new(dut: M, [threads, memory_clocks]: [usize; 2], program: Program) -> Result<Self> {
        let mut sim = Simulation::new(dut)?;
        let mut memories = [
            Memory::new(L1_BASE, L1_BYTES),
            Memory::new(HANDLER_BASE, HANDLER_BYTES),
            Memory::new(PACKET_BASE, PACKET_BYTES),
        ];
        for segment in &program.segments {
            if let Some(place) = memories
                .iter_mut()
                .find_map(|memory| memory.at(segment.address, segment.bytes.len()))
            {
                place.copy_from_slice(&segment.bytes);
                continue;
            }
            write_program(&mut sim, segment.address, &segment.bytes);
        }
        for thread in 0..threads {
            let devices = [DMA_BASE, DRIVER_BASE + 0x1000];
            let ends = [
                (L1_BASE, L1_BYTES),
                (HANDLER_BASE, HANDLER_BYTES),
                (PACKET_BASE, PACKET_BYTES),
            ];
            let ranges = ends
                .map(|(base, bytes)| [base, base + bytes])
                .into_iter()
                .chain([devices]);
            for (number, [first, end]) in ranges.enumerate() {
                sim.set("range_write", true);
                sim.set("range_thread", thread as u64);
                sim.set("range_number", number as u64);
                sim.set("range_first", first / GRAIN);
                sim.set("range_end", end / GRAIN);
                sim.cycle();
            }
        }
        sim.set("range_write", false);
        sim.reset();
        let find = |name: &str| {
            sim.dut
                .instance()
                .find(name)
                .with_context(|| format!("the model has no port {name}"))
        };
        let ports = Ports {
            outputs: [
                find("m_valid")?,
                find("m_thread")?,
                find("m_address")?,
                find("m_is_write")?,
                find("m_strobe")?,
                find("m_data")?,
                find("m_atomic")?,
            ],
            inputs: [find("m_ready")?, find("m_refused")?, find("m_read_data")?],
            retired: [
                find("rvfi_valid")?,
                find("rvfi_thread")?,
                find("rvfi_trap")?,
                find("rvfi_pc_rdata")?,
            ],
        };
        Ok(Self {
            ports,
            memories,
            waiting: VecDeque::new(),
            running: vec![None; threads],
            commands: vec![[0; register::COMMAND_WORDS as usize]; threads],
            copies: vec![[0; 3]; threads],
            pcs: vec![0; threads],
            program,
            answers: vec![0; memory_clocks].into(),
            done: Vec::new(),
            sent: Vec::new(),
            sim,
        })
    }

    /// Queues a packet for the program's handlers: those of a message of this one packet.
    ///
    /// # Errors
    /// If the program has not handlers of one name.
    pub fn push(&mut self, packet: usize, frame: &[u8]) -> Result<()> {
        let name = self.program.only_name()?.to_owned();
        let codes = self.program.find(&name)?;
        let at = PACKET_BASE + packet as u32 % 64 * SLOT;
        self.write(at, frame);
        for code in codes.into_iter().filter(|code| code.exists()) {
            let mut words = [0; register::TASK.len()];
            words[..2].copy_from_slice(&[code.address, code.size]);
            words[2..4].copy_from_slice(&[HANDLER_BASE + HANDLER_BYTES - CONTEXT_BYTES, CONTEXT_BYTES]);
            words[4..6].copy_from_slice(&[0, frame.len() as u32]);
            words[17] = at;
            self.waiting.push_back(Running {
                words,
                packet,
                since: None,
                instructions: 0,
                error: 0,
            });
        }
        Ok(())
    }

    fn write(&mut self, address: u32, bytes: &[u8]) {
        let place = self
            .memories
            .iter_mut()
            .find_map(|memory| memory.at(address, bytes.len()));
        place.expect("packets lie in memory").copy_from_slice(bytes);
    }

    fn read(&mut self, address: u32, len: usize) -> Vec<u8> {
        let place = self
            .memories
            .iter_mut()
            .find_map(|memory| memory.at(address, len));
        place.map(|bytes| bytes.to_vec()).unwrap_or_default()
    }

    /// Gives a thread its next task, whose packet is copied to L1.
    fn assign(&mut self, thread: usize) {
        if self.running[thread].is_none()
            && let Some(mut task) = self.waiting.pop_front()
        {
            task.words[4] = L1_BASE + L1_PACKETS + thread as u32 * SLOT;
            let frame = self.read(task.words[17], task.words[5] as usize);
            self.write(task.words[4], &frame);
            self.running[thread] = Some(task);
        }
    }

    /// An access to a register of the driver; none if it waits.
    fn driver(&mut self, thread: usize, offset: u32, write: Option<u32>) -> Option<u32> {
        let now = self.sim.cycle_count();
        if offset < register::TASK_END {
            self.assign(thread);
            self.running[thread].as_mut()?.since.get_or_insert(now);
        }
        let (task, commands) = (&mut self.running[thread], &mut self.commands[thread]);
        match (offset, write) {
            (register::DOORBELL, _) => {
                let task = task.take()?;
                self.done.push(Done {
                    packet: task.packet,
                    thread,
                    clocks: now - task.since.unwrap_or(now),
                    instructions: task.instructions,
                    error: task.error,
                });
            }
            (register::ERROR, Some(cause)) => task.as_mut()?.error = cause,
            (_, None) if ((offset / 4) as usize) < register::TASK.len() => {
                return Some(task.as_ref()?.words[offset as usize / 4]);
            }
            (register::ARGS..register::ARGS_END, None) => {
                let arguments = [
                    DRIVER_BASE + register::HANDLER_MEM,
                    thread as u32,
                    0,
                    thread as u32,
                ];
                return Some(arguments[(offset - register::ARGS) as usize / 4]);
            }
            (register::ISSUE, None) => {
                let [_, _, source, _, length, ..] = *commands;
                let frame = self.read(source, length as usize);
                self.sent.push(frame);
            }
            (register::COMMAND..register::COMMAND_END, Some(word)) => {
                commands[((offset - register::COMMAND) / 4) as usize] = word
            }
            _ => {}
        }
        Some(0)
    }

    /// An access to a register of the copy engine, which copies at once: the number of every copy is 0.
    fn copy(&mut self, thread: usize, offset: u32, write: Option<u32>) -> u32 {
        match (offset, write) {
            (dma::SOURCE..=dma::BYTES, Some(word)) => self.copies[thread][offset as usize / 8] = word,
            (dma::START, None) => {
                let [source, destination, bytes] = self.copies[thread];
                let copied = self.read(source, bytes as usize);
                self.write(destination, &copied);
            }
            _ => {}
        }
        0
    }

    /// Serves the offer of this clock: ready, refused, and the word.
    fn serve(&mut self) -> (bool, bool, u32) {
        let dut = self.sim.dut.instance();
        let [valid, thread, address, is_write, strobe, data, atomic] =
            self.ports.outputs.map(|port| dut.value(port) as u32);
        if valid == 0 {
            return (true, false, 0);
        }
        if let Some(word) = self.memories.iter_mut().find_map(|memory| memory.at(address, 4)) {
            let old = word.iter().rev().fold(0, |old, byte| old << 8 | u32::from(*byte));
            if is_write == 1 {
                for (lane, byte) in word
                    .iter_mut()
                    .enumerate()
                    .filter(|(lane, _)| strobe >> lane & 1 == 1)
                {
                    *byte = data.to_le_bytes()[lane];
                }
            }
            if atomic >> 5 == 1 {
                word.copy_from_slice(&new_word(atomic as u8 & 31, old, data).to_le_bytes());
            }
            return (true, false, old);
        }
        let written = (is_write == 1).then_some(data);
        match address {
            DRIVER_BASE.. if address < DRIVER_BASE + 0x100 => {
                let answer = self.driver(thread as usize, address - DRIVER_BASE, written);
                (answer.is_some(), false, answer.unwrap_or(0))
            }
            DMA_BASE.. if address <= DMA_BASE + dma::DONE => {
                let answer = self.copy(thread as usize, address - DMA_BASE, written);
                (true, false, answer)
            }
            ICACHE_BASE.. if address < ICACHE_BASE + 8 => (true, false, 0),
            _ => (true, true, 0),
        }
    }

    /// One clock.
    fn cycle(&mut self) {
        let (ready, refused, word) = self.serve();
        self.answers.push_back(word);
        let answer = self.answers.pop_front().unwrap_or(0);
        let dut = self.sim.dut.instance_mut();
        for (port, value) in self
            .ports
            .inputs
            .into_iter()
            .zip([u32::from(ready), u32::from(refused), answer])
        {
            dut.set_value(port, value.into());
        }
        self.sim.cycle();
        let dut = self.sim.dut.instance();
        let [valid, thread, _, pc] = self.ports.retired.map(|port| dut.value(port) as usize);
        if valid == 1 {
            self.pcs[thread] = pc as u32;
        }
        if valid == 1
            && let Some(task) = &mut self.running[thread]
            && task.since.is_some()
        {
            task.instructions += 1;
        }
    }

    /// Runs until every task has ended.
    ///
    /// # Errors
    /// If one does not end.
    pub fn run(&mut self) -> Result<()> {
        let end = self.sim.cycle_count() + PATIENCE;
        while !self.waiting.is_empty() || self.running.iter().any(Option::is_some) {
            ensure!(
                self.sim.cycle_count() < end,
                "a handler has not ended after {PATIENCE} clocks; {} have, and threads are at {:x?}",
                self.done.len(),
                self.pcs
            );
            self.cycle();
        }
        Ok(())
    }

    /// Clocks so far.
    pub fn clocks(&self) -> u64 {
        self.sim.cycle_count()
    }
}

/// Writes words into the program memory.
fn write_program<M: Model>(sim: &mut Simulation<M>, address: u32, bytes: &[u8]) {
    for (number, bytes) in bytes.chunks(4).enumerate() {
        let word = bytes
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u64::from(*byte));
        sim.set("program_write", true);
        sim.set(
            "program_addr",
            u64::from(address - PROGRAM_BASE) / 4 + number as u64,
        );
        sim.set("program_data", word);
        sim.cycle();
    }
    sim.set("program_write", false);
}

/// Clocks per second of a model of several pipelines. Their memories always answer 0.
///
/// # Errors
/// If the model has not the ports of pipelines.
pub fn speed<M: Model>(model: M, program: &Program, clocks: u64) -> Result<f64> {
    let mut sim = Simulation::new(model)?;
    let code = program.segments.iter();
    for segment in code.filter(|segment| segment.address >= PROGRAM_BASE) {
        write_program(&mut sim, segment.address, &segment.bytes);
    }
    for port in M::PORTS.iter().filter(|port| port.name.ends_with("_ready")) {
        sim.set(port.name, true);
    }
    sim.set_cycle_limit(u64::MAX);
    sim.reset();
    let start = Instant::now();
    sim.run(clocks);
    Ok(clocks as f64 / start.elapsed().as_secs_f64())
}

/// Builds an example of the runtime in a folder of its own below `out`, for HPUs with `csum` and more, or without.
///
/// # Errors
/// If the compiler is missing or refuses it.
pub fn example(name: &str, csum: bool, out: &Path) -> Result<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../runtime/examples")
        .join(name);
    let out = out.join(if csum {
        format!("{name}-csum")
    } else {
        name.to_owned()
    });
    let make = Command::new("make")
        .args(["-s", "-C"])
        .arg(&folder)
        .arg(format!("BUILD={}", std::path::absolute(&out)?.display()))
        .arg(if csum { "HPU=any" } else { "HPU=pspin" })
        .status()
        .context("make cannot be run: ./dev setup installs what is needed")?;
    ensure!(
        make.success(),
        "the example {name} cannot be built: ./dev setup installs the compiler"
    );
    Ok(Program::open(&out.join(name).with_extension("elf"))?)
}
