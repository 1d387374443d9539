//! The paper's Table III of a board: resources, timing and time of the whole design and of its parts.
//!
//! [`vivado`] reads the reports that a build leaves. Without them [`run`] synthesises the parts with yosys, and labels them: yosys counts
//! other LUTs than Vivado, and knows neither Corundum nor timing. [`output`] prints either.

pub mod output;
pub mod vivado;

use crate::report::{print, tell};
use crate::synth::netlist::Resources;
use crate::synth::yosys::{Folder, Mapper};
use crate::workspace::Workspace;
use anyhow::{Context as _, bail};
use clap::Parser;
use output::{Part, Source, Table};
use spinneret_hdl::app::corundum::CLUSTER;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use vivado::{Row, Step, Timing, Utilization};

/// Prints the paper's Table III of a board: LUT, flip-flops, block RAM, UltraRAM and DSP slices by part, timing, and time.
///
/// Takes Vivado's reports of a build in the directory. Without them it synthesises the parts with yosys, which takes many minutes.
#[derive(Clone, Debug, Parser)]
#[command(name = "table3", version, after_help = "Exit codes: 0 done, 2 refused")]
pub struct Arguments {
    /// Output directory of `gen-verilog --board` [default: gen/verilog/board-vcu1525]
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads or measures the table, and prints it; progress goes to standard error.
///
/// # Errors
/// A report that cannot be read; without reports, a directory without modules, or a yosys that is missing or fails.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let (directory, shown) = match &arguments.directory {
        Some(directory) => (directory.clone(), directory.display().to_string()),
        None => {
            let workspace = Workspace::find()?;
            let directory = workspace.root().join("gen/verilog/board-vcu1525");
            let shown = workspace.show(&directory);
            (directory, shown)
        }
    };
    let reports = Reports::find(&directory);
    let table = match &reports.utilization {
        Some(path) => reports.table(path)?,
        None => {
            tell(format_args!(
                "{shown} has no reports of Vivado: its parts are synthesised by yosys\n"
            ));
            synthesised(&directory, shown)?
        }
    };
    print(&if arguments.json {
        format!("{:#}", table.json())
    } else {
        table.text()
    })?;
    Ok(())
}

/// Files of a build.
#[derive(Debug, Default)]
struct Reports {
    /// `report_utilization -hierarchical`, by Corundum's Makefile.
    utilization: Option<PathBuf>,
    /// `report_timing_summary` of the routed design.
    timing: Option<PathBuf>,
    /// Logs of synthesis and implementation.
    logs: Vec<PathBuf>,
}

/// Deepest folder with reports: the card's folder below `fpga`, and a run in it.
const DEPTH: usize = 10;

impl Reports {
    /// Searches a directory; links, such as those to the checkout, are not followed.
    fn find(directory: &Path) -> Self {
        let mut reports = Self::default();
        reports.search(directory, DEPTH);
        // Synthesis comes first.
        reports.logs.sort_by(|one, other| other.cmp(one));
        reports
    }

    fn search(&mut self, folder: &Path, depth: usize) {
        // A folder that cannot be read has no reports.
        let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else {
                continue;
            };
            if kind.is_dir() && depth > 0 {
                self.search(&path, depth - 1);
            } else if kind.is_file() {
                let run = folder.file_name().and_then(|run| run.to_str());
                if name.ends_with("_utilization_hierarchical.rpt") {
                    self.utilization.get_or_insert(path);
                } else if name.ends_with("_timing_summary_routed.rpt") {
                    self.timing.get_or_insert(path);
                } else if name == "runme.log" && matches!(run, Some("synth_1" | "impl_1")) {
                    self.logs.push(path);
                }
            }
        }
    }

    fn table(&self, utilization: &Path) -> anyhow::Result<Table> {
        let rows = Utilization::parse(&read(utilization)?).with_context(|| {
            format!(
                "{} has no table of report_utilization -hierarchical",
                utilization.display()
            )
        })?;
        let timing =
            match &self.timing {
                Some(path) => {
                    let timing = Timing::parse(&read(path)?);
                    Some(timing.with_context(|| {
                        format!("{} has no summary of report_timing_summary", path.display())
                    })?)
                }
                None => None,
            };
        let mut steps = Vec::new();
        for log in &self.logs {
            steps.extend(Step::parse_all(&read(log)?));
        }
        Ok(Table {
            source: Source::Vivado,
            parts: parts(&rows)?,
            device: rows.device,
            timing,
            steps,
        })
    }
}

/// Reads a report, in which names may have any encoding.
fn read(path: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Name of the application block's instance on all cards, without the block around it.
const APP_BLOCK: &str = "app_block_inst";

/// The parts of the design: all, Corundum, the application block and what is in it.
fn parts(utilization: &Utilization) -> anyhow::Result<Vec<Part>> {
    let rows = &utilization.rows;
    let Some(whole) = rows.first() else {
        bail!("the report of utilization has no row: build the design again");
    };
    let is_block = |row: &Row| row.instance.ends_with(APP_BLOCK);
    let Some(at) = rows.iter().position(is_block) else {
        bail!("the report of utilization has no instance `...{APP_BLOCK}`: is it of another design?");
    };
    let block = &rows[at];
    let inside = rows[at + 1..].iter().take_while(|row| row.depth > block.depth);
    let mut parts = vec![
        Part::new("whole design", 0, whole.resources),
        Part::new("Corundum", 1, whole.resources.without(block.resources)),
        Part::new("application block", 1, block.resources),
    ];
    let mut cluster = None;
    for row in inside {
        let depth = row.depth - block.depth;
        if depth == 1 {
            cluster = (row.instance == "cluster").then_some(());
        }
        let name = match (depth, cluster) {
            (1, None) if row.instance == "app" => "datapath".to_owned(),
            (1, Some(())) => "clusters".to_owned(),
            (_, Some(())) => match part_of_cluster(&row.instance) {
                Some(name) => name,
                None => continue,
            },
            _ => continue,
        };
        let indent = match (depth, name.starts_with("HPU")) {
            (1, _) => 2,
            (_, false) => 3,
            (_, true) => 4,
        };
        parts.push(Part::new(name, indent, row.resources));
    }
    Ok(parts)
}

/// HPUs of a pipeline, which are its threads.
const THREADS: usize = 4;

/// Returns the part for an instance inside of the clusters, spinneret's own or PsPIN's; nothing if it has no row.
fn part_of_cluster(instance: &str) -> Option<String> {
    let number = |text: &str| text.parse::<usize>().ok();
    if let Some(cluster) = instance.strip_prefix("u_clusters_").and_then(number) {
        return Some(format!("cluster {cluster}"));
    }
    if let Some(pipeline) = instance.strip_prefix("u_pipelines_").and_then(number) {
        let first = pipeline.checked_mul(THREADS)?;
        return Some(format!("HPUs {first} to {}", first.checked_add(THREADS - 1)?));
    }
    let (cluster, _) = instance.strip_prefix("gen_clusters[")?.split_once(']')?;
    number(cluster).map(|cluster| format!("cluster {cluster}"))
}

/// The parts by yosys, each alone.
fn synthesised(directory: &Path, shown: String) -> anyhow::Result<Table> {
    let folder = Folder::open(directory, shown.clone())?;
    let with = |start: &str| {
        let name = |file: &String| {
            let name = file.strip_prefix("rtl/")?.strip_suffix(".sv")?;
            name.starts_with(start).then(|| name.to_owned())
        };
        folder.files().iter().find_map(name)
    };
    let wanted = [
        ("datapath", 2, with("spinneret_app")),
        ("clusters", 2, with(CLUSTER)),
        ("each cluster", 3, with("spinneret_hpu_cluster")),
        ("four HPUs", 4, with("spinneret_hpu_pipeline")),
    ];
    let mut parts = Vec::new();
    for (name, indent, module) in wanted {
        let Some(module) = module else { continue };
        tell(format_args!("synthesising {module} ... "));
        let start = Instant::now();
        let resources = Resources::count(&folder.synthesise(&module, Mapper::Abc)?)?;
        tell(format_args!("{:.0} s\n", start.elapsed().as_secs_f64()));
        parts.push(Part::new(name, indent, resources.into()));
    }
    if parts.is_empty() {
        bail!("{shown} has no parts of a board's design: write it with `gen-verilog --board`");
    }
    Ok(Table {
        source: Source::Yosys,
        parts,
        device: None,
        timing: None,
        steps: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::{part_of_cluster, parts, vivado::Utilization};
    use proptest::prelude::*;

    #[test]
    fn instances_of_both_clusters_have_names() {
        let names = [
            ("u_clusters_1", Some("cluster 1")),
            ("u_pipelines_0", Some("HPUs 0 to 3")),
            ("u_pipelines_1", Some("HPUs 4 to 7")),
            ("gen_clusters[1].gen_cluster_sync.i_cluster", Some("cluster 1")),
            ("u_pipelines_x", None),
            ("u_pipelines_18446744073709551615", None),
            ("u_crossbar", None),
        ];
        for (instance, name) in names {
            assert_eq!(part_of_cluster(instance).as_deref(), name, "{instance}");
        }
    }

    proptest! {
        #[test]
        fn any_table_is_parts_or_an_error(text in "(\\| {0,5}(Instance|FFs|app_block_inst|cluster|u_pipelines_1|9|x) ?(\\||\n)){0,30}") {
            if let Some(table) = Utilization::parse(&text) {
                let _ = parts(&table);
            }
        }
    }
}
