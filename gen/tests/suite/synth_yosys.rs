//! Figures of a small module whose netlist can be worked out by hand, from the real yosys.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

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
fn what_yosys_refuses_is_told_in_its_words() {
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
