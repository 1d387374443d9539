//! Where handlers and runtime spend their clocks: by function, and by line.

use super::symbols::Symbols;
use serde::Serialize;
use spinneret_cluster::{Profile, Spent};
use spinneret_table::{Row, figures};
use std::collections::HashMap;
use std::fmt;

/// Lines that are shown.
const LINES: usize = 25;

/// What a function costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionCost {
    /// Its name; what was inlined into it belongs to it.
    pub function: String,
    /// Clocks of its instructions.
    pub cycles: u64,
    /// Clocks in which its instructions waited for commands, copies or room.
    pub waited: u64,
    /// Its instructions that were executed.
    pub instructions: u64,
    /// Its part of all clocks, waiting included.
    pub percent: f64,
}

/// What a line of the source costs.
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
    /// Its part of all clocks, waiting included.
    pub percent: f64,
    /// Its text, if the file is there.
    pub source: Option<String>,
}

/// Where all clocks went.
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
    /// Sums up what was counted.
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
            // Of a line that is too long for the terminal the beginning says which one it is.
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
