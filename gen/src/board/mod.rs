//! Generates the files of a board in memory.

mod alchitry_cu;
mod colorlight;
pub mod corundum;
pub mod open_tools;

use crate::error::unknown;
use crate::render::{File, HEADER, LICENCE};
use crate::report::{changes, differences_text};
use crate::store::{Difference, Store};
use anyhow::{anyhow, bail};
use serde_json::{Value, json};
use spinneret_bsp::{self as bsp, Board, Family};
use spinneret_verilog::Library;
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the board of that name.
///
/// # Errors
/// There is no such board; suggests the nearest name.
pub fn find(name: &str) -> anyhow::Result<&'static Board> {
    bsp::find(name).ok_or_else(|| unknown("board", name, bsp::boards().iter().map(|board| board.name)))
}

/// Generates all files of a board; `directory` is where they will be written.
///
/// # Errors
/// The options do not apply to the board, a checkout cannot be used, or the design cannot be generated.
pub fn render(
    board: &'static Board,
    options: &corundum::Options,
    directory: &Path,
) -> anyhow::Result<BoardOutput> {
    match board.family {
        Family::Ice40 | Family::Ecp5 if *options != corundum::Options::default() => bail!(
            "`--corundum`, `--rate`, `--cluster`, `--cluster-mhz`, `--corundum-dir` and `--pspin-dir` cannot be used here, because this \
             board has no Corundum and no cluster: leave them out"
        ),
        Family::Ice40 => alchitry_cu::render(board),
        Family::Ecp5 => colorlight::render(board),
        Family::UltraScalePlus => corundum::render(board, options, directory, &corundum::build_app),
    }
}

/// Name of the top module of a board without Corundum.
fn top(board: &Board) -> String {
    board.name.replace('-', "_")
}

/// Parses a number of MHz with at most six decimals. Returns Hz.
///
/// # Errors
/// The text is not such a number.
pub fn parse_megahertz(text: &str) -> anyhow::Result<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits =
        |text: &str, most| !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    let wrong = || {
        anyhow!(
            "`--cluster-mhz {text}` is not a frequency: write a number of MHz with at most 6 decimals, such as 40 or 62.5"
        )
    };
    if !digits(whole, 6) || !digits(fraction, 6) {
        return Err(wrong());
    }
    // At most twelve digits, which a u64 holds.
    format!("{whole}{fraction:0<6}").parse().map_err(|_| wrong())
}

/// Folder of the modules.
pub const RTL: &str = "rtl";
/// Folder of the declarations of external modules, only for tools that do not have those modules.
const LINT: &str = "lint";

/// Prefix of modules whose names could collide with those of the user's tree.
const PREFIX: &str = "spinneret_";
/// Names that need no prefix: those of FPsPIN's blocks and of what is inside.
const CONTRACT_PREFIXES: [&str; 2] = ["pspin_", "mqnic_"];
/// Attribute of a declaration without content.
const BLACK_BOX: &str = "(* blackbox *)";

/// The modules of a board.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Modules to build, in dependency order; paths are below the output directory.
    pub sources: Vec<File>,
    /// Declarations of modules that come from elsewhere, such as the vendor's primitives, for lint.
    pub declarations: Vec<File>,
}

impl Contents {
    /// An empty library for the modules of a board.
    pub fn library() -> Library {
        Library::with_prefix(PREFIX, &CONTRACT_PREFIXES)
    }

    /// The modules of all designs of a library.
    pub fn of(library: &Library) -> Self {
        let mut contents = Self::default();
        for module in library.modules() {
            contents.add(&module.name, &module.text);
        }
        contents
    }

    /// Adds a module after those that it instantiates.
    pub fn add(&mut self, name: &str, text: &str) {
        if text.contains(BLACK_BOX) {
            self.declarations.push(verilog_file(LINT, name, text));
        } else {
            self.sources.push(verilog_file(RTL, name, text));
        }
    }

    /// The sources in order as the value of a variable in a Makefile, each on a line of its own.
    pub fn in_makefile(&self) -> String {
        let line = |file: &File| format!(" \\\n    {}", file.name);
        self.sources.iter().map(line).collect()
    }

    /// Returns the list of the sources in order; `top` is the top module.
    pub fn file_list(&self, top: &str) -> File {
        let mut text = format!("{HEADER}\n{LICENCE}\n");
        text.push_str("// Dependency order; names are relative to this folder (`verilator -F`).\n");
        text.push_str(&format!("// block: {top}\n"));
        for file in &self.sources {
            text.push_str(&file.name);
            text.push('\n');
        }
        File {
            name: crate::render::FILE_LIST.to_owned(),
            text,
        }
    }
}

/// A Verilog file.
fn verilog_file(folder: &str, name: &str, text: &str) -> File {
    File {
        name: format!("{folder}/{name}.sv"),
        text: format!("{HEADER}\n{LICENCE}\n{}\n", text.trim_end()),
    }
}

/// The output for a board.
#[derive(Clone, Debug)]
pub struct BoardOutput {
    /// The board.
    pub board: &'static Board,
    /// All files.
    pub files: Vec<File>,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
}

/// The report of a run for a board.
#[derive(Debug)]
pub struct BoardReport<'a> {
    /// The output for the board.
    pub output: &'a BoardOutput,
    /// The directory.
    pub store: &'a Store,
    /// Differences before the run, by file name.
    pub differences: BTreeMap<String, Difference>,
}

impl BoardReport<'_> {
    /// After writing: what is where, in one line.
    pub fn headline(&self) -> String {
        let board = self.output.board;
        let changes = changes(&self.differences, self.output.files.len());
        format!(
            "{} ({}) in {}: {changes}\n",
            board.title,
            board.part,
            self.store.shown()
        )
    }

    /// After writing: what is where, and what to know of it.
    pub fn written(&self) -> String {
        let mut text = self.headline();
        for note in &self.output.notes {
            text.push_str(note);
            text.push('\n');
        }
        text
    }

    /// After checking: each difference and the command that repairs them.
    pub fn checked(&self, repair: &str) -> String {
        differences_text(self.store, &self.differences, self.output.files.len(), repair)
    }

    /// The same for programs.
    pub fn json(&self, checked: bool) -> Value {
        let differences: BTreeMap<_, _> = self
            .differences
            .iter()
            .map(|(name, difference)| (name, difference.name()))
            .collect();
        json!({
            "board": self.output.board.name,
            "directory": self.store.shown(),
            "checked_only": checked,
            "up_to_date_before": self.differences.is_empty(),
            "differences_before": differences,
            "files": self.output.files.iter().map(|file| &file.name).collect::<Vec<_>>(),
            "notes": self.output.notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::parse_megahertz;

    #[test]
    fn reads_whole_and_decimal_frequencies() {
        for (text, hz) in [
            ("40", 40_000_000),
            ("62.5", 62_500_000),
            ("0.000001", 1),
            ("333.333333", 333_333_333),
        ] {
            assert_eq!(parse_megahertz(text).unwrap(), hz);
        }
        for wrong in [
            "",
            ".",
            "40.",
            ".5",
            "-1",
            "4e1",
            "40 MHz",
            "1.0000001",
            "1234567",
            "٤",
        ] {
            assert!(parse_megahertz(wrong).is_err(), "{wrong}");
        }
    }
}
