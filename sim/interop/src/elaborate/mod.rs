//! Corundum's own `fpga_core` of a card, elaborated by Verilator with our application block and the public cluster in it.
//!
//! It reads what Vivado would be given: the files of the card's Makefile after the overlay has changed it, and the
//! parameters of its `config.tcl`. Those that the card's top module sets by itself, such as the number of its sockets, keep
//! the values that `fpga_core` has for them. What no tree has are the vendor's primitives, which declarations of ours stand
//! for.
//!
//! ```text
//!   fpga_core                                 of the checkout, with the parameters of config.tcl
//!   +-- mqnic_core_pcie_us, ..., mqnic_core   of the checkout
//!       +-- mqnic_app_block                   ours
//!           +-- pspin_wrap                    of the other checkout
//! ```

mod build;
mod card;
mod verdict;
mod written;

use crate::model;
use crate::trees;
use anyhow::{Context as _, Result, bail};
use build::Build;
use card::Card;
use spinneret_gen::board::corundum::Pspin;
use spinneret_hdl::app::TOP as APP_BLOCK;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use verdict::{Judge, Verdict};
use written::write;

/// What is elaborated: everything of a card but its pins and transceivers.
const TOP: &str = "fpga_core";
/// Name of the cluster's instance in the application block.
const CLUSTER: &str = "cluster";
/// How many faults are told one by one.
const TOLD: usize = 20;

/// Elaborates the first card that the checkouts can build: whether everything connects.
///
/// It takes a minute or two after the first line that is told.
///
/// # Errors
/// If no card can be built, a file of a checkout cannot be read, or a tool is missing.
pub fn elaborate(corundum: &Path, fpspin: &Path, mut tell: impl FnMut(&str)) -> Result<bool> {
    let scratch = tempfile::tempdir().context("no place for temporary files")?;
    // Tools answer with paths without links in them.
    let root = scratch.path().canonicalize()?;
    let card = Card::first(corundum, fpspin, &root)?;
    let design = Design::new(&card, fpspin, &root)?;
    tell(&format!(
        "{} {}, generation {}: {TOP} with {} parameters, from {} files: {} of Corundum, {} of spinneret, {} of FPsPIN",
        card.board.name,
        trees::revision(corundum),
        card.generation,
        design.parameters.len(),
        design.counts.iter().sum::<usize>(),
        design.counts[0],
        design.counts[1],
        design.counts[2],
    ));
    let start = Instant::now();
    let verdict = design.check()?;
    for remark in &verdict.remarks {
        tell(&format!("  known: {remark}"));
    }
    for fault in verdict.faults.iter().take(TOLD) {
        tell(&format!("  {fault}"));
    }
    tell(&format!(
        "  {} in {} seconds; {} warnings about files of the checkouts",
        match verdict.faults.len() {
            0 => "every pin of the application block and of the cluster connects,".to_owned(),
            count => format!("{count} faults,"),
        },
        start.elapsed().as_secs(),
        verdict.foreign,
    ));
    Ok(verdict.faults.is_empty())
}

/// Everything that Verilator is given.
struct Design {
    root: PathBuf,
    arguments: Vec<String>,
    parameters: Vec<String>,
    /// How many files are read of Corundum, of ours, and of FPsPIN.
    counts: [usize; 3],
    judge: Judge,
}

impl Design {
    fn new(card: &Card, fpspin: &Path, root: &Path) -> Result<Self> {
        let build = Build::new(&card.folder, root)?;
        let pspin = Pspin::open(fpspin)?;
        let list = pspin.simulation()?;
        if let Some(missing) = list.files.iter().find(|file| !build.files.contains(file)) {
            bail!(
                "{} does not list {}, which the cluster needs: was the overlay's Makefile changed?",
                build.folder.display(),
                missing.display()
            );
        }
        // What is left of FPsPIN is only included by other files.
        let others = build.files.iter().filter(|file| !file.starts_with(pspin.root()));
        let (ours, theirs): (Vec<_>, Vec<_>) = others.partition(|file| file.starts_with(&card.folder));
        let core = text_with(&theirs, &format!("module {TOP}"))?;
        let block = text_with(&theirs, &format!("{APP_BLOCK} #("))?;
        let known = verdict::parameters(&core.1, TOP);
        let parameters = build
            .parameters
            .iter()
            .filter(|(name, value)| known.contains(name) && !value.is_empty());
        let parameters: Vec<_> = parameters
            .map(|(name, value)| format!("-G{name}={value}"))
            .collect();
        let (packages, modules) = list.files.split_at(list.packages);
        let mut arguments: Vec<String> = list.defines.iter().map(|name| format!("-D{name}")).collect();
        let folders = list.includes.iter();
        arguments.extend(folders.map(|folder| format!("-I{}", folder.display())));
        arguments.push(waivers(root)?);
        arguments.extend(packages.iter().map(|file| file.display().to_string()));
        arguments.push(write(&root.join("imports.sv"), &list.imports)?);
        arguments.extend(modules.iter().map(|file| file.display().to_string()));
        arguments.extend(theirs.iter().chain(&ours).map(|file| file.display().to_string()));
        arguments.extend(stand_ins(card, root)?);
        arguments.push(write(&root.join("probe.sv"), &probe(&build.scope)?)?);
        Ok(Self {
            root: root.to_owned(),
            arguments,
            parameters,
            counts: [theirs.len(), ours.len(), list.files.len()],
            judge: Judge {
                ours: card.folder.join(spinneret_gen::board::RTL),
                instance: (block.0, verdict::instance(&block.1, APP_BLOCK)),
            },
        })
    }

    fn check(&self) -> Result<Verdict> {
        let fixed = [
            "--lint-only",
            "-Wall",
            "-Wno-fatal",
            "-Wno-UNUSED",
            "-Wno-PINCONNECTEMPTY",
            "-Wno-DECLFILENAME",
            "-Wno-IMPORTSTAR",
            "--timescale-override",
            "1ps/1ps",
            "--top-module",
            TOP,
        ];
        let output = Command::new("verilator")
            .args(fixed)
            .arg(format!("-D{}", model::SYNTHESIS))
            .args(&self.parameters)
            .args(&self.arguments)
            .current_dir(&self.root)
            .output()
            .context("cannot run verilator: `./dev setup` installs it")?;
        let said = [output.stderr, output.stdout].concat();
        Ok(self
            .judge
            .verdict(&String::from_utf8_lossy(&said), output.status.success()))
    }
}

/// The only thing that Verilator refuses in Corundum's files and should not: it looks into branches that a parameter
/// rules out, and in one of them a part of a signal has no bits.
fn waivers(root: &Path) -> Result<String> {
    let text = "`verilator_config\nlint_off -rule UNSUPPORTED -file \"*/mqnic_rx_queue_map.v\"\n";
    write(&root.join("waivers.vlt"), text)
}

/// Declarations of the vendor's primitives and macros, each in a file: those that come with the card, and the macros of
/// the cluster. Everything else that is nowhere is an error, as Verilator does not let a module be missing.
fn stand_ins(card: &Card, root: &Path) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for file in &card.files {
        let is_primitive = file.name.starts_with("lint/") && !file.name.ends_with("/pspin_wrap.sv");
        if is_primitive {
            all.push(card.folder.join(&file.name).display().to_string());
        }
    }
    for (name, text) in model::MACROS {
        all.push(write(&root.join(name), text)?);
    }
    Ok(all)
}

/// A module that is put into `fpga_core`, and names a signal of the application block and one of the cluster: Verilator
/// fails if one of them is not where our constraints expect it, or not there at all.
fn probe(scope: &str) -> Result<String> {
    // The first name is the instance of `fpga_core`.
    let Some((_, path)) = scope.split_once('/') else {
        bail!("the overlay's config.tcl limits our constraints to `{scope}`, which is no path of instances");
    };
    let path = path.replace('/', ".");
    Ok(format!(
        "module spinneret_probe (input wire [1:0] seen);\nendmodule\n\
         bind {TOP} spinneret_probe spinneret_probe_inst (.seen({{{path}.clk, {path}.{CLUSTER}.clk_i}}));\n"
    ))
}

/// The first file that has a text in it, and all of its own text.
fn text_with(files: &[&PathBuf], wanted: &str) -> Result<(PathBuf, String)> {
    for file in files {
        let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let text = String::from_utf8_lossy(&text);
        if text.contains(wanted) {
            return Ok(((*file).clone(), text.into_owned()));
        }
    }
    bail!(
        "none of the card's files has `{wanted}`: check out a revision of Corundum that `gen-verilog --board` takes"
    );
}

#[cfg(test)]
mod tests {
    use super::probe;

    #[test]
    fn the_probe_looks_where_the_constraints_apply() {
        let text = probe("core_inst/core_inst/app.block").unwrap();
        assert!(
            text.contains("{core_inst.app.block.clk, core_inst.app.block.cluster.clk_i}"),
            "{text}"
        );
        assert!(probe("core_inst").is_err());
    }
}
