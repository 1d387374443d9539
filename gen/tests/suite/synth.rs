//! Longest paths of small netlists that are written out here.

use serde_json::Value;
use spinneret_gen::synth::depth::{Depth, Path as LongestPath};
use spinneret_gen::synth::netlist::Netlist;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn cell(name: &str, kind: &str, pins: &[(&str, bool, &[u64])]) -> String {
    let join = |each: Vec<String>| each.join(",");
    let directions = pins
        .iter()
        .map(|(pin, out, _)| format!(r#""{pin}":"{}""#, if *out { "output" } else { "input" }));
    let connections = pins.iter().map(|(pin, _, nets)| format!(r#""{pin}":{nets:?}"#));
    format!(
        r#""{name}":{{"type":"{kind}","port_directions":{{{}}},"connections":{{{}}}}}"#,
        join(directions.collect()),
        join(connections.collect())
    )
}

fn flip_flop(name: &str, d: u64, q: u64) -> String {
    cell(
        name,
        "FDRE",
        &[("C", false, &[1]), ("D", false, &[d]), ("Q", true, &[q])],
    )
}

fn lut(name: &str, inputs: [u64; 2], output: u64) -> String {
    cell(
        name,
        "LUT2",
        &[
            ("I0", false, &inputs[..1]),
            ("I1", false, &inputs[1..]),
            ("O", true, &[output]),
        ],
    )
}

/// Ports: clock is net 1, `in` net 2, `out` net 3.
fn netlist(cells: &[String]) -> Netlist {
    let text = format!(
        r#"{{"modules":{{"top":{{
            "ports":{{"clk":{{"direction":"input","bits":[1]}},"in":{{"direction":"input","bits":[2]}},
                "out":{{"direction":"output","bits":[3]}}}},
            "cells":{{{}}},
            "netnames":{{"in":{{"bits":[2]}},"out":{{"bits":[3]}},"count":{{"bits":[10,11]}},
                "$abc$1":{{"hide_name":1,"bits":[20]}}}}}}}}}}"#,
        cells.join(",")
    );
    Netlist::parse(&text, "top").unwrap()
}

fn levels(path: &Option<LongestPath>) -> Option<u32> {
    path.as_ref().map(|path| path.levels)
}

#[test]
fn distinguishes_four_kinds_of_paths() {
    let depth = Depth::of(&netlist(&[
        flip_flop("a", 22, 10),
        flip_flop("b", 2, 11),
        lut("l0", [10, 11], 20),
        lut("l1", [20, 2], 21),
        lut("l2", [21, 10], 22),
        lut("l3", [20, 2], 3),
    ]))
    .unwrap();
    let longest = depth.between_registers.clone().unwrap();
    assert_eq!(longest.cells, ["LUT2", "LUT2", "LUT2"]);
    assert_eq!((longest.levels, longest.to.as_str()), (3, "count[0].D"));
    assert_eq!(levels(&depth.from_inputs), Some(2));
    assert_eq!(levels(&depth.to_outputs), Some(2));
    assert_eq!(levels(&depth.through), Some(1));
    assert_eq!(depth.through.unwrap().from, "in");
}

#[test]
fn a_carry_chain_is_one_level_however_long() {
    let carry = |name: &str, ci: u64, s: u64, co: u64| {
        cell(
            name,
            "CARRY4",
            &[("CI", false, &[ci]), ("S", false, &[s]), ("CO", true, &[co])],
        )
    };
    let depth = Depth::of(&netlist(&[
        flip_flop("a", 24, 10),
        lut("l", [10, 10], 20),
        carry("c0", 30, 20, 21),
        carry("c1", 21, 31, 22),
        carry("c2", 22, 32, 23),
        lut("m", [23, 10], 24),
    ]))
    .unwrap();
    let longest = depth.between_registers.unwrap();
    assert_eq!(longest.levels, 3);
    assert_eq!(longest.cells, ["LUT2", "CARRY4", "CARRY4", "CARRY4", "LUT2"]);
}

#[test]
fn path_continues_through_lut_memory() {
    let ram = cell(
        "m",
        "RAM64X1D",
        &[
            ("DPRA0", false, &[20]),
            ("A0", false, &[2]),
            ("D", false, &[2]),
            ("DPO", true, &[21]),
        ],
    );
    let depth = Depth::of(&netlist(&[
        flip_flop("a", 22, 10),
        lut("l0", [10, 10], 20),
        ram,
        lut("l1", [21, 21], 22),
    ]))
    .unwrap();
    assert_eq!(levels(&depth.between_registers), Some(3));
    assert_eq!(levels(&depth.from_inputs), Some(0), "the write side is clocked");
}

/// A combinational loop, and a cell that is not known.
pub(crate) fn refusals(told: &mut Vec<String>) {
    let latch = cell("x", "LDCE", &[("D", false, &[2]), ("Q", true, &[3])]);
    for cells in [vec![lut("l0", [2, 21], 20), lut("l1", [20, 2], 21)], vec![latch]] {
        told.push(Depth::of(&netlist(&cells)).unwrap_err().to_string());
    }
}

const MODULE: &str = "
module tally (
    input  wire clk,
    input  wire [5:0] vote,
    output reg  all,
    output wire now
);
    reg [5:0] held;
    always @(posedge clk) begin
        held <= vote;
        all <= &held;
    end
    assign now = &vote;
endmodule
";

fn synth(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_synth"))
        .arg("--dir")
        .arg(folder)
        .args(arguments)
        .output()
        .unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tally.sv"), MODULE).unwrap();
    fs::write(
        folder.path().join("broken.sv"),
        "module broken (input wire a); missing u (.a); endmodule\n",
    )
    .unwrap();
    fs::write(
        folder.path().join("filelist.f"),
        "// block: tally\n// block: broken\ntally.sv\nbroken.sv\n",
    )
    .unwrap();
    folder
}

#[test]
fn counts_cells_and_levels_and_fails_above_a_limit() {
    let folder = folder();
    let output = synth(folder.path(), &["tally", "--json", "--max-levels", "0"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let resources = &json[0]["resources"];
    assert_eq!(
        (&resources["lut"], &resources["ff"]),
        (&Value::from(2), &Value::from(7))
    );
    let depth = &json[0]["depth"];
    for (sort, levels) in [
        ("between_registers", 1),
        ("from_inputs", 0),
        ("to_outputs", 0),
        ("through", 1),
    ] {
        assert_eq!(depth[sort]["levels"], levels, "{sort}");
    }
    assert_eq!(depth["between_registers"]["to"], "all.D");
    assert_eq!(depth["through"]["to"], "now");
}

#[test]
fn passes_on_the_error_of_yosys() {
    let folder = folder();
    let output = synth(folder.path(), &["broken"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("synth: yosys cannot synthesise `broken`: ERROR: Module"),
        "{text}"
    );
}

#[test]
fn an_unknown_block_and_a_missing_tool_are_one_sentence() {
    let folder = folder();
    let shown = folder.path().display();
    let unknown = synth(folder.path(), &["taly"]);
    assert_eq!(
        String::from_utf8(unknown.stderr).unwrap(),
        format!("synth: {shown} has no block `taly`: did you mean `tally`?\n")
    );
    let nowhere = Command::new(env!("CARGO_BIN_EXE_synth"))
        .arg("--dir")
        .arg(folder.path())
        .arg("tally")
        .env("PATH", "")
        .output()
        .unwrap();
    assert_eq!(nowhere.status.code(), Some(2));
    let text = String::from_utf8(nowhere.stderr).unwrap();
    let sentence =
        "synth: yosys is not installed: run `./dev setup` in the project's root, which installs it\n";
    assert!(text.ends_with(sentence), "{text}");
}
