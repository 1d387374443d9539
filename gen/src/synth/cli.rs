//! The `synth` command, which `./dev synth` runs.

use super::depth::Depth;
use super::record;
use super::report::{self, Figures};
use super::resources::Resources;
use super::yosys::{Folder, Mapper};
use crate::terminal::{print, tell};
use crate::workspace::Workspace;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Synthesises generated blocks with yosys for UltraScale+ and prints what they take.
///
/// Resources are counted after `synth_xilinx -family xcup`; depth is the longest path in LUT
/// levels. docs/synthesis.md describes the method.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "synth",
    version,
    after_help = "Exit codes: 0 done, 1 deeper than --max-levels, 2 refused"
)]
pub struct Arguments {
    /// Blocks to synthesise [default: all of the folder]
    #[arg(value_name = "BLOCK")]
    blocks: Vec<String>,

    /// Folder that gen-verilog wrote [default: gen/verilog/reference]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Map with ABC9, which knows the delays of the primitives
    #[arg(long)]
    abc9: bool,

    /// Show the longest path of each sort
    #[arg(long)]
    paths: bool,

    /// Exit with 1 if a path between registers has more LUT levels than this
    #[arg(long, value_name = "LEVELS")]
    max_levels: Option<u32>,

    /// Put the figures into docs/synthesis.md
    #[arg(long, conflicts_with = "abc9")]
    record: bool,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// How a run that was not refused ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every block is within the limit, or there is none.
    Done,
    /// A block is deeper than `--max-levels`.
    TooDeep,
}

/// Synthesises, and tells on standard output; progress goes to standard error.
///
/// # Errors
/// Unknown folders and blocks, a missing or failing yosys, and netlists that cannot be judged.
pub fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let folder = open_folder(arguments.dir.as_deref())?;
    let mapper = if arguments.abc9 { Mapper::Abc9 } else { Mapper::Abc };
    let mut all = Vec::new();
    for block in folder.select(&arguments.blocks)? {
        tell(format_args!("synthesising {block} ... "));
        let start = Instant::now();
        all.push(measure(&folder, block, mapper)?);
        tell(format_args!("{:.0} s\n", start.elapsed().as_secs_f64()));
    }
    if arguments.record {
        let workspace = Workspace::find()?;
        let page = workspace.root().join("docs/synthesis.md");
        record::write(&page, &workspace.show(&page), &all)?;
    }
    print(&if arguments.json {
        format!("{:#}", report::json(&all))
    } else {
        report::text(&all, arguments.paths)
    })?;
    Ok(judge(&all, arguments.max_levels))
}

/// The folder that was named, or that of the reference configuration.
pub(crate) fn open_folder(named: Option<&Path>) -> anyhow::Result<Folder> {
    if let Some(path) = named {
        return Ok(Folder::open(path, path.display().to_string())?);
    }
    let workspace = Workspace::find()?;
    let path = workspace.root().join("gen/verilog/reference");
    Ok(Folder::open(&path, workspace.show(&path))?)
}

fn measure(folder: &Folder, block: &str, mapper: Mapper) -> anyhow::Result<Figures> {
    let netlist = folder.synthesise(block, mapper)?;
    Ok(Figures {
        block: block.to_owned(),
        resources: Resources::count(&netlist)?,
        depth: Depth::of(&netlist)?,
    })
}

fn judge(all: &[Figures], limit: Option<u32>) -> Outcome {
    let deepest = all
        .iter()
        .filter_map(|figures| figures.depth.between_registers.as_ref());
    match (deepest.map(|path| path.levels).max(), limit) {
        (Some(levels), Some(limit)) if levels > limit => Outcome::TooDeep,
        _ => Outcome::Done,
    }
}
