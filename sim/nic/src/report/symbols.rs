//! Names and source lines of a program's instructions.

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, LittleEndian, SectionId};
use object::{Object as _, ObjectSection as _};
use spinneret_cluster::Program;
use spinneret_cluster::rv::Instruction;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::fs::read_to_string;
use std::sync::Arc;

/// Largest source file that is looked into.
const SOURCE_BYTES: u64 = 4 << 20;

/// A place in the source: a function and a line, as far as the file tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The function; of inlined code the one it was written in.
    pub function: Option<String>,
    /// The source file, as the compiler named it.
    pub file: Option<String>,
    /// The line, from 1 on.
    pub line: Option<u32>,
}

/// Shows `function at file:line`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.function.as_deref().unwrap_or("?"))?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " at {file}:{line}"),
            (Some(file), None) => write!(f, " in {file}"),
            _ => Ok(()),
        }
    }
}

/// What a program's file says about its instructions.
pub struct Symbols {
    program: Option<Program>,
    lines: Option<Context<EndianArcSlice<LittleEndian>>>,
    /// Lines of source files that were looked into; none of those that cannot be read.
    sources: RefCell<HashMap<String, Vec<String>>>,
}

impl Symbols {
    /// Reads the debug information, if there is any that can be read.
    pub fn new(program: &Program) -> Self {
        Self {
            lines: lines(program.file()),
            program: Some(program.clone()),
            sources: RefCell::default(),
        }
    }

    /// No names at all.
    pub fn none() -> Self {
        Self {
            program: None,
            lines: None,
            sources: RefCell::default(),
        }
    }

    /// The name of the function at an address and the offset in it, as `name` or `name+0x1c`.
    pub fn name(&self, address: u32) -> String {
        match self
            .program
            .as_ref()
            .and_then(|program| program.function(address))
        {
            Some(function) if function.address == address => function.name.clone(),
            Some(function) => format!("{}+{:#x}", function.name, address - function.address),
            None => format!("{address:#010x}"),
        }
    }

    /// The name of the function that an instruction belongs to.
    pub fn function(&self, address: u32) -> Option<&str> {
        Some(&self.program.as_ref()?.function(address)?.name)
    }

    /// Where an instruction is from: the innermost place first, then those that it was inlined into.
    pub fn places(&self, address: u32) -> Vec<Place> {
        let mut places = Vec::new();
        let Some(lines) = &self.lines else { return places };
        let Ok(mut frames) = lines.find_frames(address.into()).skip_all_loads() else {
            return places;
        };
        while let Ok(Some(frame)) = frames.next() {
            let location = frame.location.as_ref();
            let name = frame.function.as_ref().and_then(|name| name.raw_name().ok());
            places.push(Place {
                function: name.map(|name| name.into_owned()),
                file: location.and_then(|location| location.file).map(str::to_owned),
                // Line 0 is the compiler's way to say that code belongs to no line.
                line: location
                    .and_then(|location| location.line)
                    .filter(|line| *line > 0),
            });
        }
        places
    }

    /// The instruction at an address, if code of the program is there.
    pub fn instruction(&self, address: u32) -> Option<Instruction> {
        let code = self
            .program
            .as_ref()?
            .segments
            .iter()
            .filter(|segment| segment.is_code);
        code.into_iter().find_map(|segment| {
            let offset = address.checked_sub(segment.address)? as usize;
            let bytes = segment.bytes.get(offset..)?;
            let (low, high) = (bytes.get(..2)?, bytes.get(2..4).unwrap_or(&[0; 2]));
            Some(Instruction::decode(u32::from_le_bytes([
                low[0], low[1], high[0], high[1],
            ])))
        })
    }

    /// A line of a source file without the space around it, if the file is there.
    pub fn source(&self, file: &str, line: u32) -> Option<String> {
        let mut sources = self.sources.borrow_mut();
        let lines = sources.entry(file.to_owned()).or_insert_with(|| read(file));
        let text = lines.get((line as usize).checked_sub(1)?)?;
        Some(text.trim().to_owned())
    }
}

impl fmt::Debug for Symbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symbols")
            .field("path", &self.program.as_ref().map(Program::path))
            .field("has_lines", &self.lines.is_some())
            .finish_non_exhaustive()
    }
}

/// A file that is not there, or is something else than source, has no lines.
fn read(file: &str) -> Vec<String> {
    let is_source = std::fs::metadata(file).is_ok_and(|data| data.is_file() && data.len() <= SOURCE_BYTES);
    let text = if is_source {
        read_to_string(file).ok()
    } else {
        None
    };
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The line tables of a file; nothing if it has none, or broken ones.
fn lines(file: &[u8]) -> Option<Context<EndianArcSlice<LittleEndian>>> {
    let elf = object::File::parse(file).ok()?;
    let section = |id: SectionId| {
        let section = elf.section_by_name(id.name());
        let data = section
            .and_then(|section| section.data().ok())
            .unwrap_or_default();
        Ok::<_, gimli::Error>(EndianArcSlice::new(Arc::from(data), LittleEndian))
    };
    Context::from_dwarf(Dwarf::load(section).ok()?).ok()
}
