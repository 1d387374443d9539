//! Designs for the Alchitry Cu: sources, pins and a Makefile for the open tools.

use super::{BoardOutput, Contents, RTL, find};
use crate::error::backend;
use crate::render::{File, HASH_HEADER};
use crate::report::print;
use crate::store::Store;
use crate::workspace;
use crate::workspace::Workspace;
use anyhow::{Context as _, bail};
use clap::Parser;
use serde_json::Value;
use spinneret_bsp::alchitry_cu::{AlchitryCu, CLOCK_HZ, UART_BAUD};
use spinneret_bsp::alchitry_cu_hpu::{self, AlchitryCuHpu};
use spinneret_bsp::{Board, Family};
use spinneret_verilog::TopOptions;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Name of the top module.
fn top(board: &Board) -> String {
    board.name.replace('-', "_")
}

/// The design is a pipeline.
fn has_pipeline(board: &Board) -> bool {
    board.name == alchitry_cu_hpu::BOARD.name
}

/// Frequency that place and route has to reach, in MHz.
pub const CLOCK_MHZ: u64 = CLOCK_HZ / 1_000_000;
/// Report of place and route, below the output directory.
pub const REPORT: &str = "build/report.json";

/// All files of the board.
///
/// # Errors
/// The design cannot be generated.
pub fn render(board: &'static Board) -> anyhow::Result<BoardOutput> {
    let mut library = Contents::library();
    let (top, options) = (top(board), TopOptions::default());
    let added = if has_pipeline(board) {
        library.add(&AlchitryCuHpu::new()?, &top, &options)
    } else {
        library.add(&AlchitryCu::new()?, &top, &options)
    };
    added.map_err(backend(&top))?;
    let contents = Contents::of(&library);
    let mut files = vec![contents.file_list(&top), pins(board), makefile(board, &contents)];
    files.extend(contents.sources);
    files.extend(contents.declarations);
    Ok(BoardOutput {
        board,
        files,
        notes: vec![
            format!("clock {CLOCK_MHZ} MHz, serial line {UART_BAUD} bits a second"),
            format!(
                "`make` in this directory builds build/{top}.bin; `make program` loads it into the board's flash"
            ),
        ],
    })
}

fn pins(board: &Board) -> File {
    let mut text = format!("{HASH_HEADER}\n");
    for pin in (board.pins)() {
        text.push_str(&format!("set_io {} {}\n", pin.signal, pin.ball));
    }
    File {
        name: format!("constraints/{}.pcf", top(board)),
        text,
    }
}

/// Commands of yosys for memories: the part has no distributed RAM, so those that ask for it become block RAM or registers.
/// They are there when modules with parameters are instantiated.
const MEMORIES: &str = "setattr -unset ram_style m:*";
/// The same for a pipeline, which needs all block RAMs. A word that is written is read in the same clock only where the read is
/// not used, so no logic has to see to that.
const MEMORIES_OF_HPU: &str = "proc; flatten; setattr -unset ram_style m:* a:ram_style=distributed %i; \
    setattr -set no_rw_check 1 m:*";

/// Builds the bitstream. A step that fails leaves no file that the next step would take for good.
fn makefile(board: &Board, contents: &Contents) -> File {
    let top = top(board);
    let memories = if has_pipeline(board) {
        MEMORIES_OF_HPU
    } else {
        MEMORIES
    };
    let sources: String = contents
        .sources
        .iter()
        .map(|file| format!(" \\\n    {}", file.name))
        .collect();
    let text = format!(
        "{HASH_HEADER}
# Synthesis, place and route, and bitstream by yosys, nextpnr-ice40 and icepack. nextpnr fails if the design does
# not reach the frequency; SEED chooses another placement.
TOP := {top}
FREQUENCY_MHZ := {CLOCK_MHZ}
SEED := 1
BUILD := build
SOURCES :={sources}

.DELETE_ON_ERROR:
.PHONY: all program clean
all: $(BUILD)/$(TOP).bin

# The part has no distributed RAM.
$(BUILD)/$(TOP).json: $(SOURCES) Makefile
\tmkdir -p $(BUILD)
\tyosys -q -l $(BUILD)/yosys.log -p 'read_verilog -sv $(SOURCES); hierarchy -top $(TOP); {memories}' \\
\t\t-p 'synth_ice40 -top $(TOP) -json $@; check -assert'

$(BUILD)/$(TOP).asc: $(BUILD)/$(TOP).json constraints/$(TOP).pcf
\tnextpnr-ice40 -q --hx8k --package cb132 --freq $(FREQUENCY_MHZ) --seed $(SEED) --json $< \\
\t\t--pcf constraints/$(TOP).pcf --report $(BUILD)/report.json --log $(BUILD)/nextpnr.log --asc $@

$(BUILD)/$(TOP).bin: $(BUILD)/$(TOP).asc
\ticepack $< $@

program: all
\ticeprog $(BUILD)/$(TOP).bin

clean:
\trm -rf $(BUILD)
"
    );
    debug_assert!(contents.sources.iter().all(|file| file.name.starts_with(RTL)));
    File {
        name: "Makefile".to_owned(),
        text,
    }
}

/// Builds the bitstream of a board with open tools: generates, synthesises, places, routes, checks the timing and packs.
///
/// Everything is written to target/boards/BOARD.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "board",
    version,
    after_help = "Exit codes: 0 done, 2 a step failed or was refused"
)]
pub struct Arguments {
    /// Name of the board
    #[arg(value_name = "BOARD")]
    board: String,

    /// Put the figures into docs/boards/BOARD.md
    #[arg(long)]
    record: bool,
}

/// Programs that the build needs.
const TOOLS: [&str; 4] = ["make", "yosys", "nextpnr-ice40", "icepack"];

/// Builds, and tells on standard output what the design takes and how fast it is.
///
/// # Errors
/// An unknown board or one without open tools, a missing tool, a step that fails, timing that is not met.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let board = find(&arguments.board)?;
    if board.family != Family::Ice40 {
        bail!(
            "{} ({}) is built by its vendor's tool: docs/building-a-bitstream.md says how",
            board.name,
            board.part
        );
    }
    check_tools()?;
    let workspace = Workspace::find()?;
    let directory = workspace.root().join("target/boards").join(board.name);
    let output = render(board)?;
    Store::new(directory.clone(), workspace.show(&directory)).write(&output.files)?;
    make(&directory, &workspace.show(&directory))?;
    let figures = read_figures(&directory.join(REPORT))?;
    print(&summary(&output, &figures, &workspace.show(&directory)))?;
    if arguments.record {
        let path = workspace
            .root()
            .join("docs/boards")
            .join(format!("{}.md", board.name));
        record(board, &path, &workspace.show(&path), &figures)?;
    }
    Ok(())
}

fn check_tools() -> anyhow::Result<()> {
    let path = env::var_os("PATH").unwrap_or_default();
    let is_there = |tool: &str| env::split_paths(&path).any(|folder| folder.join(tool).is_file());
    match TOOLS.into_iter().find(|tool| !is_there(tool)) {
        Some(tool) => bail!("`{tool}` is not installed: `./dev setup` installs it"),
        None => Ok(()),
    }
}

fn make(directory: &Path, shown: &str) -> anyhow::Result<()> {
    let status = Command::new("make")
        .arg("--silent")
        .current_dir(directory)
        .status()
        .context("cannot run make")?;
    if status.success() {
        return Ok(());
    }
    bail!("the build in {shown} failed; its last lines above and {shown}/build/*.log say why")
}

/// Figures of place and route.
#[derive(Clone, Debug, PartialEq)]
struct Figures {
    /// Kinds of resources: name, used, available.
    resources: Vec<(String, u64, u64)>,
    /// The lowest frequency of any clock, in MHz.
    achieved_mhz: f64,
}

fn read_figures(path: &Path) -> anyhow::Result<Figures> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse_figures(&text).with_context(|| format!("{} is not a report of nextpnr", path.display()))
}

fn parse_figures(text: &str) -> Option<Figures> {
    let report: Value = serde_json::from_str(text).ok()?;
    let clocks = report.get("fmax")?.as_object()?;
    let achieved = clocks
        .values()
        .filter_map(|clock| clock.get("achieved")?.as_f64());
    let achieved_mhz = achieved.min_by(f64::total_cmp)?;
    let mut resources = Vec::new();
    for (kind, figures) in report.get("utilization")?.as_object()? {
        let number = |name: &str| figures.get(name)?.as_u64();
        resources.push((kind.clone(), number("used")?, number("available")?));
    }
    Some(Figures {
        resources,
        achieved_mhz,
    })
}

/// Name of a kind of resource in reports; `None` if it is not reported.
fn resource_name(kind: &str) -> Option<&'static str> {
    match kind {
        "ICESTORM_LC" => Some("logic cells (LUT4 and flip-flop)"),
        "ICESTORM_RAM" => Some("block RAMs (4 kbit)"),
        "ICESTORM_PLL" => Some("PLLs"),
        "SB_IO" => Some("pins"),
        _ => None,
    }
}

fn rows(figures: &Figures) -> Vec<[String; 2]> {
    let resources = figures.resources.iter().filter_map(|(kind, used, available)| {
        let name = resource_name(kind)?;
        Some([name.to_owned(), format!("{used} of {available}")])
    });
    let clock = [
        "clock after place and route".to_owned(),
        format!("{:.1} MHz, needed {CLOCK_MHZ} MHz", figures.achieved_mhz),
    ];
    resources.chain([clock]).collect()
}

fn summary(output: &BoardOutput, figures: &Figures, shown: &str) -> String {
    let mut text = format!("{} ({})\n", output.board.title, output.board.part);
    for [what, value] in rows(figures) {
        let _ = writeln!(text, "  {what}: {value}");
    }
    let _ = write!(text, "  bitstream: {shown}/build/{}.bin", top(output.board));
    text
}

fn table(figures: &Figures) -> String {
    let mut text = "| what | used |\n|---|---|\n".to_owned();
    for [what, value] in rows(figures) {
        let _ = writeln!(text, "| {what} | {value} |");
    }
    text
}

fn record(board: &Board, path: &Path, shown: &str, figures: &Figures) -> anyhow::Result<()> {
    let old = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let begin = format!(
        "<!-- figures: begin; written by `./dev board {} --record` -->",
        board.name
    );
    let marks = [&begin, "<!-- figures: end -->"];
    let new = workspace::between(&old, marks, &table(figures));
    let new = new.with_context(|| workspace::no_marks(shown, marks))?;
    workspace::replace(path, &new).with_context(|| format!("cannot write {shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
        "fmax": { "a": { "achieved": 70.5, "constraint": 40 }, "b": { "achieved": 62.83, "constraint": 40 } },
        "utilization": { "ICESTORM_LC": { "available": 7680, "used": 4380 }, "SB_GB": { "available": 8, "used": 7 } }
    }"#;

    #[test]
    fn reads_what_place_and_route_reports() {
        let figures = parse_figures(TEXT).unwrap();
        assert_eq!(
            table(&figures),
            "| what | used |\n|---|---|\n| logic cells (LUT4 and flip-flop) | 4380 of 7680 |\n\
             | clock after place and route | 62.8 MHz, needed 40 MHz |\n"
        );
        for wrong in ["", "{}", r#"{"fmax": {}, "utilization": {}}"#] {
            assert_eq!(parse_figures(wrong), None, "{wrong}");
        }
    }
}
