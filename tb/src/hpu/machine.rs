//! Whole programs on the pipeline and on the simulator's hart. Each thread has a memory of its own, and its program has ended
//! when it has written to `tohost`.

use super::memory::{DATA_BYTES, Memory, Offer};
use super::view::GRAIN;
use super::{DATA, PROGRAM, ports};
use anyhow::{Context, Result, anyhow, ensure};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use spinneret_cluster::rv::{
    Access, Bus, Costs, CsrSet, Fault, Hart, Misaligned, Privilege, Ram, Reservations, Width,
};
use spinneret_hdl::catalog;
use spinneret_hdl::entry::Config;
use spinneret_sim::model::{Direction, Instance, PortHandle, PortInfo};
use spinneret_verilate::{SharedModel, build_shared};
use std::collections::BTreeMap;
use std::fs;
use std::iter::repeat;
use std::path::{Path, PathBuf};

#[path = "../../../sim/build/design.rs"]
mod design;

/// Words of program memory: tests of branches need much more than handlers.
const PROGRAM_WORDS: usize = 0x1_0000;
/// End of program memory.
pub const PROGRAM_END: u32 = PROGRAM + 4 * PROGRAM_WORDS as u32;
/// Where threads begin.
pub const RESET: u32 = PROGRAM + 0x80;
/// Bytes of the memory of a thread: its data, and behind it a copy of the program, as data.
const BYTES: usize = DATA_BYTES + 4 * PROGRAM_WORDS;

/// The place of an address in the memory of a thread.
fn place(address: u32) -> Option<u32> {
    match address {
        DATA.. if address - DATA < DATA_BYTES as u32 => Some(address - DATA),
        PROGRAM..PROGRAM_END => Some(address - PROGRAM + DATA_BYTES as u32),
        _ => None,
    }
}

/// A program as the linker left it.
#[derive(Clone, Debug)]
pub struct Program {
    /// Address of its first instruction.
    pub entry: u32,
    /// Code and data, with their addresses.
    parts: Vec<(u32, Vec<u8>)>,
    symbols: BTreeMap<String, u32>,
}

impl Program {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// If it is none, or does not fit.
    pub fn read(path: &Path) -> Result<Self> {
        let file = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let elf = object::File::parse(&*file).with_context(|| format!("{} is no program", path.display()))?;
        let mut parts = Vec::new();
        for section in elf.sections() {
            if matches!(section.kind(), SectionKind::Text | SectionKind::Data) {
                parts.push((section.address() as u32, section.data()?.to_vec()));
            }
        }
        let symbol =
            |symbol: object::Symbol<'_, '_>| Some((symbol.name().ok()?.to_owned(), symbol.address() as u32));
        Ok(Self {
            entry: elf.entry() as u32,
            parts,
            symbols: elf.symbols().filter_map(symbol).collect(),
        })
    }

    /// The address of a symbol.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn symbol(&self, name: &str) -> Result<u32> {
        let address = self.symbols.get(name).copied();
        address.with_context(|| format!("the program has no symbol `{name}`"))
    }

    /// The address behind its code.
    pub fn end(&self) -> u32 {
        let ends = self.parts.iter().map(|(at, bytes)| at + bytes.len() as u32);
        ends.max().unwrap_or(PROGRAM)
    }

    /// Whether all of it has a place.
    pub fn fits(&self) -> bool {
        let last =
            |(at, bytes): &(u32, Vec<u8>)| bytes.is_empty() || place(at + bytes.len() as u32 - 1).is_some();
        self.parts.iter().all(last)
    }

    fn write_to(&self, memory: &mut [u8]) {
        for (address, bytes) in &self.parts {
            if let Some(at) = place(*address) {
                memory[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
            }
        }
    }
}

/// The end of a program.
#[derive(Clone, Debug)]
pub struct End {
    /// The word that it wrote to `tohost`; none if it was still running.
    pub tohost: Option<u32>,
    /// Clocks until then; of the simulator's hart, instructions.
    pub clocks: u64,
    /// Its data.
    memory: Vec<u8>,
}

impl End {
    /// The bytes of data between two addresses.
    pub fn bytes(&self, first: u32, end: u32) -> &[u8] {
        &self.memory[(first - DATA) as usize..(end - DATA) as usize]
    }

    /// The words of data between two addresses.
    pub fn words(&self, first: u32, end: u32) -> Vec<u32> {
        words(self.bytes(first, end))
    }
}

/// The memory of a thread, for the simulator's hart.
struct World(Ram);

fn find(address: u32) -> Result<u32, Fault> {
    place(address).ok_or(Fault)
}

impl Bus for World {
    fn fetch(&mut self, address: u32, who: Privilege) -> Result<u32, Fault> {
        self.0.fetch(find(address)?, who)
    }

    fn reserves(&self, address: u32, _: Privilege) -> Reservations {
        match place(address) {
            Some(_) => Reservations::Kept,
            None => Reservations::Refused,
        }
    }

    fn load(&mut self, address: u32, width: Width, who: Privilege) -> Result<Access, Fault> {
        self.0.load(find(address)?, width, who)
    }

    fn store(&mut self, address: u32, width: Width, value: u32, who: Privilege) -> Result<Access, Fault> {
        self.0.store(find(address)?, width, value, who)
    }

    fn modify(
        &mut self,
        address: u32,
        who: Privilege,
        change: &mut dyn FnMut(u32) -> u32,
    ) -> Result<Access, Fault> {
        self.0.modify(find(address)?, who, change)
    }
}

/// Runs a program on the simulator's hart, for that many instructions at most.
///
/// # Errors
/// If the program has no `tohost`.
pub fn run_on_hart(program: &Program, limit: u64) -> Result<End> {
    let mut memory = vec![0; BYTES];
    program.write_to(&mut memory);
    let tohost = find(program.symbol("tohost")?).map_err(|_| anyhow!("`tohost` is not in data memory"))?;
    let mut world = World(Ram::new(0, BYTES as u32));
    world.0.write(0, &memory);
    let mut hart = Hart::new(0, program.entry).with_csrs(CsrSet::Hpu);
    let costs = Costs {
        misaligned: Misaligned::Split,
        ..Costs::unit()
    };
    let mut clocks = 0;
    while clocks < limit && world.0.read(tohost, 4) == [0; 4] {
        hart.wake();
        let _ = hart.step(&mut world, &costs, clocks);
        clocks += 1;
    }
    let written = world
        .0
        .read(tohost, 4)
        .first_chunk()
        .map_or(0, |word| u32::from_le_bytes(*word));
    Ok(End {
        tohost: (written != 0).then_some(written),
        clocks,
        memory: world.0.bytes()[..DATA_BYTES].to_vec(),
    })
}

/// A pipeline, compiled.
#[derive(Debug)]
pub struct Pipeline {
    /// Its threads.
    pub threads: usize,
    memory_clocks: usize,
    name: &'static str,
    library: PathBuf,
    ports: Vec<PortInfo>,
}

impl Pipeline {
    /// Compiles it in a folder of its own, unless that has it already.
    ///
    /// # Errors
    /// If there is no such pipeline, or Verilator or the compiler is missing.
    pub fn build(threads: usize, memory_clocks: usize, folder: &Path) -> Result<Self> {
        let entry = catalog::find("hpu_pipeline").context("the catalog has no pipeline")?;
        let mut values = entry.values(Config::Reference);
        for (name, value) in [
            ("threads", threads),
            ("memory_clocks", memory_clocks),
            ("program_words", PROGRAM_WORDS),
        ] {
            values.insert(name.to_owned(), value as u64);
        }
        let name = format!("hpu_pipeline_{threads}_{memory_clocks}").leak();
        let model = design::design(name, entry, &values).map_err(|error| anyhow!(error))?;
        let port = |port: &spinneret_verilate::Port| PortInfo {
            name: port.name.clone().leak(),
            direction: if port.input {
                Direction::Input
            } else {
                Direction::Output
            },
            width: port.width,
        };
        let ports = model.ports.iter().map(port).collect();
        let shared = SharedModel {
            model,
            includes: Vec::new(),
            defines: Vec::new(),
            level: "-O1",
            waves: false,
        };
        let library = build_shared(&shared, &folder.join(&*name), &|_| {})?;
        Ok(Self {
            threads,
            memory_clocks,
            name,
            library,
            ports,
        })
    }

    /// Runs a program for each thread, for that many clocks at most; threads without one idle. Memory is busy in `busy`
    /// percent of the clocks.
    ///
    /// # Errors
    /// If a program has no `tohost`, or the model fails.
    pub fn run(&self, boot: &Program, programs: &[&Program], busy: u32, limit: u64) -> Result<Vec<End>> {
        ensure!(
            programs.len() <= self.threads,
            "there are more programs than threads"
        );
        let mut machine = Machine::new(self, boot, programs, busy)?;
        while machine.clock < limit && machine.ends.contains(&None) {
            machine.serve();
            machine.cycle()?;
        }
        let ends = machine
            .memories
            .into_iter()
            .zip(machine.ends)
            .take(programs.len());
        let end = |(memory, end): (Memory, Option<(u32, u64)>)| End {
            tohost: end.map(|(written, _)| written),
            clocks: end.map_or(limit, |(_, clocks)| clocks),
            memory: memory.words[..DATA_BYTES / 4]
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect(),
        };
        Ok(ends.map(end).collect())
    }
}

ports! {
    clk m_valid m_thread m_address m_is_write m_atomic m_strobe m_data m_ready m_refused m_read_data
}

/// A running pipeline.
struct Machine {
    dut: Instance,
    ports: Ports,
    memories: Vec<Memory>,
    /// The place of `tohost` in each.
    tohost: Vec<u32>,
    /// The word that each thread wrote there, and when.
    ends: Vec<Option<(u32, u64)>>,
    busy: u32,
    rng: ChaCha8Rng,
    clock: u64,
    memory_clocks: usize,
    /// Answers of the memory in the clocks that follow.
    answers: [u32; 4],
}

impl Machine {
    /// A pipeline after reset, with its programs.
    fn new(pipeline: &Pipeline, boot: &Program, programs: &[&Program], busy: u32) -> Result<Self> {
        let dut = Instance::load(&pipeline.library, pipeline.name, pipeline.ports.clone(), 1)?;
        let ports = Ports::find(&dut);
        let mut memories = Vec::new();
        let mut tohost = Vec::new();
        let mut image = vec![0; BYTES];
        for program in programs {
            program.write_to(&mut image);
            let address = program.symbol("tohost")?;
            tohost.push(place(address).context("`tohost` is not in data memory")?);
        }
        tohost.resize(pipeline.threads, u32::MAX);
        boot.write_to(&mut image);
        let code = image.split_off(DATA_BYTES);
        let entries = programs.iter().map(|program| program.entry);
        let entries: Vec<u32> = entries
            .chain(repeat(boot.symbol("idle")?))
            .take(pipeline.threads)
            .collect();
        for thread in 0..pipeline.threads {
            let mut bytes = vec![0; DATA_BYTES];
            bytes.extend(&code);
            if let Some(program) = programs.get(thread) {
                program.write_to(&mut bytes);
            }
            bytes[4 * thread..][..4].copy_from_slice(&entries[thread].to_le_bytes());
            memories.push(Memory {
                words: words(&bytes),
                reserved: vec![None],
            });
        }
        let mut machine = Self {
            dut,
            ports,
            memories,
            tohost,
            ends: (0..pipeline.threads)
                .map(|thread| (thread >= programs.len()).then_some((0, 0)))
                .collect(),
            busy,
            rng: ChaCha8Rng::seed_from_u64(1),
            clock: 0,
            memory_clocks: pipeline.memory_clocks,
            answers: [0; 4],
        };
        let end = programs
            .iter()
            .map(|program| program.end())
            .max()
            .unwrap_or(PROGRAM);
        machine.load(&words(&code)[..(end - PROGRAM).div_ceil(4) as usize])?;
        Ok(machine)
    }

    /// Writes program memory and protection ranges, and resets.
    fn load(&mut self, program: &[u32]) -> Result<()> {
        for (address, word) in program.iter().enumerate() {
            self.set(&[
                ("program_write", 1),
                ("program_addr", address as u32),
                ("program_data", *word),
            ])?;
            self.cycle()?;
        }
        self.set(&[("program_write", 0), ("range_write", 1)])?;
        for thread in 0..self.memories.len() as u32 {
            for (number, first, end) in [(0, DATA, DATA + DATA_BYTES as u32), (1, PROGRAM, PROGRAM_END)] {
                self.set(&[
                    ("range_thread", thread),
                    ("range_number", number),
                    ("range_first", first / GRAIN),
                    ("range_end", end / GRAIN),
                ])?;
                self.cycle()?;
            }
        }
        self.set(&[("range_write", 0), ("rst", 1)])?;
        for _ in 0..4 {
            self.cycle()?;
        }
        self.set(&[("rst", 0)])?;
        self.clock = 0;
        Ok(())
    }

    fn set(&mut self, inputs: &[(&str, u32)]) -> Result<()> {
        for (name, value) in inputs {
            let port = self.dut.port(name, Direction::Input)?;
            self.dut.set_value(port, (*value).into());
        }
        Ok(())
    }

    fn cycle(&mut self) -> Result<()> {
        for level in [false, true] {
            self.dut.set_high(self.ports.clk, level);
            self.dut.eval()?;
        }
        self.clock += 1;
        Ok(())
    }

    /// Serves the offer of this clock.
    fn serve(&mut self) {
        let (dut, ports) = (&self.dut, &self.ports);
        let get = |port| dut.value(port) as u32;
        let (mut is_refused, mut answer) = (false, self.clock as u32);
        let is_ready = self.busy == 0 || !self.rng.random_ratio(self.busy, 100);
        if dut.is_high(ports.m_valid) {
            let thread = get(ports.m_thread) as usize;
            let at = place(get(ports.m_address));
            is_refused = at.is_none();
            if let (Some(at), true) = (at, is_ready) {
                let atomic = Some(get(ports.m_atomic)).filter(|atomic| atomic >> 5 == 1);
                let memory = &mut self.memories[thread];
                let offer = Offer {
                    thread: 0,
                    address: DATA + at,
                    is_write: dut.is_high(ports.m_is_write),
                    atomic: atomic.unwrap_or(0),
                    strobe: get(ports.m_strobe),
                    data: get(ports.m_data),
                    is_user: false,
                };
                answer = memory.access(offer).answer;
                let written = memory.words[at as usize / 4];
                if at == self.tohost[thread] && written != 0 {
                    self.ends[thread].get_or_insert((written, self.clock));
                }
            }
        }
        let now = self.clock as usize;
        self.answers[(now + self.memory_clocks) % 4] = answer;
        self.dut.set_high(self.ports.m_ready, is_ready);
        self.dut.set_high(self.ports.m_refused, is_refused);
        self.dut
            .set_value(self.ports.m_read_data, self.answers[now % 4].into());
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.as_chunks().0.iter();
    words.map(|word| u32::from_le_bytes(*word)).collect()
}
