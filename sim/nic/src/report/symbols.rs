//! Names and source lines of a program's instructions.

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, LittleEndian, SectionId};
use object::{Object as _, ObjectSection as _};
use serde::Serialize;
use spinneret_cluster::rv::Instruction;
use spinneret_cluster::{Profile, Program, Spent};
use spinneret_table::{Row, figures};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::fs::read_to_string;
use std::ops::Range;
use std::sync::Arc;

/// Largest source file that is read.
const SOURCE_BYTES: u64 = 4 << 20;

/// A place in the source: function and line, if known.
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

/// Symbols and debug information of the programs on the NIC.
#[derive(Default)]
pub struct Symbols {
    programs: Vec<Known>,
    /// Cached lines of source files; empty for files that cannot be read.
    sources: RefCell<HashMap<String, Vec<String>>>,
}

/// A program, and its line tables.
struct Known {
    program: Program,
    lines: Option<Context<EndianArcSlice<LittleEndian>>>,
}

impl Known {
    fn code(&self) -> impl Iterator<Item = Range<u32>> {
        let code = self.program.segments.iter().filter(|segment| segment.is_code);
        code.map(|segment| segment.address..segment.address + segment.bytes.len() as u32)
    }
}

impl Symbols {
    /// Reads the debug information, if possible.
    pub fn new(program: &Program) -> Self {
        let mut symbols = Self::none();
        symbols.add(program);
        symbols
    }

    /// No names at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a program; those whose code it overwrites are forgotten.
    pub fn add(&mut self, program: &Program) {
        let known = Known {
            lines: lines(program.file()),
            program: program.clone(),
        };
        let overlaps = |a: &Range<u32>, b: &Range<u32>| a.start < b.end && b.start < a.end;
        let is_over = |other: &Known| {
            known
                .code()
                .any(|code| other.code().any(|old| overlaps(&code, &old)))
        };
        self.programs.retain(|other| !is_over(other));
        self.programs.push(known);
    }

    /// The program that has code at an address.
    fn at(&self, address: u32) -> Option<&Known> {
        let has_code = |known: &&Known| known.code().any(|code| code.contains(&address));
        self.programs.iter().find(has_code)
    }

    /// The name of the function at an address and the offset in it, as `name` or `name+0x1c`.
    pub fn name(&self, address: u32) -> String {
        match self.at(address).and_then(|known| known.program.function(address)) {
            Some(function) if function.address == address => function.name.clone(),
            Some(function) => format!("{}+{:#x}", function.name, address - function.address),
            None => format!("{address:#010x}"),
        }
    }

    /// The name of the function that an instruction belongs to.
    pub fn function(&self, address: u32) -> Option<&str> {
        Some(&self.at(address)?.program.function(address)?.name)
    }

    /// The source places of an instruction: the innermost first, then those that it was inlined into.
    pub fn places(&self, address: u32) -> Vec<Place> {
        let mut places = Vec::new();
        let Some(Known {
            program,
            lines: Some(lines),
        }) = self.at(address)
        else {
            return places;
        };
        let in_file = address.wrapping_sub(program.moved);
        let Ok(mut frames) = lines.find_frames(in_file.into()).skip_all_loads() else {
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

    /// The instruction at an address, if code of a program is there.
    pub fn instruction(&self, address: u32) -> Option<Instruction> {
        let mut code = self
            .at(address)?
            .program
            .segments
            .iter()
            .filter(|segment| segment.is_code);
        code.find_map(|segment| {
            let offset = address.checked_sub(segment.address)? as usize;
            let bytes = segment.bytes.get(offset..)?;
            let (low, high) = (bytes.get(..2)?, bytes.get(2..4).unwrap_or(&[0; 2]));
            Some(Instruction::decode(u32::from_le_bytes([
                low[0], low[1], high[0], high[1],
            ])))
        })
    }

    /// A line of a source file, trimmed, if the file exists.
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
            .field(
                "paths",
                &self
                    .programs
                    .iter()
                    .map(|known| known.program.path())
                    .collect::<Vec<_>>(),
            )
            .finish_non_exhaustive()
    }
}

/// A missing file, or one that is no source, has no lines.
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

/// Lines that are shown.
const LINES: usize = 25;

/// Cost of a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionCost {
    /// Its name; inlined code belongs to it.
    pub function: String,
    /// Clocks of its instructions.
    pub cycles: u64,
    /// Clocks in which its instructions waited for commands, copies or room.
    pub waited: u64,
    /// Its instructions that were executed.
    pub instructions: u64,
    /// Its share of all clocks, waiting included.
    pub percent: f64,
}

/// Cost of a source line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineCost {
    /// The file, as the compiler named it.
    pub file: String,
    /// The line, from 1 on.
    pub line: u32,
    /// Clocks of its instructions, wherever they were inlined.
    pub cycles: u64,
    /// Clocks in which they waited.
    pub waited: u64,
    /// Its share of all clocks, waiting included.
    pub percent: f64,
    /// Its text, if the file is there.
    pub source: Option<String>,
}

/// The profile of all HPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProfileReport {
    /// Clocks of all HPUs in which instructions were executed or waited. HPUs that wait for work are not in it.
    pub cycles: u64,
    /// Clocks of instructions that no function holds.
    pub unknown: u64,
    /// All functions, the most expensive first.
    pub functions: Vec<FunctionCost>,
    /// The most expensive lines.
    pub lines: Vec<LineCost>,
}

impl ProfileReport {
    /// Builds the profile from the counts.
    pub fn new(profile: &Profile, symbols: &Symbols) -> Self {
        let mut functions: HashMap<&str, Spent> = HashMap::new();
        let mut lines: HashMap<(String, u32), Spent> = HashMap::new();
        let (mut cycles, mut unknown) = (0, 0);
        for (pc, spent) in profile.spent() {
            cycles += all(&spent);
            match symbols.function(pc) {
                Some(function) => add(functions.entry(function).or_default(), &spent),
                None => unknown += all(&spent),
            }
            let place = symbols.places(pc).into_iter().next();
            if let Some((file, line)) = place.and_then(|place| Some((place.file?, place.line?))) {
                add(lines.entry((file, line)).or_default(), &spent);
            }
        }
        let percent = |spent: &Spent| 100.0 * all(spent) as f64 / cycles.max(1) as f64;
        let mut functions: Vec<_> = functions.into_iter().collect();
        functions.sort_by(|(a, x), (b, y)| all(y).cmp(&all(x)).then(a.cmp(b)));
        let mut lines: Vec<_> = lines.into_iter().collect();
        lines.sort_by(|(a, x), (b, y)| all(y).cmp(&all(x)).then(a.cmp(b)));
        let function = |(name, spent): (&str, Spent)| FunctionCost {
            function: name.to_owned(),
            cycles: spent.clocks,
            waited: spent.waited,
            instructions: spent.times,
            percent: percent(&spent),
        };
        let line = |((file, line), spent): ((String, u32), Spent)| LineCost {
            source: symbols.source(&file, line),
            file,
            line,
            cycles: spent.clocks,
            waited: spent.waited,
            percent: percent(&spent),
        };
        Self {
            cycles,
            unknown,
            functions: functions.into_iter().map(function).collect(),
            lines: lines.into_iter().take(LINES).map(line).collect(),
        }
    }
}

fn all(spent: &Spent) -> u64 {
    spent.clocks + spent.waited
}

fn add(sum: &mut Spent, spent: &Spent) {
    sum.times += spent.times;
    sum.clocks += spent.clocks;
    sum.waited += spent.waited;
}

/// Shows two tables.
impl fmt::Display for ProfileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = figures(["function", "cycles", "waited", "instructions", "%"], &[0]);
        for cost in &self.functions {
            let (cycles, waited) = (cost.cycles.to_string(), cost.waited.to_string());
            let (times, percent) = (cost.instructions.to_string(), format!("{:.1}", cost.percent));
            table.add_row([cost.function.clone(), cycles, waited, times, percent]);
        }
        writeln!(f, "\n{table}")?;
        if self.unknown > 0 {
            writeln!(
                f,
                "{} cycles were in no function that the program names",
                self.unknown
            )?;
        }
        if self.lines.is_empty() {
            return writeln!(
                f,
                "the program has no line numbers: compile it with -g to see them"
            );
        }
        writeln!(f)?;
        let mut table = figures(["line", "cycles", "waited", "%", "source"], &[0, 4]);
        for cost in &self.lines {
            let place = format!("{}:{}", short(&cost.file), cost.line);
            let (cycles, waited) = (cost.cycles.to_string(), cost.waited.to_string());
            let source = cost.source.as_deref().unwrap_or("(no file)");
            let source: String = source.chars().take(70).collect();
            let percent = format!("{:.1}", cost.percent);
            let mut row = Row::from([place, cycles, waited, percent, source]);
            // Lines that are too long for the terminal are truncated at the end.
            row.max_height(1);
            table.add_row(row);
        }
        writeln!(f, "{table}")
    }
}

/// The last two parts of a path.
fn short(file: &str) -> &str {
    let start = file.rmatch_indices('/').nth(1);
    start.map_or(file, |(place, _)| &file[place + 1..])
}
