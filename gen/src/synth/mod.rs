//! Figures of generated blocks: resources and depth, measured with yosys.
//!
//! [`yosys`] synthesises a block for UltraScale+ and returns a [`netlist`], which knows and counts primitives. [`depth`]
//! finds the longest paths in LUT levels. [`report`] compares the figures with those of the public reference design, and
//! records them in the documentation. The method and its limits are described in `docs/results/synthesis.md`.

pub mod depth;
pub mod netlist;
pub mod report;
pub mod yosys;

use self::depth::Depth;
use self::netlist::Resources;
use self::report::Figures;
use self::yosys::{Folder, Mapper};
use crate::report::{print, tell};
use crate::workspace::Workspace;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Synthesises generated blocks with yosys for UltraScale+, and prints resources and depth.
///
/// Resources are counted after `synth_xilinx -family xcup`; depth is the longest path in LUT levels.
/// docs/results/synthesis.md describes the method.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "synth",
    version,
    after_help = "Exit codes: 0 done, 1 deeper than --max-levels, 2 refused"
)]
pub struct Arguments {
    /// Blocks to synthesise [default: all blocks of the directory]
    #[arg(value_name = "BLOCK")]
    blocks: Vec<String>,

    /// Output directory of gen-verilog [default: gen/verilog/reference]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Map with ABC9, which knows the delays of the primitives
    #[arg(long)]
    abc9: bool,

    /// Print the longest path of each kind
    #[arg(long)]
    paths: bool,

    /// Maximum LUT levels between registers: exit with 1 if a block has more
    #[arg(long, value_name = "LEVELS")]
    max_levels: Option<u32>,

    /// Put the figures into docs/results/synthesis.md
    #[arg(long, conflicts_with = "abc9")]
    record: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Result of a run without errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every block is within the limit, or there is none.
    Done,
    /// A block is deeper than `--max-levels`.
    TooDeep,
}

/// Synthesises, and prints the result to standard output; progress goes to standard error.
///
/// # Errors
/// Unknown folders and blocks, a missing or failing yosys, and netlists that cannot be read.
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
        let page = workspace.root().join("docs/results/synthesis.md");
        report::record(&page, &workspace.show(&page), &all)?;
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
        return Folder::open(path, path.display().to_string());
    }
    let workspace = Workspace::find()?;
    let path = workspace.root().join("gen/verilog/reference");
    Folder::open(&path, workspace.show(&path))
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

/// Figures of a block of the reference design; `None` was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// Look-up tables.
    pub lut: Option<u32>,
    /// Flip-flops.
    pub ff: Option<u32>,
    /// Look-up tables as memory.
    pub lutram: Option<u32>,
    /// Half block RAMs.
    pub ramb18: Option<u32>,
    /// Whole block RAMs.
    pub ramb36: Option<u32>,
    /// Longest path in levels.
    pub levels: Option<u32>,
}

/// Returns the measured figures of the block in the reference design, if any.
pub fn reference(block: &str) -> Option<Reference> {
    let nothing = Reference::default();
    let size = |lut, ff| Reference {
        lut: Some(lut),
        ff: Some(ff),
        ..nothing
    };
    Some(match block {
        "pspin_pkt_match" => Reference {
            ramb18: Some(17),
            levels: Some(28),
            ..size(24_186, 4_135)
        },
        "pspin_pkt_alloc" => Reference {
            ramb36: Some(9),
            ..size(665, 215)
        },
        "pspin_ingress_datapath" => Reference {
            lutram: Some(135),
            ramb18: Some(18),
            ramb36: Some(1),
            levels: Some(42),
            ..size(30_255, 9_028)
        },
        "pspin_ingress_dma" => Reference {
            levels: Some(41),
            ..nothing
        },
        "pspin_her_gen" => size(3_649, 2_436),
        "pspin_egress_datapath" => size(375, 853),
        "pspin_hostmem_dma" => Reference {
            lutram: Some(88),
            ..size(1_383, 1_695)
        },
        "pspin_ctrl_regs" => size(10_259, 5_096),
        _ => return None,
    })
}
