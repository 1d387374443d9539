//! Table III from reports in the form that AMD documents (UG835, UG906), with invented figures, and from yosys.

use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const UTILIZATION: &str = include_str!("reports/fpga_utilization_hierarchical.rpt");
const TIMING: &str = include_str!("reports/fpga_timing_summary_routed.rpt");
const LOGS: [&str; 2] = [
    include_str!("reports/synth.log"),
    include_str!("reports/impl.log"),
];
/// Folder of the card below the output directory.
const CARD: &str = "fpga/mqnic/Alveo/fpga_100g/fpga_VCU1525_spinneret";

fn table3(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_table3"))
        .arg(folder)
        .args(arguments)
        .output()
        .unwrap()
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(CARD).join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A directory after a build.
fn built() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "fpga_utilization_hierarchical.rpt", UTILIZATION);
    write(
        folder.path(),
        "fpga.runs/impl_1/fpga_timing_summary_routed.rpt",
        TIMING,
    );
    write(folder.path(), "fpga.runs/synth_1/runme.log", LOGS[0]);
    write(folder.path(), "fpga.runs/impl_1/runme.log", LOGS[1]);
    // Runs of IP cores, and other designs behind links to the checkout, do not count.
    write(
        folder.path(),
        "fpga.runs/cmac_usplus_0_synth_1/runme.log",
        LOGS[0],
    );
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    symlink(folder.path().join(CARD), other.join("linked")).unwrap();
    folder
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_build_has_a_row_for_each_part_and_sums_its_time() {
    let folder = built();
    let json: Value = serde_json::from_str(&text(&table3(folder.path(), &["--json"]))).unwrap();
    assert_eq!(
        (&json["source"], &json["device"]),
        (&"vivado".into(), &"xcvu9pfsgd2104-2L".into())
    );
    let parts = json["parts"].as_array().unwrap();
    let row = |part: &Value| {
        let used = &part["used"];
        let numbers = ["lut", "ff", "uram", "dsp"].map(|name| used[name].as_u64().unwrap());
        (
            part["name"].as_str().unwrap().to_owned(),
            numbers,
            used["bram"].as_f64().unwrap(),
        )
    };
    let expected = [
        ("whole design", [214_310, 289_400, 66, 16], 432.5),
        ("Corundum", [117_810, 200_700, 0, 0], 281.0),
        ("application block", [96_500, 88_700, 66, 16], 151.5),
        ("datapath", [50_900, 47_600, 6, 0], 106.5),
        ("clusters", [45_597, 41_100, 60, 16], 45.0),
        ("cluster 0", [10_200, 8900, 8, 8], 6.0),
        ("HPUs 0 to 3", [2100, 2320, 0, 4], 1.0),
        ("HPUs 4 to 7", [2090, 2320, 0, 4], 1.0),
        ("cluster 1", [10_150, 8900, 8, 8], 6.0),
        ("HPUs 0 to 3", [2095, 2320, 0, 4], 1.0),
        ("HPUs 4 to 7", [2085, 2320, 0, 4], 1.0),
    ];
    let expected = expected.map(|(name, numbers, bram)| (name.to_owned(), numbers, bram));
    assert_eq!(parts.iter().map(row).collect::<Vec<_>>(), expected);
    assert_eq!(json["timing"]["setup_ns"], 0.021);
    assert_eq!(json["timing"]["hold_ns"], 0.01);
    let clocks = json["timing"]["clocks"].as_array().unwrap();
    assert_eq!(
        clocks
            .iter()
            .map(|clock| clock["name"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["pcie_refclk_1", "pcie_user_clk"]
    );
    // 41:02 + 2:58 + 5:30.25 + 58:00 + 1:07:30.
    assert_eq!(json["seconds"], 10_500.25);
    assert_eq!(json["steps"].as_array().unwrap().len(), 5);
}

#[test]
fn people_read_shares_timing_and_time() {
    let folder = built();
    let said = text(&table3(folder.path(), &[]));
    for words in [
        "Vivado's figures after routing, device xcvu9pfsgd2104-2L",
        "Of the device: 18.1 % of LUT, 12.2 % of FF, 20.0 % of BRAM, 6.9 % of URAM, 0.2 % of DSP",
        "Timing met: slack of setup 0.021 ns, of hold 0.010 ns. Clock with the least slack: pcie_user_clk, 4.000 ns, 250.0 \
         MHz, reaches 251.3 MHz.",
        "Time 2h:55m (synth_design 41m:02s, link_design 2m:58s, ",
        "paper 6h:11m.",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    assert!(!said.contains("yosys"), "{said}");
}

#[test]
fn missing_reports_are_named_and_broken_ones_refused() {
    let folder = built();
    let missed = TIMING.replacen("  0.021 ", " -0.350 ", 1);
    write(
        folder.path(),
        "fpga.runs/impl_1/fpga_timing_summary_routed.rpt",
        &missed,
    );
    assert!(text(&table3(folder.path(), &[])).contains("Timing MISSED: slack of setup -0.350 ns"));
    fs::remove_dir_all(folder.path().join(CARD).join("fpga.runs")).unwrap();
    let said = text(&table3(folder.path(), &[]));
    assert!(
        said.contains("No report of timing") && said.contains("No logs of runs"),
        "{said}"
    );
    for (broken, words) in [
        (
            UTILIZATION.replace("Total LUTs", "LUT"),
            "has no table of report_utilization -hierarchical",
        ),
        (
            UTILIZATION.replace("app_block_inst", "other_inst"),
            "has no instance `...app_block_inst`",
        ),
        (
            UTILIZATION.split("| fpga ").next().unwrap().to_owned(),
            "has no row",
        ),
    ] {
        write(folder.path(), "fpga_utilization_hierarchical.rpt", &broken);
        let output = table3(folder.path(), &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && said.contains(words),
            "{words}: {said}"
        );
    }
}

/// A module with that many flip-flops.
fn module(name: &str, width: usize) -> String {
    format!(
        "module {name} (input wire clk, input wire [{high}:0] d, output reg [{high}:0] q);\n\
         always @(posedge clk) q <= d;\nendmodule\n",
        high = width - 1
    )
}

#[test]
fn without_reports_yosys_measures_the_parts_and_the_table_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("rtl")).unwrap();
    let modules = [
        ("spinneret_hpu_pipeline_4x8", 3),
        ("spinneret_hpu_cluster_2", 7),
        ("pspin_wrap", 15),
        ("spinneret_app", 31),
    ];
    let mut list = String::new();
    for (name, width) in modules {
        fs::write(folder.path().join(format!("rtl/{name}.sv")), module(name, width)).unwrap();
        list.push_str(&format!("rtl/{name}.sv\n"));
    }
    fs::write(folder.path().join("filelist.f"), list).unwrap();
    let output = table3(folder.path(), &["--json"]);
    let json: Value = serde_json::from_str(&text(&output)).unwrap();
    assert_eq!(json["source"], "yosys");
    let row = |part: &Value| {
        (
            part["name"].as_str().unwrap().to_owned(),
            part["used"]["ff"].as_u64().unwrap(),
        )
    };
    let rows: Vec<_> = json["parts"].as_array().unwrap().iter().map(row).collect();
    let expected = [
        ("datapath", 31),
        ("clusters", 15),
        ("each cluster", 7),
        ("four HPUs", 3),
    ];
    assert_eq!(rows, expected.map(|(name, ff)| (name.to_owned(), ff)));
    assert_eq!((&json["timing"], &json["seconds"]), (&Value::Null, &Value::Null));
    let empty = tempfile::tempdir().unwrap();
    let output = table3(empty.path(), &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && said.contains("has no filelist.f"),
        "{said}"
    );
}
