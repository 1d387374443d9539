//! Placement regions of boards, and the scripts of the incremental implementation, with a stand-in for Vivado's commands.

use crate::trees::{corundum, output};
use spinneret_bsp::Board;
use spinneret_gen::board::corundum::{Options, build_app, render};
use spinneret_gen::board::find;
use spinneret_hdl::app::corundum::Generation;
use spinneret_hdl::app::{Cluster, TOP};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

const FILE: &str = "constraints/spinneret_regions.xdc";
/// Instance path of the application block in Corundum.
const APP_BLOCK: &str = "core_inst/core_inst/core_pcie_inst/core_inst/app.app_block_inst/";

/// A clock region: column and row.
type Place = [u8; 2];

/// A region as the constraints say it: a cell and two corners.
#[derive(Debug, PartialEq, Eq)]
struct Region {
    cell: String,
    corners: [Place; 2],
}

/// Parses the constraints; every line has to be of the form that is known here.
fn parse(text: &str) -> BTreeMap<String, Region> {
    let mut regions = BTreeMap::new();
    let mut lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(line) = lines.next() {
        let name = line
            .strip_prefix("create_pblock ")
            .unwrap_or_else(|| panic!("{line}"));
        assert!(
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
            "{name}"
        );
        let mut rest = |start: String, end: &str| {
            let line = lines.next().unwrap_or_default();
            let inner = line.strip_prefix(&start).and_then(|rest| rest.strip_suffix(end));
            inner
                .unwrap_or_else(|| panic!("{line} is not {start}...{end}"))
                .to_owned()
        };
        let cell = rest(
            format!("add_cells_to_pblock [get_pblocks {name}] [get_cells {{"),
            "}]",
        );
        let range = rest(format!("resize_pblock [get_pblocks {name}] -add {{"), "}");
        let corners: Vec<_> = range.split(':').map(place).collect();
        let region = Region {
            cell,
            corners: corners
                .try_into()
                .unwrap_or_else(|_| panic!("{range} has no two corners")),
        };
        assert_eq!(
            regions.insert(name.to_owned(), region),
            None,
            "{name} is there twice"
        );
    }
    regions
}

fn place(text: &str) -> Place {
    let numbers = text
        .strip_prefix("CLOCKREGION_X")
        .and_then(|rest| rest.split_once('Y'));
    let (x, y) = numbers.unwrap_or_else(|| panic!("{text} is no clock region"));
    [x, y].map(|number| {
        number
            .parse()
            .unwrap_or_else(|_| panic!("{text} is no clock region"))
    })
}

fn regions(board: &str, cluster: Cluster) -> Option<BTreeMap<String, Region>> {
    let options = Options {
        cluster,
        ..Options::default()
    };
    let output = output(board, &options, Path::new("out")).unwrap();
    let file = output.files.iter().find(|file| file.name == FILE)?;
    Some(parse(&file.text))
}

fn vu9p(board: &&Board) -> bool {
    board.floor_plan.is_some()
}

#[test]
fn each_cluster_has_a_region_inside_of_one_slr_and_apart_from_the_others() {
    let boards: Vec<_> = spinneret_bsp::boards().iter().filter(vu9p).collect();
    assert_eq!(
        boards.iter().map(|board| board.name).collect::<Vec<_>>(),
        ["au200", "vcu1525"]
    );
    for board in boards {
        let plan = board.floor_plan.unwrap();
        for cluster in [Cluster::Spinneret, Cluster::Pspin] {
            let regions = regions(board.name, cluster).unwrap();
            assert_eq!(regions.len(), 2, "{cluster}");
            let mut taken = BTreeSet::new();
            for region in regions.values() {
                let [[left, bottom], [right, top]] = region.corners;
                assert_eq!([left, right], [0, plan.device.columns - 1], "{region:?}");
                let slr = bottom / plan.device.rows_of_slr;
                let rows = plan.device.rows(slr).unwrap();
                assert!(
                    bottom <= top && rows.contains(&bottom) && rows.contains(&top),
                    "{region:?}"
                );
                // The NIC's own clock stays in its SLR; PsPIN takes the others.
                assert_eq!(slr == plan.nic_slr, cluster == Cluster::Spinneret, "{region:?}");
                for row in bottom..=top {
                    assert!(taken.insert(row), "row {row} of {regions:?}");
                }
            }
        }
        assert_eq!(regions(board.name, Cluster::Stub), None);
    }
}

#[test]
fn boards_without_a_known_grid_have_no_regions_and_say_so() {
    for board in spinneret_bsp::boards()
        .iter()
        .filter(|board| !vu9p(board) && board.corundum.is_some())
    {
        assert_eq!(regions(board.name, Cluster::Spinneret), None, "{}", board.name);
        let output = output(board.name, &Options::default(), Path::new("out")).unwrap();
        let note = format!(
            "no placement regions: the clock regions of {} are not known",
            board.part
        );
        assert!(
            output.notes.iter().any(|text| text.starts_with(&note)),
            "{:?}",
            output.notes
        );
    }
}

/// A path of constraints leads to an instance of the modules that are written.
#[test]
fn regions_of_own_clusters_name_instances_of_the_design() {
    let output = render(
        find("vcu1525").unwrap(),
        &Options::default(),
        Path::new("out"),
        &build_app,
    )
    .unwrap();
    let text = |name: &str| {
        let name = format!("rtl/{name}.sv");
        let file = output.files.iter().find(|file| file.name == name);
        file.map(|file| file.text.as_str())
    };
    let file = output.files.iter().find(|file| file.name == FILE).unwrap();
    for Region { cell, .. } in parse(&file.text).values() {
        let mut module = TOP.to_owned();
        for instance in cell.strip_prefix(APP_BLOCK).unwrap().split('/') {
            let source = text(&module).unwrap_or_else(|| panic!("{module} is not written"));
            let end = format!(" {instance} (");
            let line = source.lines().find(|line| line.ends_with(&end));
            let line = line.unwrap_or_else(|| panic!("{module} has no instance {instance}"));
            // An instance with parameters begins a few lines above.
            module = match line.trim_start().split_once(' ') {
                Some((")", _)) => {
                    let above = source.split_once(line).unwrap().0;
                    let begin = above
                        .lines()
                        .rev()
                        .find_map(|line| line.trim().strip_suffix(" #("));
                    begin.unwrap().to_owned()
                }
                Some((name, _)) => name.to_owned(),
                None => panic!("{line}"),
            };
        }
        assert!(module.starts_with("spinneret_hpu_cluster"), "{cell} is {module}");
    }
}

/// Runs a script of an implementation with these slacks of setup and hold; returns the commands of Vivado that it used.
fn hook(folder: &Path, script: &str, slacks: [&str; 2]) -> String {
    let [setup, hold] = slacks;
    let commands = format!(
        "proc read_checkpoint {{args}} {{ puts \"read $args\" }}\n\
         proc write_checkpoint {{args}} {{ puts \"write $args\" }}\n\
         proc get_timing_paths {{args}} {{ return [dict get $args -delay_type] }}\n\
         proc get_property {{name path}} {{ return [dict get {{max {{{setup}}} min {{{hold}}}}} $path] }}\n\
         source {}\n",
        folder.join(format!("fpga/reference_{script}.tcl")).display()
    );
    let runner = folder.join("run.tcl");
    fs::write(&runner, commands).unwrap();
    let done = Command::new("yosys")
        .args(["-q", "-c"])
        .arg(&runner)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        done.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
    said
}

#[test]
fn implementation_reuses_the_last_design_that_met_its_timing() {
    let theirs = corundum(Generation::Corundum202312, "mqnic/Alveo/fpga_100g/fpga_VCU1525");
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().canonicalize().unwrap();
    let options = Options {
        corundum: Some(theirs.path().to_owned()),
        ..Options::default()
    };
    let output = output("vcu1525", &options, &folder).unwrap();
    for file in output.files.iter().filter(|file| file.name.starts_with("fpga/")) {
        let path = folder.join(&file.name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &file.text).unwrap();
    }
    let reference = folder.join("fpga/reference.dcp");
    let shown = reference.display();
    assert_eq!(hook(&folder, "read", ["0", "0"]), "");
    fs::write(&reference, "a checkpoint").unwrap();
    let read = format!("read -incremental {shown}\n");
    assert!(hook(&folder, "read", ["0", "0"]).ends_with(&read));
    let write = format!("write -force {shown}\n");
    // A design without a constrained path has no slack.
    for slacks in [["0.012", "0.000"], ["", ""], ["inf", "0.1"]] {
        assert_eq!(hook(&folder, "write", slacks), write, "{slacks:?}");
    }
    for (slacks, word) in [(["-0.001", "0.1"], "(max)"), (["0.1", "-0.02"], "(min)")] {
        let said = hook(&folder, "write", slacks);
        assert!(said.contains(word) && !said.contains("write"), "{said}");
    }
}
