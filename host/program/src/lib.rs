//! Programs with handlers, as ELF files.
//!
//! [`Program`] reads an ELF file: segments, handlers by name, variables by name. [`Program::moved`] is the same program at other
//! addresses, next to others.

#![forbid(unsafe_code)]

mod relocate;

pub use relocate::Layout;

use object::elf::{EF_RISCV_RVE, EM_RISCV, ET_EXEC, FileHeader32, PF_X, PT_LOAD};
use object::read::elf::{ElfFile32, FileHeader as _, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};
use spinneret_regmap::pspin::{HANDLER_BASE, HANDLER_BYTES, PROGRAM_BASE, PROGRAM_BYTES};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The section after which handler memory begins.
const HANDLER_DATA: &str = ".l2_handler_data";
/// The section that describes stubs of typed calls.
const SERVICES: &str = ".spin_services";
/// The variable for answers of the host and counters of handlers.
const HOST_DATA: &str = "__host_data";

/// Maximum size of a file: programs have 1 MiB of memory, and debug information is several times larger.
const MOST_BYTES: u64 = 64 << 20;

/// Why a file is not a program for the cluster.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It cannot be read.
    #[error("{0} cannot be read: {1}")]
    Read(PathBuf, #[source] std::io::Error),
    /// It is too large to be handlers.
    #[error("{0} is larger than {most} MiB, which handlers are not, even with debug information", most = MOST_BYTES >> 20)]
    TooLarge(PathBuf),
    /// It is not a valid ELF file.
    #[error("{0} is no ELF file that can be read: {1}")]
    Broken(PathBuf, String),
    /// It is for something else.
    #[error("{0} is {1}; handlers are executables for RISC-V with 32 bits (-march=rv32imac -mabi=ilp32)")]
    Foreign(PathBuf, String),
    /// A segment is outside of memory, or does not fit.
    #[error(
        "{0}: {2} bytes at {1:#010x} do not fit: there are {PROGRAM_BYTES} bytes of program memory at \
         {PROGRAM_BASE:#010x} and {HANDLER_BYTES} bytes of handler memory at {HANDLER_BASE:#010x}"
    )]
    DoesNotFit(PathBuf, u32, u64),
    /// The entry point is not in a segment of code.
    #[error("{0} has no code at its entry point {1:#010x}: link it with the runtime (spin.mk does)")]
    NoEntry(PathBuf, u32),
    /// It can only be where it was linked.
    #[error("{0} cannot be loaded next to other programs: {1}")]
    Fixed(PathBuf, String),
    /// It has handlers of several names.
    #[error("{0} has handlers of several names, {names}: name the ruleset, or else --handler, after one of them", names = list(.1))]
    Unclear(PathBuf, Vec<String>),
    /// It has no handlers.
    #[error("{0} has no handlers: write functions whose names end in `_hh`, `_ph` or `_th`")]
    NoHandlers(PathBuf),
    /// There is no handler of that name.
    #[error("{0} has no handler `{1}`; it has {names}", names = list(.2))]
    NoHandler(PathBuf, String, Vec<String>),
}

fn list(names: &[String]) -> String {
    match names {
        [] => "no function whose name ends in `_hh`, `_ph` or `_th`".to_owned(),
        names => names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// A segment to load into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where.
    pub address: u32,
    /// The bytes of the file, padded with zeros.
    pub bytes: Vec<u8>,
    /// It is code.
    pub is_code: bool,
}

impl Segment {
    fn has_code_at(&self, address: u32) -> bool {
        let offset = address.wrapping_sub(self.address);
        self.is_code && (offset as usize) < self.bytes.len()
    }
}

/// A function, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its first instruction.
    pub address: u32,
    /// Its bytes; 0 if the file does not say.
    pub size: u32,
    /// Its name.
    pub name: String,
}

/// A variable with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its first byte.
    pub address: u32,
    /// Its bytes.
    pub size: u32,
}

/// A program for all HPUs.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    /// Segments to load.
    pub segments: Vec<Segment>,
    /// Entry point.
    pub entry: u32,
    /// All functions, by address.
    pub functions: Vec<Function>,
    /// First byte of L2 handler memory after the program, for its contexts.
    pub free_memory: u32,
    /// Address of `__host_data`, if handlers use it.
    pub host_data: Option<u32>,
    /// Variables in L2, by name.
    pub variables: BTreeMap<String, Variable>,
    /// Description of stubs of typed calls, for `spinneret-rpc`.
    pub services: Vec<u8>,
    file: Vec<u8>,
    /// How far its code is from where the file has it, modulo 2^32.
    pub moved: u32,
}

impl Program {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no program for the cluster.
    pub fn open(path: &Path) -> Result<Self, ProgramError> {
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
        read.map_err(|source| ProgramError::Read(path.to_owned(), source))?;
        if bytes.len() as u64 > MOST_BYTES {
            let path = path.to_owned();
            return Err(ProgramError::TooLarge(path));
        }
        Self::parse(path, bytes)
    }

    /// Parses the bytes of a file; the path is for messages.
    ///
    /// # Errors
    /// If it is no program for the cluster.
    pub fn parse(path: &Path, file: Vec<u8>) -> Result<Self, ProgramError> {
        let broken = |reason: object::Error| ProgramError::Broken(path.to_owned(), reason.to_string());
        check_kind(path, &file)?;
        let elf = ElfFile32::<Endianness>::parse(&*file).map_err(broken)?;
        let segments = segments(path, &elf)?;
        let entry = elf.entry() as u32;
        if !segments.iter().any(|segment| segment.has_code_at(entry)) {
            let path = path.to_owned();
            return Err(ProgramError::NoEntry(path, entry));
        }
        let functions = functions(&elf);
        let variables = variables(&elf);
        let mut program = Self {
            path: path.to_owned(),
            entry,
            free_memory: free_memory(&elf, &segments),
            host_data: variables.get(HOST_DATA).map(|variable| variable.address),
            variables,
            services: services(&elf).map_err(broken)?,
            segments,
            functions,
            file: Vec::new(),
            moved: 0,
        };
        program.file = file;
        Ok(program)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's bytes, for who looks for source lines.
    pub fn file(&self) -> &[u8] {
        &self.file
    }

    /// The handlers of that stage, by the name before the suffix.
    pub fn handlers(&self, stage: Stage) -> BTreeMap<&str, Code> {
        self.functions
            .iter()
            .filter_map(|Function { address, size, name }| {
                let (address, size) = (*address, *size);
                Some((name.strip_suffix(stage.suffix())?, Code { address, size }))
            })
            .collect()
    }

    /// The handlers whose names begin with `name`: header, payload and completion; those that are not there are 0.
    ///
    /// # Errors
    /// If there is none at all of that name.
    pub fn find(&self, name: &str) -> Result<[Code; 3], ProgramError> {
        let codes = Stage::ALL.map(|stage| self.handlers(stage).get(name).copied().unwrap_or_default());
        match codes.iter().any(|code| code.exists()) {
            true => Ok(codes),
            false => Err(ProgramError::NoHandler(
                self.path.clone(),
                name.to_owned(),
                self.handler_names(),
            )),
        }
    }

    /// The only name before `_hh`, `_ph` and `_th`, if there is one.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn only_name(&self) -> Result<&str, ProgramError> {
        let names: BTreeMap<&str, ()> = Stage::ALL
            .into_iter()
            .flat_map(|stage| self.handlers(stage).into_keys())
            .map(|name| (name, ()))
            .collect();
        match names.keys().collect::<Vec<_>>()[..] {
            [name] => Ok(name),
            [] => Err(ProgramError::NoHandlers(self.path.clone())),
            _ => Err(ProgramError::Unclear(self.path.clone(), self.handler_names())),
        }
    }

    fn handler_names(&self) -> Vec<String> {
        let is_handler = |function: &&Function| {
            Stage::ALL
                .iter()
                .any(|stage| function.name.ends_with(stage.suffix()))
        };
        self.functions
            .iter()
            .filter(is_handler)
            .map(|function| function.name.clone())
            .collect()
    }

    /// The function that an instruction belongs to.
    pub fn function(&self, address: u32) -> Option<&Function> {
        let behind = self
            .functions
            .partition_point(|function| function.address <= address);
        let function = self.functions.get(behind.checked_sub(1)?)?;
        let inside = address - function.address < function.size || function.size == 0;
        inside.then_some(function)
    }
}

/// Whether it is for the cluster at all.
fn check_kind(path: &Path, file: &[u8]) -> Result<(), ProgramError> {
    let foreign = |found: String| ProgramError::Foreign(path.to_owned(), found);
    match object::FileKind::parse(file) {
        Ok(object::FileKind::Elf32) => {}
        Ok(object::FileKind::Elf64) => return Err(foreign("an ELF file with 64 bits".to_owned())),
        Ok(kind) => return Err(foreign(format!("a file of the kind {kind:?}"))),
        Err(error) => {
            return Err(ProgramError::Broken(path.to_owned(), error.to_string()));
        }
    }
    let broken = |error: object::Error| ProgramError::Broken(path.to_owned(), error.to_string());
    let header = FileHeader32::<Endianness>::parse(file).map_err(broken)?;
    let endian = header.endian().map_err(broken)?;
    let machine = header.e_machine(endian);
    if machine != EM_RISCV {
        return Err(foreign(format!("an ELF file for machine {machine:?}")));
    }
    if endian != Endianness::Little || header.e_flags(endian).0 & EF_RISCV_RVE.0 != 0 {
        return Err(foreign("an ELF file for another kind of RISC-V".to_owned()));
    }
    if header.e_type(endian) != ET_EXEC {
        return Err(foreign("an ELF file that is not linked".to_owned()));
    }
    Ok(())
}

fn segments(path: &Path, elf: &ElfFile32<'_>) -> Result<Vec<Segment>, ProgramError> {
    let endian = elf.endian();
    let mut segments = Vec::new();
    for header in elf.elf_program_headers() {
        if header.p_type(endian) != PT_LOAD || header.p_memsz(endian) == 0 {
            continue;
        }
        // Data is loaded to where it is kept, not to where it is used, if these differ.
        let address = header.p_paddr(endian);
        let size = u64::from(header.p_memsz(endian));
        let fits = |base: u32, bytes: u32| {
            let offset = address.wrapping_sub(base);
            offset < bytes && size <= u64::from(bytes - offset)
        };
        if !fits(PROGRAM_BASE, PROGRAM_BYTES) && !fits(HANDLER_BASE, HANDLER_BYTES) {
            return Err(ProgramError::DoesNotFit(path.to_owned(), address, size));
        }
        let data = header.data(endian, elf.data()).map_err(|()| {
            ProgramError::Broken(
                path.to_owned(),
                format!("its segment at {address:#010x} lies beyond the end of the file"),
            )
        })?;
        let mut bytes = data.to_vec();
        bytes.resize(size as usize, 0);
        segments.push(Segment {
            address,
            bytes,
            is_code: header.p_flags(endian).0 & PF_X.0 != 0,
        });
    }
    Ok(segments)
}

fn functions(elf: &ElfFile32<'_>) -> Vec<Function> {
    let mut functions: Vec<Function> = elf
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
        .filter_map(|symbol| {
            Some(Function {
                address: symbol.address() as u32,
                size: symbol.size() as u32,
                name: symbol.name().ok()?.to_owned(),
            })
        })
        .filter(|function| !function.name.is_empty())
        .collect();
    functions.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    functions
}

/// The description of stubs, if there are any.
fn services(elf: &ElfFile32<'_>) -> object::Result<Vec<u8>> {
    let section = elf.section_by_name(SERVICES);
    section.map_or(Ok(Vec::new()), |section| section.data().map(<[u8]>::to_vec))
}

/// Variables by name; thread-local variables have no address.
fn variables(elf: &ElfFile32<'_>) -> BTreeMap<String, Variable> {
    let is_there =
        |variable: &Variable| (HANDLER_BASE..HANDLER_BASE + HANDLER_BYTES).contains(&variable.address);
    elf.symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.is_definition())
        .filter_map(|symbol| {
            let variable = Variable {
                address: symbol.address() as u32,
                size: symbol.size() as u32,
            };
            Some((symbol.name().ok()?.to_owned(), variable))
        })
        .filter(|(name, variable)| !name.is_empty() && is_there(variable))
        .collect()
}

/// Behind the section of the handlers' data and all else that is loaded to handler memory; a multiple of 64.
fn free_memory(elf: &ElfFile32<'_>, segments: &[Segment]) -> u32 {
    let section = elf
        .section_by_name(HANDLER_DATA)
        .map(|section| section.address().saturating_add(section.size()));
    let loaded = segments
        .iter()
        .filter(|segment| segment.address < PROGRAM_BASE)
        .map(|segment| u64::from(segment.address) + segment.bytes.len() as u64);
    let end = section.into_iter().chain(loaded).max();
    let limits = [HANDLER_BASE, HANDLER_BASE + HANDLER_BYTES].map(u64::from);
    end.unwrap_or(limits[0])
        .clamp(limits[0], limits[1])
        .next_multiple_of(64) as u32
}

// The handlers of a message.

/// Code of a handler; address 0 says that there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Address of its first instruction.
    pub address: u32,
    /// Bytes.
    pub size: u32,
}

impl Code {
    /// Whether there is a handler.
    pub fn exists(self) -> bool {
        self.address != 0
    }
}

/// The handler after which those of a context are named, header, payload and tail: that of payloads, or else the first.
pub fn main_handler(handlers: [Code; 3]) -> Option<u32> {
    let [header, payload, tail] = handlers;
    let mut there = [payload, header, tail].into_iter().filter(|code| code.exists());
    there.next().map(|code| code.address)
}

/// Which handler of a message runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The header handler, before all others of the message and alone.
    Header,
    /// The payload handler.
    Payload,
    /// The completion handler, behind all others of the message and alone.
    Tail,
}

impl Stage {
    /// The stages, in the order in which they run.
    pub const ALL: [Self; 3] = [Self::Header, Self::Payload, Self::Tail];

    /// How a symbol of such a handler ends.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Header => "_hh",
            Self::Payload => "_ph",
            Self::Tail => "_th",
        }
    }
}
