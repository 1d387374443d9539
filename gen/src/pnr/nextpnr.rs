//! Runs nextpnr on a block, and reads what it reports.

use crate::error::failed;
use crate::synth::yosys::{Folder, Mapper, scratch_failed};
use anyhow::{anyhow, bail};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path as File, PathBuf};
use std::process::Command;

/// Target frequency in MHz: unreachable, so that placement keeps optimising.
const AIM_MHZ: &str = "400";

/// The tool.
#[derive(Clone, Debug)]
pub struct Nextpnr {
    /// Its program.
    pub program: PathBuf,
    /// Seeds: it runs once for each.
    pub seeds: RangeInclusive<u32>,
}

/// A block placed and routed separately: the median run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Placed {
    /// Its name.
    pub block: String,
    /// The clocks of all runs in MHz, the slowest first; empty for a block without registers.
    pub runs: Vec<f64>,
    /// Resources: LUTs and carries (`TRELLIS_COMB`), flip-flops (`TRELLIS_FF`), RAMs (`DP16KD`).
    pub used: BTreeMap<String, u32>,
    /// Its clocks.
    pub clocks: Vec<Clock>,
}

/// A clock, with its slowest path between registers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Clock {
    /// Its name.
    pub clock: String,
    /// Maximum frequency in MHz.
    pub mhz: f64,
    /// Delay of cells on the path, in ns.
    pub logic_ns: f64,
    /// Delay of nets on the path, in ns.
    pub routing_ns: f64,
    /// The register that it begins at.
    pub from: String,
    /// The register that it ends at.
    pub to: String,
    /// Its nets, from the one to the other.
    pub nets: Vec<String>,
}

impl Placed {
    /// The slowest of its clocks, in MHz; none in a block without registers.
    pub fn mhz(&self) -> Option<f64> {
        self.slowest().map(|clock| clock.mhz)
    }

    /// The slowest of its clocks.
    pub fn slowest(&self) -> Option<&Clock> {
        self.clocks.iter().min_by(|a, b| a.mhz.total_cmp(&b.mhz))
    }
}

impl Nextpnr {
    /// Synthesises a block, and places and routes it separately, once for each seed.
    ///
    /// # Errors
    /// A tool is missing or refuses the design.
    pub fn place(&self, folder: &Folder, block: &str) -> anyhow::Result<Placed> {
        let scratch = tempfile::tempdir().map_err(scratch_failed)?;
        folder.write_netlist(block, Mapper::Ecp5, &scratch.path().join("netlist.json"))?;
        let seeds = self.seeds.clone();
        let placed: Result<_, _> = seeds
            .map(|seed| self.place_once(scratch.path(), block, seed))
            .collect();
        Ok(middle(placed?))
    }

    fn place_once(&self, scratch: &File, block: &str, seed: u32) -> anyhow::Result<Placed> {
        // Names without folders: the packaged tool can access only its working directory.
        let output = Command::new(&self.program)
            .current_dir(scratch)
            .args([
                "--85k",
                "--speed",
                "8",
                "--package",
                "CABGA756",
                "--out-of-context",
            ])
            .args([
                "--json",
                "netlist.json",
                "--report",
                "report.json",
                "--freq",
                AIM_MHZ,
            ])
            .args(["--timing-allow-fail", "--quiet", "--seed", &seed.to_string()])
            .output();
        let output = output.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => anyhow!(
                "{} is not installed: `./dev pnr` installs it, or give another one with --nextpnr",
                self.program.display()
            ),
            _ => failed("run", self.program.display())(source),
        })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.lines().rfind(|line| line.starts_with("ERROR"));
            let message = line.unwrap_or("it said nothing");
            bail!("nextpnr cannot place and route `{block}`: {message}");
        }
        let text = fs::read_to_string(scratch.join("report.json")).map_err(scratch_failed)?;
        read(block, &text)
            .map_err(|source| anyhow!("the report of nextpnr on `{block}` cannot be read: {source}"))
    }
}

/// The median run (of two, the slower one), with the frequencies of all runs.
fn middle(mut placed: Vec<Placed>) -> Placed {
    placed.sort_by(|a, b| a.mhz().partial_cmp(&b.mhz()).unwrap_or(Ordering::Equal));
    let runs = placed.iter().filter_map(Placed::mhz).collect();
    let at = (placed.len() - 1) / 2;
    Placed {
        runs,
        ..placed.swap_remove(at)
    }
}

#[derive(Deserialize)]
struct Report {
    fmax: BTreeMap<String, Fmax>,
    critical_paths: Vec<Path>,
    utilization: BTreeMap<String, Used>,
}

#[derive(Deserialize)]
struct Fmax {
    achieved: f64,
}

#[derive(Deserialize)]
struct Used {
    used: u32,
}

#[derive(Deserialize)]
struct Path {
    from: String,
    to: String,
    path: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    delay: f64,
    from: Pin,
    to: Pin,
    net: Option<String>,
}

#[derive(Deserialize)]
struct Pin {
    cell: String,
}

fn read(block: &str, text: &str) -> serde_json::Result<Placed> {
    let report: Report = serde_json::from_str(text)?;
    let path_of = |clock: &str| {
        let edge = format!("posedge {clock}");
        report
            .critical_paths
            .iter()
            .find(|path| path.from == edge && path.to == edge)
    };
    let clocks = report.fmax.iter();
    let clocks =
        clocks.map(|(name, fmax)| clock(name, fmax.achieved, path_of(name).map_or(&[], |path| &path.path)));
    Ok(Placed {
        block: block.to_owned(),
        runs: Vec::new(),
        clocks: clocks.collect(),
        used: report
            .utilization
            .into_iter()
            .filter(|(_, used)| used.used > 0)
            .map(|(kind, used)| (kind, used.used))
            .collect(),
    })
}

fn clock(name: &str, mhz: f64, steps: &[Step]) -> Clock {
    let sum = |is_net: bool| {
        let of_sort = steps.iter().filter(|step| step.net.is_some() == is_net);
        of_sort.map(|step| step.delay).sum()
    };
    let mut nets: Vec<String> = steps
        .iter()
        .filter_map(|step| step.net.as_deref())
        .map(|net| readable(net).to_owned())
        .collect();
    nets.dedup();
    Clock {
        clock: name.to_owned(),
        mhz,
        logic_ns: sum(false),
        routing_ns: sum(true),
        from: steps
            .first()
            .map_or("", |step| readable(&step.from.cell))
            .to_owned(),
        to: steps.last().map_or("", |step| readable(&step.to.cell)).to_owned(),
        nets,
    }
}

/// A name without the suffix that yosys adds for unnamed cells.
fn readable(name: &str) -> &str {
    const ADDED: [&str; 6] = ["_TRELLIS_FF", "_LUT4", "_PFUMX", "_L6MUX", "_CCU2C", "_DP16KD"];
    let end = ADDED.iter().filter_map(|added| name.find(added)).min();
    &name[..end.unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{
        "fmax": { "clk": { "achieved": 125.0, "constraint": 400.0 } },
        "utilization": { "TRELLIS_COMB": { "used": 7, "available": 9 }, "DP16KD": { "used": 0, "available": 3 } },
        "critical_paths": [
            { "from": "<async>", "to": "posedge clk", "path": [] },
            { "from": "posedge clk", "to": "posedge clk", "path": [
                { "delay": 0.5, "type": "clk-to-q", "from": { "cell": "a.b_TRELLIS_FF_Q_3" }, "to": { "cell": "a.b_TRELLIS_FF_Q_3" } },
                { "delay": 5.5, "type": "routing", "net": "a.b[3]", "from": { "cell": "x" }, "to": { "cell": "c_LUT4_Z" } },
                { "delay": 1.0, "type": "routing", "net": "c_LUT4_Z_A", "from": { "cell": "x" }, "to": { "cell": "y" } },
                { "delay": 1.0, "type": "setup", "from": { "cell": "d.e_TRELLIS_FF_Q" }, "to": { "cell": "d.e_TRELLIS_FF_Q" } }
            ] }
        ]
    }"#;

    #[test]
    fn slowest_path_uses_names_of_the_block() {
        let placed = read("block", REPORT).unwrap();
        assert_eq!(placed.used, BTreeMap::from([("TRELLIS_COMB".to_owned(), 7)]));
        let clock = placed.slowest().unwrap();
        assert_eq!((clock.mhz, clock.logic_ns, clock.routing_ns), (125.0, 1.5, 6.5));
        assert_eq!((clock.from.as_str(), clock.to.as_str()), ("a.b", "d.e"));
        assert_eq!(clock.nets, ["a.b[3]", "c"]);
    }

    #[test]
    fn reports_the_median_run() {
        let run = |mhz: &str| read(mhz, &REPORT.replace("125.0", mhz)).unwrap();
        let placed = middle(vec![run("130.0"), run("110.0"), run("120.0")]);
        assert_eq!((placed.block.as_str(), placed.mhz()), ("120.0", Some(120.0)));
        assert_eq!(placed.runs, [110.0, 120.0, 130.0]);
        assert_eq!(middle(vec![run("130.0"), run("110.0")]).mhz(), Some(110.0));
    }

    #[test]
    fn a_block_without_registers_has_no_clock() {
        let text = r#"{ "fmax": {}, "critical_paths": [], "utilization": {} }"#;
        assert_eq!(read("block", text).unwrap().mhz(), None);
        assert!(read("block", "{}").is_err());
    }
}
