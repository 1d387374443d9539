//! Programs next to others: what one needs, and the same program at other addresses.
//!
//! Programs are linked for fixed addresses, and keep their relocations (`--emit-relocs`, which changes no byte of the program).
//! [`Program::moved`] computes every instruction and word that has an address again.

use crate::{Program, ProgramError, Segment};
use object::elf::{self, RelocationType, SHF_ALLOC};
use object::read::elf::{ElfFile32, ElfSymbol32, ProgramHeader as _};
use object::{
    Object as _, ObjectSection as _, ObjectSymbol as _, RelocationFlags, RelocationTarget, SectionFlags,
};
use spinneret_regmap::pspin::{ENTRY, HANDLER_BASE, HANDLER_BYTES, PROGRAM_BASE, PROGRAM_BYTES};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// The resident runtime (`runtime/resident`).
const RESIDENT: &[u8] = include_bytes!("resident.elf");

/// Smallest alignment of code and data: a line of memory.
const LINE: u32 = 64;

/// Needs of a program next to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Where its code is, without the vectors of the reset.
    pub code: Range<u32>,
    /// Where its constants and variables are.
    pub data: Range<u32>,
    /// Code and data may move by multiples of this many bytes, a power of two.
    pub alignment: u32,
    /// Value of the register `gp`.
    pub global_pointer: u32,
    /// Its own `init_handlers`, if it has one.
    pub init: Option<u32>,
    /// First values of the thread-local variables of an HPU; a multiple of 16 bytes.
    pub locals: Vec<u8>,
    /// Where the number of its hart is among them.
    pub hart_id: Option<usize>,
    /// Where the number of clusters is among them.
    pub cluster_count: Option<usize>,
}

impl Layout {
    /// Thread-local variables of an HPU at its start.
    pub fn locals_of(&self, hart: u32, clusters: u32) -> Vec<u8> {
        let mut locals = self.locals.clone();
        for (place, value) in [(self.hart_id, hart), (self.cluster_count, clusters)] {
            if let Some(word) = place.and_then(|at| locals.get_mut(at..at + 4)) {
                word.copy_from_slice(&value.to_le_bytes());
            }
        }
        locals
    }
}

impl Program {
    /// The runtime that runs handlers of several programs, and belongs to none of them.
    ///
    /// # Errors
    /// None: the image is part of this library.
    pub fn resident() -> Result<Self, ProgramError> {
        Self::parse(Path::new("the resident runtime"), RESIDENT.to_vec())
    }

    /// Needs of the program next to others.
    ///
    /// # Errors
    /// It was not linked with the runtime of spinneret, or lost its relocations.
    pub fn layout(&self) -> Result<Layout, ProgramError> {
        let image = Image::new(self)?;
        let symbol = |name: &str| image.elf.symbols().find(|symbol| symbol.name() == Ok(name));
        let no_runtime = || image.fixed("it was not linked with the runtime of spinneret (spin.mk)");
        let value = |name: &str| symbol(name).map(|symbol| symbol.address() as u32);
        let local = |name: &str| value(name).map(|offset| offset as usize);
        let global_pointer = value("__global_pointer$").ok_or_else(no_runtime)?;
        let bytes = value("__spin_tls_size").ok_or_else(no_runtime)?;
        let section = image.elf.section_by_name(".tdata");
        let mut locals = section
            .map_or(Ok(&[][..]), |section| section.data())
            .map_err(|error| image.broken(&error.to_string()))?
            .to_vec();
        if locals.len() > bytes as usize || bytes > 4096 || !bytes.is_multiple_of(16) {
            return Err(image.broken("`__spin_tls_size` is not the size of its thread-local variables"));
        }
        locals.resize(bytes as usize, 0);
        let init = symbol("init_handlers").filter(|symbol| !symbol.is_weak());
        let alignment = image.allocated().map(|section| section.align() as u32).max();
        Ok(Layout {
            code: image.range(PROGRAM_BASE + ENTRY..PROGRAM_BASE + PROGRAM_BYTES),
            data: HANDLER_BASE..self.free_memory,
            alignment: alignment
                .unwrap_or(LINE)
                .max(LINE)
                .checked_next_power_of_two()
                .ok_or_else(|| image.broken("a section has an alignment that is no power of two"))?,
            global_pointer,
            init: init.map(|symbol| symbol.address() as u32),
            locals,
            hart_id: local("spin_hart_id"),
            cluster_count: local("spin_cluster_count"),
        })
    }

    /// The program with its code and its data that many bytes further (modulo 2^32), multiples of its alignment: two segments, without the
    /// vectors of the reset, and with zeros where it has no bytes.
    ///
    /// # Errors
    /// As [`layout`](Self::layout), or it has relocations that are not known.
    pub fn moved(&self, code: u32, data: u32) -> Result<Self, ProgramError> {
        let layout = self.layout()?;
        let image = Image::new(self)?;
        let mut memory = Patches {
            code: bytes_of(&self.segments, &layout.code),
            data: bytes_of(&self.segments, &layout.data),
            layout: &layout,
        };
        if code != 0 || data != 0 {
            image.relocate(&mut memory, &Moves { code, data })?;
        }
        let Patches {
            code: code_bytes,
            data: data_bytes,
            ..
        } = memory;
        let moved = |address: u32| address.wrapping_add(Moves { code, data }.of(address));
        let mut program = self.clone();
        let segment = |range: &Range<u32>, bytes: Vec<u8>, is_code| Segment {
            address: moved(range.start),
            bytes,
            is_code,
        };
        program.segments = vec![
            segment(&layout.code, code_bytes, true),
            segment(&layout.data, data_bytes, false),
        ];
        program.segments.retain(|segment| !segment.bytes.is_empty());
        program.entry = moved(self.entry);
        for function in &mut program.functions {
            function.address = moved(function.address);
        }
        for variable in program.variables.values_mut() {
            variable.address = moved(variable.address);
        }
        program.host_data = self.host_data.map(moved);
        program.free_memory = self.free_memory.wrapping_add(data);
        program.moved = self.moved.wrapping_add(code);
        Ok(program)
    }
}

/// The bytes of a range of memory.
fn bytes_of(segments: &[Segment], range: &Range<u32>) -> Vec<u8> {
    let mut bytes = vec![0; range.len()];
    for segment in segments {
        let start = segment.address.max(range.start);
        let end = (segment.address + segment.bytes.len() as u32).min(range.end);
        if start < end {
            let from = (start - segment.address) as usize;
            let to = (start - range.start) as usize;
            let count = (end - start) as usize;
            bytes[to..to + count].copy_from_slice(&segment.bytes[from..from + count]);
        }
    }
    bytes
}

/// How far code and data move.
#[derive(Clone, Copy)]
struct Moves {
    code: u32,
    data: u32,
}

impl Moves {
    /// How far an address moves.
    fn of(self, address: u32) -> u32 {
        // The end of a memory belongs to it, because symbols may be there.
        if (PROGRAM_BASE..=PROGRAM_BASE + PROGRAM_BYTES).contains(&address) {
            self.code
        } else if (HANDLER_BASE..=HANDLER_BASE + HANDLER_BYTES).contains(&address) {
            self.data
        } else {
            0
        }
    }
}

/// Memory of a program that is changed.
struct Patches<'l> {
    code: Vec<u8>,
    data: Vec<u8>,
    layout: &'l Layout,
}

impl Patches<'_> {
    fn bytes<const N: usize>(&mut self, address: u32) -> Option<&mut [u8; N]> {
        let (bytes, range) = match self.layout.code.contains(&address) {
            true => (&mut self.code, &self.layout.code),
            false => (&mut self.data, &self.layout.data),
        };
        let start = address.checked_sub(range.start)? as usize;
        bytes.get_mut(start..start.checked_add(N)?)?.try_into().ok()
    }

    /// Whether an instruction uses x0 as its first register.
    fn is_from_zero(&mut self, address: u32) -> bool {
        let word = self.bytes(address).map(|word| u32::from_le_bytes(*word));
        word.is_some_and(|word| word >> 15 & 0x1f == 0)
    }

    /// Changes a word.
    fn change(&mut self, address: u32, change: impl FnOnce(u32) -> u32) -> Option<()> {
        let word = self.bytes::<4>(address)?;
        *word = change(u32::from_le_bytes(*word)).to_le_bytes();
        Some(())
    }
}

/// A relocation: what is at an address depends on a target.
struct Relocation {
    address: u32,
    kind: RelocationType,
    /// Value of its symbol and addend.
    target: u32,
    /// How far the target moves.
    moves: u32,
    is_undefined: bool,
}

/// The file of a program.
struct Image<'p> {
    path: &'p Path,
    elf: ElfFile32<'p>,
}

impl<'p> Image<'p> {
    fn new(program: &'p Program) -> Result<Self, ProgramError> {
        let path = program.path();
        let broken = |error: object::Error| ProgramError::Broken(path.to_owned(), error.to_string());
        let elf = ElfFile32::parse(program.file()).map_err(broken)?;
        Ok(Self { path, elf })
    }

    fn fixed(&self, why: &str) -> ProgramError {
        ProgramError::Fixed(self.path.to_owned(), why.to_owned())
    }

    fn broken(&self, why: &str) -> ProgramError {
        ProgramError::Broken(self.path.to_owned(), why.to_owned())
    }

    /// Sections that are in memory.
    fn allocated(&self) -> impl Iterator<Item = object::read::elf::ElfSection32<'p, '_>> {
        self.elf.sections().filter(
            |section| matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(SHF_ALLOC)),
        )
    }

    /// The part of a memory that has sections.
    fn range(&self, memory: Range<u32>) -> Range<u32> {
        let ends = self.allocated().map(|section| section.address() + section.size());
        let is_in = |end: &u64| (u64::from(memory.start)..=u64::from(memory.end)).contains(end);
        let end = ends.filter(is_in).max();
        memory.start..end.map_or(memory.start, |end| end as u32).next_multiple_of(4)
    }

    fn relocate(&self, memory: &mut Patches<'_>, moves: &Moves) -> Result<(), ProgramError> {
        let endian = self.elf.endian();
        let loads = self.elf.elf_program_headers().iter();
        let mut loads = loads.filter(|header| header.p_type(endian) == elf::PT_LOAD);
        if loads.any(|header| header.p_vaddr(endian) != header.p_paddr(endian)) {
            return Err(self.fixed("it is loaded to other addresses than it runs at"));
        }
        let relocations = self.relocations(moves)?;
        let uppers: BTreeMap<u32, &Relocation> = relocations
            .iter()
            .filter(|relocation| relocation.kind == elf::R_RISCV_PCREL_HI20)
            .map(|relocation| (relocation.address, relocation))
            .collect();
        for relocation in &relocations {
            if relocation.address < memory.layout.code.start && relocation.address >= PROGRAM_BASE {
                // The vectors of the reset stay where they are, and are not loaded.
                continue;
            }
            let done = self.apply(relocation, &uppers, memory, moves)?;
            done.ok_or_else(|| {
                self.broken(&format!(
                    "a relocation at {:#010x} is outside of it",
                    relocation.address
                ))
            })?;
        }
        Ok(())
    }

    /// All relocations of code and data.
    fn relocations(&self, moves: &Moves) -> Result<Vec<Relocation>, ProgramError> {
        let mut relocations = Vec::new();
        for section in self.allocated() {
            for (address, relocation) in section.relocations() {
                let RelocationFlags::Elf { r_type: kind } = relocation.flags() else {
                    continue;
                };
                let symbol = match relocation.target() {
                    RelocationTarget::Symbol(index) => Some(
                        self.elf
                            .symbol_by_index(index)
                            .map_err(|error| self.broken(&error.to_string()))?,
                    ),
                    _ => None,
                };
                let value = symbol.as_ref().map_or(0, |symbol| symbol.address() as u32);
                relocations.push(Relocation {
                    address: address as u32,
                    kind,
                    target: value.wrapping_add(relocation.addend() as u32),
                    moves: symbol.as_ref().map_or(0, |symbol| moved_by(symbol, moves)),
                    is_undefined: symbol.is_some_and(|symbol| symbol.is_undefined()),
                });
            }
        }
        match relocations.is_empty() {
            true => Err(self.fixed(
                "it has no relocations: link it with -Wl,--emit-relocs (spin.mk does), and do not strip it",
            )),
            false => Ok(relocations),
        }
    }

    /// Applies a relocation; `None` if it is not within the program.
    fn apply(
        &self,
        relocation: &Relocation,
        uppers: &BTreeMap<u32, &Relocation>,
        memory: &mut Patches<'_>,
        all: &Moves,
    ) -> Result<Option<()>, ProgramError> {
        let Relocation {
            address,
            kind,
            target,
            moves,
            is_undefined,
        } = *relocation;
        let here = all.of(address);
        let unknown = || {
            Err(self.fixed(&format!(
                "what it has at {address:#010x} (relocation {}) cannot be computed again: build it with the options of spin.mk",
                kind.0
            )))
        };
        let value = target.wrapping_add(moves);
        Ok(match kind {
            elf::R_RISCV_NONE | elf::R_RISCV_ALIGN | elf::R_RISCV_RELAX => Some(()),
            // Offsets in a thread's variables.
            elf::R_RISCV_TPREL_HI20
            | elf::R_RISCV_TPREL_LO12_I
            | elf::R_RISCV_TPREL_LO12_S
            | elf::R_RISCV_TPREL_ADD
            | elf::R_RISCV_TPREL_I
            | elf::R_RISCV_TPREL_S => Some(()),
            // Distances within the code. One to an undefined weak function is never used.
            elf::R_RISCV_BRANCH
            | elf::R_RISCV_JAL
            | elf::R_RISCV_CALL
            | elf::R_RISCV_CALL_PLT
            | elf::R_RISCV_RVC_BRANCH
            | elf::R_RISCV_RVC_JUMP
                if moves == here || is_undefined =>
            {
                Some(())
            }
            elf::R_RISCV_GPREL_I | elf::R_RISCV_GPREL_S if moves == all.data => Some(()),
            // The linker takes numbers near 0 from x0 instead of gp, and they stay what they are.
            elf::R_RISCV_GPREL_I | elf::R_RISCV_GPREL_S if moves == 0 && memory.is_from_zero(address) => {
                Some(())
            }
            elf::R_RISCV_RVC_LUI if moves == 0 => Some(()),
            elf::R_RISCV_32 | elf::R_RISCV_SET32 | elf::R_RISCV_ADD32 => {
                memory.change(address, |word| word.wrapping_add(moves))
            }
            elf::R_RISCV_SUB32 => memory.change(address, |word| word.wrapping_sub(moves)),
            elf::R_RISCV_32_PCREL => {
                memory.change(address, |word| word.wrapping_add(moves).wrapping_sub(here))
            }
            elf::R_RISCV_HI20 => memory.change(address, |word| upper(word, value)),
            elf::R_RISCV_LO12_I => memory.change(address, |word| lower(word, value)),
            elf::R_RISCV_LO12_S => memory.change(address, |word| lower_of_store(word, value)),
            elf::R_RISCV_PCREL_HI20 => {
                let distance = value.wrapping_sub(address.wrapping_add(here));
                memory.change(address, |word| upper(word, distance))
            }
            elf::R_RISCV_PCREL_LO12_I | elf::R_RISCV_PCREL_LO12_S => {
                let Some(pair) = uppers.get(&target) else {
                    return unknown();
                };
                let from = pair.address.wrapping_add(all.of(pair.address));
                let distance = pair.target.wrapping_add(pair.moves).wrapping_sub(from);
                memory.change(address, |word| match kind {
                    elf::R_RISCV_PCREL_LO12_I => lower(word, distance),
                    _ => lower_of_store(word, distance),
                })
            }
            _ => return unknown(),
        })
    }
}

/// The symbol of the linker script for the start of data, which is in no section.
const DATA_START: &str = "__spin_l2";

/// How far a symbol moves: with its section, or not at all.
fn moved_by(symbol: &ElfSymbol32<'_, '_>, moves: &Moves) -> u32 {
    match symbol.section_index() {
        Some(_) => moves.of(symbol.address() as u32),
        None if symbol.name() == Ok(DATA_START) => moves.data,
        None => 0,
    }
}

/// Sets bits 31 to 12, rounded so that the lower ones are a signed number.
fn upper(instruction: u32, value: u32) -> u32 {
    value.wrapping_add(0x800) & 0xffff_f000 | instruction & 0xfff
}

/// Sets the immediate of an instruction with two registers.
fn lower(instruction: u32, value: u32) -> u32 {
    value << 20 | instruction & 0x000f_ffff
}

/// Sets that of a store.
fn lower_of_store(instruction: u32, value: u32) -> u32 {
    (value >> 5 & 0x7f) << 25 | (value & 0x1f) << 7 | instruction & 0x01ff_f07f
}
